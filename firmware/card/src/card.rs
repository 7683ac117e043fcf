//! The engine's hands on the card.

use alloc::vec::Vec;
use core::convert::Infallible;

use weft_engine::{raw_frame_job, Full, MemoryError, Port, RawRing, RawSlots};
use weft_layout::{doorbells, table, AttachRow, Job, ReceiveElement};

use crate::dma::Aligned;
use crate::rings::{self, Rings, RAW_SLOT};
use crate::{dma, log, registers};

/// The shortest Ethernet frame that a raw-frame job may have.
const MIN_FRAME: usize = 14;

/// The card, with its rings.
pub struct Card {
    pub rings: Rings,
    /// Memory that is left for receive queues: from where, to where.
    free: (u64, u64),
    /// Of each flow that had one: where it is, and its bytes.
    queues: Vec<Option<(u64, u32)>>,
    /// Doorbells not rung yet: flow and count.
    tails: Vec<(u16, u32)>,
    /// Bytes of raw frames that were fetched.
    pub fetched: u32,
}

impl Card {
    /// The card that has these rings, at the begin of so much memory.
    pub fn new(rings: Rings, memory: (u64, u64), flows: u16) -> Self {
        let (from, to) = memory;
        Self {
            rings,
            free: (from + rings::BYTES.next_multiple_of(64), to),
            queues: (0..flows).map(|_| None).collect(),
            tails: Vec::new(),
            fetched: 0,
        }
    }

    /// Tells the card of all that was posted.
    pub fn ring(&mut self) {
        for (flow, posted) in self.tails.drain(..) {
            registers::ring(doorbells::RQ_TAIL.of(flow), posted);
        }
        self.rings.ring();
    }
}

impl Port for Card {
    fn post_job(&mut self, slot: &[u8; Job::SIZE]) -> Result<u32, Full> {
        self.rings.post(slot).ok_or(Full)
    }

    fn post_bare_job(&mut self, half: &[u8; Job::SIZE / 2]) -> Result<u32, Full> {
        self.rings.post(half).ok_or(Full)
    }

    fn send_frame(&mut self, frame: &[u8]) -> Result<(), Full> {
        if !(MIN_FRAME..=rings::MAX_FRAME.into()).contains(&frame.len()) {
            log!("a frame of {} bytes is not sent", frame.len());
            return Ok(());
        }
        let at = self.rings.frame_place(frame).ok_or(Full)?;
        let job = raw_frame_job(at, frame.len() as u32);
        let number = self.post_job(&job.to_bytes())?;
        self.rings.frame_posted(number);
        Ok(())
    }

    fn jobs_done(&self) -> u32 {
        self.rings.done()
    }

    fn refresh_jobs_done(&mut self) -> u32 {
        self.ring();
        self.rings.ask_done()
    }

    fn write_table(&mut self, table: u8, index: u32, row: &[u8; 64]) {
        // What was posted before must be known to the card before a row changes under it.
        self.ring();
        if registers::write_row(table, index, row).is_err() {
            log!("row {index} of table {table} was not written");
        }
    }

    fn read_table(&mut self, table: u8, index: u32) -> [u8; 64] {
        self.ring();
        registers::read_row(table, index).unwrap_or_else(|_| {
            log!("row {index} of table {table} was not read");
            [0; 64]
        })
    }

    fn raw_seen(&self) -> u32 {
        self.rings.slots().taken()
    }

    fn attach(&mut self, flow: u16, row: &AttachRow) -> bool {
        self.ring();
        registers::write_row(table::ATTACH, flow.into(), &row.to_bytes()).is_ok()
    }

    fn write_element(&mut self, flow: u16, slot: u32, element: &ReceiveElement) {
        let queue = self.queues.get(usize::from(flow)).copied().flatten();
        let offset = slot.saturating_mul(ReceiveElement::SIZE as u32);
        match queue {
            Some((at, bytes)) if offset < bytes => {
                let written = dma::write(at + u64::from(offset), &element.to_bytes());
                if written.is_err() {
                    log!("receive element {slot} of flow {flow} was not written");
                }
            }
            _ => log!("flow {flow} has no receive element {slot}"),
        }
    }

    fn rq_tail(&mut self, flow: u16, posted: u32) {
        match self.tails.iter_mut().find(|(other, _)| *other == flow) {
            Some((_, count)) => *count = posted,
            None => self.tails.push((flow, posted)),
        }
    }

    fn rq_memory(&mut self, flow: u16, log2: u8) -> Option<u64> {
        let place = self.queues.get_mut(usize::from(flow))?;
        let bytes = (ReceiveElement::SIZE as u32).checked_shl(log2.into())?;
        if let Some((at, _)) = place.filter(|(_, old)| *old >= bytes) {
            return Some(at);
        }
        let (from, to) = self.free;
        let end = from + u64::from(bytes);
        if end > to {
            return None;
        }
        self.free.0 = end;
        *place = Some((from, bytes));
        Some(from)
    }

    /// Software that makes FPDUs is on the host.
    fn send_memory(&mut self, _: u16, _: u32) -> Option<u64> {
        None
    }

    fn slot_at(&self, slot: u16) -> Option<u64> {
        Some(self.rings.slot_at(slot))
    }

    fn copy_slot(&mut self, slot: u16, at: usize, bytes: &mut [u8]) -> Result<(), MemoryError> {
        self.rings.copy_slot(slot, at, bytes)
    }

    fn copy_in(&mut self, iova: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        dma::write(iova, bytes).map_err(|_| MemoryError)
    }

    fn copy_out(&mut self, iova: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        dma::read(iova, bytes).map_err(|_| MemoryError)
    }
}

/// What goes wrong is the rings' [`fault`](Rings::fault).
impl RawRing for Card {
    type Frame = Aligned<RAW_SLOT>;
    type Error = Infallible;

    fn slots(&self) -> &RawSlots {
        self.rings.slots()
    }

    fn copy_frame<'f>(
        &mut self,
        raw: (u16, u16),
        frame: &'f mut Aligned<RAW_SLOT>,
    ) -> Result<&'f [u8], Infallible> {
        let length = self.rings.copy_frame(raw, &mut frame.0);
        self.fetched = self.fetched.wrapping_add(length as u32);
        Ok(&frame.0[..length])
    }

    fn free_slot(&mut self, slot: u16) -> Result<(), Infallible> {
        self.rings.free_slot(slot);
        Ok(())
    }
}

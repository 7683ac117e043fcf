//! What the engine may do to its card and to its host's memory.

use weft_layout::{AttachRow, Job, JobKind, ReceiveElement};

/// The job ring has no room; the engine tries again at the next report or timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// An IOVA that the host has not mapped for the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryError;

/// The job that sends one run of memory as a frame, as it is.
pub fn raw_frame_job(iova: u64, length: u32) -> Job {
    Job {
        kind: JobKind::RawFrame.raw(),
        sge_count: 1,
        length,
        sge0_iova: iova,
        sge0_length: length,
        ..Job::default()
    }
}

/// The engine's side of the card. A driver implements it over registers and DMA memory, the
/// card's firmware over its own buses, a test over whatever it likes.
pub trait Port {
    /// Puts a job into the job ring and tells the card (an implementation may ring the doorbell
    /// once for several jobs, but before the caller's poll ends). `slot` is the whole 128-byte
    /// slot: a [`Job`], with inline payload from byte 64 on where the SGEs would be. Returns the
    /// job's number, counted from 0 since the ring was set up, modulo 2^32.
    fn post_job(&mut self, slot: &[u8; Job::SIZE]) -> Result<u32, Full>;

    /// The same of a job without payload: the first half of its slot. The card does not look at the other one.
    fn post_bare_job(&mut self, half: &[u8; Job::SIZE / 2]) -> Result<u32, Full> {
        let mut slot = [0; Job::SIZE];
        slot[..Job::SIZE / 2].copy_from_slice(half);
        self.post_job(&slot)
    }

    /// Somebody waits for the job posted last: an implementation that can show it to the card sooner, at a cost, does.
    fn urgent(&mut self) {}

    /// Sends one Ethernet frame by a raw-frame job. The bytes are copied before this returns.
    fn send_frame(&mut self, frame: &[u8]) -> Result<(), Full>;

    /// The newest JOB_DONE known without asking the card (from the last report). Job `n` is done
    /// when `jobs_done() - n`, modulo 2^32, is in 1..2^31.
    fn jobs_done(&self) -> u32;

    /// Reads JOB_DONE from the card; [`Port::jobs_done`] returns it from then on.
    fn refresh_jobs_done(&mut self) -> u32;

    /// Writes a row of a table (`weft_layout::table`).
    fn write_table(&mut self, table: u8, index: u32, row: &[u8; 64]);

    /// Reads a row of a table.
    fn read_table(&mut self, table: u8, index: u32) -> [u8; 64];

    /// Raw slots whose reports have been handed to the engine, the one of the report that is being handled with them: counted since
    /// the ring was set up, modulo 2^32.
    fn raw_seen(&self) -> u32;

    /// The report behind the one that is being handled is at hand.
    fn has_report(&self) -> bool {
        false
    }

    /// Writes the flow's ATTACH row; false if the card did not apply it: it has sent up a raw segment of the flow in a slot that is not
    /// below `row.raw_seen`, or walks over one (card.md, "Attach").
    fn attach(&mut self, flow: u16, row: &AttachRow) -> bool;

    /// Writes slot `slot` of the flow's receive queue in host memory. It must be visible to the
    /// card before a later [`Port::rq_tail`].
    fn write_element(&mut self, flow: u16, slot: u32, element: &ReceiveElement);

    /// Doorbell: so many receive elements have been posted to the flow since its queue was set up.
    fn rq_tail(&mut self, flow: u16, posted: u32);

    /// Memory for a receive queue of `2^log2` elements of 64 bytes for this flow: its IOVA,
    /// 64-byte aligned. `None` if there is no memory. Called when a queue pair is created; what
    /// an earlier call gave for the same flow may be reused.
    fn rq_memory(&mut self, flow: u16, log2: u8) -> Option<u64>;

    /// Memory for segments that software makes for this flow: its IOVA. `None` if there is none. Called when a queue pair is created
    /// that needs it; what an earlier call gave for the same flow may be reused.
    fn send_memory(&mut self, flow: u16, bytes: u32) -> Option<u64>;

    /// A frame of no flow, which may be for the owner of the card's other port ([`ResourceSplit`](crate::ResourceSplit)). True: it is, and that one has it.
    fn give_frame(&mut self, frame: &[u8]) -> bool {
        let _ = frame;
        false
    }

    /// Where the card finds raw slot `slot`, which is lent to the engine ([`Engine::on_report_in_slot`](crate::Engine::on_report_in_slot)). `None`: it lends none.
    fn slot_at(&self, slot: u16) -> Option<u64> {
        let _ = slot;
        None
    }

    /// Reads from such a slot.
    fn copy_slot(&mut self, slot: u16, at: usize, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let _ = (slot, at, bytes);
        Err(MemoryError)
    }

    /// Writes into host memory: how the engine places the FPDUs that the card could not.
    fn copy_in(&mut self, iova: u64, bytes: &[u8]) -> Result<(), MemoryError>;

    /// Reads from host memory.
    fn copy_out(&mut self, iova: u64, bytes: &mut [u8]) -> Result<(), MemoryError>;
}

//! Reports and the raw frames that belong to them, handed to the engine by whoever has the raw ring: driver or firmware.

use crate::card::card_times::Arrived;
use crate::card::port::Port;
use crate::handover::out_of_order::SlotUse;
use crate::handover::raw_slots::RawSlots;
use crate::management::engine::Engine;

/// A card whose raw ring is here, too.
pub trait RawRing: Port {
    /// Where a frame is copied to.
    type Frame;
    /// What may go wrong.
    type Error;

    /// The account of its slots.
    fn slots(&self) -> &RawSlots;

    /// Copies a raw frame (its slot, bytes) out of its slot, which is free then; the frame.
    fn copy_frame<'f>(
        &mut self,
        raw: (u16, u16),
        frame: &'f mut Self::Frame,
    ) -> Result<&'f [u8], Self::Error>;

    /// Nobody needs the raw frame in this slot.
    fn free_slot(&mut self, slot: u16) -> Result<(), Self::Error>;
}

impl Engine {
    /// Handles a report, which the card saw then, and its raw frame (slot, bytes), if it has one: in its slot where it can stay, else copied to `frame`. True: the frame is for
    /// the host's own stack, as [`Engine::on_report`] says.
    pub fn take_report<R: RawRing>(
        &mut self,
        (now, arrived): (u64, Arrived),
        report: &[u8; 64],
        raw: Option<(u16, u16)>,
        frame: &mut R::Frame,
        ring: &mut R,
    ) -> Result<bool, R::Error> {
        self.shared.times.report(arrived, ring.jobs_done());
        let for_host = self.take(now, report, raw, frame, ring);
        self.shared.times.handled();
        for_host
    }

    fn take<R: RawRing>(
        &mut self,
        now: u64,
        report: &[u8; 64],
        raw: Option<(u16, u16)>,
        frame: &mut R::Frame,
        ring: &mut R,
    ) -> Result<bool, R::Error> {
        let Some(raw) = raw else {
            return Ok(self.on_report(now, report, None, ring));
        };
        let slot_use = if self.config().replay > 0 && ring.slots().may_lend() {
            self.on_report_in_slot(now, report, ring)
        } else {
            SlotUse::Untouched
        };
        match slot_use {
            SlotUse::Lent => Ok(false),
            SlotUse::Free => ring.free_slot(raw.0).map(|()| false),
            SlotUse::Untouched => {
                let frame = ring.copy_frame(raw, frame)?;
                Ok(self.on_report(now, report, Some(frame), ring))
            }
        }
    }

    /// Gives slots back to the ring: those that the engine has done with, and what holds up too many others.
    pub fn return_slots<R: RawRing>(&mut self, now: u64, ring: &mut R) -> Result<(), R::Error> {
        if let Some(slot) = ring.slots().wanted() {
            self.want_slot(now, slot, ring);
        }
        while let Some(slot) = self.poll_slot(ring) {
            ring.free_slot(slot)?;
        }
        Ok(())
    }
}

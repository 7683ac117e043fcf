//! Raw frames that stay in their slots: the engine keeps them until the card has walked over them again.

use weft_engine::Kept;

use super::place::Here;
use crate::error::DeviceError;

impl Here {
    /// Hands a report to the engine, its raw frame in its slot, or copied. True: the frame, now in `frame`, is for the host's own stack.
    pub(super) fn hand_report(
        &mut self,
        now: u64,
        report: &[u8; 64],
        slot: Option<(u16, u16)>,
        frame: &mut Vec<u8>,
    ) -> Result<bool, DeviceError> {
        let (engine, card) = (&mut self.engine, &mut self.card);
        let Some(raw) = slot else {
            let for_host = engine.on_report(now, report, None, card);
            self.take_back_slots(now)?;
            return Ok(for_host);
        };
        let mut kept = Kept::No;
        if engine.config().replay > 0 && card.may_hold() {
            kept = engine.hold(now, report, card);
        }
        let mut for_host = false;
        match kept {
            Kept::Held => {}
            Kept::Done => card.free_slot(raw.0)?,
            Kept::No => {
                card.copy_frame(raw, frame)?;
                for_host = engine.on_report(now, report, Some(frame), card);
            }
        }
        self.take_back_slots(now)?;
        Ok(for_host)
    }

    /// What the engine has done with is the card's again, and what holds up too many others is asked back.
    pub(super) fn take_back_slots(&mut self, now: u64) -> Result<(), DeviceError> {
        let (engine, card) = (&mut self.engine, &mut self.card);
        if let Some(slot) = card.wanted_slot() {
            engine.want_slot(now, slot, card);
        }
        while let Some(slot) = engine.poll_slot(card) {
            card.free_slot(slot)?;
        }
        Ok(())
    }
}

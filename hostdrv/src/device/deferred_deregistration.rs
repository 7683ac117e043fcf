//! Regions whose last handle is gone. What was posted before may still use them: they stay registered until it is done.

use std::sync::Arc;

use weft_engine::commands::{self, Refusal};
use weft_engine::Error;

use super::State;
use crate::card::MappedMemory;

/// A region that nobody has a handle of.
pub(crate) struct DeferredDeregistration {
    pub(crate) stag: u32,
    /// With what lives as long as the card may reach it by this region. `None`: a window, whose memory is a region's.
    pub(crate) memory: Option<(Arc<dyn MappedMemory>, Arc<()>)>,
    /// What lives as long as it: its domain.
    pub(crate) keeps: Box<dyn Send>,
}

impl State {
    /// The last handle of a region has gone.
    pub(crate) fn leave(&mut self, region: DeferredDeregistration) {
        // What was posted before is seen first.
        self.take_posted(self.now());
        self.deferred_deregistrations.push(region);
        self.leave_regions();
    }

    /// Removes a region whose handle waits for the answer, unless work uses it. Is it gone?
    pub(crate) fn leave_unless_used(&mut self, region: DeferredDeregistration) -> bool {
        self.take_posted(self.now());
        self.remove_region(region).is_none()
    }

    /// Removes the regions that nobody has and no work uses. What was posted has been taken: the engine knows of all work.
    pub(crate) fn leave_regions(&mut self) {
        let before = self.deferred_deregistrations.len();
        for region in std::mem::take(&mut self.deferred_deregistrations) {
            let Some(mut used) = self.remove_region(region) else {
                continue;
            };
            if self.is_lent() {
                // Nothing drives the device here: whoever holds its handle in it would hold it for good. The lender keeps the domain.
                let keeps = std::mem::replace(&mut used.keeps, Box::new(()));
                self.release(keeps);
            }
            self.deferred_deregistrations.push(used);
        }
        if self.is_lent() && self.deferred_deregistrations.len() < before {
            self.leave_domains();
        }
    }

    /// Gives it back if work uses it.
    fn remove_region(&mut self, region: DeferredDeregistration) -> Option<DeferredDeregistration> {
        let now = self.now();
        let gone = self
            .command(now, &commands::deregister(region.stag), &[])
            .err();
        if gone == Some(Refusal::Engine(Error::InUse)) {
            return Some(region);
        }
        // After a Send with Invalidate the engine no longer knows it; that is as good.
        tracing::debug!(
            stag = format_args!("{:#010x}", region.stag),
            ?gone,
            "region removed"
        );
        if let Some((memory, whole)) = region.memory {
            self.place.memory_mut().remove(&memory);
            // A packet that was checked before may still be on its way into the memory.
            self.bury(memory, whole);
        }
        self.release(region.keeps);
        None
    }
}

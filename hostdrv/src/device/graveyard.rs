//! Memory that is no longer registered, and that the card may still be busy with.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Device, State};
use crate::card::MappedMemory;
use crate::error::DeviceError;

/// In the order of burial, which is that of jobs and of fences.
#[derive(Default)]
pub(super) struct Graveyard {
    graves: VecDeque<Grave>,
    /// So many from the front have a fence.
    fenced: usize,
}

struct Grave {
    jobs_posted: u32,
    /// The fence that began after it was buried.
    fence: u32,
    // In this order: who waits for the second finds the first gone.
    _memory: Option<Arc<dyn MappedMemory>>,
    _whole: Box<dyn Send>,
}

impl State {
    /// Keeps memory until the card cannot be busy with it any more; `whole` goes right behind it.
    pub(crate) fn bury(&mut self, memory: Arc<dyn MappedMemory>, whole: Arc<()>) {
        self.bury_both(Some(memory), Box::new(whole));
    }

    fn bury_both(&mut self, memory: Option<Arc<dyn MappedMemory>>, whole: Box<dyn Send>) {
        let jobs_posted = self.place.jobs_posted();
        self.graveyard.graves.push_back(Grave {
            jobs_posted,
            fence: 0,
            _memory: memory,
            _whole: whole,
        });
    }

    /// Is something buried?
    pub(super) fn has_graves(&self) -> bool {
        !self.graveyard.graves.is_empty()
    }

    /// Lets go of buried memory: its jobs are done, and what the card checked before it was buried has landed.
    pub(super) fn clear_graveyard(&mut self) -> Result<(), DeviceError> {
        if self.graveyard.graves.is_empty() {
            return Ok(());
        }
        let fence = self.place.fence().clone();
        fence.ask(&self.mmio)?;
        let Graveyard { graves, fenced } = &mut self.graveyard;
        if *fenced < graves.len() {
            if let Some(number) = fence.begin(&self.mmio)? {
                for grave in graves.range_mut(*fenced..) {
                    grave.fence = number;
                }
                *fenced = graves.len();
                // It takes less time than the way to the card and back.
                fence.ask(&self.mmio)?;
            }
        }
        let place = &self.place;
        let over = |grave: &Grave| {
            fence.has_passed(grave.fence) && place.jobs_done_up_to(grave.jobs_posted)
        };
        let busy = graves.range(..*fenced).position(|grave| !over(grave));
        let done: Vec<_> = graves.drain(..busy.unwrap_or(*fenced)).collect();
        *fenced -= done.len();
        if !graves.is_empty() {
            self.place.refresh_jobs_done();
        }
        if !done.is_empty() {
            self.release(done);
        }
        Ok(())
    }
}

impl Device {
    /// Drops `thing`, in a call of [`progress`](Device::progress), when the card can be busy no more with what was deregistered so far.
    pub fn when_settled(&self, thing: impl Send + 'static) {
        self.lock().bury_both(None, Box::new(thing));
    }

    /// Is there something that the card has to be waited for? No interrupt says when that is over.
    pub fn is_settling(&self) -> bool {
        self.lock().has_graves()
    }
}

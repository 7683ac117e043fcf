//! A completion queue of another size: its CQEs move to another memory, between one poll and the next.

use std::sync::atomic::Ordering;

use super::{layout_of, when_free, Cq, CqInner, Next, Ring, Taking, Writing};
use crate::verbs::VerbsError;
use weft_card_transport::queue_memory::QueueMemory;

impl Cq {
    /// Gives it `cqe` entries (`ibv_resize_cq`), whatever goes on meanwhile: no completion is lost, comes twice or out of order, and what was
    /// asked of its completion channel stays asked.
    ///
    /// It is refused, and nothing changes, while more places are promised than there would be: to completions that were not polled, and to
    /// work that may have one. Polls go the short way as long as it has a place for all that its queues can hold: so grow it before a queue
    /// pair joins, which leaves the short way else, for good.
    #[tracing::instrument(name = "resize_cq", level = "debug", skip_all, fields(device = self.device.name(), cqe = cqe))]
    #[doc(alias = "ibv_resize_cq")]
    pub fn resize(&self, cqe: usize) -> Result<(), VerbsError> {
        let layout = layout_of(cqe)?;
        let inner = &*self.inner;
        if inner.shareable.is_some() {
            return Err(VerbsError::CqLendable);
        }
        let bytes = layout.bytes();
        let memory = QueueMemory::new(bytes, false).ok_or(VerbsError::NoMemory { bytes })?;
        // So nobody joins, leaves or completes.
        let state = self.device.lock();
        state.check_fault()?;
        let taking = inner.take();
        if taking.reserved > cqe && !taking.is_counted {
            inner.count_all(taking);
        } else {
            drop(taking);
        }
        let mut writing = when_free(&inner.writing);
        let mut taking = inner.take();
        inner.change_places(&taking, cqe)?;
        let old = move_to(&mut writing, &mut taking, Ring { layout, memory });
        inner.cqe.store(cqe, Ordering::Relaxed);
        drop((taking, writing, state));
        drop(old);
        Ok(())
    }
}

impl CqInner {
    /// Makes so many places of those that there are, if those that are not free leave room.
    fn change_places(&self, taking: &Taking, cqe: usize) -> Result<(), VerbsError> {
        let more = cqe as isize - self.cqe() as isize;
        let changed = |free: isize| Some(free + more).filter(|free| *free >= 0);
        let change = || {
            self.free
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, changed)
        };
        if change().is_ok() {
            return Ok(());
        }
        self.reap_all(taking);
        match change() {
            Ok(_) => Ok(()),
            Err(_) => Err(VerbsError::CqInUse {
                promised: self.promised(),
                cqe,
            }),
        }
    }
}

/// Moves the CQEs that nobody took, under their numbers, and what was armed; the old ring.
fn move_to(writing: &mut Writing, taking: &mut Taking, ring: Ring) -> Ring {
    let (layout, words) = (ring.layout, ring.words());
    let first = taking.next.number;
    layout.begin(words, first);
    let there = writing.written.wrapping_sub(first);
    for ahead in 0..there.min(taking.ring.layout.capacity()) {
        let number = first.wrapping_add(ahead);
        match taking.ring.get(number) {
            Some(cqe) => layout.put(words, number, cqe),
            None => tracing::error!(number, "no completion where one was put"),
        }
    }
    let old = &taking.ring;
    let armed = old.layout.disarm(old.words());
    if armed != 0 {
        ring.arm(armed);
    }
    if !taking.next.is_closed() {
        taking.next = Next::new(&layout, first);
    }
    writing.ring = ring.clone();
    std::mem::replace(&mut taking.ring, ring)
}

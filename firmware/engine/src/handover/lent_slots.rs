//! Raw slots that the engine has done with: each is free when the card has done the job that reads it.

use alloc::vec::Vec;

use crate::card::port::Port;
use crate::connection::conn::Conn;
use crate::handover::out_of_order::{OutOfOrder, Piece};
use weft_tcp::seq;

/// How often JOB_DONE is looked at for slots that wait for a job.
const SLOTS_POLL: u64 = 20_000;

/// Slots on their way back to the ring.
#[derive(Debug, Default)]
pub struct LentSlots {
    /// Slots, and the job that reads each.
    done_with: Vec<(u16, Option<u32>)>,
    /// When to look at JOB_DONE for them.
    check_at: Option<u64>,
}

impl LentSlots {
    /// The slots of what was done with are free, all of them when nobody takes FPDUs any more.
    pub fn free_done(&mut self, conn: &mut Conn) {
        if conn.handover.out_of_order.is_empty() {
            return;
        }
        let base = conn.reassembly.base();
        let all = !conn.phase.receives();
        while let Some(piece) = conn.handover.out_of_order.done_before(base, all) {
            self.give(&piece, conn);
        }
    }

    /// The connection is gone, or begins anew.
    pub fn free_all(&mut self, conn: &mut Conn) {
        while let Some(piece) = conn.handover.out_of_order.take_front() {
            self.give(&piece, conn);
        }
        conn.handover.out_of_order = OutOfOrder::default();
    }

    /// Not before the card has read what it was asked to read.
    pub fn give(&mut self, piece: &Piece, conn: &Conn) {
        self.done_with
            .push((piece.slot, conn.handover.out_of_order.job_of(piece)));
    }

    /// Slots that wait for a job are looked at again then: nothing else need come.
    pub fn watch(&mut self, now: u64) {
        let waits = self.done_with.iter().any(|(_, job)| job.is_some());
        match waits {
            true if self.check_at.is_none() => {
                self.check_at = Some(now.saturating_add(SLOTS_POLL));
            }
            true => {}
            false => self.check_at = None,
        }
    }

    /// It is time to look at them.
    pub fn check<P: Port>(&mut self, now: u64, port: &mut P) {
        if self.check_at.is_some_and(|at| at <= now) {
            port.refresh_jobs_done();
            self.check_at = None;
            self.watch(now);
        }
    }

    /// A slot that is free again.
    pub fn poll<P: Port>(&mut self, port: &P) -> Option<u16> {
        let done = |job: u32| seq::lt(job, port.jobs_done());
        let at = self
            .done_with
            .iter()
            .position(|(_, job)| job.is_none_or(done))?;
        Some(self.done_with.swap_remove(at).0)
    }

    /// The slot is on its way back.
    pub fn has(&self, slot: u16) -> bool {
        self.done_with.iter().any(|free| free.0 == slot)
    }

    /// When to look at them.
    pub fn check_at(&self) -> Option<u64> {
        self.check_at
    }
}

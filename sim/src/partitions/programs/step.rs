//! A step of a host's program: what it does is counted, and its host is charged for it.

use weft_hostdrv::verbs::{Cq, Qp, RecvWr, SendWr, Wc, WcStatus};

use crate::fabric::Fabric;
use crate::host::Done;
use crate::partitions::steady::Latencies;
use crate::partitions::PartitionsError;

/// What requests came to.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) latencies: Latencies,
    pub(super) requests: usize,
    pub(super) bytes: u64,
}

/// A step.
pub(super) struct Step<'a> {
    fabric: &'a Fabric,
    ended: &'a mut Ended,
    /// What it did, beside what the device counts.
    pub(super) done: Done,
}

impl<'a> Step<'a> {
    pub(super) fn new(fabric: &'a Fabric, ended: &'a mut Ended) -> Self {
        let done = Done::default();
        Self {
            fabric,
            ended,
            done,
        }
    }

    /// Simulated nanoseconds.
    pub(super) fn now(&self) -> u64 {
        self.fabric.now()
    }

    /// The oldest completion, if there is one. Whatever failed ends the run.
    pub(super) fn poll(&mut self, cq: &Cq) -> Result<Option<Wc>, PartitionsError> {
        let looks = self.fabric.looks();
        let Some(wc) = looks.look(|| cq.poll_there(), Option::is_none) else {
            return Ok(None);
        };
        self.done.polls += 1;
        match wc.status {
            WcStatus::Success => Ok(Some(wc)),
            status => Err(PartitionsError::Completion {
                opcode: format!("{:?}", wc.opcode),
                status,
            }),
        }
    }

    /// Posts a Send, a Write or a Read.
    pub(super) fn send(&mut self, qp: &Qp, wr: SendWr<'_>) -> Result<(), PartitionsError> {
        self.done.sends += 1;
        Ok(qp.post_send(wr)?)
    }

    /// Posts a receive.
    pub(super) fn receive(&mut self, qp: &Qp, wr: RecvWr<'_>) -> Result<(), PartitionsError> {
        self.done.receives += 1;
        Ok(qp.post_recv(wr)?)
    }

    /// The program has copied, or added, so many bytes.
    pub(super) fn copied(&mut self, bytes: usize) {
        self.done.bytes_copied += bytes as u64;
    }

    /// A request has its answer, right to the last byte; it has wanted it since then.
    pub(super) fn ended(&mut self, since: u64, bytes: usize) {
        let now = self.now();
        let bytes = bytes as u64;
        self.ended.latencies.add(now, now - since, bytes);
        self.ended.requests += 1;
        self.ended.bytes += bytes;
    }
}

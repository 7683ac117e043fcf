//! A connection of a load: what is under way on it, and the bytes that it left at both ends.

use std::collections::VecDeque;

use weft_hostdrv::verbs::{RecvWr, SendWr, Wc, WcOpcode, WcStatus};

use super::run::Work;
use super::PartitionsError;
use crate::pair::{Operation, Pair};

/// A message under way.
struct Under {
    length: usize,
    posted: u64,
}

/// A connection, with what is under way on it.
pub(super) struct Connection<'a> {
    pub(super) pair: Pair<'a>,
    under_way: VecDeque<Under>,
    /// Sends that the second end has received: answered, or done with.
    received: usize,
    sent: usize,
    posted: usize,
    /// The bytes that each slot of either end's target got last: always those that lie there in the source.
    filled: Vec<[Option<usize>; 2]>,
}

impl<'a> Connection<'a> {
    pub(super) fn new(pair: Pair<'a>, slots: usize) -> Self {
        Self {
            pair,
            under_way: VecDeque::new(),
            received: 0,
            sent: 0,
            posted: 0,
            filled: vec![[None; 2]; slots],
        }
    }

    /// Receives at both ends, and a Write of no bytes, that the responder may speak too.
    pub(super) fn open(&mut self, work: &Work<'_>) -> Result<(), PartitionsError> {
        let slots = self.filled.len();
        for end in [0, 1] {
            for slot in 0..slots {
                self.post_receive(end, slot, work.largest)?;
            }
        }
        let to = self.pair.ends[1].target.remote();
        self.pair.ends[0]
            .qp
            .post_send(SendWr::write(0, to).signaled())?;
        let wc = self.pair.completion(0, "the first Write")?;
        succeeded(&wc)?;
        self.pair.established()?;
        Ok(())
    }

    /// A receive into a slot of an end's target.
    fn post_receive(&self, end: usize, slot: usize, largest: usize) -> Result<(), PartitionsError> {
        let end = &self.pair.ends[end];
        let receive = RecvWr::new(slot as u64);
        let at = end.target.sge((slot * largest) as u64, largest as u32);
        end.qp.post_recv(receive.sge(at))?;
        Ok(())
    }

    /// One more may be under way. (The second end has a receive for each Send: it posts one again before another comes.)
    pub(super) fn has_room(&self, depth: usize) -> bool {
        self.under_way.len() < depth && self.sent - self.received < depth
    }

    pub(super) fn post(
        &mut self,
        work: &mut Work<'_>,
        operation: Operation,
        length: usize,
    ) -> Result<(), PartitionsError> {
        let slots = self.filled.len();
        let slot = match operation {
            Operation::Send => self.sent % slots,
            _ => self.posted % slots,
        };
        let at = (slot * work.largest) as u64;
        let [a, b] = &self.pair.ends;
        let number = self.posted as u64;
        let bytes = length as u32;
        match operation {
            Operation::Send => {
                let send = SendWr::send(number).signaled();
                a.qp.post_send(send.sge(a.source.sge(at, bytes)))?;
                self.sent += 1;
            }
            Operation::Write => {
                let write = SendWr::write(number, b.target.remote().offset(at)).signaled();
                a.qp.post_send(write.sge(a.source.sge(at, bytes)))?;
                self.fill(1, slot, length);
            }
            Operation::Read => {
                let read = SendWr::read(number, b.source.remote().offset(at)).signaled();
                a.qp.post_send(read.sge(a.target.sge(at, bytes)))?;
                self.fill(0, slot, length);
            }
        }
        self.posted += 1;
        self.under_way.push_back(Under {
            length,
            posted: work.fabric.now(),
        });
        Ok(())
    }

    fn fill(&mut self, end: usize, slot: usize, length: usize) {
        self.filled[slot][end] = Some(length);
    }

    /// A completion of one of the ends.
    pub(super) fn take(
        &mut self,
        work: &mut Work<'_>,
        end: usize,
        wc: &Wc,
    ) -> Result<(), PartitionsError> {
        succeeded(wc)?;
        let echo = work.load.echo;
        match (end, wc.opcode) {
            // The second end has got a Send.
            (1, WcOpcode::Recv) => {
                let (slot, length) = (wc.wr_id as usize, wc.byte_len as usize);
                self.received += 1;
                self.fill(1, slot, length);
                self.post_receive(1, slot, work.largest)?;
                if echo {
                    let b = &self.pair.ends[1];
                    let at = (slot * work.largest) as u64;
                    b.qp.post_send(SendWr::send(0).sge(b.source.sge(at, wc.byte_len)))?;
                }
            }
            // The answer: they come in the order of the Sends.
            (0, WcOpcode::Recv) => {
                let slot = wc.wr_id as usize;
                self.fill(0, slot, wc.byte_len as usize);
                self.post_receive(0, slot, work.largest)?;
                self.end(work);
            }
            (0, WcOpcode::Send) if echo => {}
            (0, _) => self.end(work),
            _ => {}
        }
        Ok(())
    }

    /// The oldest message is done.
    fn end(&mut self, work: &mut Work<'_>) {
        let Some(done) = self.under_way.pop_front() else {
            return;
        };
        let (now, bytes) = (work.fabric.now(), done.length as u64);
        let bytes = bytes * if work.load.echo { 2 } else { 1 };
        work.latencies.add(now, now - done.posted, bytes);
        work.bytes += bytes;
        work.done += 1;
    }

    /// What each slot got last is there.
    pub(super) fn check(&self, source: &[u8], largest: usize) -> Result<(), PartitionsError> {
        for (slot, filled) in self.filled.iter().enumerate() {
            for (end, last) in filled.iter().enumerate() {
                let Some(length) = *last else {
                    continue;
                };
                let at = slot * largest;
                let is = self.pair.ends[end].target.to_vec(at, length)?;
                if is != source[at..at + length] {
                    return Err(PartitionsError::Bytes { end, slot, length });
                }
            }
        }
        Ok(())
    }
}

fn succeeded(wc: &Wc) -> Result<(), PartitionsError> {
    match wc.status {
        WcStatus::Success => Ok(()),
        status => Err(PartitionsError::Completion {
            opcode: format!("{:?}", wc.opcode),
            status,
        }),
    }
}

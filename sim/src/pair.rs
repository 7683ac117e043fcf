//! Two connected queue pairs on two devices of a fabric, and verified transfers between them.

use std::net::SocketAddrV4;

use thiserror::Error;
use weft_hostdrv::cm::{CmError, CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::verbs::{
    Access, Cq, Mr, Pd, Qp, QpInit, RecvWr, SendWr, Sge, VerbsError, Wc, WcStatus,
};

use crate::card::CYCLE_NS;
use crate::fabric::{Fabric, FabricError};

/// Simulated time after which a step has failed.
pub const LIMIT: u64 = 20_000_000_000;

/// What was acknowledged is placed after so many nanoseconds.
pub(crate) const LATER: u64 = 100_000;
/// Or after so many times that, where the engine has a processor's pace.
const LOOKS: usize = 20;

/// What can go wrong between two ends.
#[derive(Debug, Error)]
pub enum PairError {
    /// In the fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// In the verbs.
    #[error(transparent)]
    Verbs(#[from] VerbsError),
    /// In the connection manager.
    #[error(transparent)]
    Cm(#[from] CmError),
    /// Another event than the one that should have come.
    #[error("{waiting_for} should have come, {came} did (status {status})")]
    Event {
        /// The one that should have come.
        waiting_for: &'static str,
        /// The one that came.
        came: &'static str,
        /// Its errno.
        status: i32,
    },
    /// Work failed.
    #[error("{operation} of {len} bytes ended with {status:?}")]
    Completion {
        /// What was done.
        operation: &'static str,
        /// Its bytes.
        len: usize,
        /// How it ended.
        status: WcStatus,
    },
    /// The bytes are not the right ones.
    #[error("{operation} of {len} bytes: byte {at} of the target region is {is:#04x} and should be {should:#04x}")]
    Bytes {
        /// What was done.
        operation: &'static str,
        /// Its bytes.
        len: usize,
        /// Where.
        at: usize,
        /// What is there.
        is: u8,
        /// What should be.
        should: u8,
    },
    /// A completion says another length.
    #[error("{operation} of {len} bytes completed with {byte_len}")]
    Length {
        /// What was done.
        operation: &'static str,
        /// Its bytes.
        len: usize,
        /// What the completion says.
        byte_len: u32,
    },
}

/// One end of a connection.
pub struct End {
    /// The queue pair.
    pub qp: Qp,
    /// Its completion queue.
    pub cq: Cq,
    /// The bytes to send, and for the peer to read.
    pub source: Mr,
    /// Where bytes arrive.
    pub target: Mr,
    id: CmId,
    channel: EventChannel,
    _pd: Pd,
}

/// How a message is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Send, into a posted receive.
    Send,
    /// RDMA Write.
    Write,
    /// RDMA Read by the other end.
    Read,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 3] = [Operation::Send, Operation::Write, Operation::Read];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Send => "Send",
            Operation::Write => "Write",
            Operation::Read => "Read",
        }
    }
}

/// Two connected ends.
pub struct Pair<'a> {
    fabric: &'a Fabric,
    /// The initiator, on device 0, and the responder, on device 1.
    pub ends: [End; 2],
    _listener: CmId,
    /// Cycles from `connect` to the event at the initiator.
    pub connect_cycles: u64,
    established: bool,
}

/// Waits for an event of a channel.
pub(crate) fn event(
    fabric: &Fabric,
    channel: &EventChannel,
    kind: CmEventType,
) -> Result<CmId, PairError> {
    let next = || channel.try_get_event().transpose();
    let event = fabric.run_until(kind.name(), LIMIT, next)??;
    if event.event != kind {
        let (waiting_for, came) = (kind.name(), event.event.name());
        return Err(PairError::Event {
            waiting_for,
            came,
            status: event.status,
        });
    }
    Ok(event.id)
}

struct Side {
    pd: Pd,
    cq: Cq,
    source: Mr,
    target: Mr,
}

impl Side {
    fn new(
        fabric: &Fabric,
        number: usize,
        source: &[u8],
        target: usize,
    ) -> Result<Self, PairError> {
        let device = fabric.device(number);
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(256, None)?;
        let send = pd.alloc_mr_at(
            source.len(),
            0x10_0000_0000 * (number as u64 + 1),
            Access::REMOTE_READ,
        )?;
        send.write(0, source)?;
        let target = pd.alloc_mr_at(
            target,
            0,
            Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::READ_SINK,
        )?;
        Ok(Self {
            pd,
            cq,
            source: send,
            target,
        })
    }
}

impl<'a> Pair<'a> {
    /// Connects device 0 to device 1 at `port`. Each end gets a region with `source`'s bytes and one of
    /// `target` zero bytes.
    pub fn connect(
        fabric: &'a Fabric,
        port: u16,
        connect: &ConnParam,
        accept: &ConnParam,
        source: &[u8],
        target: usize,
    ) -> Result<Self, PairError> {
        let address = SocketAddrV4::new(fabric.device(1).ip(), port);
        let (active, passive) = (
            Side::new(fabric, 0, source, target)?,
            Side::new(fabric, 1, source, target)?,
        );
        let channels = [0, 1].map(|n| fabric.device(n).create_event_channel());
        let listener = channels[1].create_id();
        listener.bind_addr(address)?;
        listener.listen(4)?;

        let id = channels[0].create_id();
        id.resolve_addr(address)?;
        event(fabric, &channels[0], CmEventType::AddrResolved)?;
        id.resolve_route()?;
        event(fabric, &channels[0], CmEventType::RouteResolved)?;
        let qp = id.create_qp(&active.pd, &QpInit::new(&active.cq))?;
        let start = fabric.now();
        id.connect(connect)?;

        let request = event(fabric, &channels[1], CmEventType::ConnectRequest)?;
        let peer = request.create_qp(&passive.pd, &QpInit::new(&passive.cq))?;
        request.accept(accept)?;
        event(fabric, &channels[0], CmEventType::Established)?;
        let connect_cycles = (fabric.now() - start) / CYCLE_NS;
        let [channel_a, channel_b] = channels;
        let end = |side: Side, qp, id, channel| End {
            qp,
            cq: side.cq,
            source: side.source,
            target: side.target,
            id,
            channel,
            _pd: side.pd,
        };
        let ends = [
            end(active, qp, id, channel_a),
            end(passive, peer, request, channel_b),
        ];
        Ok(Self {
            fabric,
            ends,
            _listener: listener,
            connect_cycles,
            established: false,
        })
    }

    /// Waits until the responder, too, is established.
    pub fn established(&mut self) -> Result<(), PairError> {
        if !self.established {
            event(self.fabric, &self.ends[1].channel, CmEventType::Established)?;
            self.established = true;
        }
        Ok(())
    }

    /// The next completion of an end.
    pub fn completion(&self, end: usize, what: &str) -> Result<Wc, PairError> {
        let cq = &self.ends[end].cq;
        Ok(self
            .fabric
            .run_until(what, LIMIT, || cq.poll_one().transpose())??)
    }

    /// Moves `len` bytes from `from_offset` of end `from`'s source to `to_offset` of the other end's target,
    /// in several SGEs on both sides. Answers the cycles from the post to the completion that tells the
    /// receiver of the bytes (a Send, a Read) or the sender (a Write).
    pub fn transfer(
        &mut self,
        operation: Operation,
        from: usize,
        from_offset: usize,
        to_offset: usize,
        len: usize,
    ) -> Result<u64, PairError> {
        let (a, b) = (&self.ends[from], &self.ends[1 - from]);
        let start = self.fabric.now();
        let done = match operation {
            Operation::Send => {
                let list = sges(&a.source, from_offset, len, 3);
                self.send(from, to_offset, len, SendWr::send(2).sges(&list))?
            }
            Operation::Write => {
                let list = sges(&a.source, from_offset, len, 3);
                let write = SendWr::write(3, b.target.remote().offset(to_offset as u64));
                a.qp.post_send(write.sges(&list).signaled())?;
                let wc = self.completion(from, "the Write's completion")?;
                self.check_status(operation, len, &wc)?;
                (self.fabric.now() - start) / CYCLE_NS
            }
            Operation::Read => {
                let mut read =
                    SendWr::read(4, a.source.remote().offset(from_offset as u64)).signaled();
                if len > 0 {
                    read = read.sge(b.target.sge(to_offset as u64, len as u32));
                }
                b.qp.post_send(read)?;
                let wc = self.completion(1 - from, "the Read's completion")?;
                self.check_completion(operation, len, &wc)?;
                (self.fabric.now() - start) / CYCLE_NS
            }
        };
        Ok(done)
    }

    /// Posts a receive of `len` bytes at `to_offset` of the other end's target, and this Send of so many. Answers the cycles from there to
    /// the receive's completion.
    pub fn send(
        &self,
        from: usize,
        to_offset: usize,
        len: usize,
        send: SendWr<'_>,
    ) -> Result<u64, PairError> {
        let (a, b) = (&self.ends[from], &self.ends[1 - from]);
        let start = self.fabric.now();
        let list = sges(&b.target, to_offset, len, 2);
        b.qp.post_recv(RecvWr::new(1).sges(&list))?;
        a.qp.post_send(send.signaled())?;
        let received = self.completion(1 - from, "the receive's completion")?;
        self.check_completion(Operation::Send, len, &received)?;
        let cycles = (self.fabric.now() - start) / CYCLE_NS;
        let sent = self.completion(from, "the Send's completion")?;
        self.check_status(Operation::Send, len, &sent)?;
        Ok(cycles)
    }

    /// Checks that the target of end `to` is `before` but for `len` bytes at `to_offset`, which are
    /// `bytes`; answers the new contents.
    pub fn check_target(
        &self,
        operation: Operation,
        to: usize,
        before: &mut [u8],
        to_offset: usize,
        bytes: &[u8],
    ) -> Result<(), PairError> {
        before[to_offset..to_offset + bytes.len()].copy_from_slice(bytes);
        let mut is = self.ends[to].target.to_vec(0, before.len())?;
        // A Write's completion says that TCP has the bytes: what came while the flow was detached may be placed later.
        for _ in 0..LOOKS {
            if is == before || operation != Operation::Write {
                break;
            }
            self.fabric.run_for(LATER)?;
            is = self.ends[to].target.to_vec(0, before.len())?;
        }
        match is.iter().zip(before.iter()).position(|(a, b)| a != b) {
            None => Ok(()),
            Some(at) => Err(PairError::Bytes {
                operation: operation.name(),
                len: bytes.len(),
                at,
                is: is[at],
                should: before[at],
            }),
        }
    }

    fn check_status(&self, operation: Operation, len: usize, wc: &Wc) -> Result<(), PairError> {
        match wc.status {
            WcStatus::Success => Ok(()),
            status => Err(PairError::Completion {
                operation: operation.name(),
                len,
                status,
            }),
        }
    }

    fn check_completion(&self, operation: Operation, len: usize, wc: &Wc) -> Result<(), PairError> {
        self.check_status(operation, len, wc)?;
        if wc.byte_len as usize == len {
            return Ok(());
        }
        Err(PairError::Length {
            operation: operation.name(),
            len,
            byte_len: wc.byte_len,
        })
    }

    /// Closes the connection in order.
    pub fn disconnect(self) -> Result<(), PairError> {
        self.ends[0].id.disconnect()?;
        for end in &self.ends {
            event(self.fabric, &end.channel, CmEventType::Disconnected)?;
        }
        Ok(())
    }
}

/// `len` bytes of a region from `from` on, in up to `count` SGEs.
fn sges(mr: &Mr, from: usize, len: usize, count: usize) -> Vec<Sge<'_>> {
    parts(len, count)
        .into_iter()
        .map(|(at, part)| mr.sge((from + at) as u64, part as u32))
        .collect()
}

/// `len` bytes in up to `count` parts of odd sizes: where each begins, and its bytes.
fn parts(len: usize, count: usize) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for left in (1..=count).rev() {
        let part = if left == 1 {
            len - at
        } else {
            ((len - at) / left) | 1
        };
        let part = part.min(len - at);
        if part > 0 {
            parts.push((at, part));
        }
        at += part;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_the_whole() {
        for len in 0..200 {
            for count in 1..=4 {
                let list = parts(len, count);
                assert!(list.len() <= count && list.iter().all(|p| p.1 > 0));
                assert_eq!(list.iter().map(|p| p.1).sum::<usize>(), len);
                assert!(list.windows(2).all(|w| w[0].0 + w[0].1 == w[1].0));
            }
        }
    }
}

//! Lanes: of each connection from host 0 to host 1 as many as the load has under way. A lane makes a request, has its answer, makes the next one.
//! A message between the two hosts begins with the number of its lane.

use weft_hostdrv::verbs::{Cq, Mr, Qp, RecvWr, SendWr, Wc};

use super::arrivals::{Arrivals, Request};
use super::bytes::number;
use super::scene::{wrong, Scene};
use super::step::Step;
use crate::partitions::PartitionsError;

/// The most that goes with the work request itself.
const INLINE: usize = 64;

pub(super) struct Lanes {
    arrivals: Arrivals,
    connections: Vec<[Qp; 2]>,
    depth: usize,
    since: Vec<u64>,
    /// Of each host: its completions, and its messages, as many to send as to receive.
    cqs: [Cq; 2],
    messages: [Mr; 2],
    /// Bytes of the largest message.
    room: usize,
}

impl Lanes {
    /// All of the load, with receives posted for messages that are so large at most.
    pub(super) fn new(scene: &mut Scene<'_>, room: usize) -> Result<Self, PartitionsError> {
        let load = scene.load;
        let count = load.connections * load.depth;
        let connections = scene.connect_all()?;
        let memory = |host| scene.memory(host, 2 * count * room);
        let lanes = Self {
            arrivals: scene.arrivals(),
            connections,
            depth: load.depth,
            since: vec![0; count],
            cqs: [0, 1].map(|host| scene.hosts[host].cq.clone()),
            messages: [memory(0)?, memory(1)?],
            room,
        };
        for host in [0, 1] {
            for slot in 0..count {
                lanes.qp(host, slot).post_recv(lanes.receive(host, slot))?;
            }
        }
        Ok(lanes)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.since.len()
    }

    /// A host's end of a lane's connection.
    pub(super) fn qp(&self, host: usize, lane: usize) -> &Qp {
        &self.connections[lane / self.depth][host]
    }

    fn receive(&self, host: usize, slot: usize) -> RecvWr<'_> {
        let at = (self.count() + slot) * self.room;
        let into = self.messages[host].sge(at as u64, self.room as u32);
        RecvWr::new(slot as u64).sge(into)
    }

    /// The oldest completion of a host.
    pub(super) fn poll(
        &self,
        host: usize,
        step: &mut Step<'_>,
    ) -> Result<Option<Wc>, PartitionsError> {
        step.poll(&self.cqs[host])
    }

    /// A host sends a message of a lane.
    pub(super) fn tell(
        &self,
        host: usize,
        lane: usize,
        message: &[u8],
        step: &mut Step<'_>,
    ) -> Result<(), PartitionsError> {
        let send = SendWr::send(lane as u64);
        if message.len() <= INLINE {
            return step.send(self.qp(host, lane), send.inline(message));
        }
        let at = lane * self.room;
        self.messages[host].write(at, message)?;
        step.copied(message.len());
        let from = self.messages[host].sge(at as u64, message.len() as u32);
        step.send(self.qp(host, lane), send.sge(from))
    }

    /// A lane reads so many bytes of the server's memory into memory of its own; each memory with an offset.
    pub(super) fn read(
        &self,
        lane: usize,
        [from, into]: [(&Mr, usize); 2],
        bytes: usize,
        step: &mut Step<'_>,
    ) -> Result<(), PartitionsError> {
        let from = from.0.remote().offset(from.1 as u64);
        let into = into.0.sge(into.1 as u64, bytes as u32);
        let read = SendWr::read(lane as u64, from).sge(into).signaled();
        step.send(self.qp(0, lane), read)
    }

    /// The lane and the message of a receive, which is posted again.
    pub(super) fn heard(
        &self,
        host: usize,
        wc: &Wc,
        step: &mut Step<'_>,
    ) -> Result<(usize, Vec<u8>), PartitionsError> {
        let slot = wc.wr_id as usize;
        let at = (self.count() + slot) * self.room;
        let message = self.messages[host].to_vec(at, wc.byte_len as usize)?;
        step.receive(self.qp(host, slot), self.receive(host, slot))?;
        let lane = number(&message, 0) as usize;
        match lane / self.depth == slot / self.depth {
            true => Ok((lane, message)),
            false => Err(wrong(format!(
                "a message of lane {lane} came to slot {slot}"
            ))),
        }
    }

    /// The lane that makes a request now, if one is to.
    pub(super) fn next(&mut self, step: &Step<'_>) -> Option<usize> {
        let Request { lane, since } = self.arrivals.take(step.now())?;
        self.since[lane] = since;
        Some(lane)
    }

    /// When the next request is to be made.
    pub(super) fn due(&self) -> Option<u64> {
        self.arrivals.due()
    }

    /// A lane has its answer, of so many bytes, all of them right.
    pub(super) fn ended(&mut self, lane: usize, bytes: usize, step: &mut Step<'_>) {
        step.ended(self.since[lane], bytes);
        self.arrivals.answered(lane, step.now());
    }
}

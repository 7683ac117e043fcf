//! One all-reduce after the other, by a ring (Patarasuk and Yuan, JPDC 2009): each host has a vector, and in the end each has the sum of all.
//!
//! The vector is in as many chunks as there are hosts. First each chunk goes once round, and each host adds its own (reduce-scatter); then
//! the sums go round (all-gather). A chunk goes to the next host by a Write, and a Send tells of it.

use weft_hostdrv::verbs::{Cq, Mr, Qp, RecvWr, SendWr};

use super::bytes::{add, make, numbers};
use super::rounds::Rounds;
use super::scene::{wrong, Scene};
use super::step::Step;
use super::Program;
use crate::partitions::PartitionsError;

/// Bytes of what a Send says: the round, and how many chunks came before.
const MESSAGE: usize = 16;

/// A host.
struct Node {
    cq: Cq,
    /// To the next host, and from the one before.
    next: Qp,
    before: Qp,
    /// Its vector; chunks to be added; sums; messages.
    own: Mr,
    inbox: Mr,
    sums: Mr,
    messages: Mr,
    /// Rounds begun, and chunks that came in this one.
    begun: usize,
    came: usize,
}

pub(super) struct AllReduce {
    nodes: Vec<Node>,
    rounds: Rounds,
    chunk: usize,
    /// Hosts that have all sums of this round.
    done: usize,
}

impl AllReduce {
    pub(super) fn new(scene: &mut Scene<'_>) -> Result<Self, PartitionsError> {
        let count = scene.load.machines;
        let chunk = 4 * scene.load.sizes[0].div_ceil(4 * count);
        let mut connect = |host| scene.connect(host, (host + 1) % count, 8 * count);
        let ring: Vec<[Qp; 2]> = (0..count).map(&mut connect).collect::<Result<_, _>>()?;
        let mut nodes = Vec::new();
        for host in 0..count {
            let node = Node {
                cq: scene.hosts[host].cq.clone(),
                next: ring[host][0].clone(),
                before: ring[(host + count - 1) % count][1].clone(),
                own: scene.memory(host, count * chunk)?,
                inbox: scene.memory(host, count * chunk)?,
                sums: scene.memory(host, count * chunk)?,
                messages: scene.memory(host, 2 * count * MESSAGE)?,
                begun: 0,
                came: 0,
            };
            for slot in 0..2 * count {
                node.before.post_recv(node.receive(slot))?;
            }
            nodes.push(node);
        }
        Ok(Self {
            nodes,
            rounds: scene.rounds(),
            chunk,
            done: 0,
        })
    }

    /// The chunk that a host got last, and sends next: at first its own number, and one less each time.
    fn at(&self, host: usize) -> usize {
        let count = self.nodes.len();
        (host + 2 * count - self.nodes[host].came) % count * self.chunk
    }

    fn send(&self, host: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (at, node) = (self.at(host) as u64, &self.nodes[host]);
        let next = &self.nodes[(host + 1) % self.nodes.len()];
        let (from, to) = match node.came + 1 < self.nodes.len() {
            true => (&node.own, &next.inbox),
            false => (&node.sums, &next.sums),
        };
        let write = SendWr::write(0, to.remote().offset(at));
        step.send(&node.next, write.sge(from.sge(at, self.chunk as u32)))?;
        let message = numbers(&[node.begun as u64, node.came as u64]);
        step.send(&node.next, SendWr::send(0).inline(&message))
    }

    /// A chunk came: it is added to the host's own, or is a sum already.
    fn take(
        &mut self,
        host: usize,
        slot: usize,
        step: &mut Step<'_>,
    ) -> Result<(), PartitionsError> {
        let (count, chunk) = (self.nodes.len(), self.chunk);
        let node = &mut self.nodes[host];
        let message = node.messages.to_vec(slot * MESSAGE, MESSAGE)?;
        if message != numbers(&[node.begun as u64, node.came as u64]) {
            return Err(wrong(format!("host {host} was told of another chunk")));
        }
        node.came += 1;
        let (at, node) = (self.at(host), &self.nodes[host]);
        if node.came < count {
            let mut sum = node.own.to_vec(at, chunk)?;
            add(&mut sum, &node.inbox.to_vec(at, chunk)?);
            let is_last = node.came + 1 == count;
            let to = if is_last { &node.sums } else { &node.own };
            to.write(at, &sum)?;
            step.copied(chunk);
        }
        step.receive(&node.before, node.receive(slot))?;
        if node.came < 2 * (count - 1) {
            return self.send(host, step);
        }
        self.done += 1;
        if self.done == count {
            self.end(step)?;
        }
        Ok(())
    }

    /// All hosts have all sums: they are compared.
    fn end(&mut self, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let mut sum = vec![0; self.nodes.len() * self.chunk];
        (0..self.nodes.len()).for_each(|host| add(&mut sum, &self.vector(host)));
        for (host, node) in self.nodes.iter().enumerate() {
            if node.sums.to_vec(0, sum.len())? != sum {
                return Err(wrong(format!("host {host} has other sums")));
            }
        }
        self.done = 0;
        self.rounds.end(sum.len(), step);
        Ok(())
    }

    /// A host's vector of this round.
    fn vector(&self, host: usize) -> Vec<u8> {
        let tag = self.rounds.number() * self.nodes.len() + host;
        make(tag as u64, self.nodes.len() * self.chunk)
    }
}

impl Node {
    fn receive(&self, slot: usize) -> RecvWr<'_> {
        let at = (slot * MESSAGE) as u64;
        RecvWr::new(slot as u64).sge(self.messages.sge(at, MESSAGE as u32))
    }
}

impl Program for AllReduce {
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError> {
        let node = &self.nodes[host];
        if node.begun == self.rounds.number() && self.rounds.is_due(step.now()) {
            node.own.write(0, &self.vector(host))?;
            let node = &mut self.nodes[host];
            (node.begun, node.came) = (node.begun + 1, 0);
            self.send(host, step)?;
            return Ok(true);
        }
        let Some(wc) = step.poll(&node.cq)? else {
            return Ok(false);
        };
        self.take(host, wc.wr_id as usize, step)?;
        Ok(true)
    }

    fn due(&self) -> Option<u64> {
        self.rounds.due()
    }
}

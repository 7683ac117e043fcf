//! Incast: host 0 asks all others, in any order, and all answer at once through one port of the switch (Phanishayee et al., FAST 2008).
//!
//! A question is its number. An answer is a Write, and a Send of that number behind it.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::verbs::{Cq, Mr, Qp, RecvWr, SendWr};

use super::arrivals::Arrivals;
use super::bytes::{belong, make, numbers};
use super::scene::{wrong, Scene};
use super::step::Step;
use super::Program;
use crate::partitions::PartitionsError;

/// Bytes of a question, and of the Send behind an answer.
const MESSAGE: usize = 8;

/// One that answers: both ends of its connection, its answer, what it is told; and what it tells.
struct Sender {
    ends: [Qp; 2],
    answer: Mr,
    messages: [Mr; 2],
}

pub(super) struct Incast {
    arrivals: Arrivals,
    cqs: Vec<Cq>,
    senders: Vec<Sender>,
    /// Where answers come, one behind the other.
    answers: Mr,
    bytes: usize,
    rng: ChaCha8Rng,
    /// The question, since when it is to be asked, who is to be asked next, and the answers that have not come.
    number: u64,
    since: u64,
    order: Vec<usize>,
    left: usize,
}

impl Incast {
    pub(super) fn new(scene: &mut Scene<'_>) -> Result<Self, PartitionsError> {
        let (bytes, mut senders) = (scene.load.sizes[0], Vec::new());
        for host in 1..scene.load.machines {
            let messages = [scene.memory(0, MESSAGE)?, scene.memory(host, MESSAGE)?];
            let ends = scene.connect(0, host, 16)?;
            for (qp, message) in ends.iter().zip(&messages) {
                qp.post_recv(receive(host, message))?;
            }
            senders.push(Sender {
                ends,
                answer: scene.memory(host, bytes)?,
                messages,
            });
        }
        Ok(Self {
            arrivals: scene.arrivals(),
            cqs: scene.hosts.iter().map(|host| host.cq.clone()).collect(),
            answers: scene.memory(0, senders.len() * bytes)?,
            senders,
            bytes,
            rng: scene.rng(),
            number: 0,
            since: 0,
            order: Vec::new(),
            left: 0,
        })
    }

    /// A host has a message of the question that there is: it takes another one.
    fn heard(&self, end: usize, sender: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (host, Sender { ends, messages, .. }) = (sender + 1, &self.senders[sender]);
        if messages[end].to_vec(0, MESSAGE)? != numbers(&[self.number]) {
            return Err(wrong(format!(
                "host {host} and host 0 speak of different questions"
            )));
        }
        step.receive(&ends[end], receive(host, &messages[end]))
    }

    fn tag(&self, sender: usize) -> u64 {
        self.number * self.senders.len() as u64 + sender as u64
    }

    /// A sender is asked.
    fn answer(&self, sender: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        self.heard(1, sender, step)?;
        let Sender { ends, answer, .. } = &self.senders[sender];
        answer.write(0, &make(self.tag(sender), self.bytes))?;
        let to = self.answers.remote().offset((sender * self.bytes) as u64);
        let write = SendWr::write(0, to).sge(answer.sge(0, self.bytes as u32));
        step.send(&ends[1], write)?;
        let message = numbers(&[self.number]);
        step.send(&ends[1], SendWr::send(0).inline(&message))
    }

    /// A sender has answered.
    fn take(&mut self, sender: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        self.heard(0, sender, step)?;
        let answer = self.answers.to_vec(sender * self.bytes, self.bytes)?;
        if !belong(&answer, self.tag(sender)) {
            return Err(wrong(format!("host {} answered other bytes", sender + 1)));
        }
        self.left -= 1;
        if self.left == 0 {
            step.ended(self.since, self.senders.len() * self.bytes);
            self.arrivals.answered(0, step.now());
        }
        Ok(())
    }
}

fn receive(host: usize, message: &Mr) -> RecvWr<'_> {
    RecvWr::new(host as u64).sge(message.sge(0, MESSAGE as u32))
}

impl Program for Incast {
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError> {
        let request = (host == 0)
            .then(|| self.arrivals.take(step.now()))
            .flatten();
        if let Some(request) = request {
            (self.number, self.since) = (self.number + 1, request.since);
            self.left = self.senders.len();
            self.order = (0..self.senders.len()).collect();
            self.order.shuffle(&mut self.rng);
        }
        let next = (host == 0).then(|| self.order.pop()).flatten();
        if let Some(sender) = next {
            let qp = &self.senders[sender].ends[0];
            step.send(qp, SendWr::send(0).inline(&numbers(&[self.number])))?;
            return Ok(true);
        }
        match (step.poll(&self.cqs[host])?, host) {
            (Some(wc), 0) => self.take(wc.wr_id as usize - 1, step)?,
            (Some(_), _) => self.answer(host - 1, step)?,
            (None, _) => return Ok(false),
        }
        Ok(true)
    }

    fn due(&self) -> Option<u64> {
        self.arrivals.due()
    }
}

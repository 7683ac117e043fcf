//! DMA by message: memory for which the client gave no descriptor.
//!
//! The card asks, and goes on asking, until the answer is there; nothing waits. It must not: a client may want a register
//! read before it looks at what it was asked for. QEMU does, since both need its global lock.
//!
//! There are clients with 32 bits of count in the payload and the data right behind it, where the protocol has 64 bits: QEMU's
//! client as it was first proposed. (QEMU 11.1 has 64.) It does not show in any length, and would shift the data by 4
//! bytes. So the first message to a client asks for 2^32 + 4 bytes: by the protocol more than any client gives, and refused; 4
//! bytes to one that looks at 32 bits only.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::{lock, Connection, SharedConnection, MAX_DATA};
use super::message::{command, request, Header, Payload};
use crate::iommu::{Answer, Lender};

/// How long a client may take to answer.
const REPLY_LIMIT: Duration = Duration::from_secs(5);
/// Groups of accesses that a cycle of a card has at most.
const GROUPS: u32 = 4;
/// More than any client gives, and 4 in the lower 32 bits.
const TOO_MUCH: u64 = 1 << 32 | 4;

/// How a client lays out the payload of DMA messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// 64 bits of count.
    Protocol,
    /// 32 bits of count.
    Narrow,
}

impl Layout {
    /// The payload of a question about `len` bytes, with the bytes of a write.
    fn question(self, address: u64, len: usize, bytes: &[u8]) -> Vec<u8> {
        let address = Payload::new().u64(address);
        match self {
            Layout::Protocol => address.u64(len as u64).bytes(bytes).done(),
            // As long as the other one: the structure has 4 bytes behind the count that are not used.
            Layout::Narrow => address.u32(len as u32).bytes(bytes).u32(0).done(),
        }
    }

    /// The data in the answer to a read.
    fn data(self, answer: &[u8], len: usize) -> Option<&[u8]> {
        let at = match self {
            Layout::Protocol => 16,
            Layout::Narrow => 12,
        };
        answer.get(at..at + len)
    }
}

/// What a question was about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum About {
    Layout,
    Read { address: u64, len: usize },
    Write { address: u64, bytes: Vec<u8> },
}

#[derive(Debug)]
enum State {
    /// Since then.
    Asked(Instant),
    /// With the data of a read.
    Given(Vec<u8>),
    Refused,
}

#[derive(Debug)]
struct Question {
    id: u16,
    about: About,
    state: State,
    /// Groups of accesses that have begun since one wanted it; 0: the present one does.
    unwanted: u32,
}

/// Questions to a client, and its answers.
#[derive(Debug)]
pub struct Lending {
    next_id: u16,
    max_data: usize,
    layout: Option<Layout>,
    questions: Vec<Question>,
    /// Questions that nobody wants an answer to any more.
    forgotten: Vec<u16>,
    /// There are answers that the card has not looked at.
    news: bool,
    silent: bool,
    asked: u64,
    unexpected: u64,
}

impl Default for Lending {
    fn default() -> Self {
        Self {
            next_id: 0,
            max_data: MAX_DATA,
            layout: None,
            questions: Vec::new(),
            forgotten: Vec::new(),
            news: false,
            silent: false,
            asked: 0,
            unexpected: 0,
        }
    }
}

impl Lending {
    /// The most data the client wants in a message.
    pub fn set_max_data(&mut self, bytes: usize) {
        self.max_data = bytes.clamp(1, MAX_DATA);
    }

    /// Messages sent so far, and replies that nobody had asked for.
    pub fn counts(&self) -> (u64, u64) {
        (self.asked, self.unexpected)
    }

    /// A reply.
    pub fn answer(&mut self, header: Header, payload: Vec<u8>) {
        let asked = |q: &&mut Question| q.id == header.id && matches!(q.state, State::Asked(_));
        let Some(question) = self.questions.iter_mut().find(asked) else {
            match self.forgotten.iter().position(|id| *id == header.id) {
                Some(at) => drop(self.forgotten.swap_remove(at)),
                None => self.unexpected += 1,
            }
            return;
        };
        self.news = true;
        question.state = match (&question.about, self.layout) {
            (About::Layout, _) => {
                let narrow = !header.is_error();
                let bits = if narrow { 32 } else { 64 };
                tracing::info!("DMA goes by message; the client counts with {bits} bits");
                self.layout = Some(if narrow {
                    Layout::Narrow
                } else {
                    Layout::Protocol
                });
                State::Refused
            }
            _ if header.is_error() => State::Refused,
            (About::Read { len, .. }, Some(layout)) => match layout.data(&payload, *len) {
                Some(data) => State::Given(data.to_vec()),
                None => {
                    self.unexpected += 1;
                    State::Refused
                }
            },
            _ => State::Given(Vec::new()),
        };
        self.questions
            .retain(|q| q.about != About::Layout || matches!(q.state, State::Asked(_)));
    }

    /// A group begins. An answer that none of the last ones wanted would be old when one does.
    fn begin(&mut self) {
        for question in &mut self.questions {
            question.unwanted += 1;
        }
        let fresh = |q: &Question| q.unwanted <= GROUPS || matches!(q.state, State::Asked(_));
        self.questions.retain(fresh);
    }

    /// The answers that the group had are used up.
    fn commit(&mut self) {
        let wanted = |q: &Question| q.unwanted == 0 && matches!(q.state, State::Asked(_));
        let open = self.questions.iter().filter(|q| wanted(q)).map(|q| q.id);
        self.forgotten.extend(open);
        self.questions.retain(|q| q.unwanted > 0);
    }

    /// Are there answers that the card has not looked at?
    pub fn has_news(&self) -> bool {
        self.news
    }

    /// The card has looked.
    pub fn seen(&mut self) {
        self.news = false;
    }

    fn forget(&mut self) {
        self.news = false;
        for question in self.questions.drain(..) {
            if let State::Asked(_) = question.state {
                self.forgotten.push(question.id);
            }
        }
    }

    fn is_asked(&self) -> bool {
        self.questions
            .iter()
            .any(|q| matches!(q.state, State::Asked(_)))
    }

    /// Where the question is, if it was asked.
    fn find(&self, about: &About) -> Option<usize> {
        self.questions.iter().position(|q| q.about == *about)
    }

    /// The message of a new question.
    fn ask(&mut self, number: u16, about: About, payload: &[u8]) -> Vec<u8> {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        self.asked += 1;
        self.questions.push(Question {
            id,
            about,
            state: State::Asked(Instant::now()),
            unwanted: 0,
        });
        request(id, number, payload)
    }

    /// A client that did not answer in time is not asked again.
    fn look_at_the_clock(&mut self) {
        let late = |q: &Question| matches!(q.state, State::Asked(t) if t.elapsed() > REPLY_LIMIT);
        if !self.silent && self.questions.iter().any(late) {
            self.silent = true;
            tracing::warn!(
                "the client does not answer DMA by message: its memory cannot be reached"
            );
        }
    }
}

impl Connection {
    /// Asks what was not asked yet, and sees what is answered. With all answers there, `take` gets each data.
    fn share(&mut self, all: Vec<About>, keep: bool, mut take: impl FnMut(usize, &[u8])) -> Answer {
        self.look();
        self.lending.look_at_the_clock();
        if self.lending.silent || self.gone().is_some() {
            return Answer::Refused;
        }
        let Some(layout) = self.lending.layout else {
            if self.lending.find(&About::Layout).is_none() {
                let address = match all.first() {
                    Some(About::Read { address, .. } | About::Write { address, .. }) => *address,
                    _ => return Answer::Done,
                };
                let payload = Payload::new().u64(address).u64(TOO_MUCH).done();
                let message = self.lending.ask(command::DMA_READ, About::Layout, &payload);
                self.send(&message);
            }
            return Answer::NotYet;
        };
        let mut answer = Answer::Done;
        for about in &all {
            let at = self.lending.find(about);
            if let Some(at) = at {
                self.lending.questions[at].unwanted = 0;
            }
            let state = at.map(|at| &self.lending.questions[at].state);
            match state {
                Some(State::Given(_)) => {}
                Some(State::Refused) => answer = Answer::Refused,
                Some(State::Asked(_)) if answer == Answer::Done => answer = Answer::NotYet,
                Some(State::Asked(_)) => {}
                None => {
                    let (number, payload) = match about {
                        About::Read { address, len } => {
                            (command::DMA_READ, layout.question(*address, *len, &[]))
                        }
                        About::Write { address, bytes } => (
                            command::DMA_WRITE,
                            layout.question(*address, bytes.len(), bytes),
                        ),
                        About::Layout => continue,
                    };
                    let message = self.lending.ask(number, about.clone(), &payload);
                    self.send(&message);
                    if answer == Answer::Done {
                        answer = Answer::NotYet;
                    }
                }
            }
        }
        if answer == Answer::NotYet {
            return answer;
        }
        for (n, about) in all.iter().enumerate() {
            let Some(at) = self.lending.find(about) else {
                continue;
            };
            if let (State::Given(data), Answer::Done) = (&self.lending.questions[at].state, answer)
            {
                take(n, data);
            }
            let over = !matches!(self.lending.questions[at].state, State::Asked(_));
            if over && !keep {
                self.lending.questions.swap_remove(at);
            }
        }
        answer
    }
}

/// A client as the IOMMU asks it.
#[derive(Debug)]
pub struct Client(SharedConnection);

impl Client {
    /// The client of a connection.
    pub fn new(connection: &SharedConnection) -> Self {
        Self(Arc::clone(connection))
    }
}

impl Lender for Client {
    fn read(&self, address: u64, to: &mut [u8], keep: bool) -> Answer {
        let mut connection = lock(&self.0);
        let max = connection.lending.max_data;
        let all = to.chunks(max).enumerate().map(|(n, chunk)| About::Read {
            address: address + (n * max) as u64,
            len: chunk.len(),
        });
        let all = all.collect();
        connection.share(all, keep, |n, data| {
            to[n * max..][..data.len()].copy_from_slice(data);
        })
    }

    fn write(&self, address: u64, from: &[u8], keep: bool) -> Answer {
        let mut connection = lock(&self.0);
        let max = connection.lending.max_data;
        let all = from.chunks(max).enumerate().map(|(n, chunk)| About::Write {
            address: address + (n * max) as u64,
            bytes: chunk.to_vec(),
        });
        connection.share(all.collect(), keep, |_, _| {})
    }

    fn is_asked(&self) -> bool {
        let mut connection = lock(&self.0);
        connection.look();
        connection.lending.look_at_the_clock();
        !connection.lending.silent && connection.lending.is_asked()
    }

    fn begin(&self) {
        lock(&self.0).lending.begin();
    }

    fn commit(&self) {
        lock(&self.0).lending.commit();
    }

    fn forget(&self) {
        lock(&self.0).lending.forget();
    }
}

//! Shared receive queues: receives that any of several queue pairs takes, each at the first segment of a message ([`crate::queues::shared_receive`]).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::interface::cm::Event;
use crate::interface::error::Error;
use crate::interface::verbs::{PdId, SrqId, MAX_RECV_SGE};
use crate::memory::region::Regions;
use crate::queues::qp::RecvEntry;
use crate::queues::xrc::XrcdId;

/// Deepest queue.
const MAX_DEPTH: u32 = 1 << 15;

/// What a shared receive queue is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqConfig {
    /// Its protection domain, and that of its queue pairs.
    pub pd: PdId,
    /// Elements that it holds, 1 to 32768.
    pub depth: u32,
    /// SGEs of an element, 1 to 4.
    pub max_sge: u8,
    /// [`Event::SrqLimit`] is told when fewer elements wait, once; 0: never. At most its depth.
    pub limit: u32,
}

/// How a shared receive queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqState {
    /// The limit that stands.
    pub limit: u32,
    /// Elements that no message has taken.
    pub waiting: u32,
}

#[derive(Debug)]
struct Srq {
    id: SrqId,
    config: SrqConfig,
    waiting: VecDeque<RecvEntry>,
    /// Queue pairs that have it.
    users: u32,
    /// Its XRC domain, whose targets reach it.
    xrcd: Option<XrcdId>,
}

impl Srq {
    /// The limit is passed: what is to be told, once.
    fn passes_limit(&mut self) -> Option<Event> {
        if self.waiting.len() as u32 >= self.config.limit {
            return None;
        }
        self.config.limit = 0;
        Some(Event::SrqLimit { srq: self.id })
    }
}

/// All of an engine.
#[derive(Debug, Default)]
pub(crate) struct Srqs {
    queues: Vec<Option<Srq>>,
    made: u16,
}

impl Srqs {
    /// Queues that there are.
    pub fn count(&self) -> usize {
        self.queues.iter().flatten().count()
    }

    /// Bytes of one, beside its elements.
    pub const BYTES: usize = size_of::<Option<Srq>>();

    fn get(&mut self, id: SrqId) -> Result<&mut Srq, Error> {
        let queue = self.queues.get_mut(usize::from(id.index));
        let queue = queue.and_then(Option::as_mut);
        queue.filter(|srq| srq.id == id).ok_or(Error::UnknownSrq)
    }

    /// A new one.
    pub fn create(&mut self, config: &SrqConfig, xrcd: Option<XrcdId>) -> Result<SrqId, Error> {
        if !(1..=MAX_DEPTH).contains(&config.depth)
            || !(1..=MAX_RECV_SGE).contains(&usize::from(config.max_sge))
            || config.limit > config.depth
        {
            return Err(Error::InvalidSrq);
        }
        let free = self.queues.iter().position(Option::is_none);
        let at = free.unwrap_or(self.queues.len());
        let index = u16::try_from(at).map_err(|_| Error::NoMemory)?;
        self.made = self.made.wrapping_add(1).max(1);
        let id = SrqId {
            index,
            generation: self.made,
        };
        let srq = Srq {
            id,
            config: *config,
            waiting: VecDeque::with_capacity(config.depth as usize),
            users: 0,
            xrcd,
        };
        match self.queues.get_mut(at) {
            Some(place) => *place = Some(srq),
            None => self.queues.push(Some(srq)),
        }
        Ok(id)
    }

    /// Removes one that no queue pair has; the elements that wait in it are gone without completion. Its domains.
    pub fn destroy(
        &mut self,
        id: SrqId,
        regions: &mut Regions,
    ) -> Result<(PdId, Option<XrcdId>), Error> {
        let srq = self.get(id)?;
        if srq.users > 0 {
            return Err(Error::InUse);
        }
        let domains = (srq.config.pd, srq.xrcd);
        srq.waiting.iter().for_each(|entry| entry.end(regions));
        self.queues[usize::from(id.index)] = None;
        Ok(domains)
    }

    /// A queue pair takes from it from now on.
    pub fn join(&mut self, id: SrqId) -> Result<(), Error> {
        self.get(id)?.users += 1;
        Ok(())
    }

    /// One does no more.
    pub fn leave(&mut self, id: SrqId) {
        if let Ok(srq) = self.get(id) {
            srq.users = srq.users.saturating_sub(1);
        }
    }

    /// Asks for an event at a limit; it may be told at once.
    pub fn set_limit(&mut self, id: SrqId, limit: u32) -> Result<Option<Event>, Error> {
        let srq = self.get(id)?;
        if limit > srq.config.depth {
            return Err(Error::InvalidSrq);
        }
        srq.config.limit = limit;
        Ok(srq.passes_limit())
    }

    /// How it stands.
    pub fn state(&mut self, id: SrqId) -> Result<SrqState, Error> {
        let srq = self.get(id)?;
        Ok(SrqState {
            limit: srq.config.limit,
            waiting: srq.waiting.len() as u32,
        })
    }

    /// The queue of a domain that a Send calls by this number.
    pub fn in_domain(&mut self, xrcd: XrcdId, number: u32) -> Option<SrqId> {
        let id = SrqId::from_number(number);
        let srq = self.get(id).ok()?;
        (srq.xrcd == Some(xrcd)).then_some(id)
    }

    /// What it was made as.
    pub fn config(&mut self, id: SrqId) -> Result<SrqConfig, Error> {
        Ok(self.get(id)?.config)
    }

    /// An element more.
    pub fn push(
        &mut self,
        id: SrqId,
        entry: RecvEntry,
        regions: &mut Regions,
    ) -> Result<(), Error> {
        let srq = self.get(id)?;
        if srq.waiting.len() >= srq.config.depth as usize {
            return Err(Error::QueueFull);
        }
        entry.post(regions);
        srq.waiting.push_back(entry);
        Ok(())
    }

    /// A message takes the next element; and what is to be told of it.
    pub fn take(&mut self, id: SrqId) -> (Option<RecvEntry>, Option<Event>) {
        let Ok(srq) = self.get(id) else {
            return (None, None);
        };
        let entry = srq.waiting.pop_front();
        (entry, srq.passes_limit())
    }

    /// Completions that there can be.
    pub fn room(&self) -> usize {
        let queues = self.queues.iter().flatten();
        queues.map(|srq| srq.config.depth as usize).sum()
    }
}

//! XRC domains: shared receive queues that any connection of a domain reaches, by the number that a Send has for it.
//!
//! ```text
//!   initiator ──► Send, RsvdULP = number of a shared queue ──► target ──► domain ──► that queue
//! ```
//!
//! An initiator only sends and a target only receives: one connection for each process that sends and each host that it sends to. The number lies in the field that
//! RFC 5040 §4.4 leaves reserved in a Send, and only between ends that have agreed to it ([`weft_wire::mpa::Extensions`]). A target's tagged accesses are
//! judged by its own protection domain; what comes for a shared queue, by that of the queue.

use alloc::vec::Vec;

use crate::interface::error::Error;

/// An XRC domain. Never reused for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct XrcdId(u32);

impl XrcdId {
    /// Its number in commands; never 0.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The domain of a [`number`](Self::number), if there is one.
    pub fn from_number(number: u32) -> Self {
        XrcdId(number)
    }
}

#[derive(Debug)]
struct Domain {
    id: XrcdId,
    /// Shared queues and targets that are in it.
    users: u32,
}

/// All of an engine.
#[derive(Debug, Default)]
pub(crate) struct Xrcds {
    domains: Vec<Domain>,
    made: u32,
}

impl Xrcds {
    /// Domains that there are.
    pub fn count(&self) -> usize {
        self.domains.len()
    }

    fn get(&mut self, id: XrcdId) -> Result<&mut Domain, Error> {
        let mut domains = self.domains.iter_mut();
        let found = domains.find(|domain| domain.id == id);
        found.ok_or(Error::UnknownXrcd)
    }

    /// A new one.
    pub fn create(&mut self) -> XrcdId {
        self.made = self.made.wrapping_add(1).max(1);
        let id = XrcdId(self.made);
        self.domains.push(Domain { id, users: 0 });
        id
    }

    /// Removes one that nothing is in.
    pub fn destroy(&mut self, id: XrcdId) -> Result<(), Error> {
        if self.get(id)?.users > 0 {
            return Err(Error::InUse);
        }
        self.domains.retain(|domain| domain.id != id);
        Ok(())
    }

    /// Is there this one?
    pub fn has(&self, id: XrcdId) -> bool {
        self.domains.iter().any(|domain| domain.id == id)
    }

    /// A shared queue or a target is in it from now on.
    pub fn join(&mut self, id: XrcdId) -> Result<(), Error> {
        self.get(id)?.users += 1;
        Ok(())
    }

    /// One is no more.
    pub fn leave(&mut self, id: XrcdId) {
        if let Ok(domain) = self.get(id) {
            domain.users = domain.users.saturating_sub(1);
        }
    }
}

//! Protection domains and regions: the engine's copy of the card's STAG table, with the checks
//! that the card does for what it places, for what the engine places or sends itself.

use alloc::vec;
use alloc::vec::Vec;

use weft_layout::{table, StagRow};
use weft_wire::checks::{self, Violation};
use weft_wire::terminate::TerminateCode;

use crate::error::Error;
use crate::port::Port;
use crate::random::Random;
use crate::verbs::{Access, PdId, Sge};

/// A piece of host memory as the card sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// IOVA.
    pub iova: u64,
    /// Bytes.
    pub length: u32,
}

/// A region that somebody was let at, and which of those that its STag has named it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionRef {
    index: u32,
    generation: u32,
}

/// A registered region.
#[derive(Clone, Copy, Debug)]
struct Region {
    /// Not invalidated by the peer.
    valid: bool,
    generation: u32,
    key: u8,
    pd: PdId,
    access: Access,
    base: u64,
    length: u64,
    iova: u64,
    /// Reads of this side under way that have their sink in it.
    sinks: u32,
    /// From the first to behind the last byte that they and those before them ask for, as offsets, since there were none.
    reach: (u64, u64),
}

impl Region {
    /// The rights that hold now: that of a Read sink only while there is a Read that asked for it.
    fn rights(&self) -> Access {
        if self.sinks > 0 {
            self.access
        } else {
            self.access.without(Access::READ_SINK)
        }
    }

    /// Nothing but Read Responses may be placed there, so that the card's row need not reach further than they do.
    fn only_sink(&self) -> bool {
        let rights = self.access.bits()
            & (StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE | StagRow::READ_SINK);
        rights == StagRow::READ_SINK
    }

    /// The card's row.
    fn row(&self) -> StagRow {
        let (from, to) = if self.only_sink() && self.sinks > 0 {
            self.reach
        } else {
            (0, self.length)
        };
        StagRow {
            valid: StagRow::VALID,
            key: self.key,
            access: self.rights().bits() & Access::OF_CARD,
            pd: self.pd.0,
            base: self.base.wrapping_add(from),
            length: to - from,
            iova: self.iova.wrapping_add(from),
        }
    }

    /// What the checks of an access see of it.
    fn for_access(&self, needs: Access) -> checks::Region {
        checks::Region {
            domain: self.pd.0,
            allowed: self.rights().contains(needs),
            base: self.base,
            length: self.length,
            iova: self.iova,
        }
    }
}

#[derive(Debug)]
struct Domain {
    used: bool,
    members: u32,
}

/// All domains and regions of a card.
#[derive(Debug)]
pub struct Regions {
    domains: Vec<Domain>,
    /// By STag index; 0 is never used.
    rows: Vec<Option<Region>>,
    keys: Vec<u8>,
    random: Random,
    cursor: usize,
    registered: u32,
}

impl Regions {
    /// None yet, of at most `num_stags - 1`.
    pub fn new(num_stags: u32, random: &mut Random) -> Self {
        let count = num_stags.clamp(1, 1 << 24) as usize;
        Regions {
            domains: Vec::new(),
            rows: vec![None; count],
            keys: (0..count).map(|_| random.next() as u8).collect(),
            random: random.fork(),
            cursor: random.next() as usize % count,
            registered: 0,
        }
    }

    /// A new domain.
    pub fn alloc_pd(&mut self) -> PdId {
        let fresh = Domain {
            used: true,
            members: 0,
        };
        match self.domains.iter().position(|domain| !domain.used) {
            Some(index) => {
                self.domains[index] = fresh;
                PdId(index as u32 + 1)
            }
            None => {
                self.domains.push(fresh);
                PdId(self.domains.len() as u32)
            }
        }
    }

    fn domain(&mut self, pd: PdId) -> Result<&mut Domain, Error> {
        let index = (pd.0 as usize).checked_sub(1).ok_or(Error::UnknownPd)?;
        self.domains
            .get_mut(index)
            .filter(|domain| domain.used)
            .ok_or(Error::UnknownPd)
    }

    /// Removes an empty domain.
    pub fn dealloc_pd(&mut self, pd: PdId) -> Result<(), Error> {
        let domain = self.domain(pd)?;
        if domain.members > 0 {
            return Err(Error::InUse);
        }
        domain.used = false;
        Ok(())
    }

    /// A queue pair joins a domain.
    pub fn join(&mut self, pd: PdId) -> Result<(), Error> {
        self.domain(pd)?.members += 1;
        Ok(())
    }

    /// And leaves it.
    pub fn leave(&mut self, pd: PdId) {
        if let Ok(domain) = self.domain(pd) {
            domain.members = domain.members.saturating_sub(1);
        }
    }

    /// Registers a region.
    pub fn register<P: Port>(
        &mut self,
        pd: PdId,
        base: u64,
        iova: u64,
        length: u64,
        access: Access,
        port: &mut P,
    ) -> Result<u32, Error> {
        self.domain(pd)?;
        // base + length may be 2^64 itself.
        let fits = |start: u64| length == 0 || start.checked_add(length - 1).is_some();
        if !fits(base) || !fits(iova) {
            return Err(Error::InvalidRegion);
        }
        // Round robin, so that an STag just removed is not handed out again at once; beginning anywhere.
        let count = self.rows.len();
        let index = (0..count)
            .map(|step| (self.cursor + 1 + step) % count)
            .find(|&index| index != 0 && self.rows[index].is_none())
            .ok_or(Error::NoStags)?;
        self.cursor = index;
        // Any key but the last one of this index.
        let key = self.keys[index].wrapping_add((self.random.next() % 255) as u8 + 1);
        self.keys[index] = key;
        self.domain(pd)?.members += 1;
        self.registered = self.registered.wrapping_add(1);
        let region = Region {
            valid: true,
            generation: self.registered,
            key,
            pd,
            access,
            base,
            length,
            iova,
            sinks: 0,
            reach: (0, 0),
        };
        self.rows[index] = Some(region);
        port.write_table(table::STAG, index as u32, &region.row().to_bytes());
        Ok((index as u32) << 8 | u32::from(key))
    }

    /// Removes a region.
    pub fn deregister<P: Port>(&mut self, stag: u32, port: &mut P) -> Result<(), Error> {
        let region = self.row(stag).ok_or(Error::UnknownStag(stag))?;
        let pd = region.pd;
        self.leave(pd);
        let index = stag >> 8;
        self.rows[index as usize] = None;
        port.write_table(table::STAG, index, &StagRow::default().to_bytes());
        Ok(())
    }

    /// The peer invalidates an STag (RFC 5040 §5.3).
    pub fn invalidate<P: Port>(
        &mut self,
        pd: PdId,
        stag: u32,
        port: &mut P,
    ) -> Result<(), TerminateCode> {
        let region = self.find(stag).ok_or(TerminateCode::RDMAP_STAG)?;
        if region.pd != pd {
            return Err(TerminateCode::RDMAP_NOT_ASSOCIATED);
        }
        if !region.access.contains(Access::REMOTE_INVALIDATE) {
            return Err(TerminateCode::RDMAP_CANNOT_INVALIDATE);
        }
        // The region stays known, so that its owner can deregister it.
        let index = stag >> 8;
        if let Some(Some(region)) = self.rows.get_mut(index as usize) {
            region.valid = false;
        }
        port.write_table(table::STAG, index, &StagRow::default().to_bytes());
        Ok(())
    }

    /// A Read is about to be asked for whose sink lies there: with the first one the card's row opens. That of a region which
    /// nothing but Reads may fill opens no further than the Reads under way reach.
    pub fn open_sink<P: Port>(&mut self, sink: &Sge, port: &mut P) {
        self.change(sink.stag, port, |region| {
            let from = sink.to.wrapping_sub(region.base);
            let to = from
                .saturating_add(u64::from(sink.length))
                .min(region.length);
            region.reach = match region.sinks {
                0 => (from, to),
                _ => (region.reach.0.min(from), region.reach.1.max(to)),
            };
            region.sinks = region.sinks.saturating_add(1);
        });
    }

    /// A Read whose sink lies there has ended: with the last one the card's row closes.
    pub fn close_sink<P: Port>(&mut self, stag: u32, port: &mut P) {
        self.change(stag, port, |region| {
            region.sinks = region.sinks.saturating_sub(1);
        });
    }

    /// Changes a region, and the card's row if it is another one then.
    fn change<P: Port>(&mut self, stag: u32, port: &mut P, change: impl FnOnce(&mut Region)) {
        let index = stag >> 8;
        let row = self.rows.get_mut(index as usize).and_then(Option::as_mut);
        let Some(region) = row.filter(|region| region.key == stag as u8) else {
            return;
        };
        let before = region.row();
        change(region);
        let after = region.row();
        if region.valid && after != before {
            port.write_table(table::STAG, index, &after.to_bytes());
        }
    }

    /// Checks a local SGE of a work request and finds its memory.
    pub fn local(
        &self,
        pd: PdId,
        stag: u32,
        to: u64,
        length: u32,
        needs: Access,
    ) -> Result<Piece, Error> {
        let region = self.find(stag).ok_or(Error::UnknownStag(stag))?;
        if region.pd != pd {
            return Err(Error::WrongPd(stag));
        }
        if needs.contains(Access::READ_SINK) && !region.access.contains(Access::READ_SINK) {
            return Err(Error::NeedsReadSink(stag));
        }
        if needs.contains(Access::LOCAL_WRITE) && !region.access.contains(Access::LOCAL_WRITE) {
            return Err(Error::NeedsLocalWrite(stag));
        }
        if !checks::holds(region.base, region.length, to, u64::from(length)) {
            return Err(Error::OutOfBounds { stag, to, length });
        }
        Ok(Piece {
            iova: region.iova.wrapping_add(to.wrapping_sub(region.base)),
            length,
        })
    }

    /// Checks an access of the peer, in the card's order, and finds its memory.
    pub fn remote(
        &self,
        pd: PdId,
        stag: u32,
        to: u64,
        length: u32,
        needs: Access,
    ) -> Result<Piece, Violation> {
        let region = self.find(stag).ok_or(Violation::Stag)?;
        let region = region.for_access(needs);
        let iova = region.place(pd.0, to, u64::from(length))?;
        Ok(Piece { iova, length })
    }

    /// The domain of a region.
    pub fn domain_of(&self, stag: u32) -> Option<PdId> {
        self.row(stag).map(|region| region.pd)
    }

    /// Keeps hold of the region that an STag names now.
    pub fn hold(&self, stag: u32) -> Option<RegionRef> {
        self.find(stag).map(|region| RegionRef {
            index: stag >> 8,
            generation: region.generation,
        })
    }

    /// True as long as that region is neither deregistered nor invalidated.
    pub fn stands(&self, held: RegionRef) -> bool {
        let row = self.rows.get(held.index as usize);
        row.and_then(Option::as_ref)
            .is_some_and(|region| region.valid && region.generation == held.generation)
    }

    /// The region, if its STag may be used.
    fn find(&self, stag: u32) -> Option<&Region> {
        self.row(stag).filter(|region| region.valid)
    }

    fn row(&self, stag: u32) -> Option<&Region> {
        let row = self.rows.get((stag >> 8) as usize)?.as_ref()?;
        (row.key == stag as u8).then_some(row)
    }
}

//! Protection domains and regions: the engine's copy of the card's STAG table, with the checks
//! that the card does for what it places, for what the engine places or sends itself.

mod bind;
mod uses;

use alloc::vec;
use alloc::vec::Vec;

use weft_layout::{table, StagRow};
use weft_wire::checks::{self, Violation};
use weft_wire::terminate::TerminateCode;

use crate::card::port::Port;
use crate::interface::error::Error;
use crate::interface::random::Random;
use crate::interface::resource_split::ResourceSplit;
use crate::interface::verbs::{Access, PdId, QpId, StagKind};
use uses::{Sinks, Uses};

/// A piece of host memory as the card sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IovaRange {
    /// IOVA.
    pub iova: u64,
    /// Bytes.
    pub length: u32,
}

/// A region that a peer has asked for bytes of, and which of those that its STag has named it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionRef {
    index: u32,
    generation: u32,
}

/// A registered region.
#[derive(Clone, Copy, Debug)]
struct Region {
    /// It may be used: it has memory, and was not invalidated.
    valid: bool,
    generation: u32,
    key: u8,
    pd: PdId,
    access: Access,
    base: u64,
    length: u64,
    iova: u64,
    /// What it is, if it is no registered memory.
    kind: Option<StagKind>,
    /// The region that it is a part of, while it is bound.
    part_of: Option<u32>,
    /// The one queue pair that may use it.
    of_qp: Option<QpId>,
    /// What is bound to it.
    parts: u32,
    /// The row of the registered memory that its bytes lie in: its own, or what it was made a part of last.
    memory: u32,
    /// What refers to it.
    uses: Uses,
    /// Reads of this side that may be answered into it.
    sinks: Sinks,
}

impl Region {
    /// The rights that hold now: that of a Read sink only while there is a Read that asked for it.
    fn rights(&self) -> Access {
        if self.sinks.is_any() {
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

    /// Nothing of this side refers to it.
    fn is_window(&self) -> bool {
        matches!(self.kind, Some(StagKind::Window1 | StagKind::Window2))
    }

    /// The card's row.
    fn row(&self) -> StagRow {
        let asked_for = self.sinks.reach().filter(|_| self.only_sink());
        let (from, length) = asked_for.unwrap_or((0, self.length));
        StagRow {
            valid: StagRow::VALID,
            key: self.key,
            access: self.rights().bits() & Access::OF_CARD,
            pd: self.pd.0,
            base: self.base.wrapping_add(from),
            length,
            iova: self.iova.wrapping_add(from),
        }
    }

    /// What the checks of an access by a queue pair see of it.
    fn for_access(&self, qp: QpId, needs: Access) -> checks::Region {
        let is_others = self.of_qp.is_some_and(|owner| owner != qp);
        checks::Region {
            // That of nobody, if it is another queue pair's.
            domain: if is_others { !self.pd.0 } else { self.pd.0 },
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
    split: ResourceSplit,
    /// By STag index; 0 is never used.
    rows: Vec<Option<Region>>,
    keys: Vec<u8>,
    random: Random,
    cursor: usize,
    registered: u32,
    /// A region was let go.
    freed: bool,
}

impl Regions {
    /// None yet, of at most `num_stags - 1`, or what of these is this engine's.
    pub fn new(num_stags: u32, split: ResourceSplit, random: &mut Random) -> Self {
        let count = num_stags.clamp(1, 1 << 24) as usize;
        Regions {
            domains: Vec::new(),
            split,
            rows: vec![None; count],
            keys: (0..count).map(|_| random.next() as u8).collect(),
            random: random.fork(),
            cursor: random.next() as usize % count,
            registered: 0,
            freed: false,
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
                PdId(self.split.domains() + index as u32 + 1)
            }
            None => {
                self.domains.push(fresh);
                PdId(self.split.domains() + self.domains.len() as u32)
            }
        }
    }

    /// Domains that there are.
    pub fn domains(&self) -> usize {
        self.domains.iter().filter(|domain| domain.used).count()
    }

    /// Bytes of so many rows.
    pub const fn bytes(stags: usize) -> usize {
        stags * (size_of::<Option<Region>>() + size_of::<u8>())
    }

    fn domain(&mut self, pd: PdId) -> Result<&mut Domain, Error> {
        let index = pd.0.wrapping_sub(self.split.domains()) as usize;
        let index = index.checked_sub(1).ok_or(Error::UnknownPd)?;
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
        let region = Region {
            valid: true,
            generation: 0,
            key: 0,
            pd,
            access,
            base,
            length,
            iova,
            kind: None,
            part_of: None,
            of_qp: None,
            parts: 0,
            memory: 0,
            uses: Uses::default(),
            sinks: Sinks::default(),
        };
        let (stag, row) = self.put(region)?;
        port.write_table(table::STAG, stag >> 8, &row.to_bytes());
        Ok(stag)
    }

    /// An STag that names no memory yet.
    pub fn alloc_stag(&mut self, pd: PdId, kind: StagKind) -> Result<u32, Error> {
        self.domain(pd)?;
        let region = Region {
            valid: false,
            generation: 0,
            key: 0,
            pd,
            access: Access::NONE,
            base: 0,
            length: 0,
            iova: 0,
            kind: Some(kind),
            part_of: None,
            of_qp: None,
            parts: 0,
            memory: 0,
            uses: Uses::default(),
            sinks: Sinks::default(),
        };
        Ok(self.put(region)?.0)
    }

    /// Finds an STag for a region.
    fn put(&mut self, region: Region) -> Result<(u32, StagRow), Error> {
        // Round robin, so that an STag just removed is not handed out again at once; beginning anywhere.
        let count = self.rows.len();
        let own = self.split.stags(count as u32);
        let index = (0..count)
            .map(|step| (self.cursor + 1 + step) % count)
            .find(|&index| own.contains(&(index as u32)) && self.rows[index].is_none())
            .ok_or(Error::NoStags)?;
        self.cursor = index;
        // Any key but the last one of this index.
        let key = self.keys[index].wrapping_add((self.random.next() % 255) as u8 + 1);
        self.keys[index] = key;
        self.domain(region.pd)?.members += 1;
        self.registered = self.registered.wrapping_add(1);
        let region = Region {
            generation: self.registered,
            key,
            memory: index as u32,
            ..region
        };
        self.rows[index] = Some(region);
        Ok(((index as u32) << 8 | u32::from(key), region.row()))
    }

    /// Removes a region that no work of this side refers to, and that nothing is bound to. True: peers have asked for bytes of it.
    pub fn deregister<P: Port>(&mut self, stag: u32, port: &mut P) -> Result<bool, Error> {
        let region = *self.owned(stag).ok_or(Error::UnknownStag(stag))?;
        if region.parts > 0 || region.uses.keep() {
            return Err(Error::InUse);
        }
        self.part_from(region.part_of);
        self.leave(region.pd);
        let index = stag >> 8;
        self.rows[index as usize] = None;
        port.write_table(table::STAG, index, &StagRow::default().to_bytes());
        Ok(region.uses.is_asked())
    }

    /// The peer invalidates an STag (RFC 5040 §5.3).
    pub fn invalidate<P: Port>(
        &mut self,
        pd: PdId,
        qp: QpId,
        stag: u32,
        port: &mut P,
    ) -> Result<(), TerminateCode> {
        let region = self.find(stag).ok_or(TerminateCode::RDMAP_STAG)?;
        if region.pd != pd || region.of_qp.is_some_and(|owner| owner != qp) {
            return Err(TerminateCode::RDMAP_NOT_ASSOCIATED);
        }
        if !region.access.contains(Access::REMOTE_INVALIDATE) || region.parts > 0 {
            return Err(TerminateCode::RDMAP_CANNOT_INVALIDATE);
        }
        self.take_away(stag, port);
        Ok(())
    }

    /// An STag is used no more until it is bound again. It stays known, so that its owner can deregister it.
    fn take_away<P: Port>(&mut self, stag: u32, port: &mut P) {
        let index = stag >> 8;
        let Some(Some(region)) = self.rows.get_mut(index as usize) else {
            return;
        };
        region.valid = false;
        region.of_qp = None;
        let part_of = region.part_of.take();
        self.part_from(part_of);
        port.write_table(table::STAG, index, &StagRow::default().to_bytes());
    }

    /// Nothing is bound to that region any more that was.
    fn part_from(&mut self, part_of: Option<u32>) {
        let row = part_of.and_then(|index| self.rows.get_mut(index as usize));
        if let Some(Some(region)) = row {
            region.parts = region.parts.saturating_sub(1);
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
    ) -> Result<IovaRange, Error> {
        let region = self
            .find(stag)
            .filter(|region| !region.is_window())
            .ok_or(Error::UnknownStag(stag))?;
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
        Ok(IovaRange {
            iova: region.iova.wrapping_add(to.wrapping_sub(region.base)),
            length,
        })
    }

    /// Checks an access of the peer, in the card's order, and finds its memory.
    pub fn remote(
        &self,
        (pd, qp): (PdId, QpId),
        stag: u32,
        to: u64,
        length: u32,
        needs: Access,
    ) -> Result<IovaRange, Violation> {
        let region = self.find(stag).ok_or(Violation::Stag)?;
        let region = region.for_access(qp, needs);
        let iova = region.place(pd.0, to, u64::from(length))?;
        Ok(IovaRange { iova, length })
    }

    /// True as long as that region is neither deregistered nor invalidated.
    pub fn stands(&self, of: RegionRef) -> bool {
        let row = self.rows.get(of.index as usize);
        row.and_then(Option::as_ref)
            .is_some_and(|region| region.valid && region.generation == of.generation)
    }

    /// The region, if its STag may be used.
    fn find(&self, stag: u32) -> Option<&Region> {
        self.row(stag).filter(|region| region.valid)
    }

    /// The region, for its owner: the key of a window, or of what is registered by work, is what work makes it.
    fn owned(&self, stag: u32) -> Option<&Region> {
        let row = self.rows.get((stag >> 8) as usize)?.as_ref()?;
        (row.kind.is_some() || row.key == stag as u8).then_some(row)
    }

    fn row(&self, stag: u32) -> Option<&Region> {
        let row = self.rows.get((stag >> 8) as usize)?.as_ref()?;
        (row.key == stag as u8).then_some(row)
    }
}

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
use crate::share::Share;
use crate::verbs::{Access, Binding, PdId, QpId, Sge, StagKind};

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

    /// Nothing of this side refers to it.
    fn is_window(&self) -> bool {
        matches!(self.kind, Some(StagKind::Window1 | StagKind::Window2))
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
    share: Share,
    /// By STag index; 0 is never used.
    rows: Vec<Option<Region>>,
    keys: Vec<u8>,
    random: Random,
    cursor: usize,
    registered: u32,
}

impl Regions {
    /// None yet, of at most `num_stags - 1`, or what of these is this engine's.
    pub fn new(num_stags: u32, share: Share, random: &mut Random) -> Self {
        let count = num_stags.clamp(1, 1 << 24) as usize;
        Regions {
            domains: Vec::new(),
            share,
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
                PdId(self.share.domains() + index as u32 + 1)
            }
            None => {
                self.domains.push(fresh);
                PdId(self.share.domains() + self.domains.len() as u32)
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
        let index = pd.0.wrapping_sub(self.share.domains()) as usize;
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
            sinks: 0,
            reach: (0, 0),
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
            sinks: 0,
            reach: (0, 0),
        };
        Ok(self.put(region)?.0)
    }

    /// Finds an STag for a region.
    fn put(&mut self, region: Region) -> Result<(u32, StagRow), Error> {
        // Round robin, so that an STag just removed is not handed out again at once; beginning anywhere.
        let count = self.rows.len();
        let own = self.share.stags(count as u32);
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
            ..region
        };
        self.rows[index] = Some(region);
        Ok(((index as u32) << 8 | u32::from(key), region.row()))
    }

    /// Removes a region.
    pub fn deregister<P: Port>(&mut self, stag: u32, port: &mut P) -> Result<(), Error> {
        let region = *self.owned(stag).ok_or(Error::UnknownStag(stag))?;
        self.part_from(region.part_of);
        self.leave(region.pd);
        let index = stag >> 8;
        self.rows[index as usize] = None;
        port.write_table(table::STAG, index, &StagRow::default().to_bytes());
        Ok(())
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

    /// Something is bound to it.
    pub fn has_windows(&self, stag: u32) -> bool {
        self.owned(stag).is_some_and(|region| region.parts > 0)
    }

    /// Whether a queue pair may bind so; the memory.
    fn check_binding(&self, pd: PdId, binding: &Binding, fast: bool) -> Result<u64, Error> {
        let stag = binding.stag;
        let target = self.rows.get((stag >> 8) as usize).and_then(Option::as_ref);
        let target = target.ok_or(Error::UnknownStag(stag))?;
        if target.pd != pd {
            return Err(Error::WrongPd(stag));
        }
        let kind = target.kind.ok_or(Error::NotBindable(stag))?;
        let is_window = kind != StagKind::FastRegion;
        if fast == is_window
            || kind != StagKind::Window1 && (target.valid || binding.length == 0)
            || target.parts > 0
        {
            return Err(Error::NotBindable(stag));
        }
        if binding.length == 0 {
            return Ok(0);
        }
        let source = binding.region;
        let region = self.find(source).ok_or(Error::UnknownStag(source))?;
        if region.pd != pd {
            return Err(Error::WrongPd(source));
        }
        let from = binding.region_to;
        if region.kind.is_some_and(|kind| kind != StagKind::FastRegion) || source >> 8 == stag >> 8
        {
            return Err(Error::NotBindable(source));
        }
        let end = from
            .checked_sub(region.base)
            .and_then(|at| at.checked_add(binding.length));
        if end.is_none_or(|end| end > region.length) {
            let length = binding.length.try_into().unwrap_or(u32::MAX);
            let (stag, to) = (source, from);
            return Err(Error::OutOfBounds { stag, to, length });
        }
        if binding.base_to.checked_add(binding.length - 1).is_none() {
            return Err(Error::InvalidRegion);
        }
        let remote = Access::REMOTE_READ
            | Access::REMOTE_WRITE
            | Access::REMOTE_ATOMIC
            | Access::REMOTE_INVALIDATE;
        let writes =
            Access::REMOTE_WRITE | Access::REMOTE_ATOMIC | Access::LOCAL_WRITE | Access::READ_SINK;
        let access = binding.access;
        let allowed = !is_window || remote.contains(access) && region.access.contains(Access::BIND);
        let may_write =
            region.access.contains(Access::LOCAL_WRITE) || access.without(writes) == access;
        if !allowed || !may_write {
            return Err(Error::NeedsRight(source));
        }
        Ok(region.iova.wrapping_add(from.wrapping_sub(region.base)))
    }

    /// An STag names other memory from now on; `fast`: it is a region's. The card has the row of a window of type 1 and of a region; of one of type 2 it has none,
    /// since it knows domains and no queue pairs: what comes for it is placed by the engine.
    pub fn bind<P: Port>(
        &mut self,
        pd: PdId,
        qp: QpId,
        (binding, fast): (&Binding, bool),
        port: &mut P,
    ) -> Result<(), Error> {
        let iova = self.check_binding(pd, binding, fast)?;
        self.take_away(binding.stag, port);
        self.registered = self.registered.wrapping_add(1);
        let (index, source) = ((binding.stag >> 8) as usize, binding.region >> 8);
        let Some(Some(region)) = self.rows.get_mut(index) else {
            return Err(Error::UnknownStag(binding.stag));
        };
        region.key = binding.stag as u8;
        self.keys[index] = region.key;
        if binding.length == 0 {
            return Ok(());
        }
        region.generation = self.registered;
        region.valid = true;
        region.access = binding.access;
        region.base = binding.base_to;
        region.length = binding.length;
        region.iova = iova;
        region.part_of = Some(source);
        if region.kind == Some(StagKind::Window2) {
            region.of_qp = Some(qp);
        } else {
            let row = region.row();
            port.write_table(table::STAG, index as u32, &row.to_bytes());
        }
        if let Some(Some(region)) = self.rows.get_mut(source as usize) {
            region.parts += 1;
        }
        Ok(())
    }

    /// Whether a queue pair may take an STag away.
    fn check_invalidate(&self, pd: PdId, qp: QpId, stag: u32) -> Result<(), Error> {
        let region = self.find(stag).ok_or(Error::UnknownStag(stag))?;
        if region.pd != pd || region.of_qp.is_some_and(|owner| owner != qp) {
            return Err(Error::WrongPd(stag));
        }
        let is_of_kind = matches!(region.kind, Some(StagKind::Window2 | StagKind::FastRegion));
        if !is_of_kind || region.parts > 0 {
            return Err(Error::NotBindable(stag));
        }
        Ok(())
    }

    /// A queue pair takes an STag away.
    pub fn invalidate_own<P: Port>(
        &mut self,
        pd: PdId,
        qp: QpId,
        stag: u32,
        port: &mut P,
    ) -> Result<(), Error> {
        self.check_invalidate(pd, qp, stag)?;
        self.take_away(stag, port);
        Ok(())
    }

    /// A queue pair is no more: what it has bound for itself is nobody's.
    pub fn unbind_all<P: Port>(&mut self, qp: QpId, port: &mut P) {
        for index in 0..self.rows.len() {
            let region = self.rows[index]
                .as_ref()
                .filter(|region| region.of_qp == Some(qp));
            if region.is_some() {
                self.take_away((index as u32) << 8, port);
            }
        }
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
        Ok(Piece {
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
    ) -> Result<Piece, Violation> {
        let region = self.find(stag).ok_or(Violation::Stag)?;
        let region = region.for_access(qp, needs);
        let iova = region.place(pd.0, to, u64::from(length))?;
        Ok(Piece { iova, length })
    }

    /// The domain of a region.
    pub fn domain_of(&self, stag: u32) -> Option<PdId> {
        self.owned(stag).map(|region| region.pd)
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

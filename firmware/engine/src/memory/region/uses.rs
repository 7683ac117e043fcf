//! Who refers to a region. Three counts say what must not happen to it:
//!
//! | count | of | as long as it is not 0 |
//! |---|---|---|
//! | `posted` | work requests, receives and rings that name it and are not completed | it is not deregistered |
//! | `pinned` | those of them that were issued: a job reads their memory, or a Read is answered into it | nor is it bound anew, or invalidated by this side |
//! | `asked` | requests of peers to be answered from it | who deregisters it tells their streams |
//!
//! Memory that is a part of a region is pinned together with that region: a peer may invalidate the part at any time.

use weft_layout::table;

use super::{Region, RegionRef, Regions};
use crate::card::port::Port;
use crate::interface::error::Error;
use crate::interface::verbs::{Access, PdId, Sge, StagKind};

/// The counts of a region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uses {
    posted: u32,
    pinned: u32,
    asked: u32,
}

impl Uses {
    /// Work of this side needs the region.
    pub fn keep(&self) -> bool {
        self.posted > 0 || self.pinned > 0
    }

    /// Peers have asked for bytes of it.
    pub fn is_asked(&self) -> bool {
        self.asked > 0
    }

    /// What peers have asked for is another region's from now on.
    pub fn forget_peers(&mut self) {
        self.asked = 0;
    }
}

/// Reads of this side in flight that have their sink in a region, and what they and those before them ask for, since there were none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sinks {
    count: u32,
    /// Offset of the first byte, and bytes.
    first: u64,
    length: u64,
}

impl Sinks {
    /// There is one.
    pub fn is_any(self) -> bool {
        self.count > 0
    }

    /// Offset of the first byte that they ask for, and bytes up to the last; `None`: there are none.
    pub fn reach(self) -> Option<(u64, u64)> {
        self.is_any().then_some((self.first, self.length))
    }

    /// One more, of bytes that lie in the region.
    fn open(&mut self, first: u64, length: u64) {
        let (from, before) = self.reach().unwrap_or((first, length));
        let end = (first + length).max(from + before);
        self.first = first.min(from);
        self.length = end - self.first;
        self.count = self.count.saturating_add(1);
    }

    fn close(&mut self) {
        self.count = self.count.saturating_sub(1);
    }
}

impl Regions {
    fn counts(&mut self, stag: u32) -> Option<&mut Region> {
        self.rows.get_mut((stag >> 8) as usize)?.as_mut()
    }

    /// Whether an SGE may be posted: what is certain of it before it is issued. Of a region that gets its memory by work nothing is but its domain.
    pub fn check_posted(&self, pd: PdId, sge: &Sge, needs: Access) -> Result<(), Error> {
        let stag = sge.stag;
        let row = self.rows.get((stag >> 8) as usize).and_then(Option::as_ref);
        match row {
            Some(row) if row.kind == Some(StagKind::FastRegion) => match row.pd == pd {
                true => Ok(()),
                false => Err(Error::WrongPd(stag)),
            },
            _ => self.local(pd, stag, sge.to, sge.length, needs).map(|_| ()),
        }
    }

    /// Work is posted that names an STag, by whatever key.
    pub fn post(&mut self, stag: u32) {
        if let Some(region) = self.counts(stag) {
            region.uses.posted += 1;
        }
    }

    /// The same, if the STag is one of this domain. True: it is, and is to be [completed](Self::complete).
    pub fn post_if_of(&mut self, pd: PdId, stag: u32) -> bool {
        let region = self.counts(stag).filter(|region| region.pd == pd);
        let counted = region.map(|region| region.uses.posted += 1);
        counted.is_some()
    }

    /// Such work is completed.
    pub fn complete(&mut self, stag: u32) {
        if let Some(region) = self.counts(stag) {
            region.uses.posted = region.uses.posted.saturating_sub(1);
        }
    }

    /// Posted work is issued: a region that it names stays what it is, until it is [unpinned](Self::unpin).
    pub fn pin(&mut self, stag: u32) {
        self.change_pins(stag, |count| count + 1);
    }

    /// Nothing is read from it or placed into it any more for such work.
    pub fn unpin(&mut self, stag: u32) {
        self.change_pins(stag, |count| count.saturating_sub(1));
    }

    fn change_pins(&mut self, stag: u32, change: impl Fn(u32) -> u32) {
        let index = stag >> 8;
        let Some(region) = self.counts(stag) else {
            return;
        };
        region.uses.pinned = change(region.uses.pinned);
        let (memory, free) = (region.memory, region.uses.pinned == 0);
        if memory != index {
            if let Some(memory) = self.counts(memory << 8) {
                memory.uses.pinned = change(memory.uses.pinned);
            }
        }
        self.freed |= free;
    }

    /// Issued work uses it.
    pub(super) fn is_pinned(&self, stag: u32) -> bool {
        let row = self.rows.get((stag >> 8) as usize).and_then(Option::as_ref);
        row.is_some_and(|region| region.uses.pinned > 0)
    }

    /// A region was let go since [that](Self::take_freed) was asked last.
    pub fn has_freed(&self) -> bool {
        self.freed
    }

    /// A region was let go since this was asked last: what waited for that may go on.
    pub fn take_freed(&mut self) -> bool {
        core::mem::take(&mut self.freed)
    }

    /// A peer asks for bytes of the region that an STag names now.
    pub fn ask(&mut self, stag: u32) -> Option<RegionRef> {
        self.find(stag)?;
        let region = self.counts(stag)?;
        region.uses.asked += 1;
        Some(RegionRef {
            index: stag >> 8,
            generation: region.generation,
        })
    }

    /// It was answered, or never will be.
    pub fn answered(&mut self, asked: Option<RegionRef>) {
        let Some(asked) = asked else {
            return;
        };
        let region = self.counts(asked.index << 8);
        if let Some(region) = region.filter(|region| region.generation == asked.generation) {
            region.uses.asked = region.uses.asked.saturating_sub(1);
        }
    }

    /// A Read is about to be asked for whose sink lies there: with the first one the card's row opens. That of a region which
    /// nothing but Reads may fill opens no further than the Reads in flight reach.
    pub fn open_sink<P: Port>(&mut self, pd: PdId, sink: &Sge, port: &mut P) -> Result<(), Error> {
        let (to, length) = (sink.to, sink.length);
        self.local(pd, sink.stag, to, length, Access::READ_SINK)?;
        self.change(sink.stag, port, |region| {
            let first = to.wrapping_sub(region.base);
            region.sinks.open(first, length.into());
        });
        Ok(())
    }

    /// A Read whose sink lies there has ended: with the last one the card's row closes.
    pub fn close_sink<P: Port>(&mut self, stag: u32, port: &mut P) {
        self.change(stag, port, |region| region.sinks.close());
    }

    /// Changes a region, and the card's row if it is another one then.
    fn change<P: Port>(&mut self, stag: u32, port: &mut P, change: impl FnOnce(&mut Region)) {
        let Some(region) = self.counts(stag) else {
            return;
        };
        let before = region.row();
        change(region);
        let after = region.row();
        if region.valid && after != before {
            port.write_table(table::STAG, stag >> 8, &after.to_bytes());
        }
    }
}

//! Host memory as a card reaches it: through an IOMMU that faults on everything not mapped.
//!
//! [`Iommu::map`] chooses I/O virtual addresses: upwards from a seeded start, with an unmapped gap of at least
//! a page behind each mapping, and never used again, so that an overrun or a late access always faults.
//! [`Iommu::map_at`] takes the address that another process has chosen, and refuses an overlap. An access may
//! go over several mappings that lie side by side, as pages of a guest's IOMMU do.
//!
//! Memory may also be lent by a process that has to be asked for every access, and takes its time. Then an
//! access is refused with [`Refusal::NotYet`], and the card asks again in a later cycle, until the answer is there.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rand::Rng;
use thiserror::Error;
use weft_card_transport::dma::{Pages, SharedMemory, PAGE_SIZE};

use crate::seed::{generator, Stream};

/// Why an access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such address.
    NotMapped,
    /// The mapping is for the other direction only.
    NotAllowed,
    /// The function may not access memory at all (Bus Master Enable is 0).
    NotMaster,
    /// The function is being reset. No fault.
    Resetting,
    /// The memory's owner did not give it.
    Unreachable,
    /// The memory itself failed.
    Broken,
    /// The memory's owner has been asked: the same access again later will tell. No fault.
    NotYet,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::NotMapped => "not mapped",
            Refusal::NotAllowed => "not allowed by the mapping",
            Refusal::NotMaster => "the function is not a bus master",
            Refusal::Resetting => "the function is being reset",
            Refusal::Unreachable => "the memory's owner did not give it",
            Refusal::Broken => "the memory failed",
            Refusal::NotYet => "not yet there",
        })
    }
}

/// An access the IOMMU refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("card {card}: {} of {len} bytes at IOVA {iova:#x}, at {time} ns: {why}", if *.write { "write" } else { "read" })]
pub struct Fault {
    /// The card.
    pub card: usize,
    /// When, in simulated nanoseconds.
    pub time: u64,
    /// First byte.
    pub iova: u64,
    /// Bytes.
    pub len: usize,
    /// A write?
    pub write: bool,
    /// Why.
    pub why: Refusal,
}

/// What a card may do to its host's memory.
pub trait HostMemory {
    /// Reads; on error the bytes are unchanged.
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), Fault>;
    /// Writes; on error nothing is written, or a part of it when the memory's owner has it.
    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), Fault>;

    /// For a card that makes several accesses at once and cannot stop between two of them: begins such a group.
    /// After the first that is [`Refusal::NotYet`] no other one is made, and the card goes back to where it was.
    fn begin(&mut self) -> Group {
        Group::Free
    }

    /// Ends the group. `false`: it has to be made again, from the start.
    fn commit(&mut self) -> bool {
        true
    }
}

/// What [`HostMemory::begin`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// No access will have to wait.
    Free,
    /// It has begun, and has to be ended by [`HostMemory::commit`].
    Begun,
    /// An earlier access is not answered yet: it did not begin.
    Waiting,
}

/// What the one who lends memory says to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done,
    /// It will not be done.
    Refused,
    /// Not known yet.
    NotYet,
}

/// Somebody who lends memory and has to be asked for every access.
pub trait Lender: fmt::Debug + Send + Sync {
    /// Reads at the lender's own address. `keep`: the answer stays for the same question again, until
    /// [`commit`](Self::commit).
    fn read(&self, address: u64, to: &mut [u8], keep: bool) -> Answer;
    /// Writes at the lender's own address.
    fn write(&self, address: u64, from: &[u8], keep: bool) -> Answer;
    /// Is a question not answered yet?
    fn is_asked(&self) -> bool;
    /// A group of accesses begins. Answers that no group wants for a while are of no use any more.
    fn begin(&self);
    /// The group is done, and the answers to its questions are of no use any more.
    fn commit(&self);
    /// All questions and answers so far are of no use any more.
    fn forget(&self);
}

/// Memory of another process: what [`Iommu::map_at`] maps.
pub trait Window: fmt::Debug + Send + Sync {
    /// Copies bytes out, `offset` bytes behind the mapping's begin. `false`: the memory cannot be had.
    fn read(&self, offset: u64, to: &mut [u8]) -> bool;
    /// Copies bytes in.
    fn write(&self, offset: u64, from: &[u8]) -> bool;
}

/// What a card may do with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// It may read.
    pub read: bool,
    /// It may write.
    pub write: bool,
}

/// Why [`Iommu::map_at`] or [`Iommu::unmap_range`] did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RangeError {
    /// No bytes, or beyond the end of the address space.
    #[error("{len} bytes at IOVA {iova:#x} are no range of addresses")]
    NoRange {
        /// First byte.
        iova: u64,
        /// Bytes.
        len: u64,
    },
    /// A mapping has some of these addresses.
    #[error("IOVA {iova:#x} is taken by a mapping of {len} bytes")]
    Overlap {
        /// First byte of that mapping.
        iova: u64,
        /// Its bytes.
        len: u64,
    },
    /// A mapping is inside the range with a part only, and mappings are not cut.
    #[error("the mapping of {len} bytes at IOVA {iova:#x} is not wholly inside the range")]
    Cut {
        /// First byte of that mapping.
        iova: u64,
        /// Its bytes.
        len: u64,
    },
}

/// Memory behind a mapping.
#[derive(Debug)]
enum Target {
    /// The mapping keeps it alive.
    Pages(Arc<Pages>),
    /// The one who mapped it keeps it alive until it is unmapped.
    Foreign(SharedMemory),
    /// Another process has it.
    Window(Box<dyn Window>),
    /// Another process has it and has to be asked.
    Lent(Arc<dyn Lender>),
}

#[derive(Debug)]
struct Mapping {
    len: u64,
    access: Access,
    target: Target,
}

impl Mapping {
    fn read(&self, start: u64, offset: u64, to: &mut [u8], keep: bool) -> Answer {
        done(match &self.target {
            Target::Pages(pages) => pages.memory().read(offset as usize, to).is_ok(),
            Target::Foreign(memory) => memory.read(offset as usize, to).is_ok(),
            Target::Window(window) => window.read(offset, to),
            Target::Lent(lender) => return lender.read(start + offset, to, keep),
        })
    }

    fn write(&self, start: u64, offset: u64, from: &[u8], keep: bool) -> Answer {
        done(match &self.target {
            Target::Pages(pages) => pages.memory().write(offset as usize, from).is_ok(),
            Target::Foreign(memory) => memory.write(offset as usize, from).is_ok(),
            Target::Window(window) => window.write(offset, from),
            Target::Lent(lender) => return lender.write(start + offset, from, keep),
        })
    }
}

fn done(is: bool) -> Answer {
    if is {
        Answer::Done
    } else {
        Answer::Refused
    }
}

/// One card's IOMMU domain.
#[derive(Debug)]
pub struct Iommu {
    card: usize,
    next: u64,
    mappings: BTreeMap<u64, Mapping>,
    /// Mappings that were made by [`Iommu::map`] and [`Iommu::map_foreign`].
    mapped: u64,
    faults: Vec<Fault>,
    refused: u64,
    master: bool,
    resetting: bool,
    /// Who lends memory, and how many mappings of it there are.
    lender: Option<Arc<dyn Lender>>,
    lent: usize,
    /// In a group of accesses.
    grouped: bool,
    /// Accesses that touch these addresses are refused, for this reason.
    refusing: Option<(Range<u64>, Refusal)>,
    /// An access was refused with `NotYet`, in this group or since it was asked for.
    waited: bool,
    /// Time of the accesses to come, for the fault records.
    pub time: u64,
    read_bytes: u64,
    written_bytes: u64,
    /// Reads and writes, and where the last one of each ended.
    reads: u64,
    writes: u64,
    read_end: u64,
    write_end: u64,
}

impl Iommu {
    /// An empty domain.
    pub fn new(card: usize, seed: u64) -> Self {
        // 2^40 and up: an address cut to 32 bits cannot hit anything.
        let page = generator(seed, Stream::Iommu(card as u32)).random_range(1u64 << 28..1 << 32);
        Self {
            card,
            next: page * PAGE_SIZE as u64,
            mappings: BTreeMap::new(),
            mapped: 0,
            faults: Vec::new(),
            refused: 0,
            master: true,
            resetting: false,
            lender: None,
            lent: 0,
            grouped: false,
            waited: false,
            refusing: None,
            time: 0,
            read_bytes: 0,
            written_bytes: 0,
            reads: 0,
            writes: 0,
            read_end: 0,
            write_end: 0,
        }
    }

    /// Maps pages and answers their IOVA, which is aligned to the length's next power of two up to 2 MiB.
    pub fn map(&mut self, pages: Arc<Pages>) -> u64 {
        let len = pages.memory().len();
        self.insert(len, Target::Pages(pages))
    }

    /// Maps memory that somebody else owns.
    pub fn map_foreign(&mut self, memory: SharedMemory) -> u64 {
        self.insert(memory.len(), Target::Foreign(memory))
    }

    fn insert(&mut self, len: usize, target: Target) -> u64 {
        let align = (len.next_power_of_two() as u64).clamp(PAGE_SIZE as u64, 2 << 20);
        let iova = self.next.next_multiple_of(align);
        self.next = (iova + len as u64).next_multiple_of(PAGE_SIZE as u64) + PAGE_SIZE as u64;
        let mapping = Mapping {
            len: len as u64,
            access: Access {
                read: true,
                write: true,
            },
            target,
        };
        self.mappings.insert(iova, mapping);
        self.mapped += 1;
        iova
    }

    /// Mappings of this process that were made so far.
    pub fn mapped(&self) -> u64 {
        self.mapped
    }

    /// Maps another process's memory where that process wants it.
    pub fn map_at(
        &mut self,
        iova: u64,
        len: u64,
        access: Access,
        window: Box<dyn Window>,
    ) -> Result<(), RangeError> {
        self.free(iova, len)?;
        let mapping = Mapping {
            len,
            access,
            target: Target::Window(window),
        };
        self.mappings.insert(iova, mapping);
        Ok(())
    }

    /// Maps memory that has to be asked for; its addresses are the lender's own. A domain has one lender.
    pub fn map_lent(
        &mut self,
        iova: u64,
        len: u64,
        access: Access,
        lender: &Arc<dyn Lender>,
    ) -> Result<(), RangeError> {
        self.free(iova, len)?;
        let mapping = Mapping {
            len,
            access,
            target: Target::Lent(Arc::clone(lender)),
        };
        self.mappings.insert(iova, mapping);
        self.lender = Some(Arc::clone(lender));
        self.lent += 1;
        Ok(())
    }

    /// Mappings that are no more: questions about lent ones are forgotten.
    fn ended(&mut self, mappings: &[Mapping]) {
        let lent = |mapping: &&Mapping| matches!(mapping.target, Target::Lent(_));
        let lent = mappings.iter().filter(lent).count();
        self.lent -= lent;
        if lent > 0 {
            self.forget();
        }
        if self.lent == 0 {
            self.lender = None;
        }
    }

    /// The card was reset: what it has asked for is of no use any more.
    pub fn forget(&mut self) {
        if let Some(lender) = &self.lender {
            lender.forget();
        }
    }

    /// Did an access have to wait since the last call?
    pub fn take_waited(&mut self) -> bool {
        std::mem::take(&mut self.waited)
    }

    /// Is this range of addresses free?
    pub fn free(&self, iova: u64, len: u64) -> Result<(), RangeError> {
        let last = last(iova, len)?;
        match self.mappings.range(..=last).next_back() {
            Some((start, mapping)) if start + (mapping.len - 1) >= iova => {
                Err(RangeError::Overlap {
                    iova: *start,
                    len: mapping.len,
                })
            }
            _ => Ok(()),
        }
    }

    /// Ends a mapping; `false` if there is none that begins there.
    pub fn unmap(&mut self, iova: u64) -> bool {
        let ended = self.mappings.remove(&iova);
        self.ended(ended.as_slice());
        ended.is_some()
    }

    /// Ends all mappings in a range and answers how many there were. None may lie across its ends.
    pub fn unmap_range(&mut self, iova: u64, len: u64) -> Result<usize, RangeError> {
        let last = last(iova, len)?;
        let across = |(start, mapping): (&u64, &Mapping)| RangeError::Cut {
            iova: *start,
            len: mapping.len,
        };
        let end = |(start, mapping): (&u64, &Mapping)| start + (mapping.len - 1);
        if let Some(before) = self.mappings.range(..iova).next_back() {
            if end(before) >= iova {
                return Err(across(before));
            }
        }
        if let Some(inside) = self.mappings.range(iova..=last).next_back() {
            if end(inside) > last {
                return Err(across(inside));
            }
        }
        let inside: Vec<u64> = self.mappings.range(iova..=last).map(|(s, _)| *s).collect();
        let ended: Vec<_> = inside
            .iter()
            .filter_map(|start| self.mappings.remove(start))
            .collect();
        self.ended(&ended);
        Ok(ended.len())
    }

    /// Ends all mappings and answers how many there were.
    pub fn clear(&mut self) -> usize {
        let ended: Vec<_> = std::mem::take(&mut self.mappings).into_values().collect();
        self.ended(&ended);
        ended.len()
    }

    /// How many mappings there are.
    pub fn mappings(&self) -> usize {
        self.mappings.len()
    }

    /// While a function-level reset is under way, nothing reaches memory, and nothing is asked for.
    pub fn set_resetting(&mut self, resetting: bool) {
        self.resetting = resetting;
    }

    /// May the function access memory at all? A new domain's may.
    pub fn set_master(&mut self, master: bool) {
        self.master = master;
    }

    /// Refuses accesses that touch these addresses from now on, whatever is mapped; an empty range ends it.
    pub fn refuse(&mut self, iova: Range<u64>, why: Refusal) {
        self.refusing = Some((iova, why)).filter(|(iova, _)| !iova.is_empty());
    }

    /// The faults so far, the first few thousand of them.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Takes the faults, for a test that expects them.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// How many accesses were refused so far.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Bytes the card read and wrote so far.
    pub fn bytes(&self) -> (u64, u64) {
        (self.read_bytes, self.written_bytes)
    }

    /// Reads and writes of the card so far. What follows the access before, byte for byte, is a part of it: so the beats of a burst are one.
    pub fn transactions(&self) -> (u64, u64) {
        (self.reads, self.writes)
    }

    /// The mapping at an address, and where it begins.
    fn at(&self, iova: u64) -> Option<(u64, &Mapping)> {
        let (start, mapping) = self.mappings.range(..=iova).next_back()?;
        (iova - start < mapping.len).then_some((*start, mapping))
    }

    /// Goes over the mappings under an access, first to look, then to do `each` with a mapping, where it begins, the
    /// offset in it, and the range of the access's bytes. No mapping is reached unless all are there.
    fn walk(
        &self,
        iova: u64,
        len: usize,
        allowed: impl Fn(Access) -> bool,
        mut each: impl FnMut(&Mapping, u64, u64, Range<usize>) -> Answer,
    ) -> Result<(), Refusal> {
        if self.resetting {
            return Err(Refusal::Resetting);
        }
        if !self.master {
            return Err(Refusal::NotMaster);
        }
        if self.grouped && self.waited {
            return Err(Refusal::NotYet);
        }
        if let Some((range, why)) = &self.refusing {
            if iova < range.end && range.start < iova.saturating_add(len as u64) {
                return Err(*why);
            }
        }
        for look in [true, false] {
            let mut done = 0;
            while done < len {
                let at = iova.checked_add(done as u64).ok_or(Refusal::NotMapped)?;
                let (start, mapping) = self.at(at).ok_or(Refusal::NotMapped)?;
                let there = mapping.len - (at - start);
                let count = usize::try_from(there).unwrap_or(usize::MAX).min(len - done);
                if look && !allowed(mapping.access) {
                    return Err(Refusal::NotAllowed);
                }
                if !look {
                    match each(mapping, start, at - start, done..done + count) {
                        Answer::Done => {}
                        Answer::Refused => return Err(Refusal::Unreachable),
                        Answer::NotYet => return Err(Refusal::NotYet),
                    }
                }
                done += count;
            }
        }
        Ok(())
    }

    fn fault(&mut self, iova: u64, len: usize, write: bool, why: Refusal) -> Fault {
        let fault = Fault {
            card: self.card,
            time: self.time,
            iova,
            len,
            write,
            why,
        };
        if why == Refusal::NotYet {
            self.waited = true;
            return fault;
        }
        if why == Refusal::Resetting {
            return fault;
        }
        self.refused += 1;
        // A card in a loop must not fill the machine's memory.
        if self.faults.len() < 4096 {
            self.faults.push(fault);
        }
        fault
    }
}

/// The last address of a range.
fn last(iova: u64, len: u64) -> Result<u64, RangeError> {
    len.checked_sub(1)
        .and_then(|more| iova.checked_add(more))
        .ok_or(RangeError::NoRange { iova, len })
}

impl HostMemory for Iommu {
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), Fault> {
        let keep = self.grouped;
        let done = self.walk(
            iova,
            to.len(),
            |access| access.read,
            |mapping, start, offset, range| mapping.read(start, offset, &mut to[range], keep),
        );
        match done {
            Ok(()) => {
                self.read_bytes += to.len() as u64;
                self.reads += u64::from(iova != self.read_end);
                self.read_end = iova.wrapping_add(to.len() as u64);
                Ok(())
            }
            Err(why) => Err(self.fault(iova, to.len(), false, why)),
        }
    }

    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), Fault> {
        let keep = self.grouped;
        let done = self.walk(
            iova,
            from.len(),
            |access| access.write,
            |mapping, start, offset, range| mapping.write(start, offset, &from[range], keep),
        );
        match done {
            Ok(()) => {
                self.written_bytes += from.len() as u64;
                self.writes += u64::from(iova != self.write_end);
                self.write_end = iova.wrapping_add(from.len() as u64);
                Ok(())
            }
            Err(why) => Err(self.fault(iova, from.len(), true, why)),
        }
    }

    fn begin(&mut self) -> Group {
        match &self.lender {
            None => Group::Free,
            Some(lender) if lender.is_asked() => {
                self.waited = true;
                Group::Waiting
            }
            Some(lender) => {
                lender.begin();
                self.grouped = true;
                self.waited = false;
                Group::Begun
            }
        }
    }

    fn commit(&mut self) -> bool {
        self.grouped = false;
        if let (Some(lender), false) = (&self.lender, self.waited) {
            lender.commit();
        }
        !self.waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_mapped_can_be_reached() {
        let (a, b) = (
            Arc::new(Pages::new(2 * PAGE_SIZE).unwrap()),
            Arc::new(Pages::new(PAGE_SIZE).unwrap()),
        );
        let mut iommu = Iommu::new(0, 1);
        let (at, other) = (iommu.map(Arc::clone(&a)), iommu.map(b));
        assert!(other > at + 2 * PAGE_SIZE as u64, "no gap between mappings");
        iommu.write(at + 4095, b"over a page border").unwrap();
        let mut back = [0; 18];
        iommu.read(at + 4095, &mut back).unwrap();
        assert_eq!(&back, b"over a page border");
        assert!(iommu.write(at + 2 * PAGE_SIZE as u64 - 1, &[1, 2]).is_err());
        assert!(iommu.read(at - 1, &mut back).is_err());
        assert!(iommu.faults()[0].write && !iommu.faults()[1].write);
        assert!(iommu.unmap(at));
        assert!(iommu.read(at, &mut back).is_err());
        assert!(
            iommu.map(Arc::clone(&a)) > other,
            "an address was used again"
        );
        assert!(!iommu.unmap(at));
    }

    #[test]
    fn a_burst_is_one_transaction() {
        let mut iommu = Iommu::new(0, 1);
        let at = iommu.map(Arc::new(Pages::new(PAGE_SIZE).unwrap()));
        let mut beat = [0; 64];
        for n in 0..4 {
            iommu.read(at + 64 * n, &mut beat).unwrap();
            iommu.write(at + 64 * n, &beat).unwrap();
        }
        assert_eq!(iommu.transactions(), (1, 1));
        iommu.read(at + 1024, &mut beat).unwrap();
        iommu.write(at, &beat).unwrap();
        iommu.write(at, &beat).unwrap();
        assert_eq!(iommu.transactions(), (2, 3));
        assert_eq!(iommu.bytes(), (320, 384));
    }

    /// Another process's memory, which may be gone.
    #[derive(Debug)]
    struct Lent(Arc<Pages>, bool);

    impl Window for Lent {
        fn read(&self, offset: u64, to: &mut [u8]) -> bool {
            self.1 && self.0.memory().read(offset as usize, to).is_ok()
        }
        fn write(&self, offset: u64, from: &[u8]) -> bool {
            self.1 && self.0.memory().write(offset as usize, from).is_ok()
        }
    }

    fn lent(there: bool) -> Box<Lent> {
        Box::new(Lent(Arc::new(Pages::new(PAGE_SIZE).unwrap()), there))
    }

    const BOTH: Access = Access {
        read: true,
        write: true,
    };

    #[test]
    fn an_access_goes_over_mappings_side_by_side_or_happens_not_at_all() {
        let mut iommu = Iommu::new(0, 1);
        for page in [0u64, 1, 3] {
            iommu
                .map_at(0x1000 + page * 4096, 4096, BOTH, lent(true))
                .unwrap();
        }
        let mut back = [0; 6];
        iommu.write(0x1ffd, b"across").unwrap();
        iommu.read(0x1ffd, &mut back).unwrap();
        assert_eq!(&back, b"across");
        // The second half is missing: the first is not written.
        assert_eq!(
            iommu.write(0x2ffd, b"across").unwrap_err().why,
            Refusal::NotMapped
        );
        iommu.read(0x2ffa, &mut back).unwrap();
        assert_eq!(back, [0; 6]);
        assert_eq!(iommu.refused(), 1);
    }

    #[test]
    fn a_mapping_s_direction_and_the_master_bit_are_respected() {
        let mut iommu = Iommu::new(0, 1);
        let read_only = Access {
            read: true,
            write: false,
        };
        iommu.map_at(0, 4096, read_only, lent(true)).unwrap();
        iommu.map_at(4096, 4096, BOTH, lent(false)).unwrap();
        let mut byte = [0];
        iommu.read(0, &mut byte).unwrap();
        assert_eq!(iommu.write(0, &[1]).unwrap_err().why, Refusal::NotAllowed);
        assert_eq!(
            iommu.read(4096, &mut byte).unwrap_err().why,
            Refusal::Unreachable
        );
        iommu.set_master(false);
        assert_eq!(
            iommu.read(0, &mut byte).unwrap_err().why,
            Refusal::NotMaster
        );
        iommu.set_master(true);
        iommu.read(0, &mut byte).unwrap();
        // The last byte of the address space belongs to a range too.
        iommu
            .map_at(u64::MAX - 4095, 4096, BOTH, lent(true))
            .unwrap();
        iommu.read(u64::MAX, &mut byte).unwrap();
        assert!(iommu.read(u64::MAX, &mut [0; 2]).is_err());
    }

    #[test]
    fn overlaps_and_cuts_are_refused() {
        let mut iommu = Iommu::new(0, 1);
        iommu.map_at(0x2000, 0x2000, BOTH, lent(true)).unwrap();
        iommu.map_at(0x6000, 0x1000, BOTH, lent(true)).unwrap();
        for (iova, len) in [
            (0x1000, 0x2000),
            (0x3000, 0x1000),
            (0x3fff, 1),
            (0, 0x10000),
        ] {
            assert!(
                matches!(
                    iommu.map_at(iova, len, BOTH, lent(true)),
                    Err(RangeError::Overlap { .. })
                ),
                "{iova:#x}"
            );
        }
        for (iova, len) in [(0, 0), (u64::MAX, 2)] {
            assert!(matches!(
                iommu.map_at(iova, len, BOTH, lent(true)),
                Err(RangeError::NoRange { .. })
            ));
            assert!(iommu.unmap_range(iova, len).is_err());
        }
        for (iova, len) in [(0x3000, 0x10000), (0, 0x3000), (0x2001, 0x1000)] {
            assert!(
                matches!(iommu.unmap_range(iova, len), Err(RangeError::Cut { .. })),
                "{iova:#x}"
            );
        }
        assert_eq!(iommu.mappings(), 2);
        assert_eq!(iommu.unmap_range(0x10000, 1 << 40), Ok(0));
        assert_eq!(iommu.unmap_range(0, u64::MAX), Ok(2));
        assert_eq!(iommu.mappings(), 0);
    }

    /// Lends memory, and answers each question the second time it is asked.
    #[derive(Debug, Default)]
    struct Slow {
        memory: std::sync::Mutex<Vec<u8>>,
        asked: std::sync::Mutex<Vec<(bool, u64, usize)>>,
        committed: std::sync::Mutex<usize>,
    }

    impl Slow {
        fn ask(&self, question: (bool, u64, usize), keep: bool) -> Answer {
            let mut asked = self.asked.lock().unwrap();
            match asked.iter().position(|q| *q == question) {
                Some(at) if !keep => {
                    asked.remove(at);
                    Answer::Done
                }
                Some(_) => Answer::Done,
                None => {
                    asked.push(question);
                    Answer::NotYet
                }
            }
        }
    }

    impl Lender for Slow {
        fn read(&self, address: u64, to: &mut [u8], keep: bool) -> Answer {
            to.copy_from_slice(&self.memory.lock().unwrap()[address as usize..][..to.len()]);
            self.ask((false, address, to.len()), keep)
        }
        fn write(&self, address: u64, from: &[u8], keep: bool) -> Answer {
            self.memory.lock().unwrap()[address as usize..][..from.len()].copy_from_slice(from);
            self.ask((true, address, from.len()), keep)
        }
        fn is_asked(&self) -> bool {
            false
        }
        fn begin(&self) {}
        fn commit(&self) {
            self.asked.lock().unwrap().clear();
            *self.committed.lock().unwrap() += 1;
        }
        fn forget(&self) {
            self.asked.lock().unwrap().clear();
        }
    }

    #[test]
    fn lent_memory_is_asked_for_until_the_answer_is_there() {
        let slow = Arc::new(Slow::default());
        slow.memory.lock().unwrap().resize(8192, 0);
        let lender: Arc<dyn Lender> = slow.clone();
        let mut iommu = Iommu::new(0, 1);
        assert_eq!(iommu.begin(), Group::Free);
        iommu.map_lent(0, 8192, BOTH, &lender).unwrap();
        let mut back = [0; 4];
        assert_eq!(iommu.read(16, &mut back).unwrap_err().why, Refusal::NotYet);
        assert!(iommu.take_waited() && iommu.faults().is_empty() && iommu.refused() == 0);
        iommu.read(16, &mut back).unwrap();
        // A group is made as a whole: from its start, until nothing in it has to wait.
        let mut rounds = 0;
        loop {
            rounds += 1;
            assert_eq!(iommu.begin(), Group::Begun);
            let all = [
                iommu.write(0, b"one").is_ok(),
                iommu.read(100, &mut back).is_ok(),
                iommu.write(200, b"two").is_ok(),
            ];
            // Behind the first that waits no other one is made.
            let first = all.iter().position(|ok| !ok).unwrap_or(3);
            assert!(all[first..].iter().all(|ok| !ok));
            if iommu.commit() {
                break;
            }
        }
        assert_eq!(rounds, 4);
        assert_eq!(*slow.committed.lock().unwrap(), 1);
        iommu.unmap(0);
        assert_eq!(iommu.begin(), Group::Free);
    }
}

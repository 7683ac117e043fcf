//! Memory that a client has: pieces of whole pages, and parts of them joined to one range.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::asked::{charge, text};
use super::packet::{words, Words};
use super::queue_pairs::Lent;
use weft_card_transport::MOST_PARTS;
use weft_hostdrv::device::{Account, Resource};
use weft_hostdrv::verbs::{Access, ControlLease, JoinedMapping, Mr, OwnedMemory, Pd, SharedRange};

/// Bytes of a page, which a piece takes at least.
const PAGE: u64 = 4096;

/// What a client has of it.
#[derive(Default)]
pub(super) struct ClientMemory {
    pieces: Vec<Piece>,
    /// Joined ranges and files of its own, by where the card sees them.
    joined: Vec<u64>,
}

struct Piece {
    file: File,
    lent: SharedRange,
    access: Access,
}

impl Piece {
    /// Where in the file these bytes lie, if they are of it.
    fn offset(&self, iova: u64, bytes: u64) -> Option<u64> {
        let offset = iova.checked_sub(self.lent.iova)?;
        let end = offset.checked_add(bytes)?;
        (end <= self.lent.length).then_some(offset)
    }
}

impl ClientMemory {
    /// A new piece of a domain.
    pub(super) fn make(
        &mut self,
        pd: &Pd,
        control: &ControlLease,
        account: &Arc<Account>,
        asked: &[u64],
    ) -> Result<Lent<'_>, String> {
        let [bytes, access, ..] = asked else {
            return Err("no such request".to_owned());
        };
        if *bytes == 0 {
            return Err("memory of 0 bytes".to_owned());
        }
        let access = u8::try_from(*access).ok().and_then(Access::from_bits);
        let access = access.ok_or("no such access")?;
        let whole = bytes.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
        let charges = charge(
            account,
            &[
                (Resource::Regions, 1),
                (Resource::Files, 1),
                (Resource::Memory, whole),
            ],
        )?;
        let (owned, file) = OwnedMemory::sealed("weft-region", *bytes).map_err(text)?;
        let region: Mr = pd.reg_owned(owned, access).map_err(text)?;
        let lent = control.give_memory_with(&region, charges).map_err(text)?;
        self.pieces.push(Piece { file, lent, access });
        let piece = self.pieces.last().ok_or("no memory")?;
        let said = words(&[lent.pd.into(), lent.iova, lent.length]);
        Ok((said, vec![piece.file.as_fd()]))
    }

    /// Parts of pieces as one range: the card's addresses and bytes of each, whole pages.
    pub(super) fn join(
        &mut self,
        pd: &Pd,
        control: &ControlLease,
        account: &Arc<Account>,
        asked: &[u64],
    ) -> Result<Words, String> {
        let asked = asked.chunks_exact(2).take(MOST_PARTS);
        let asked = asked.filter(|part| part[1] != 0);
        let (mut parts, mut access) = (Vec::new(), None);
        for part in asked {
            let [iova, bytes] = [part[0], part[1]];
            let mut pieces = self.pieces.iter();
            let found = pieces.find_map(|piece| Some((piece, piece.offset(iova, bytes)?)));
            let (piece, offset) = found.ok_or("no such memory")?;
            let bytes = usize::try_from(bytes).map_err(text)?;
            parts.push((piece.file.as_fd(), offset, bytes));
            match access {
                None => access = Some(piece.access),
                Some(access) if access == piece.access => {}
                Some(_) => return Err("memory of different access".to_owned()),
            }
        }
        let access = access.ok_or("memory of 0 bytes")?;
        let charges = charge(account, &[(Resource::Regions, 1)])?;
        let joined = JoinedMapping::map(&parts).map_err(text)?;
        let region: Mr = pd.reg_owned(joined, access).map_err(text)?;
        let lent = control.give_memory_with(&region, charges).map_err(text)?;
        self.joined.push(lent.iova);
        Ok(words(&[lent.iova]))
    }

    /// All of a file of the client's own. Its size is sealed.
    pub(super) fn map(
        &mut self,
        pd: &Pd,
        control: &ControlLease,
        account: &Arc<Account>,
        asked: &[u64],
        file: Option<&OwnedFd>,
    ) -> Result<Words, String> {
        let [bytes, access, ..] = asked else {
            return Err("no such request".to_owned());
        };
        let access = u8::try_from(*access).ok().and_then(Access::from_bits);
        let access = access.ok_or("no such access")?;
        let file =
            file.ok_or("no file came along whose size is sealed (memfd_create, F_SEAL_SHRINK)")?;
        let file = File::from(file.try_clone().map_err(text)?);
        let whole = file.metadata().map_err(text)?.len();
        let whole = whole.checked_next_multiple_of(PAGE);
        if whole.is_none_or(|whole| whole == 0 || whole != *bytes) {
            return Err("the file is longer or shorter than it is said to be".to_owned());
        }
        let asked = [(Resource::Regions, 1), (Resource::Memory, *bytes)];
        let charges = charge(account, &asked)?;
        let owned = OwnedMemory::of_file(file).map_err(text)?;
        let region: Mr = pd.reg_owned(owned, access).map_err(text)?;
        let lent = control.give_memory_with(&region, charges).map_err(text)?;
        self.joined.push(lent.iova);
        Ok(words(&[lent.iova]))
    }

    /// A range is wanted no more, and no region lies in it.
    pub(super) fn leave(&mut self, control: &ControlLease, asked: &[u64]) -> Result<(), String> {
        let iova = asked.first().copied().unwrap_or(0);
        let at = self.joined.iter().position(|own| *own == iova);
        let at = at.ok_or("no such memory")?;
        if !control.take_memory_back(iova) {
            return Err("a region lies in the memory".to_owned());
        }
        self.joined.swap_remove(at);
        Ok(())
    }
}

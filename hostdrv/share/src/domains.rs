//! The broker's XRC domains: clients of one user that open the same name have the same one. Each has a protection domain of its own, for the memory that its
//! targets let a peer reach.
//!
//! A client's device names a domain by a file: its file system and inode, as the client says. The broker has no file of a client's, and needs none: whatever
//! a client says names domains of its own user alone.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use super::asked::{charge, half, size, text};
use super::packet::{words, Words};
use super::queue_pairs::Lent;

use weft_hostdrv::device::{Account, Charge, Device, Resource};
use weft_hostdrv::verbs::{lent_srq_bytes, ControlLease, Pd, Qp, SrqInit, SrqLease, Xrcd};

/// Words of a name.
pub(super) const NAME: usize = 6;

/// A user's name for a domain: what another user calls so is another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    user: u32,
    of_file: bool,
    words: [u64; NAME],
}

/// A domain that clients have.
struct Domain {
    /// `None`: nobody else opens it.
    name: Option<Name>,
    xrcd: Xrcd,
    pd: Pd,
}

/// All of them.
#[derive(Default)]
pub(super) struct Domains {
    all: Vec<Domain>,
    /// A client has left one, which may have been the last to have it.
    was_left: bool,
}

/// What a client has of domains: each by its place.
#[derive(Default)]
pub(super) struct Opened {
    xrcds: Vec<Option<(Xrcd, Charge)>>,
    srqs: Vec<(SrqLease, Vec<Charge>)>,
    /// CQEs of those that it has left: there are never less.
    gone: u64,
    /// Names of its targets in commands.
    targets: BTreeSet<u32>,
}

impl Domains {
    /// Those that nobody has any more are gone.
    pub(super) fn sweep<'c>(&mut self, clients: impl Iterator<Item = &'c Opened> + Clone) {
        self.was_left = false;
        self.all.retain(|domain| {
            let mut opened = clients.clone().flat_map(Opened::xrcds);
            opened.any(|xrcd| xrcd.is(&domain.xrcd))
        });
    }

    /// Is there perhaps one that nobody has any more?
    pub(super) fn was_left(&self) -> bool {
        self.was_left
    }

    /// A client has it at this place no longer.
    pub(super) fn leave(&mut self, client: &mut Opened, asked: &[u64]) -> Result<(), String> {
        let place = client.xrcds.get_mut(size(asked, 0));
        drop(place.and_then(Option::take).ok_or_else(none)?);
        self.was_left = true;
        Ok(())
    }

    /// A new domain that a client has; its place.
    fn make(
        &mut self,
        device: &Device,
        client: &mut Opened,
        account: &Arc<Account>,
        name: Option<Name>,
    ) -> Result<usize, String> {
        let xrcd = device.alloc_xrcd().map_err(text)?;
        let pd = device.alloc_pd().map_err(text)?;
        let place = client.keep(xrcd.clone(), account)?;
        self.all.push(Domain { name, xrcd, pd });
        Ok(place)
    }

    fn named(&self, name: &Name) -> Option<&Domain> {
        self.all.iter().find(|one| one.name.as_ref() == Some(name))
    }

    /// Opens the domain of a file for a client's device, or a new one that has no name: 1 and its place, which is another one each time. 0: the file names
    /// none, or one where a new one is wanted.
    pub(super) fn open_of_file(
        &mut self,
        device: &Device,
        client: &mut Opened,
        (account, user): (&Arc<Account>, u32),
        asked: &[u64],
    ) -> Result<Words, String> {
        let name = (size(asked, 1) != 0).then(|| Name {
            user,
            of_file: true,
            words: words(asked.get(2..4).unwrap_or_default()),
        });
        let there = name.as_ref().and_then(|name| self.named(name));
        let place = match (there, size(asked, 0)) {
            (Some(_), 2) | (None, 0) => return Ok(words(&[0])),
            (Some(domain), 0 | 1) => client.keep(domain.xrcd.clone(), account)?,
            (None, 1 | 2) => self.make(device, client, account, name)?,
            _ => return Err("no such way to open a domain".to_owned()),
        };
        Ok(words(&[1, place as u64]))
    }

    /// Opens the domain of a name; its place among what the client has. One that it has already has one place.
    pub(super) fn open(
        &mut self,
        device: &Device,
        client: &mut Opened,
        (account, user): (&Arc<Account>, u32),
        asked: &[u64],
    ) -> Result<Words, String> {
        let name = Name {
            user,
            of_file: false,
            words: words(asked.get(1..).unwrap_or_default()),
        };
        if name.words == [0; NAME] {
            return Err("an XRC domain has a name of 1 to 48 bytes".to_owned());
        }
        let there = self.named(&name);
        let xrcd = match (there, size(asked, 0)) {
            (Some(_), 2) => return Err("the name is an XRC domain's already: open it as an existing one".to_owned()),
            (Some(domain), 0 | 1) => domain.xrcd.clone(),
            (None, 0) => {
                return Err("the name is no XRC domain's of this user, or nobody has it any more: open it as a new one".to_owned())
            }
            (None, 1 | 2) => {
                let place = self.make(device, client, account, Some(name))?;
                return Ok(words(&[place as u64]));
            }
            _ => return Err("no such way to open a domain".to_owned()),
        };
        let mut places = client.xrcds.iter();
        let has = places.position(|own| own.as_ref().is_some_and(|(own, _)| own.is(&xrcd)));
        let place = match has {
            Some(place) => place,
            None => client.keep(xrcd, account)?,
        };
        Ok(words(&[place as u64]))
    }

    /// The protection domain of the domain at a client's place.
    pub(super) fn pd(&self, client: &Opened, place: usize) -> Result<&Pd, String> {
        let xrcd = client.xrcd(place)?;
        let mut all = self.all.iter();
        let domain = all.find(|domain| domain.xrcd.is(xrcd));
        domain.map(|domain| &domain.pd).ok_or_else(none)
    }

    /// A new target, given to the client, or a handle of one that others have. One that it has already it has once.
    pub(super) fn target(
        &self,
        client: &mut Opened,
        control: &ControlLease,
        account: &Arc<Account>,
        asked: &[u64],
    ) -> Result<Words, String> {
        match size(asked, 1) as u32 {
            0 => {
                let pd = self.pd(client, size(asked, 0))?;
                client.give_target(control, account, size(asked, 0), Err(pd))
            }
            number => client.give_target(control, account, size(asked, 0), Ok(number)),
        }
    }
}

fn none() -> String {
    "no such XRC domain".to_owned()
}

impl Opened {
    fn xrcds(&self) -> impl Iterator<Item = &Xrcd> {
        self.xrcds.iter().flatten().map(|(xrcd, _)| xrcd)
    }

    fn xrcd(&self, place: usize) -> Result<&Xrcd, String> {
        let there = self.xrcds.get(place).and_then(Option::as_ref);
        there.map(|(xrcd, _)| xrcd).ok_or_else(none)
    }

    /// It has one more; its place.
    fn keep(&mut self, xrcd: Xrcd, account: &Arc<Account>) -> Result<usize, String> {
        let charge = account.charge(Resource::Domains, 1).map_err(text)?;
        let free = self.xrcds.iter().position(Option::is_none);
        let place = free.unwrap_or(self.xrcds.len());
        match self.xrcds.get_mut(place) {
            Some(there) => *there = Some((xrcd, charge)),
            None => self.xrcds.push(Some((xrcd, charge))),
        }
        Ok(place)
    }

    /// Gives it a target of the domain at this place: the one of this number, or a new one in this protection domain.
    pub(super) fn give_target(
        &mut self,
        control: &ControlLease,
        account: &Arc<Account>,
        place: usize,
        which: Result<u32, &Pd>,
    ) -> Result<Words, String> {
        let xrcd = self.xrcd(place)?;
        let charges = [Resource::Targets, Resource::QueuePairs].map(|of| account.charge(of, 1));
        let target: Qp = match which {
            Err(pd) => {
                for charge in &charges {
                    charge.as_ref().map_err(ToString::to_string)?;
                }
                pd.create_qp(&xrcd.target()).map_err(text)?
            }
            Ok(number) => xrcd.open_target(number).map_err(text)?,
        };
        let qp_num = target.qp_num();
        let has = target.number_in_commands();
        let number = match self.targets.contains(&has) {
            true => has,
            false => {
                let [handle, flow] = charges;
                let charges = (handle.map_err(text)?, flow.map_err(text)?);
                let number = control.give_target(&target).map_err(text)?;
                control.keep(Some(number), charges);
                self.targets.insert(number);
                number
            }
        };
        Ok(words(&[number.into(), qp_num.into()]))
    }

    /// It has a target no longer.
    pub(super) fn close_target(&mut self, control: &ControlLease, asked: &[u64]) {
        let number = size(asked, 0) as u32;
        if self.targets.remove(&number) {
            control.take_qp_back(number);
        }
    }

    /// CQEs of its shared receive queues so far.
    pub(super) fn news(&self) -> u64 {
        let written = |(lease, _): &(SrqLease, _)| u64::from(lease.completions_written());
        self.srqs.iter().map(written).sum::<u64>() + self.gone
    }

    /// A new shared receive queue, lent to the client, of its own protection domain.
    pub(super) fn create_srq(
        &mut self,
        pd: &Pd,
        account: &Arc<Account>,
        asked: &[u64],
    ) -> Result<(Words, [BorrowedFd<'_>; 2]), String> {
        let init = SrqInit {
            max_wr: u32::try_from(size(asked, 1)).unwrap_or(u32::MAX),
            max_sge: size(asked, 2),
            srq_limit: 0,
        };
        self.lend_srq(pd, account, size(asked, 0), (&init, size(asked, 3)))?;
        let (lease, _) = self.srqs.last().ok_or("no queue")?;
        let (files, terms) = lease.files().map_err(text)?;
        let said = [terms.srq_num, terms.max_wr, terms.cqe];
        Ok((words(&said.map(u64::from)), files))
    }

    /// The same for a device: it may ask for the queue's state and set its limit. Each receive has a place in the completion queue.
    pub(super) fn device_srq(
        &mut self,
        pd: &Pd,
        control: &ControlLease,
        account: &Arc<Account>,
        asked: &[u64],
    ) -> Result<Lent<'_>, String> {
        let init = SrqInit {
            max_wr: half(asked, 2),
            max_sge: size(asked, 3),
            srq_limit: half(asked, 4),
        };
        let cqe = init.max_wr.checked_next_power_of_two();
        let cqe = cqe.map_or(usize::MAX, |cqe| cqe as usize);
        self.lend_srq(pd, account, size(asked, 0), (&init, cqe))?;
        let (lease, _) = self.srqs.last().ok_or("no queue")?;
        control.give_srq(lease.srq()).map_err(text)?;
        let (files, terms) = lease.files().map_err(text)?;
        Ok((words(&[terms.srq_num.into()]), files.to_vec()))
    }

    /// It has a shared receive queue of a domain no longer; false: it never had.
    pub(super) fn leave_srq(&mut self, control: &ControlLease, asked: &[u64]) -> bool {
        let number = half(asked, 0);
        let mut all = self.srqs.iter();
        let Some(at) = all.position(|(lease, _)| lease.srq().srq_num() == number) else {
            return false;
        };
        let (lease, _) = self.srqs.swap_remove(at);
        control.take_srq_back(lease.srq());
        self.gone = self.gone.wrapping_add(lease.completions_written().into());
        true
    }

    fn lend_srq(
        &mut self,
        pd: &Pd,
        account: &Arc<Account>,
        place: usize,
        (init, cqe): (&SrqInit, usize),
    ) -> Result<(), String> {
        let bytes = lent_srq_bytes(init.max_wr, cqe);
        let charges = charge(
            account,
            &[
                (Resource::SharedQueues, 1),
                (Resource::Files, 2),
                (Resource::Memory, bytes.unwrap_or(0)),
            ],
        )?;
        let xrcd = self.xrcd(place)?;
        let lease = pd.share_xrc_srq(xrcd, init, cqe).map_err(text)?;
        self.srqs.push((lease, charges));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two users call the same are two.
    #[test]
    fn names_are_a_users_own() {
        let name = |user, word| Name {
            user,
            of_file: false,
            words: [word, 0, 0, 0, 0, 0],
        };
        let of_file = Name {
            of_file: true,
            ..name(7, 1)
        };
        assert!(of_file != name(7, 1));
        assert!(name(7, 1) == name(7, 1));
        assert!(name(7, 1) != name(8, 1));
        assert!(name(7, 1) != name(7, 2));
    }
}

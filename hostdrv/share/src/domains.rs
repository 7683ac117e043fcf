//! The broker's XRC domains: clients of one user that open the same name have the same one. Each has a protection domain of its own, for the memory that its
//! targets let a peer reach.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use super::asked::{charge, size, text};
use super::packet::{words, Words};

use weft_hostdrv::device::{Account, Charge, Device, Resource};
use weft_hostdrv::verbs::{lent_srq_bytes, ControlLease, Pd, Qp, SrqInit, SrqLease, Xrcd};

/// Words of a name.
pub(super) const NAME: usize = 6;

/// A user's name for a domain: what another user calls so is another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    user: u32,
    words: [u64; NAME],
}

/// A domain that clients have.
struct Domain {
    name: Name,
    xrcd: Xrcd,
    pd: Pd,
}

/// All of them.
#[derive(Default)]
pub(super) struct Domains {
    all: Vec<Domain>,
}

/// What a client has of domains: each by its place.
#[derive(Default)]
pub(super) struct Opened {
    xrcds: Vec<(Xrcd, Charge)>,
    srqs: Vec<(SrqLease, Vec<Charge>)>,
    /// Names of its targets in commands.
    targets: BTreeSet<u32>,
}

impl Domains {
    /// Those that nobody has any more are gone.
    pub(super) fn sweep<'c>(&mut self, clients: impl Iterator<Item = &'c Opened> + Clone) {
        self.all.retain(|domain| {
            let mut opened = clients.clone().flat_map(|client| &client.xrcds);
            opened.any(|(xrcd, _)| xrcd.is(&domain.xrcd))
        });
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
            words: words(asked.get(1..).unwrap_or_default()),
        };
        if name.words == [0; NAME] {
            return Err("an XRC domain has a name of 1 to 48 bytes".to_owned());
        }
        let there = self.all.iter().find(|domain| domain.name == name);
        let xrcd = match (there, size(asked, 0)) {
            (Some(_), 2) => return Err("the name is an XRC domain's already: open it as an existing one".to_owned()),
            (Some(domain), 0 | 1) => domain.xrcd.clone(),
            (None, 0) => {
                return Err("the name is no XRC domain's of this user, or nobody has it any more: open it as a new one".to_owned())
            }
            (None, 1 | 2) => {
                let xrcd = device.alloc_xrcd().map_err(text)?;
                let pd = device.alloc_pd().map_err(text)?;
                let made = xrcd.clone();
                client.keep(xrcd, account)?;
                self.all.push(Domain {
                    name,
                    xrcd: made,
                    pd,
                });
                return Ok(words(&[client.xrcds.len() as u64 - 1]));
            }
            _ => return Err("no such way to open a domain".to_owned()),
        };
        let has = client.xrcds.iter().position(|(own, _)| own.is(&xrcd));
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
        let xrcd = client.xrcd(size(asked, 0))?;
        let charges = [Resource::Targets, Resource::QueuePairs].map(|of| account.charge(of, 1));
        let target: Qp = match size(asked, 1) as u32 {
            0 => {
                for charge in &charges {
                    charge.as_ref().map_err(ToString::to_string)?;
                }
                let pd = self.pd(client, size(asked, 0))?;
                pd.create_qp(&xrcd.target()).map_err(text)?
            }
            number => xrcd.open_target(number).map_err(text)?,
        };
        let qp_num = target.qp_num();
        let has = target.number_in_commands();
        let number = match client.targets.contains(&has) {
            true => has,
            false => {
                let [handle, flow] = charges;
                let charges = (handle.map_err(text)?, flow.map_err(text)?);
                let number = control.give_target(&target).map_err(text)?;
                control.keep(Some(number), charges);
                client.targets.insert(number);
                number
            }
        };
        Ok(words(&[number.into(), qp_num.into()]))
    }
}

fn none() -> String {
    "no such XRC domain".to_owned()
}

impl Opened {
    fn xrcd(&self, place: usize) -> Result<&Xrcd, String> {
        self.xrcds.get(place).map(|(xrcd, _)| xrcd).ok_or_else(none)
    }

    /// It has one more; its place.
    fn keep(&mut self, xrcd: Xrcd, account: &Arc<Account>) -> Result<usize, String> {
        let charge = account.charge(Resource::Domains, 1).map_err(text)?;
        self.xrcds.push((xrcd, charge));
        Ok(self.xrcds.len() - 1)
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
        self.srqs.iter().map(written).sum()
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
        let cqe = size(asked, 3);
        let bytes = lent_srq_bytes(init.max_wr, cqe);
        let charges = charge(
            account,
            &[
                (Resource::SharedQueues, 1),
                (Resource::Files, 2),
                (Resource::Memory, bytes.unwrap_or(0)),
            ],
        )?;
        let xrcd = self.xrcd(size(asked, 0))?;
        let lease = pd.share_xrc_srq(xrcd, &init, cqe).map_err(text)?;
        self.srqs.push((lease, charges));
        let (lease, _) = self.srqs.last().ok_or("no queue")?;
        let (files, terms) = lease.files().map_err(text)?;
        let said = [terms.srq_num, terms.max_wr, terms.cqe];
        Ok((words(&said.map(u64::from)), files))
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
            words: [word, 0, 0, 0, 0, 0],
        };
        assert!(name(7, 1) == name(7, 1));
        assert!(name(7, 1) != name(8, 1));
        assert!(name(7, 1) != name(7, 2));
    }
}

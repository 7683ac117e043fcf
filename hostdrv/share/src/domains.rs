//! The broker's XRC domains: who opens the same file has the same one. Each has a protection domain of its own, for the memory that its targets let a peer reach.

use std::collections::BTreeSet;
use std::os::fd::{BorrowedFd, OwnedFd};

use super::packet::{words, Words};
use weft_hostdrv::device::Device;
use weft_hostdrv::verbs::{ControlLease, Pd, Qp, SrqInit, SrqLease, VerbsError, Xrcd, XrcdOpen};

/// A domain that clients have.
struct Domain {
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
    xrcds: Vec<Xrcd>,
    srqs: Vec<SrqLease>,
    /// Names of its targets in commands.
    targets: BTreeSet<u32>,
}

fn text(error: VerbsError) -> String {
    error.to_string()
}

/// A number of a request.
fn size(asked: &[u64], at: usize) -> usize {
    asked.get(at).map_or(0, |size| *size as usize)
}

impl Domains {
    /// Those that nobody has any more are gone.
    pub(super) fn sweep<'c>(&mut self, clients: impl Iterator<Item = &'c Opened> + Clone) {
        self.all.retain(|domain| {
            let mut opened = clients.clone().flat_map(|client| &client.xrcds);
            opened.any(|xrcd| xrcd.is(&domain.xrcd))
        });
    }

    /// Opens the domain that a file names; its place among what the client has.
    pub(super) fn open(
        &mut self,
        device: &Device,
        client: &mut Opened,
        file: Option<OwnedFd>,
        asked: &[u64],
    ) -> Result<Words, String> {
        let file = file.ok_or("a domain is named by a file, which did not come")?;
        let how = match size(asked, 0) {
            0 => XrcdOpen::Existing,
            1 => XrcdOpen::OrNew,
            2 => XrcdOpen::New,
            _ => return Err("no such way to open a domain".to_owned()),
        };
        let xrcd = device.open_xrcd(file, how).map_err(text)?;
        if !self.all.iter().any(|domain| domain.xrcd.is(&xrcd)) {
            self.all.push(Domain {
                xrcd: xrcd.clone(),
                pd: device.alloc_pd().map_err(text)?,
            });
        }
        client.xrcds.push(xrcd);
        Ok(words(&[client.xrcds.len() as u64 - 1]))
    }

    /// The protection domain of the domain at a client's place.
    pub(super) fn pd(&self, client: &Opened, place: usize) -> Result<&Pd, String> {
        let xrcd = client.xrcd(place)?;
        let mut all = self.all.iter();
        let domain = all.find(|domain| domain.xrcd.is(xrcd));
        domain.map(|domain| &domain.pd).ok_or_else(none)
    }

    /// A new target, given to the client, or one more handle of one that others have.
    pub(super) fn target(
        &self,
        client: &mut Opened,
        control: &ControlLease,
        asked: &[u64],
    ) -> Result<Words, String> {
        let xrcd = client.xrcd(size(asked, 0))?;
        let target: Qp = match size(asked, 1) as u32 {
            0 => {
                let pd = self.pd(client, size(asked, 0))?;
                pd.create_qp(&xrcd.target()).map_err(text)?
            }
            number => xrcd.open_target(number).map_err(text)?,
        };
        let number = control.give_target(&target).map_err(text)?;
        client.targets.insert(number);
        Ok(words(&[number.into(), target.qp_num().into()]))
    }
}

fn none() -> String {
    "no such XRC domain".to_owned()
}

impl Opened {
    fn xrcd(&self, place: usize) -> Result<&Xrcd, String> {
        self.xrcds.get(place).ok_or_else(none)
    }

    /// It has as many of one thing as it may have.
    pub(super) fn is_full(&self, limit: usize) -> bool {
        let most = self.xrcds.len().max(self.srqs.len());
        most.max(self.targets.len()) >= limit
    }

    /// It has a target no longer.
    pub(super) fn close_target(&mut self, control: &ControlLease, asked: &[u64]) {
        let number = size(asked, 0) as u32;
        if self.targets.remove(&number) {
            control.take_target_back(number);
        }
    }

    /// A new shared receive queue, lent to the client, of its own protection domain.
    pub(super) fn create_srq(
        &mut self,
        pd: &Pd,
        asked: &[u64],
    ) -> Result<(Words, [BorrowedFd<'_>; 2]), String> {
        let init = SrqInit {
            max_wr: size(asked, 1) as u32,
            max_sge: size(asked, 2),
            srq_limit: 0,
        };
        let xrcd = self.xrcd(size(asked, 0))?;
        let lease = pd
            .share_xrc_srq(xrcd, &init, size(asked, 3))
            .map_err(text)?;
        self.srqs.push(lease);
        let lease = self.srqs.last().ok_or("no queue")?;
        let (files, terms) = lease.files().map_err(text)?;
        let said = [terms.srq_num, terms.max_wr, terms.cqe];
        Ok((words(&said.map(u64::from)), files))
    }
}

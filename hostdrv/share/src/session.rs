//! A client, as the broker has it: what it asked for, and what was lent to it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::asked::{charge, half, size, text};
use super::domains::{Domains, Opened};
use super::door::Door;
use super::memory::ClientMemory;
use super::own_domains::OwnDomains;
use super::packet::{self, words, Request, Words};
use super::queue_pairs::{create_qp, Lent};
use super::{sized, version};
use weft_hostdrv::cm::client_gate;
use weft_hostdrv::device::{Account, Device, Resource};
use weft_hostdrv::verbs::{ControlLease, Gone, LentLine, Pd, Qp};

/// What a client hears that is not trusted with memory of its own.
const UNTRUSTED: &str = "this broker takes no memory of a client's own (weft share --trusted does)";

/// A client, and what is lent to it. What uses something goes before it.
pub(super) struct Session {
    control: Option<ControlLease>,
    line: Option<LentLine>,
    /// What was written for it so far, the last time that somebody looked.
    news: u64,
    qps: Vec<Qp>,
    /// What was written for queue pairs that it has left: news are never less than they were.
    gone: u64,
    opened: Opened,
    domains: OwnDomains,
    memory: ClientMemory,
    /// Of the fence that it asked for last.
    fence: u32,
    pd: Pd,
    user: u32,
    account: Arc<Account>,
    door: Door,
}

impl Session {
    /// Of somebody who has come in by this door, and has said nothing.
    pub(super) fn new(pd: Pd, user: u32, account: Arc<Account>, door: Door) -> Self {
        Self {
            control: None,
            line: None,
            news: 0,
            qps: Vec::new(),
            gone: 0,
            opened: Opened::default(),
            domains: OwnDomains::default(),
            memory: ClientMemory::default(),
            fence: 0,
            pd,
            user,
            account,
            door,
        }
    }

    /// What it has of domains.
    pub(super) fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Commands that were refused: of what is not its own.
    pub(super) fn refused(&self) -> u64 {
        self.control.as_ref().map_or(0, ControlLease::refused)
    }

    /// Does it wake the broker when it posts?
    pub(super) fn rings(&self) -> bool {
        self.line.is_some()
    }

    /// From now on it does, or does not.
    pub(super) fn set_asleep(&self, asleep: bool) {
        if let Some(line) = &self.line {
            line.set_asleep(asleep);
        }
    }

    /// Wakes it, if it sleeps and something was written for it since the last time.
    pub(super) fn wake(&mut self) {
        let (Some(line), Some(control)) = (&self.line, &self.control) else {
            return;
        };
        let queues: u64 = self.qps.iter().map(completions).sum();
        let news = control.news() + queues + self.gone + self.opened.news();
        if news != self.news {
            self.news = news;
            line.wake();
        }
    }

    /// Begins the fence that it has asked for.
    pub(super) fn settle(&mut self, device: &Device) {
        let Some(line) = &self.line else { return };
        let asked = line.fence_asked();
        if asked != self.fence {
            self.fence = asked;
            device.when_settled(line.fence_ends(asked));
        }
    }

    /// Its posts fail from now on.
    pub(super) fn end(&self, why: Gone) {
        if let Some(line) = &self.line {
            line.end(why);
        }
    }

    /// Answers its next request: was there one, and was it refused? An error: it is gone.
    pub(super) fn turn(
        &mut self,
        device: &Device,
        domains: &mut Domains,
    ) -> io::Result<Option<bool>> {
        let Some((request, file)) = self.door.take()? else {
            return Ok(None);
        };
        let refused = match request[0] == packet::RING && self.control.is_some() {
            true => Ok(false),
            false => self.serve(device, domains, &request, file.as_ref()),
        };
        if let Some(file) = file {
            self.door.let_go(file);
        }
        refused.map(Some)
    }

    fn serve(
        &mut self,
        device: &Device,
        domains: &mut Domains,
        request: &Request,
        file: Option<&OwnedFd>,
    ) -> io::Result<bool> {
        // What is lent to it is borrowed until it is sent.
        let Self {
            control,
            line,
            opened,
            domains: own,
            memory,
            qps,
            gone,
            pd,
            user,
            account,
            door,
            ..
        } = self;
        let [kind, rest @ ..] = request;
        let outcome = match (*kind, &*control) {
            (packet::HELLO, None) => version::agree(rest).and_then(|version| {
                let who = (*user, &*account);
                hello(device, who, control, line, version)
            }),
            (packet::EXTENSIONS, Some(_)) => extensions(device, rest).map(without_files),
            (packet::OPEN_XRCD_BY_FILE, Some(_)) => Err(
                "an XRC domain is opened by a name, since version 3 of the interface".to_owned(),
            ),
            (packet::OPEN_XRCD, Some(_)) => {
                let place = domains.open(device, opened, (account, *user), rest);
                place.map(without_files)
            }
            (packet::XRC_SRQ, Some(_)) => {
                let made = opened.create_srq(pd, account, rest);
                made.map(|(said, files)| (said, files.to_vec()))
            }
            (packet::TARGET, Some(control)) => {
                let target = domains.target(opened, control, account, rest);
                target.map(without_files)
            }
            (packet::CLOSE_TARGET, Some(control)) => {
                opened.close_target(control, rest);
                Ok(without_files(words(&[])))
            }
            (packet::XRCD, Some(_)) => {
                let place = domains.open_of_file(device, opened, (account, *user), rest);
                place.map(without_files)
            }
            (packet::LEAVE_XRCD, Some(_)) => {
                let left = domains.leave(opened, rest);
                left.map(|()| without_files(words(&[])))
            }
            (packet::XRC_RECEIVES, Some(control)) => {
                let pd = own.pd(half(rest, 1));
                pd.and_then(|pd| opened.device_srq(pd, control, account, rest))
            }
            (packet::XRC_TARGET, Some(control)) => {
                let pd = own.pd(half(rest, 1));
                let target =
                    pd.and_then(|pd| opened.give_target(control, account, size(rest, 0), Err(pd)));
                target.map(without_files)
            }
            (packet::CREATE_QP, Some(control)) => {
                create_qp(device, pd, control, account, qps, rest)
            }
            (packet::DOMAIN, Some(control)) => {
                own.open(device, control, account).map(without_files)
            }
            (packet::LEAVE_DOMAIN, Some(control)) => {
                own.leave(control, rest).map(|()| without_files(words(&[])))
            }
            (packet::QUEUE_PAIR, Some(control)) => {
                own.queue_pair(device, control, account, qps, rest)
            }
            (packet::LEAVE_QUEUE_PAIR, Some(control)) => {
                let number = half(rest, 0);
                control.take_qp_back(number);
                qps.retain(|qp| {
                    let stays = qp.number_in_commands() != number;
                    if !stays {
                        *gone += completions(qp);
                    }
                    stays
                });
                Ok(without_files(words(&[])))
            }
            (packet::SHARED_RECEIVES, Some(control)) => own.receives(control, account, rest),
            (packet::LEAVE_SHARED_RECEIVES, Some(control)) => {
                let left = match opened.leave_srq(control, rest) {
                    true => Ok(()),
                    false => own.leave_receives(control, rest),
                };
                left.map(|()| without_files(words(&[])))
            }
            (packet::MEMORY, Some(control)) => {
                let of_domain = size(rest, 2).checked_sub(1);
                let pd = of_domain.map_or(Ok(&*pd), |place| domains.pd(opened, place));
                pd.and_then(|pd| memory.make(pd, control, account, rest))
            }
            (packet::MAP, Some(control)) => {
                let mapped = match door.takes_files() {
                    true => memory.map(pd, control, account, rest, file),
                    false => Err(UNTRUSTED.to_owned()),
                };
                mapped.map(without_files)
            }
            (packet::JOIN, Some(control)) => {
                let joined = memory.join(pd, control, account, rest);
                joined.map(without_files)
            }
            (packet::LEAVE_JOINED, Some(control)) => {
                let left = memory.leave(control, rest);
                left.map(|()| without_files(words(&[])))
            }
            _ => Err("no such request".to_owned()),
        };
        let refused = outcome.is_err();
        let answered = door.answer(outcome);
        if let Some(line) = line {
            line.lent();
        }
        answered.map(|()| refused)
    }
}

fn completions(qp: &Qp) -> u64 {
    qp.completions_written().into()
}

fn without_files<'a>(said: Words) -> Lent<'a> {
    (said, Vec::new())
}

fn hello<'c>(
    device: &Device,
    (user, account): (u32, &Arc<Account>),
    control: &'c mut Option<ControlLease>,
    line: &'c mut Option<LentLine>,
    version: u64,
) -> Result<Lent<'c>, String> {
    let own = rustix::process::geteuid().as_raw();
    let gate = client_gate(device, user, user == 0 || user == own).map_err(text)?;
    let charges = charge(account, &[(Resource::Files, 5)])?;
    let lease = device.create_shareable_control_for(account.clone(), gate);
    let lease = lease.map_err(text)?;
    lease.keep(None, charges);
    if version >= 3 {
        *line = Some(LentLine::new().map_err(text)?);
    }
    let (files, terms) = control.insert(lease).files().map_err(text)?;
    let mut files = files.to_vec();
    files.extend(
        line.as_ref()
            .and_then(LentLine::files)
            .into_iter()
            .flatten(),
    );
    let ip = u64::from(u32::from(device.ip()));
    let sizes = [terms.commands.into(), terms.events.into(), ip];
    let gateway = device.gateway().map_or(0, u32::from);
    let network = [device.netmask().into(), gateway];
    Ok((version::said(sizes, version, network), files))
}

/// A piece of what the device can do.
fn extensions(device: &Device, asked: &[u64]) -> Result<Words, String> {
    let extensions = device.extensions();
    let mut whole = vec![0; extensions.size()];
    extensions.write(&mut whole);
    sized::piece(&whole, asked.first().copied().unwrap_or(0))
}

//! The process that has the device.

use std::fs;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use super::domains::{Domains, Opened};
use super::packet::{self, words, Incoming, Request, Words};
use super::{sized, version};
use weft_card_transport::listening;
use weft_hostdrv::device::Device;
use weft_hostdrv::verbs::{
    Access, ControlLease, Mr, OwnedMemory, Pd, Qp, QpCap, QpInit, QpKind, VerbsError,
};

/// What one client may have at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Clients at a time; one more is turned away.
    pub clients: usize,
    /// Queue pairs of a client.
    pub queue_pairs: usize,
    /// Bytes of memory of a client.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 32,
            queue_pairs: 16,
            memory: 64 << 20,
        }
    }
}

/// Why there is no broker.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The socket.
    #[error("cannot listen at {path}: {error}")]
    Socket {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Somebody answers there already.
    #[error("another broker answers at {0}")]
    InUse(PathBuf),
}

/// What a broker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShareReport {
    /// Clients that came, and went.
    pub came: u64,
    /// Those that went.
    pub went: u64,
    /// Those beyond the limit.
    pub turned_away: u64,
    /// Requests that were refused.
    pub refused_requests: u64,
    /// Commands of clients that went that were refused: of what was not theirs.
    pub refused_commands: u64,
}

/// A client, and what is lent to it. What uses something goes before it.
struct Client {
    socket: UnixStream,
    incoming: Incoming,
    control: Option<ControlLease>,
    qps: Vec<Qp>,
    regions: Vec<Mr>,
    bytes: u64,
    opened: Opened,
    pd: Pd,
}

/// Lends a device's parts to whoever connects to its socket. The socket goes with it.
#[must_use = "the socket goes when this is dropped"]
pub struct Broker {
    device: Device,
    listener: UnixListener,
    path: PathBuf,
    limits: Limits,
    clients: Vec<Client>,
    domains: Domains,
    report: ShareReport,
}

type Lent<'a> = (Words, Vec<BorrowedFd<'a>>);

impl Broker {
    /// Listens at `path`. A socket that nobody answers at is replaced.
    pub fn bind(device: &Device, path: &Path, limits: Limits) -> Result<Self, ShareError> {
        let listener = listening::listen(path).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ShareError::InUse(path.to_owned()),
            _ => ShareError::Socket {
                path: path.to_owned(),
                error,
            },
        })?;
        Ok(Self {
            device: device.clone(),
            listener,
            path: path.to_owned(),
            limits,
            clients: Vec::new(),
            domains: Domains::default(),
            report: ShareReport::default(),
        })
    }

    /// What it did so far.
    pub fn report(&self) -> ShareReport {
        self.report
    }

    /// Clients that are there.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Lets clients in, answers what they ask for, one request each, and ends those that are gone. Never blocks; how much there was. The
    /// device's [`progress`](Device::progress) is its caller's to call: that does what clients post and command.
    pub fn turn(&mut self) -> Result<usize, VerbsError> {
        let mut handled = 0;
        // An error of the listener is as good as nobody there.
        while let Ok((socket, _)) = self.listener.accept() {
            handled += 1;
            self.let_in(socket)?;
        }
        let (device, limits, report) = (&self.device, &self.limits, &mut self.report);
        let (domains, before) = (&mut self.domains, self.clients.len());
        self.clients.retain_mut(|client| {
            let request = match client.incoming.take(&client.socket) {
                Ok(None) => return true,
                Ok(Some(request)) => Ok(request),
                Err(gone) => Err(gone),
            };
            handled += 1;
            let stays =
                request.and_then(|request| client.serve(device, domains, limits, report, &request));
            if let Err(why) = &stays {
                tracing::debug!(%why, "a client is gone");
                report.went += 1;
                let control = client.control.as_ref();
                report.refused_commands += control.map_or(0, ControlLease::refused);
            }
            stays.is_ok()
        });
        if self.clients.len() < before {
            let opened = self.clients.iter().map(|client| &client.opened);
            domains.sweep(opened);
        }
        Ok(handled)
    }

    fn let_in(&mut self, socket: UnixStream) -> Result<(), VerbsError> {
        if self.clients.len() >= self.limits.clients || socket.set_nonblocking(true).is_err() {
            self.report.turned_away += 1;
            return Ok(());
        }
        self.report.came += 1;
        self.clients.push(Client {
            socket,
            incoming: Incoming::new(),
            control: None,
            qps: Vec::new(),
            regions: Vec::new(),
            bytes: 0,
            opened: Opened::default(),
            pd: self.device.alloc_pd()?,
        });
        Ok(())
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Client {
    /// Answers a request. An error: the client is gone.
    fn serve(
        &mut self,
        device: &Device,
        domains: &mut Domains,
        limits: &Limits,
        report: &mut ShareReport,
        request: &Request,
    ) -> io::Result<()> {
        // What is lent to it is borrowed until it is sent.
        let Self {
            socket,
            incoming,
            control,
            opened,
            qps,
            regions,
            bytes,
            pd,
            ..
        } = self;
        let file: File;
        let [kind, rest @ ..] = request;
        let outcome = match (*kind, &*control) {
            (packet::HELLO, None) => {
                version::agree(rest).and_then(|version| hello(device, control, version))
            }
            (packet::EXTENSIONS, Some(_)) => extensions(device, rest).map(without_files),
            (packet::OPEN_XRCD | packet::XRC_SRQ | packet::TARGET, Some(_))
                if opened.is_full(limits.queue_pairs) =>
            {
                Err("no more of XRC for a client".to_owned())
            }
            (packet::OPEN_XRCD, Some(_)) => {
                let place = domains.open(device, opened, incoming.take_file(), rest);
                place.map(without_files)
            }
            (packet::XRC_SRQ, Some(_)) => {
                let made = opened.create_srq(pd, rest);
                made.map(|(said, files)| (said, files.to_vec()))
            }
            (packet::TARGET, Some(control)) => {
                domains.target(opened, control, rest).map(without_files)
            }
            (packet::CLOSE_TARGET, Some(control)) => {
                opened.close_target(control, rest);
                Ok(without_files(words(&[])))
            }
            (packet::CREATE_QP, Some(control)) if qps.len() < limits.queue_pairs => {
                create_qp(device, pd, control, qps, rest)
            }
            (packet::CREATE_QP, Some(_)) => Err("no more queue pairs for a client".to_owned()),
            (packet::MEMORY, Some(control)) => {
                let left = limits.memory.saturating_sub(*bytes);
                let of_domain = (rest[2] as usize).checked_sub(1);
                let pd = of_domain.map_or(Ok(&*pd), |place| domains.pd(opened, place));
                match pd.and_then(|pd| memory(pd, control, regions, left, rest)) {
                    Ok((words, made)) => {
                        *bytes += rest[0];
                        file = made;
                        Ok((words, vec![file.as_fd()]))
                    }
                    Err(why) => Err(why),
                }
            }
            _ => Err("no such request".to_owned()),
        };
        report.refused_requests += u64::from(outcome.is_err());
        packet::answer(socket, outcome)
    }
}

fn without_files<'a>(said: Words) -> Lent<'a> {
    (said, Vec::new())
}

fn text(error: VerbsError) -> String {
    error.to_string()
}

fn hello<'c>(
    device: &Device,
    control: &'c mut Option<ControlLease>,
    version: u64,
) -> Result<Lent<'c>, String> {
    let lease = device.create_shareable_control().map_err(text)?;
    let (files, terms) = control.insert(lease).files().map_err(text)?;
    let ip = u64::from(u32::from(device.ip()));
    let sizes = [terms.commands.into(), terms.events.into(), ip];
    Ok((version::said(sizes, version), files.to_vec()))
}

/// A piece of what the device can do.
fn extensions(device: &Device, asked: &[u64]) -> Result<Words, String> {
    let extensions = device.extensions();
    let mut whole = vec![0; extensions.size()];
    extensions.write(&mut whole);
    sized::piece(&whole, asked.first().copied().unwrap_or(0))
}

fn create_qp<'q>(
    device: &Device,
    pd: &Pd,
    control: &ControlLease,
    qps: &'q mut Vec<Qp>,
    asked: &[u64],
) -> Result<Lent<'q>, String> {
    let size = |at: usize| asked.get(at).map_or(0, |size| *size as usize);
    let cq = device.create_shareable_cq(size(5)).map_err(text)?;
    let cap = QpCap {
        max_send_wr: size(0) as u32,
        max_recv_wr: size(1) as u32,
        max_send_sge: size(2),
        max_recv_sge: size(3),
        max_inline_data: size(4),
    };
    let init = QpInit {
        cap,
        shareable: true,
        kind: match size(6) {
            0 => QpKind::Rc,
            _ => QpKind::XrcInitiator,
        },
        ..QpInit::new(&cq)
    };
    let qp = pd.create_qp(&init).map_err(text)?;
    qp.share().map_err(text)?;
    let number = control.give_qp(&qp).map_err(text)?;
    qps.push(qp);
    let lease = qps.last().ok_or("no queue pair")?.lease().map_err(text)?;
    let terms = lease.terms;
    let said = [
        number,
        terms.qp_num,
        terms.max_send_wr,
        terms.max_recv_wr,
        terms.max_sge,
        terms.max_inline_data,
        terms.cqe,
    ];
    let files = vec![lease.queues, lease.completions];
    Ok((words(&said.map(u64::from)), files))
}

fn memory(
    pd: &Pd,
    control: &ControlLease,
    regions: &mut Vec<Mr>,
    left: u64,
    asked: &[u64],
) -> Result<(Words, File), String> {
    let [bytes, access, ..] = asked else {
        return Err("no such request".to_owned());
    };
    if *bytes == 0 || *bytes > left {
        return Err(format!("{bytes} bytes, where 1 to {left} are left"));
    }
    let access = u8::try_from(*access).ok().and_then(Access::from_bits);
    let access = access.ok_or("no such access")?;
    let sealed = OwnedMemory::sealed("weft-region", *bytes);
    let (owned, file) = sealed.map_err(|error| error.to_string())?;
    let region = pd.reg_owned(owned, access).map_err(text)?;
    let lent = control.give_memory(&region).map_err(text)?;
    regions.push(region);
    Ok((words(&[lent.pd.into(), lent.iova, lent.length]), file))
}

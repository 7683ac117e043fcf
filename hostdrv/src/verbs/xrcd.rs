//! XRC domains: what any connection of them may reach, by one queue pair for each process that sends and each host that it sends to.
//!
//! ```text
//!   process that sends          host that receives
//!   initiator ────────────────► target ──► Xrcd ──► shared receive queue of process 1, its completion queue
//!     Send to a srq_num                       └───► shared receive queue of process 2, its completion queue
//! ```
//!
//! An initiator sends and receives nothing, a target receives and sends nothing. A Send says which shared queue takes it ([`SendWr::to_srq`](super::SendWr::to_srq));
//! Writes, Reads and atomics are as ever, and reach regions of the target's protection domain.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use weft_engine::{self as engine, commands, XrcdId};

use super::cq::Cq;
use super::qp::{Qp, QpCap, QpInit, QpInner};
use super::VerbsError;
use crate::device::{Device, XrcdAsked, XrcdFileName};

/// What kind of queue pair.
#[derive(Clone, Debug, Default)]
pub enum QpKind {
    /// Reliable connected (`IBV_QPT_RC`).
    #[default]
    Rc,
    /// XRC initiator (`IBV_QPT_XRC_SEND`).
    XrcInitiator,
    /// XRC target (`IBV_QPT_XRC_RECV`) of this domain.
    XrcTarget(Xrcd),
}

impl QpKind {
    /// In messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            QpKind::Rc => "reliable connected queue pair",
            QpKind::XrcInitiator => "XRC initiator",
            QpKind::XrcTarget(_) => "XRC target",
        }
    }

    pub(super) fn is_rc(&self) -> bool {
        matches!(self, QpKind::Rc)
    }
}

/// How a domain is opened that a file names (`ibv_xrcd_init_attr`'s `oflags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XrcdOpen {
    /// One that is there.
    Existing,
    /// One that is there, or a new one (`O_CREAT`).
    OrNew,
    /// A new one (`O_CREAT | O_EXCL`).
    New,
}

/// An XRC domain (`ibv_xrcd`). Clones are the same one; it lives as long as a handle, a shared receive queue or a target has it.
#[derive(Clone)]
pub struct Xrcd {
    inner: Arc<XrcdInner>,
}

pub(crate) struct XrcdInner {
    device: Device,
    id: XrcdId,
    /// What targets have in place of a completion queue: nothing of theirs completes.
    nowhere: Cq,
    targets: Mutex<BTreeMap<u32, Weak<QpInner>>>,
    /// What names it stays open: no other file gets its number meanwhile.
    file: OnceLock<OwnedFd>,
}

impl Device {
    /// A new XRC domain that nothing names: this process alone has it.
    #[tracing::instrument(name = "alloc_xrcd", level = "debug", skip_all, fields(device = self.name()))]
    pub fn alloc_xrcd(&self) -> Result<Xrcd, VerbsError> {
        let lent = self.lock().lent_xrcd(XrcdAsked::Unnamed);
        match lent {
            Some(made) => self.xrcd(made?.ok_or(engine::Error::NoMemory)?),
            None => self.xrcd(self.command(&commands::alloc_xrcd(), &[])??.xrcd),
        }
    }

    fn xrcd(&self, number: u32) -> Result<Xrcd, VerbsError> {
        Ok(Xrcd {
            inner: Arc::new(XrcdInner {
                device: self.clone(),
                id: XrcdId::from_number(number),
                nowhere: self.create_cq(1, None)?,
                targets: Mutex::default(),
                file: OnceLock::new(),
            }),
        })
    }

    /// The domain of a file that nobody in this process has open. One of a lent device may be another process' already.
    fn xrcd_of(&self, name: XrcdFileName, how: XrcdOpen) -> Result<Xrcd, VerbsError> {
        let asked = XrcdAsked::OfFile {
            name,
            existing: how != XrcdOpen::New,
            new: how != XrcdOpen::Existing,
        };
        let lent = self.lock().lent_xrcd(asked);
        match (lent, how) {
            (Some(found), _) => match (found?, how) {
                (Some(number), _) => self.xrcd(number),
                (None, XrcdOpen::New) => Err(VerbsError::XrcdExists),
                (None, _) => Err(VerbsError::NoSuchXrcd),
            },
            (None, XrcdOpen::Existing) => Err(VerbsError::NoSuchXrcd),
            (None, _) => self.alloc_xrcd(),
        }
    }

    /// The XRC domain that a file names (`ibv_open_xrcd`): whoever opens the same file has the same one, as long as anybody has it.
    #[tracing::instrument(name = "open_xrcd", level = "debug", skip_all, fields(device = self.name()))]
    #[doc(alias("ibv_close_xrcd", "ibv_open_xrcd"))]
    pub fn open_xrcd(&self, file: impl AsFd, how: XrcdOpen) -> Result<Xrcd, VerbsError> {
        let no_file = |error: std::io::Error| VerbsError::XrcdFile(error.kind());
        let file = file.as_fd().try_clone_to_owned().map_err(no_file)?;
        let stat = rustix::fs::fstat(&file).map_err(|error| no_file(error.into()))?;
        let name: XrcdFileName = (stat.st_dev, stat.st_ino);
        let found = self.lock().xrcd_registry.find(name);
        match (found, how) {
            (Some(_), XrcdOpen::New) => Err(VerbsError::XrcdExists),
            (Some(inner), _) => Ok(Xrcd { inner }),
            (None, _) => {
                let made = self.xrcd_of(name, how)?;
                let _ = made.inner.file.set(file);
                let mut state = self.lock();
                // Somebody else may have been as quick.
                let there = state.xrcd_registry.find(name);
                if there.is_none() {
                    state.xrcd_registry.give(name, &made.inner);
                }
                drop(state);
                Ok(there.map_or(made, |inner| Xrcd { inner }))
            }
        }
    }
}

impl Xrcd {
    /// Its device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    pub(super) fn id(&self) -> XrcdId {
        self.inner.id
    }

    /// Are the two the same domain?
    pub fn is(&self, other: &Xrcd) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    fn targets(&self) -> MutexGuard<'_, BTreeMap<u32, Weak<QpInner>>> {
        let targets = self.inner.targets.lock();
        targets.unwrap_or_else(PoisonError::into_inner)
    }

    /// What a target of it is to be like: a request that [asks for one](crate::cm::CmEvent::xrc) is accepted by such a queue pair. Writes, Reads and atomics of the peer reach
    /// regions of the protection domain that creates it.
    pub fn target(&self) -> QpInit {
        QpInit {
            cap: QpCap {
                max_send_wr: 1,
                max_recv_wr: 1,
                ..QpCap::default()
            },
            kind: QpKind::XrcTarget(self.clone()),
            ..QpInit::new(&self.inner.nowhere)
        }
    }

    /// A new target can be opened by its number.
    pub(super) fn add_target(&self, qp: &Qp) {
        let mut targets = self.targets();
        targets.retain(|_, target| target.strong_count() > 0);
        targets.insert(qp.qp_num(), qp.downgrade());
    }

    /// One more handle of a target of the domain (`ibv_open_qp`): it lives as long as one of them, and its connection with it. On a device that a broker
    /// lends it may be another process', and is then of a protection domain of its own.
    #[doc(alias = "ibv_open_qp")]
    pub fn open_target(&self, qp_num: u32) -> Result<Qp, VerbsError> {
        loop {
            let found = self.targets().get(&qp_num).and_then(Weak::upgrade);
            if let Some(found) = found {
                return Ok(found.into());
            }
            match self.open_lent_target(qp_num)? {
                Some(found) => return Ok(found),
                // Its last handle here is on its way out.
                None => std::thread::yield_now(),
            }
        }
    }

    /// A target of another process.
    fn open_lent_target(&self, qp_num: u32) -> Result<Option<Qp>, VerbsError> {
        let device = &self.inner.device;
        if !device.lock().is_lent() {
            return Err(VerbsError::NoSuchTarget { qp_num });
        }
        let pd = device.alloc_pd()?;
        let mut state = device.lock();
        state.check_fault()?;
        let Some(id) = state.open_lent_target(self.id(), qp_num)? else {
            return Ok(None);
        };
        let opened = Qp::of_lender(&pd, &self.target(), (state, id))?;
        self.add_target(&opened);
        Ok(Some(opened))
    }
}

impl fmt::Debug for Xrcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xrcd").field("id", &self.inner.id).finish()
    }
}

impl Drop for XrcdInner {
    fn drop(&mut self) {
        let gone = self.device.command(&commands::dealloc_xrcd(self.id), &[]);
        if !matches!(gone, Ok(Ok(_))) {
            tracing::debug!(xrcd = self.id.number(), ?gone, "XRC domain not removed");
        }
    }
}

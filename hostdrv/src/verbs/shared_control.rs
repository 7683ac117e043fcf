//! Control rings lent to another process: it connects queue pairs that were lent to it, listens, and registers parts of memory that was given
//! to it; the process that has the card does it.
//!
//! ```text
//!   owner    Device::create_shareable_control ──► two files, ControlTerms ──► (its own way: a socket, /proc, inheritance)
//!            ControlLease::give_qp, give_memory                              SharedControl::open: post, answer, take_event
//! ```
//!
//! What the borrower names that is not its own is refused as what is not there, and counted.

use std::fmt;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_engine::commands::{Answer, Command, Refusal};
use weft_engine::{Event, QpId};

use super::mr::Mr;
use super::pd::Pd;
use super::qp::Qp;
use super::shared_line::{NotPosted, SharedLine};
use super::srq::Srq;
use super::xrcd::QpKind;
use super::VerbsError;
use crate::device::{
    Account, Control, ControlRings, Device, DeviceLender, Gate, LentDevice, Open, Quota, Resource,
};
use weft_card_transport::Transport;

/// What a borrower has to know of lent control rings beside their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlTerms {
    /// Commands that the ring holds: a power of two.
    pub commands: u32,
    /// Events, likewise.
    pub events: u32,
}

/// Memory that a borrower may register parts of, as commands name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedRange {
    /// The number of the domain.
    pub pd: u32,
    /// Where the card sees the first byte.
    pub iova: u64,
    /// Bytes.
    pub length: u64,
}

/// Control rings that another process has. When this is dropped all ends that the process has made: its connections are aborted, its ports
/// closed, its regions deregistered; queue pairs that were given to it are in the error state.
#[must_use = "what was shared ends when this is dropped"]
pub struct ControlLease {
    device: Device,
    rings: Arc<ControlRings>,
    control_client: u64,
}

impl Device {
    /// A command ring and an event ring for another process, which is trusted as this one is: 256 regions and 16 ports, and no policy. To
    /// begin with nothing belongs to it.
    ///
    /// [`progress`](Device::progress) of this process does what is commanded: each call looks. It is not woken by a command, nor
    /// the other process by an answer or an event.
    #[tracing::instrument(name = "share_control", level = "debug", skip_all, fields(device = self.name()))]
    pub fn create_shareable_control(&self) -> Result<ControlLease, VerbsError> {
        let quota = Quota::UNLIMITED.with(Resource::Regions, 256);
        let quota = quota.with(Resource::Ports, 16);
        self.create_shareable_control_for(Account::new("the client", quota, None), Arc::new(Open))
    }

    /// The same, for somebody with this account, whose ports and connections this gate decides on.
    pub fn create_shareable_control_for(
        &self,
        account: Arc<Account>,
        gate: Arc<dyn Gate>,
    ) -> Result<ControlLease, VerbsError> {
        let (rings, control_client) = self.share_control(account, gate)?;
        Ok(ControlLease {
            device: self.clone(),
            rings,
            control_client,
        })
    }
}

impl ControlLease {
    /// The files of both memories, commands and events, and what is in them.
    pub fn files(&self) -> Result<([BorrowedFd<'_>; 2], ControlTerms), VerbsError> {
        let files = self.rings.files().ok_or(VerbsError::NotShareable)?;
        let [commands, events] = self.rings.sizes();
        Ok((files, ControlTerms { commands, events }))
    }

    /// The borrower may connect this queue pair, accept with it, ask for its state and change it; its number in commands. It was lent before
    /// ([`Qp::share`]), and lives as long as the lease.
    pub fn give_qp(&self, qp: &Qp) -> Result<u32, VerbsError> {
        if !qp.device().is(&self.device) {
            return Err(VerbsError::WrongDevice { what: "lease" });
        }
        if !qp.is_lent() {
            return Err(VerbsError::NotShareable);
        }
        let keeps = Box::new(qp.clone());
        let mut state = self.device.lock();
        state.give_qp(self.control_client, qp.pd().id(), qp.id(), keeps);
        Ok(qp.id().number())
    }

    /// The borrower may accept a request of an XRC initiator with this target, and hears of its end; its number in commands. Several may have it: its connection is
    /// whose who accepted, and goes over to another one of them with his end.
    pub fn give_target(&self, qp: &Qp) -> Result<u32, VerbsError> {
        if !qp.device().is(&self.device) {
            return Err(VerbsError::WrongDevice { what: "lease" });
        }
        if !matches!(qp.kind(), QpKind::XrcTarget(_)) {
            return Err(VerbsError::NotShareable);
        }
        let keeps = Box::new(qp.clone());
        let mut state = self.device.lock();
        state.give_qp(self.control_client, qp.pd().id(), qp.id(), keeps);
        Ok(qp.id().number())
    }

    /// The borrower may register memory in this domain; its number in commands. It lives as long as the lease.
    pub fn give_pd(&self, pd: &Pd) -> Result<u32, VerbsError> {
        if !pd.device().is(&self.device) {
            return Err(VerbsError::WrongDevice { what: "lease" });
        }
        let mut state = self.device.lock();
        state.give_pd(self.control_client, pd.id(), Box::new(pd.clone()));
        Ok(pd.id().number())
    }

    /// The borrower may not any more. False: it has registered something in it, and may.
    pub fn take_pd_back(&self, pd: &Pd) -> bool {
        let mut state = self.device.lock();
        state.take_pd_back(self.control_client, pd.id())
    }

    /// The borrower may ask for the state of this shared receive queue and set its limit; its number in commands.
    pub fn give_srq(&self, srq: &Srq) -> Result<u32, VerbsError> {
        if !srq.pd().device().is(&self.device) {
            return Err(VerbsError::WrongDevice { what: "lease" });
        }
        let id = srq.rings().id;
        self.device.lock().give_srq(self.control_client, id, true);
        Ok(id.number())
    }

    /// The borrower has it no longer.
    pub fn take_srq_back(&self, srq: &Srq) {
        let id = srq.rings().id;
        self.device.lock().give_srq(self.control_client, id, false);
    }

    /// The borrower has no longer what commands call so. Who else has it keeps it, and its connection.
    pub fn take_qp_back(&self, number: u32) {
        let mut state = self.device.lock();
        state.take_qp_back(self.control_client, QpId::from_number(number));
    }

    /// The borrower may register parts of this region's memory in its domain, with no more access than it has. It lives as long
    /// as the lease.
    pub fn give_memory(&self, mr: &Mr) -> Result<SharedRange, VerbsError> {
        self.give_memory_with(mr, ())
    }

    /// The same; `thing` lives as long as it may.
    pub fn give_memory_with(
        &self,
        mr: &Mr,
        thing: impl Send + 'static,
    ) -> Result<SharedRange, VerbsError> {
        if !mr.pd().device().is(&self.device) {
            return Err(VerbsError::WrongDevice { what: "lease" });
        }
        let (pd, iova, length) = (mr.pd().id(), mr.iova(), mr.len() as u64);
        let keeps = Box::new((mr.clone(), thing));
        let mut state = self.device.lock();
        state.give_memory(self.control_client, pd, (iova, length, mr.access()), keeps);
        Ok(SharedRange {
            pd: pd.number(),
            iova,
            length,
        })
    }

    /// The borrower may register no parts any more of the memory that the card sees there; what was kept for it is dropped. False: it has registered some.
    pub fn take_memory_back(&self, iova: u64) -> bool {
        let mut state = self.device.lock();
        state.take_memory_back(self.control_client, iova)
    }

    /// Something lives as long as the lease; `of`: or as what commands call so.
    pub fn keep(&self, of: Option<u32>, thing: impl Send + 'static) {
        let of = of.map(QpId::from_number);
        let mut state = self.device.lock();
        state.keep_for(self.control_client, of, Box::new(thing));
    }

    /// Answers and events that were written for the borrower so far.
    pub fn news(&self) -> u64 {
        self.device.lock().news_of(self.control_client)
    }

    /// Commands that were refused because they were of what is not the borrower's, or that lent rings do not have.
    pub fn refused(&self) -> u64 {
        self.device.lock().refused_of(self.control_client)
    }
}

impl fmt::Debug for ControlLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlLease")
            .field("device", &self.device.name())
            .field("control_client", &self.control_client)
            .finish()
    }
}

impl Drop for ControlLease {
    fn drop(&mut self) {
        if let Err(error) = self.device.end_control_client(self.control_client) {
            tracing::debug!(%error, "control rings of a device that failed");
        }
    }
}

/// Borrowed control rings. They have no lock: one thread commands and takes events.
pub struct SharedControl {
    control: Control,
    capacity: u32,
    /// Commands posted, answers read.
    posted: u32,
    answered: u32,
    line: Option<Arc<SharedLine>>,
}

impl SharedControl {
    /// Maps lent rings, from files that came from [`ControlLease::files`] by whatever way: commands and events.
    pub fn open(files: [OwnedFd; 2], terms: ControlTerms) -> io::Result<Self> {
        let rings = ControlRings::map(files, [terms.commands, terms.events])?;
        Ok(Self {
            control: Control::new(rings),
            capacity: terms.commands,
            posted: 0,
            answered: 0,
            line: None,
        })
    }

    /// A device of them, for programs that are written for one; what is asked for beside the rings goes to `lender`.
    pub fn into_device(
        self,
        transport: Arc<dyn Transport>,
        lender: Arc<dyn DeviceLender>,
        lent: &LentDevice,
    ) -> Device {
        Device::borrowed(transport, lender, self.control, lent)
    }

    /// Commands wake who lends it, and fail when that is gone.
    pub fn on(mut self, line: Arc<SharedLine>) -> Self {
        self.line = Some(line);
        self
    }

    /// Writes a command ([`control`](crate::unstable::control) has them) with its private data, and rings; its number. [`Full`](NotPosted::Full): of as
    /// many as the ring holds the answers were not read yet.
    pub fn post(&mut self, command: &Command, private_data: &[u8]) -> Result<u32, NotPosted> {
        SharedLine::check(&self.line)?;
        if self.posted.wrapping_sub(self.answered) >= self.capacity {
            return Err(NotPosted::Full);
        }
        let number = self.control.post(command, private_data);
        self.posted = number.wrapping_add(1);
        SharedLine::posted(&self.line);
        Ok(number)
    }

    /// What became of the oldest command whose answer was not read: its number, and that. `None`: it is not done, or there is none.
    pub fn answer(&mut self) -> Option<(u32, Result<Answer, Refusal>)> {
        if self.answered == self.posted {
            return None;
        }
        let number = self.answered;
        if !self.control.is_answered(number) {
            return None;
        }
        self.answered = number.wrapping_add(1);
        Some((number, self.control.answer(number)))
    }

    /// The oldest event.
    pub fn take_event(&mut self) -> Option<Event> {
        self.control.take_event()
    }
}

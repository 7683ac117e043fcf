//! Connections without connection management: queue pairs that know each other's GID and number from elsewhere, and go from INIT to RTR to RTS.
//!
//! Below is a TCP connection like any other. A queue pair's number says its TCP port, 16384 and the number modulo 16384, so the two
//! numbers are the two ports; the end with the lower name connects, the other one listens from INIT on, so that who connects finds
//! somebody; both whole names are in the request's private data, and who is not awaited is not let in.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use thiserror::Error;

use super::address::{Gid, NativeError};
use super::channel::EventChannel;
use super::event::{CmEvent, CmEventType};
use super::id::{CmId, CmState};
use super::param::ConnParam;
use super::CmError;
use crate::device::Device;
use crate::verbs::{deadline, Pd, Qp, QpInit};

/// First of the ports that queue pairs listen at; and how many there are.
const FIRST_PORT: u32 = 16384;
const PORTS: u32 = 16384;
/// Requests of peers that are early, at most; one more is rejected.
const EARLY: usize = 256;
/// What the private data of a request begin with.
const MAGIC: [u8; 4] = *b"WDQ1";

/// A queue pair's name for its peer: what programs exchange out of band. The order of two names says who connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DirectName {
    /// The device.
    pub gid: Gid,
    /// The queue pair.
    pub qp_num: u32,
}

impl DirectName {
    /// Bytes of a name.
    pub const SIZE: usize = 20;

    /// GID, then the number, big-endian.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..16].copy_from_slice(&self.gid.0);
        bytes[16..].copy_from_slice(&self.qp_num.to_be_bytes());
        bytes
    }

    /// From bytes, which may be anybody's.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let (mut gid, mut number) = ([0; 16], [0; 4]);
        gid.copy_from_slice(&bytes[..16]);
        number.copy_from_slice(&bytes[16..]);
        Self {
            gid: Gid(gid),
            qp_num: u32::from_be_bytes(number),
        }
    }

    /// The TCP port that goes with the number.
    pub fn port(&self) -> u16 {
        (FIRST_PORT + self.qp_num % PORTS) as u16
    }
}

impl fmt::Display for DirectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.gid, self.qp_num)
    }
}

/// States of such a queue pair, as far as they are its user's (`ibv_qp_state`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectState {
    /// It has a name, and takes receives.
    Init,
    /// It knows its peer; the connection is being made.
    Rtr,
    /// The connection stands.
    Rts,
    /// It is over, or did not come about: the event that said so, and its status.
    Error(CmEventType, i32),
}

/// Why a step is not possible. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DirectError {
    /// Not in this state.
    #[error("{operation} is not possible in state {state:?}")]
    WrongState {
        /// What was to be done.
        operation: &'static str,
        /// The state that it is in.
        state: DirectState,
    },
    /// Both are of one device.
    #[error("{0} is of this device: a card has no way to itself")]
    SameDevice(DirectName),
    /// The peer did not come in time. One may wait longer.
    #[error("{0} has not come")]
    NotYet(DirectName),
    /// The connection manager's reasons.
    #[error(transparent)]
    Cm(#[from] CmError),
}

impl From<NativeError> for DirectError {
    fn from(error: NativeError) -> Self {
        Self::Cm(error.into())
    }
}

/// A device's queue pairs that are connected without connection management.
#[derive(Clone)]
pub struct Direct {
    inner: Arc<Inner>,
}

struct Inner {
    channel: EventChannel,
    state: Mutex<Endpoints>,
}

#[derive(Default)]
struct Endpoints {
    listeners: BTreeMap<u16, Weak<CmId>>,
    ends: BTreeMap<u32, End>,
    /// Requests whose end is not in RTR yet, with both names.
    early: VecDeque<(DirectName, u32, CmId)>,
}

struct End {
    qp: Qp,
    state: DirectState,
    peer: Option<DirectName>,
    param: ConnParam,
    id: Option<CmId>,
    _listener: Arc<CmId>,
}

/// One of them. When it is dropped, its connection is aborted.
pub struct DirectQp {
    direct: Direct,
    qp: Qp,
    name: DirectName,
}

impl Direct {
    /// None yet.
    pub fn new(device: &Device) -> Self {
        Self {
            inner: Arc::new(Inner {
                channel: device.create_event_channel(),
                state: Mutex::default(),
            }),
        }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        self.inner.channel.device()
    }

    fn state(&self) -> MutexGuard<'_, Endpoints> {
        let state = &self.inner.state;
        state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A queue pair in INIT. It listens at the port of its number: that may be in use (`CmError::Refused`).
    pub fn create_qp(&self, pd: &Pd, init: &QpInit) -> Result<DirectQp, DirectError> {
        if !pd.device().is(self.device()) {
            let what = "protection domain";
            return Err(CmError::WrongDevice { what }.into());
        }
        let qp = pd.create_qp(init).map_err(CmError::from)?;
        let name = DirectName {
            gid: Gid::of_ip(self.device().ip()),
            qp_num: qp.qp_num(),
        };
        let mut state = self.state();
        let standing = state.listeners.get(&name.port()).and_then(Weak::upgrade);
        let listener = match standing {
            Some(listener) => listener,
            None => {
                let listener = self.inner.channel.listen(name.port(), EARLY)?;
                let listener = Arc::new(listener);
                let known = Arc::downgrade(&listener);
                state.listeners.insert(name.port(), known);
                listener
            }
        };
        let end = End {
            qp: qp.clone(),
            state: DirectState::Init,
            peer: None,
            param: ConnParam::default(),
            id: None,
            _listener: listener,
        };
        state.ends.insert(name.qp_num, end);
        drop(state);
        let direct = self.clone();
        Ok(DirectQp { direct, qp, name })
    }

    /// Lets the device work, and its queue pairs take what happened. Whoever waits for one of them does it.
    pub fn poll(&self) -> Result<(), DirectError> {
        while let Some(event) = self
            .inner
            .channel
            .try_get_event()
            .map_err(DirectError::Cm)?
        {
            // What it holds is dropped behind the lock.
            let _left = self.state().take(event);
        }
        Ok(())
    }
}

/// Both names in a request's private data: whose it is, and whom it is for.
fn names(private_data: &[u8]) -> Option<(DirectName, DirectName)> {
    let rest = private_data.strip_prefix(&MAGIC)?;
    let (from, to) = rest.split_first_chunk()?;
    let to = to.try_into().ok()?;
    Some((DirectName::from_bytes(from), DirectName::from_bytes(to)))
}

impl Endpoints {
    /// What happened; what is left of it is the caller's to drop, behind the lock: an identifier that goes rejects its request.
    fn take(&mut self, event: CmEvent) -> Option<CmEvent> {
        if event.event != CmEventType::ConnectRequest {
            let is = |end: &&mut End| end.id.as_ref().is_some_and(|id| id.is(&event.id));
            if let Some(end) = self.ends.values_mut().find(is) {
                end.state = match event.event {
                    CmEventType::Established => DirectState::Rts,
                    kind => DirectState::Error(kind, event.status),
                };
            }
            return Some(event);
        }
        let known = names(&event.private_data).filter(|(from, to)| {
            let address = event.id.peer_addr().map(|address| *address.ip());
            let own = Gid::of_ip(event.id.device().ip());
            address.is_some() && from.gid.ip() == address && to.gid == own
        });
        let Some((from, to)) = known else {
            tracing::warn!(id = ?event.id, "a request without names, or with somebody else's");
            return Some(event);
        };
        self.early
            .retain(|(_, _, id)| id.state() == CmState::Requested);
        if self.early.len() < EARLY && self.ends.contains_key(&to.qp_num) {
            self.early.push_back((from, to.qp_num, event.id.clone()));
            self.let_in(to.qp_num);
        }
        Some(event)
    }

    /// Accepts the request of the peer that this end waits for, if it is there.
    fn let_in(&mut self, qp_num: u32) {
        let Some(end) = self.ends.get_mut(&qp_num) else {
            return;
        };
        let (DirectState::Rtr, None, Some(peer)) = (&end.state, &end.id, end.peer) else {
            return;
        };
        let mut early = self.early.iter();
        let Some(at) = early.position(|(from, to, _)| (*from, *to) == (peer, qp_num)) else {
            return;
        };
        let Some((_, _, id)) = self.early.remove(at) else {
            return;
        };
        let accepted = id.adopt_qp(&end.qp).and_then(|()| id.accept(&end.param));
        match accepted {
            Ok(()) => end.id = Some(id),
            // It has left; or something is wrong, and the peer will hear that it was rejected.
            Err(error) => tracing::warn!(%peer, qp_num, %error, "not let in"),
        }
    }
}

impl DirectQp {
    /// What the peer has to be told.
    pub fn name(&self) -> DirectName {
        self.name
    }

    /// The queue pair, for posts. Receives may be posted at once; sends, once the connection was asked for or accepted
    /// ([`DirectState::Rts`] at the latest).
    pub fn qp(&self) -> &Qp {
        &self.qp
    }

    /// Its state, as of the last [`Direct::poll`].
    pub fn state(&self) -> DirectState {
        let state = self.direct.state();
        let end = state.ends.get(&self.name.qp_num);
        end.map_or(DirectState::Init, |end| end.state.clone())
    }

    /// INIT to RTR: this is the peer. The end with the lower name connects now; the other one lets it in when it comes, or has
    /// come. `param`: IRD and ORD as for any connection (`max_dest_rd_atomic`, `max_rd_atomic`); it is always
    /// peer-to-peer, and private data are not used.
    pub fn modify_to_rtr(&self, peer: DirectName, param: &ConnParam) -> Result<(), DirectError> {
        let ip = peer.gid.ip().ok_or(NativeError::Unmapped(peer.gid))?;
        if peer.gid == self.name.gid {
            return Err(DirectError::SameDevice(peer));
        }
        let mut state = self.direct.state();
        let end = self.end(&mut state)?;
        if end.state != DirectState::Init {
            return Err(DirectError::WrongState {
                operation: "INIT to RTR",
                state: end.state.clone(),
            });
        }
        let mut param = ConnParam {
            peer_to_peer: Some(true),
            private_data: Vec::new(),
            ..param.clone()
        };
        if self.name < peer {
            let from = self.name.to_bytes();
            param.private_data = [&MAGIC[..], &from, &peer.to_bytes()].concat();
            let id = self.direct.inner.channel.create_id();
            id.prepare(self.name.port(), SocketAddrV4::new(ip, peer.port()))?;
            id.adopt_qp(&self.qp)?;
            id.connect(&param)?;
            end.id = Some(id);
        }
        (end.state, end.peer, end.param) = (DirectState::Rtr, Some(peer), param);
        state.let_in(self.name.qp_num);
        Ok(())
    }

    /// RTR to RTS: sleeps until the connection stands.
    ///
    /// # Errors
    /// [`DirectError::NotYet`] when the time is over; [`DirectError::WrongState`] with the reason if the connection did not come about.
    pub fn modify_to_rts(&self, timeout: Option<Duration>) -> Result<(), DirectError> {
        let device = self.direct.device();
        let done = || self.try_rts().transpose();
        let done = device.wait_for(deadline(device, timeout), done);
        match done.map_err(CmError::from)? {
            Some(result) => result,
            None => {
                let peer = self
                    .direct
                    .state()
                    .ends
                    .get(&self.name.qp_num)
                    .and_then(|end| end.peer);
                Err(DirectError::NotYet(peer.unwrap_or(self.name)))
            }
        }
    }

    /// The same without sleeping: `None` as long as the connection does not stand.
    pub fn try_rts(&self) -> Result<Option<()>, DirectError> {
        self.direct.poll()?;
        match self.state() {
            DirectState::Rts => Ok(Some(())),
            DirectState::Rtr => Ok(None),
            state => Err(DirectError::WrongState {
                operation: "RTR to RTS",
                state,
            }),
        }
    }

    /// Closes in order; what is posted is done first. Its state is `Error` with DISCONNECTED then, as that of the peer's.
    pub fn disconnect(&self) -> Result<(), DirectError> {
        let mut state = self.direct.state();
        let end = self.end(&mut state)?;
        match &end.id {
            Some(id) => Ok(id.disconnect()?),
            None => Err(DirectError::WrongState {
                operation: "disconnect",
                state: end.state.clone(),
            }),
        }
    }

    fn end<'a>(&self, state: &'a mut Endpoints) -> Result<&'a mut End, DirectError> {
        let end = state.ends.get_mut(&self.name.qp_num);
        end.ok_or(DirectError::WrongState {
            operation: "a step",
            state: DirectState::Init,
        })
    }
}

impl Drop for DirectQp {
    fn drop(&mut self) {
        let end = {
            let mut state = self.direct.state();
            let number = self.name.qp_num;
            let end = state.ends.remove(&number);
            let (gone, rest) = std::mem::take(&mut state.early)
                .into_iter()
                .partition::<VecDeque<_>, _>(|(_, to, _)| *to == number);
            state.early = rest;
            (end, gone)
        };
        // Behind the lock.
        drop(end);
    }
}

impl fmt::Debug for DirectQp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectQp")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

//! The loop transport: connections between devices of one host, by no card and no TCP.
//!
//! It is the second transport behind this connection manager. Verbs, events and identifiers are the same; queue pairs, regions and their
//! checks are the engine's; what is its own is who may reach whom (here), how a connection comes about (`exchange.rs`) and that messages
//! are copied from one region into the other (`mover.rs`).

mod exchange;
mod member;
mod mover;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_engine::{ConnId, Endpoint, QpId};

use super::device_state::DeviceState;
use super::CmError;
use crate::device::{Device, WeakDevice};

/// Devices of this process that reach each other without a wire. Clones are the same one.
///
/// A device that [joined](Self::join) is reached by its IP address from every other member, and by itself. Who connects to an address of a
/// member goes by way of the loop, unless an entry of [`Device::get_addr_info`] says iWARP; who listens hears of both.
#[derive(Clone)]
pub struct LoopbackHost {
    pub(super) exchange: Arc<Exchange>,
}

/// What all members share. None of its locks is held while a device's is taken; the table's is taken under theirs.
pub(super) struct Exchange {
    /// This host's, so that a record of another one's is known.
    id: [u8; 6],
    members: Mutex<Vec<Option<(Ipv4Addr, WeakDevice)>>>,
    table: Mutex<Table>,
    work: Mutex<Work>,
}

/// All connections.
#[derive(Default)]
struct Table {
    made: u32,
    ends: BTreeMap<ConnId, End>,
}

/// One end of a connection.
#[derive(Clone)]
struct End {
    /// Its device's number.
    member: usize,
    /// Its queue pair; the responder has none before it accepts.
    qp: Option<QpId>,
    peer: ConnId,
    phase: Phase,
    /// Its address, and the port it listens on if it was asked.
    local: Endpoint,
    ird: u16,
    ord: u16,
    /// The initiator is one of XRC, and a target has to accept.
    xrc: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The initiator's end, which waits.
    Asking,
    /// The responder's, which is to answer.
    Asked,
    /// It stands.
    Up,
}

/// Members whose queue pairs have something to say.
#[derive(Default)]
struct Work {
    members: VecDeque<usize>,
    /// A thread is at it.
    taken: bool,
}

/// A member as its device knows it.
struct Member {
    exchange: Arc<Exchange>,
    number: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LoopbackHost {
    /// Without members.
    ///
    /// # Panics
    /// If the operating system has no randomness to give.
    pub fn new() -> Self {
        let mut id = [0; 6];
        getrandom::fill(&mut id).expect("randomness of the operating system");
        Self {
            exchange: Arc::new(Exchange {
                id,
                members: Mutex::default(),
                table: Mutex::default(),
                work: Mutex::default(),
            }),
        }
    }

    /// Makes a device a member, as long as it lives.
    ///
    /// # Errors
    /// [`CmError::JoinedAlready`]: it is one, of this host or of another; [`CmError::AddressTaken`]: another member has its address.
    pub fn join(&self, device: &Device) -> Result<(), CmError> {
        device.lock().check_here("loop inside the host")?;
        let exchange = &self.exchange;
        let ip = device.ip();
        let number = {
            let mut members = lock(&exchange.members);
            for member in members.iter_mut() {
                member.take_if(|(_, device)| device.upgrade().is_none());
            }
            if members.iter().flatten().any(|(taken, _)| *taken == ip) {
                let same = members
                    .iter()
                    .flatten()
                    .any(|(_, member)| member.upgrade().is_some_and(|member| member.is(device)));
                return Err(match same {
                    true => CmError::JoinedAlready,
                    false => CmError::AddressTaken(ip),
                });
            }
            // Numbers are not used again: the device of one may still be on its way out.
            members.push(Some((ip, device.downgrade())));
            members.len() - 1
        };
        let member = Member {
            exchange: exchange.clone(),
            number,
        };
        if !device.set_loopback(Arc::new(member)) {
            lock(&exchange.members)[number] = None;
            return Err(CmError::JoinedAlready);
        }
        *DeviceState::of(device).host() = Some(self.clone());
        tracing::info!(device = device.name(), %ip, "joined the loop");
        Ok(())
    }

    /// The one that a device is a member of.
    pub(super) fn of(device: &Device) -> Option<Self> {
        DeviceState::of(device).host().clone()
    }

    /// Is somebody here at this address?
    pub(super) fn has(&self, ip: Ipv4Addr) -> bool {
        self.exchange.at(ip).is_some()
    }

    /// What tells it from others.
    pub(super) fn id(&self) -> [u8; 6] {
        self.exchange.id
    }
}

impl Default for LoopbackHost {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LoopbackHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = lock(&self.exchange.members);
        let ips = members.iter().flatten().map(|(ip, _)| *ip);
        f.debug_tuple("LoopbackHost")
            .field(&ips.collect::<Vec<_>>())
            .finish()
    }
}

impl Exchange {
    /// The member with this address.
    fn at(&self, ip: Ipv4Addr) -> Option<(usize, Device)> {
        let members = lock(&self.members);
        let mut there = members.iter().enumerate();
        let (number, device) = there.find_map(|(number, member)| {
            let (has, device) = member.as_ref()?;
            (*has == ip).then(|| (number, device.clone()))
        })?;
        drop(members);
        Some((number, device.upgrade()?))
    }

    /// The member with this number.
    fn member(&self, number: usize) -> Option<Device> {
        let weak = lock(&self.members).get(number)?.as_ref()?.1.clone();
        weak.upgrade()
    }
}

/// Does a device reach an address by way of the loop? One without a card reaches nothing else.
pub(super) fn is_inside(device: &Device, ip: Ipv4Addr) -> bool {
    LoopbackHost::of(device).is_some_and(|host| !device.has_card() || host.has(ip))
}

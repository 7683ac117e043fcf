//! The connections: each in its slot, found by it or by its addresses.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::cm::Endpoint;
use crate::conn::Conn;

/// Local and remote.
type Addresses = (Endpoint, Endpoint);

/// At most as many connections as it has slots.
#[derive(Debug)]
pub(super) struct Connections {
    slots: Vec<Option<Box<Conn>>>,
    /// Slots without a connection; the one used last is the next.
    free: Vec<u16>,
    by_addresses: BTreeMap<Addresses, u16>,
}

fn addresses(conn: &Conn) -> Addresses {
    (conn.local, conn.remote)
}

impl Connections {
    pub(super) fn new(slots: u16) -> Self {
        Connections {
            slots: (0..slots).map(|_| None).collect(),
            free: (0..slots).rev().collect(),
            by_addresses: BTreeMap::new(),
        }
    }

    pub(super) fn slots(&self) -> u16 {
        self.slots.len() as u16
    }

    pub(super) fn get(&self, slot: u16) -> Option<&Conn> {
        self.slots.get(usize::from(slot))?.as_deref()
    }

    pub(super) fn get_mut(&mut self, slot: u16) -> Option<&mut Conn> {
        self.slots.get_mut(usize::from(slot))?.as_deref_mut()
    }

    pub(super) fn find(&self, local: Endpoint, remote: Endpoint) -> Option<u16> {
        self.by_addresses.get(&(local, remote)).copied()
    }

    /// Makes a connection, of addresses that no other one has, for a free slot; its slot, if there is one.
    pub(super) fn insert(&mut self, make: impl FnOnce(u16) -> Conn) -> Option<u16> {
        let slot = self.free.pop()?;
        let conn = make(slot);
        self.by_addresses.insert(addresses(&conn), slot);
        self.slots[usize::from(slot)] = Some(Box::new(conn));
        Some(slot)
    }

    pub(super) fn remove(&mut self, slot: u16) -> Option<Box<Conn>> {
        let conn = self.slots.get_mut(usize::from(slot))?.take()?;
        self.by_addresses.remove(&addresses(&conn));
        self.free.push(slot);
        Some(conn)
    }

    /// The addresses of a connection.
    pub(super) fn addresses(&self, slot: u16) -> Option<Addresses> {
        self.get(slot).map(addresses)
    }

    /// Its addresses are other ones now than `before`.
    pub(super) fn readdressed(&mut self, slot: u16, before: Option<Addresses>) {
        if let (Some(before), Some(after)) = (before, self.addresses(slot)) {
            self.by_addresses.remove(&before);
            self.by_addresses.insert(after, slot);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Conn> {
        self.slots.iter().flatten().map(|conn| &**conn)
    }
}

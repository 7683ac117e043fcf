//! The connections: each in its slot, found by it or by its addresses.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::connection::conn::Conn;
use crate::interface::cm::Endpoint;

/// Local and remote.
type Addresses = (Endpoint, Endpoint);

/// At most as many connections as it has slots.
#[derive(Debug)]
pub(crate) struct Connections {
    slots: Vec<Option<Box<Conn>>>,
    /// Slots without a connection; the one used last is the next.
    free: Vec<u16>,
    /// Slots with one, in the order of their addresses.
    sorted: Vec<u16>,
    /// The same by the address of the next station on their way.
    by_hop: Vec<([u8; 4], u16)>,
}

fn addresses(conn: &Conn) -> Addresses {
    (conn.local, conn.remote)
}

impl Connections {
    pub(super) fn new(slots: u16) -> Self {
        Connections {
            slots: (0..slots).map(|_| None).collect(),
            free: (0..slots).rev().collect(),
            sorted: Vec::with_capacity(usize::from(slots)),
            by_hop: Vec::with_capacity(usize::from(slots)),
        }
    }

    pub(super) fn slots(&self) -> u16 {
        self.slots.len() as u16
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    pub(super) fn get(&self, slot: u16) -> Option<&Conn> {
        self.slots.get(usize::from(slot))?.as_deref()
    }

    pub(super) fn get_mut(&mut self, slot: u16) -> Option<&mut Conn> {
        self.slots.get_mut(usize::from(slot))?.as_deref_mut()
    }

    /// Where in the order these addresses are, or would be.
    fn place(&self, wanted: Addresses) -> Result<usize, usize> {
        self.sorted
            .binary_search_by_key(&Some(wanted), |slot| self.get(*slot).map(addresses))
    }

    pub(super) fn find(&self, local: Endpoint, remote: Endpoint) -> Option<u16> {
        let place = self.place((local, remote)).ok()?;
        self.sorted.get(place).copied()
    }

    /// Makes a connection, of addresses that no other one has, for a free slot; its slot, if there is one.
    pub(super) fn insert(&mut self, make: impl FnOnce(u16) -> Conn) -> Option<u16> {
        let slot = self.free.pop()?;
        let conn = make(slot);
        let (Ok(place) | Err(place)) = self.place(addresses(&conn));
        self.sorted.insert(place, slot);
        let behind = (conn.hop, slot);
        let (Ok(place) | Err(place)) = self.by_hop.binary_search(&behind);
        self.by_hop.insert(place, behind);
        self.slots[usize::from(slot)] = Some(Box::new(conn));
        Some(slot)
    }

    pub(super) fn remove(&mut self, slot: u16) -> Option<Box<Conn>> {
        if let Ok(place) = self.place(self.get(slot).map(addresses)?) {
            self.sorted.remove(place);
        }
        let behind = (self.get(slot)?.hop, slot);
        if let Ok(place) = self.by_hop.binary_search(&behind) {
            self.by_hop.remove(place);
        }
        self.free.push(slot);
        self.slots.get_mut(usize::from(slot))?.take()
    }

    /// A connection's addresses are other ones now.
    pub(super) fn readdressed(&mut self, slot: u16) {
        self.sorted.retain(|other| *other != slot);
        if let Some(after) = self.get(slot).map(addresses) {
            let (Ok(place) | Err(place)) = self.place(after);
            self.sorted.insert(place, slot);
        }
    }

    /// Slots of the connections whose next station has this address.
    pub(crate) fn behind(&self, hop: [u8; 4]) -> impl Iterator<Item = u16> + '_ {
        let first = self.by_hop.partition_point(|behind| behind.0 < hop);
        let rest = self.by_hop.get(first..).unwrap_or_default();
        let same = rest.iter().take_while(move |behind| behind.0 == hop);
        same.map(|behind| behind.1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Conn> {
        self.slots.iter().flatten().map(|conn| &**conn)
    }
}

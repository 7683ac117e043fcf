//! Connections as frames find them: by their addresses, or new ones for a listener.

use alloc::vec::Vec;

use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::{Conn, Phase};
use crate::interface::cm::{ConnId, Endpoint};
use weft_tcp::seq;

impl Engine {
    pub(crate) fn find_connection(&self, local: Endpoint, remote: Endpoint) -> Option<u16> {
        self.conns.find(local, remote)
    }

    /// A SYN may reuse the addresses of a connection in TIME_WAIT (RFC 9293 §3.10.7.4).
    pub(crate) fn may_be_replaced(&self, slot: u16, syn: u32) -> bool {
        self.conns
            .get(slot)
            .is_some_and(|conn| conn.only_waits() && seq::lt(conn.rcv_nxt(), syn))
    }

    /// Is there still something of this connection, if only its time to wait?
    pub fn remembers(&self, conn: ConnId) -> bool {
        self.conns
            .get(conn.slot)
            .is_some_and(|there| there.id == conn)
    }

    /// How many connections it remembers no more: until one is added, [`Engine::remembers`] says what it said.
    pub fn forgotten(&self) -> u64 {
        self.shared.outbox.forgotten
    }

    /// Is a connection on its way to its end, so that the peer has something to hear yet?
    pub fn is_closing(&self) -> bool {
        self.conns.iter().any(Conn::is_closing)
    }

    /// A connection between these addresses that is over and waits (TIME_WAIT) is forgotten.
    pub fn forget_waiting(&mut self, local: Endpoint, remote: Endpoint) {
        if let Some(slot) = self.find_connection(local, remote) {
            let conn = self.conns.get(slot);
            if conn.is_some_and(Conn::only_waits) {
                self.forget(slot);
            }
        }
    }

    /// How often a connection's next station was found to be another one.
    pub fn address_moves(&self) -> u64 {
        self.shared.outbox.address_moves
    }

    /// An address that a peer may have: one station's, and not ours.
    pub(crate) fn may_be_peer(&self, ip: [u8; 4]) -> bool {
        let config = &self.shared.config;
        let broadcast = (0..4).all(|i| ip[i] | config.netmask[i] == 255)
            && (0..4).all(|i| (ip[i] ^ config.ip[i]) & config.netmask[i] == 0)
            && config.netmask != [255; 4];
        !matches!(ip[0], 0 | 127 | 224..) && ip != config.ip && !broadcast
    }

    /// A neighbour's address became known or has changed: who waited for it goes on, who sends there sends to the new one. That is work for those
    /// behind this neighbour, and nobody else.
    pub(crate) fn neighbour_found<P: Port>(
        &mut self,
        now: u64,
        ip: [u8; 4],
        mac: [u8; 6],
        port: &mut P,
    ) {
        self.half_open.rows.moved(ip, mac);
        let behind: Vec<u16> = self.conns.behind(ip).collect();
        for slot in behind {
            let Some(conn) = self.conns.get(slot) else {
                continue;
            };
            if conn.phase == Phase::Resolving {
                self.run(now, slot, port, |link| {
                    if link.next_hop() == Some(ip) {
                        link.start();
                    }
                });
            } else if conn.remote_mac != mac {
                self.with(now, slot, port, |link| link.move_to(mac));
            }
        }
    }

    /// Neighbours whose last word came too soon behind their last move, and counts now.
    pub(super) fn neighbours_expired<P: Port>(&mut self, now: u64, port: &mut P) {
        while let Some((ip, mac)) = self.shared.neighbours.take_expired(now) {
            self.neighbour_found(now, ip, mac, port);
        }
    }
}

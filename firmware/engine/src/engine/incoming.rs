//! Connections as frames find them: by their addresses, or new ones for a listener.

use alloc::boxed::Box;

use super::Engine;
use crate::cm::Endpoint;
use crate::conn::{Conn, Phase, Role, TcpState};
use crate::input::Seen;
use crate::port::Port;
use crate::tcp::seq;

/// A port that is listened on.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) port: u16,
    pub(super) backlog: usize,
}

impl Engine {
    pub(crate) fn find_connection(&self, local: Endpoint, remote: Endpoint) -> Option<u16> {
        let found = |conn: &Option<Box<Conn>>| {
            conn.as_ref()
                .is_some_and(|conn| conn.local == local && conn.remote == remote)
        };
        self.conns.iter().position(found).map(|slot| slot as u16)
    }

    /// Does somebody listen on this port?
    pub(crate) fn listens(&self, port: u16) -> bool {
        self.listeners.iter().any(|listener| listener.port == port)
    }

    /// A SYN may reuse the addresses of a connection in TIME_WAIT (RFC 9293 §3.10.7.4).
    pub(crate) fn may_be_replaced(&self, slot: u16, syn: u32) -> bool {
        self.conns[usize::from(slot)]
            .as_ref()
            .is_some_and(|conn| conn.tcp == TcpState::TimeWait && seq::lt(conn.rcv_nxt(), syn))
    }

    /// A SYN from somebody new. False if nobody listens there.
    pub(crate) fn incoming<P: Port>(
        &mut self,
        now: u64,
        mac: [u8; 6],
        local: Endpoint,
        remote: Endpoint,
        seen: &Seen<'_>,
        port: &mut P,
    ) -> bool {
        let Some(listener) = self.listeners.iter().find(|l| l.port == local.port) else {
            return false;
        };
        let waiting = self
            .conns
            .iter()
            .flatten()
            .filter(|conn| conn.listener == local.port && waits_for_answer(conn))
            .count();
        // With a full backlog the SYN is dropped: the peer will send it again.
        if waiting >= listener.backlog || mac[0] & 1 != 0 {
            return true;
        }
        let Some(slot) = self.new_connection(Role::Responder, local, remote) else {
            return true;
        };
        self.run(now, slot, port, |link| {
            link.conn.listener = local.port;
            link.conn.remote_mac = mac;
            link.take_options(seen);
            link.conn.tcp = TcpState::SynReceived;
            link.send_syn();
        });
        true
    }

    /// A neighbour's address became known: who waited for it goes on.
    pub(crate) fn neighbour_found<P: Port>(&mut self, now: u64, port: &mut P) {
        for slot in 0..self.conns.len() {
            let found = self.conns[slot]
                .as_ref()
                .is_some_and(|conn| conn.phase == Phase::Resolving);
            if found {
                self.run(now, slot as u16, port, |link| {
                    let hop = link.next_hop();
                    if hop.is_some_and(|hop| link.shared.neighbours.find(hop).is_some()) {
                        link.start();
                    }
                });
            }
        }
    }
}

/// A connection that came in and that the application has not answered.
pub(super) fn waits_for_answer(conn: &Conn) -> bool {
    conn.role == Role::Responder
        && matches!(
            conn.phase,
            Phase::Handshake | Phase::AwaitRequest | Phase::AwaitAnswer
        )
}

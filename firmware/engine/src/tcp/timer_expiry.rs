//! What happens when a timer of a connection expires.

use crate::card::port::Port;
use crate::connection::conn::{Phase, TcpState};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::cm::{ConnectFailure, DisconnectReason, Event};
use crate::tcp::arp::INTERVAL;
use weft_tcp::sender::Due;
use weft_wire::ethernet::Mac;

/// ARP requests before an address counts as unreachable.
const ARP_TRIES: u8 = 5;
/// Keepalive probes without answer before the connection is given up.
const KEEPALIVE_TRIES: u8 = 8;
/// The longest time between two of them, as Linux has it.
const KEEPALIVE_INTERVAL: u64 = 75_000_000_000;

impl<P: Port> Link<'_, P> {
    /// Handles every timer that has expired; what is to be sent then, `transmit` sends.
    pub fn timers_expired(&mut self) {
        let now = self.now;
        if self.conn.timers.take_expired(Timer::JobsDone, now) {
            self.port.refresh_jobs_done();
        }
        let handshake = matches!(self.conn.tcp, TcpState::SynSent | TcpState::SynReceived);
        if self.conn.timers.take_expired(Timer::Retry, now) && handshake {
            self.send_syn();
        }
        if self.conn.timers.take_expired(Timer::DelayedAck, now) {
            self.conn.ack.now = true;
        }
        if self.conn.timers.take_expired(Timer::Window, now) {
            self.window_expired();
        }
        if self.conn.timers.take_expired(Timer::Retransmit, now) {
            self.retransmit_expired();
        }
        if self.conn.timers.take_expired(Timer::Persist, now) {
            self.persist_expired();
        }
        if self.conn.timers.take_expired(Timer::Keepalive, now) {
            self.keepalive_expired();
        }
        if self.conn.timers.take_expired(Timer::Phase, now) {
            self.phase_expired();
        }
    }

    fn retransmit_expired(&mut self) {
        match self.conn.tcp {
            TcpState::SynSent | TcpState::SynReceived => {
                if self.conn.tries >= self.shared.config.syn_retries {
                    self.lost(ConnectFailure::Unreachable, DisconnectReason::TimedOut);
                    return;
                }
                self.conn.tries += 1;
                self.conn.syn_lost = true;
                self.conn.sender.rtt.back_off();
                self.doubt_route();
                self.send_syn();
            }
            TcpState::Open => match self.conn.sender.due(self.now) {
                Due::Nothing => {}
                Due::Reordering => self.conn.sender.look_again(self.now),
                Due::Probe => self.conn.sender.probe(self.now),
                Due::Timeout => {
                    self.shared.stats.timeouts += 1;
                    if self.conn.sender.retries >= self.shared.config.retries {
                        self.reset(ConnectFailure::TimedOut, DisconnectReason::TimedOut);
                        return;
                    }
                    self.conn.sender.timeout(self.now);
                }
            },
            _ => {}
        }
    }

    fn persist_expired(&mut self) {
        if self.conn.tcp != TcpState::Open {
            return;
        }
        if self.conn.tries >= self.shared.config.retries {
            self.reset(ConnectFailure::TimedOut, DisconnectReason::TimedOut);
            return;
        }
        self.conn.tries += 1;
        self.conn.probes = self.conn.probes.saturating_add(1);
        self.shared.stats.window_probes += 1;
        self.send_probe();
        let wait = self.conn.sender.rtt.timeout() << self.conn.probes.min(16);
        let at = self
            .now
            .saturating_add(wait.min(self.shared.config.rto_max));
        self.conn.timers.set(Timer::Persist, Some(at));
    }

    fn keepalive_expired(&mut self) {
        let Some(interval) = self.shared.config.keepalive else {
            return;
        };
        if self.conn.tcp != TcpState::Open {
            return;
        }
        if self.conn.sender.flight() > 0 || self.conn.timers.is_set(Timer::Persist) {
            // Something is in flight that calls for an answer itself (RFC 9293 §3.8.4).
            let at = self.now.saturating_add(interval);
            self.conn.timers.set(Timer::Keepalive, Some(at));
            return;
        }
        if self.conn.tries >= KEEPALIVE_TRIES {
            self.reset(ConnectFailure::TimedOut, DisconnectReason::TimedOut);
            return;
        }
        self.conn.tries += 1;
        self.send_probe();
        let at = self
            .now
            .saturating_add((interval / 4).clamp(1, KEEPALIVE_INTERVAL));
        self.conn.timers.set(Timer::Keepalive, Some(at));
    }

    fn phase_expired(&mut self) {
        match self.conn.phase {
            Phase::Resolving => {
                if self.conn.tries >= ARP_TRIES {
                    self.lost(ConnectFailure::Unreachable, DisconnectReason::TimedOut);
                } else {
                    self.ask_for_neighbour();
                }
            }
            Phase::AwaitBacklog => self.reject_busy(),
            Phase::AwaitFirst => self.reset(ConnectFailure::NoRtr, DisconnectReason::TimedOut),
            Phase::Finished => {
                if self.conn.tcp == TcpState::Open {
                    self.send_reset();
                }
                self.conn.tcp = TcpState::Dead;
                self.conn.timers.clear();
            }
            Phase::Closing if self.conn.tcp == TcpState::TimeWait => {
                // Its user has not read everything yet.
                self.conn.tcp = TcpState::Dead;
                self.conn.timers.clear();
            }
            Phase::Closing => self.reset(ConnectFailure::TimedOut, DisconnectReason::Local),
            _ => self.reset(ConnectFailure::TimedOut, DisconnectReason::TimedOut),
        }
    }

    /// Next station on the way to the peer.
    pub fn next_hop(&self) -> Option<[u8; 4]> {
        self.shared.next_hop(self.conn.remote.ip)
    }

    /// The next station on the way is another one.
    pub fn move_to(&mut self, mac: Mac) {
        self.shared.outbox.address_moves += 1;
        if self.shared.config.on_card && self.conn.known && !self.conn.move_told {
            let conn = self.conn.id;
            self.conn.move_told = true;
            self.tell(Event::Moved { conn });
        }
        self.readdress(mac);
        if self.conn.routed && self.conn.tcp == TcpState::SynSent {
            // The SYN went where nobody answers, or somebody who does not know of it.
            self.send_syn();
        }
    }

    fn readdress(&mut self, mac: Mac) {
        self.conn.remote_mac = mac;
        if self.conn.handover.is_bound() {
            self.bind();
        }
    }

    /// Nobody answered where the caller said that the way goes: who has the address may have moved since.
    fn doubt_route(&mut self) {
        if !self.conn.routed || self.conn.tcp != TcpState::SynSent {
            return;
        }
        let Some(hop) = self.next_hop() else {
            return;
        };
        match self.shared.neighbours.find(hop) {
            // The caller sends the SYN once more.
            Some(mac) if mac != self.conn.remote_mac => self.readdress(mac),
            _ => self.shared.ask_for_station(self.now, hop, self.port),
        }
    }

    /// Sends an ARP request, unless one went for another connection just now.
    pub fn ask_for_neighbour(&mut self) {
        self.conn.tries += 1;
        let now = self.now;
        if let Some(hop) = self.next_hop() {
            self.shared.ask_for_station(now, hop, self.port);
        }
        let at = now.saturating_add(INTERVAL);
        self.conn.timers.set(Timer::Phase, Some(at));
    }

    /// Initiator: sends the SYN, or asks for the neighbour first.
    pub fn start(&mut self) {
        let known = match self.conn.routed {
            true => Some(self.conn.remote_mac),
            false => {
                let hop = self.next_hop();
                hop.and_then(|hop| self.shared.neighbours.find(hop))
            }
        };
        match known {
            None => {
                self.conn.phase = Phase::Resolving;
                self.ask_for_neighbour();
            }
            Some(mac) => {
                self.conn.remote_mac = mac;
                self.conn.phase = Phase::Handshake;
                self.conn.tries = 0;
                self.conn.timers.clear();
                if !self.bind() {
                    self.lost(ConnectFailure::NoResources, DisconnectReason::Aborted);
                    return;
                }
                if self.conn.byte_stream.as_ref().is_some_and(|b| b.adopted) {
                    self.resume_byte_stream();
                    return;
                }
                self.conn.tcp = TcpState::SynSent;
                self.send_syn();
            }
        }
    }
}

//! What happens when a timer of a connection is due.

use crate::arp::{Neighbours, INTERVAL};
use crate::cm::{ConnectFailure, DisconnectReason};
use crate::conn::{Phase, TcpState};
use crate::link::Link;
use crate::port::Port;
use crate::timers::Timer;
use weft_tcp::sender::Due;

/// ARP requests before an address counts as unreachable.
const ARP_TRIES: u8 = 5;
/// Keepalive probes without answer before the connection is given up.
const KEEPALIVE_TRIES: u8 = 8;
/// The longest time between two of them, as Linux has it.
const KEEPALIVE_INTERVAL: u64 = 75_000_000_000;

impl<P: Port> Link<'_, P> {
    /// Handles every timer that is due; what is to be sent then, `transmit` sends.
    pub fn timers_due(&mut self) {
        let now = self.now;
        if self.conn.timers.take_due(Timer::JobsDone, now) {
            self.port.refresh_jobs_done();
        }
        let handshake = matches!(self.conn.tcp, TcpState::SynSent | TcpState::SynReceived);
        if self.conn.timers.take_due(Timer::Retry, now) && handshake {
            self.send_syn();
        }
        if self.conn.timers.take_due(Timer::DelayedAck, now) {
            self.conn.ack.now = true;
        }
        if self.conn.timers.take_due(Timer::Retransmit, now) {
            self.retransmit_due();
        }
        if self.conn.timers.take_due(Timer::Persist, now) {
            self.persist_due();
        }
        if self.conn.timers.take_due(Timer::Keepalive, now) {
            self.keepalive_due();
        }
        if self.conn.timers.take_due(Timer::Phase, now) {
            self.phase_due();
        }
    }

    fn retransmit_due(&mut self) {
        match self.conn.tcp {
            TcpState::SynSent | TcpState::SynReceived => {
                if self.conn.tries >= self.shared.config.syn_retries {
                    self.lost(ConnectFailure::Unreachable, DisconnectReason::TimedOut);
                    return;
                }
                self.conn.tries += 1;
                self.conn.syn_lost = true;
                self.conn.sender.rtt.back_off();
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

    fn persist_due(&mut self) {
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

    fn keepalive_due(&mut self) {
        let Some(interval) = self.shared.config.keepalive else {
            return;
        };
        if self.conn.tcp != TcpState::Open {
            return;
        }
        if self.conn.sender.flight() > 0 || self.conn.timers.is_set(Timer::Persist) {
            // Something is under way that calls for an answer itself (RFC 9293 §3.8.4).
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

    fn phase_due(&mut self) {
        match self.conn.phase {
            Phase::Resolving => {
                if self.conn.tries >= ARP_TRIES {
                    self.lost(ConnectFailure::Unreachable, DisconnectReason::TimedOut);
                } else {
                    self.ask_for_neighbour();
                }
            }
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
        let config = &self.shared.config;
        let remote = self.conn.remote.ip;
        let local = (0..4).all(|i| (remote[i] ^ config.ip[i]) & config.netmask[i] == 0);
        if local {
            Some(remote)
        } else {
            config.gateway
        }
    }

    /// Sends an ARP request, unless one went for another connection just now.
    pub fn ask_for_neighbour(&mut self) {
        self.conn.tries += 1;
        let now = self.now;
        let hop = self.next_hop();
        if let Some(hop) = hop.filter(|hop| self.shared.neighbours.may_ask(now, *hop)) {
            let config = &self.shared.config;
            let frame = Neighbours::request(config.ip, config.mac, hop);
            if self.port.send_frame(&frame).is_ok() {
                self.shared.stats.frames_sent += 1;
                self.shared.neighbours.asked(now, hop);
            }
        }
        let at = now.saturating_add(INTERVAL);
        self.conn.timers.set(Timer::Phase, Some(at));
    }

    /// Initiator: sends the SYN, or asks for the neighbour first.
    pub fn start(&mut self) {
        let hop = self.next_hop();
        match hop.and_then(|hop| self.shared.neighbours.find(hop)) {
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
                if self.conn.bytes.as_ref().is_some_and(|b| b.adopted) {
                    self.resume_bytes();
                    return;
                }
                self.conn.tcp = TcpState::SynSent;
                self.send_syn();
            }
        }
    }
}

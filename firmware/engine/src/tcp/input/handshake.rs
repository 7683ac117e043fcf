//! Segments before a connection stands, and when it is over: RFC 9293 §3.10.7.3 and §3.10.7.4, RFC 5961,
//! RFC 1337.

use weft_wire::tcp::{flag, Options};

use super::Seen;
use crate::card::port::Port;
use crate::connection::conn::{segment_size, Phase, TcpState, MIN_SEGMENT, MIN_STREAM_SEGMENT};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::cm::{ConnectFailure, DisconnectReason};
use weft_tcp::sender::Ack;
use weft_tcp::seq;

impl<P: Port> Link<'_, P> {
    /// Options of the peer's SYN. False if its segments are too small for FPDUs.
    #[must_use]
    pub fn take_options(&mut self, seen: &Seen<'_>) -> bool {
        let config = &self.shared.config;
        let conn = &mut *self.conn;
        conn.sack = seen.options.sack_permitted;
        conn.timestamps = config.timestamps && seen.options.timestamps.is_some();
        if let Some((value, _)) = seen.options.timestamps {
            conn.ts_recent = value;
            conn.ts_recent_at = self.now;
        }
        // Who connects has its rows before it knows what is agreed.
        let rows_are_old = conn.handover.is_bound() && conn.timestamps;
        match seen.options.window_scale {
            Some(scale) => conn.peer_scale = scale,
            None => {
                conn.scale = 0;
                conn.peer_scale = u8::MAX;
            }
        }
        conn.reassembly
            .restart(seen.seq.wrapping_add(1), &mut self.shared.buffers.pool);
        conn.edge = conn.reassembly.limit();
        let least = match conn.byte_stream {
            None => MIN_SEGMENT,
            Some(_) => MIN_STREAM_SEGMENT,
        };
        match segment_size(conn.mtu, seen.options.mss, conn.timestamps, least) {
            Some(size) => conn.sender.mss = size,
            None => {
                self.shared.stats.segments_too_small += 1;
                return false;
            }
        }
        if rows_are_old {
            self.bind();
        }
        true
    }

    /// This peer cannot be spoken with.
    fn refuse_segment_size(&mut self) {
        self.conn.tcp = TcpState::SynReceived;
        self.reset(ConnectFailure::SegmentTooSmall, DisconnectReason::Aborted);
    }

    pub(super) fn in_syn_sent(&mut self, seen: &Seen<'_>) {
        let acks_syn = seen.flags & flag::ACK != 0 && seen.ack == self.conn.sender.nxt;
        if seen.flags & flag::ACK != 0 && !acks_syn {
            self.refuse_ack(seen);
            return;
        }
        if seen.flags & flag::RST != 0 {
            if acks_syn {
                self.lost(ConnectFailure::Refused, DisconnectReason::Reset);
            }
            return;
        }
        if seen.flags & flag::SYN == 0 {
            return;
        }
        if !acks_syn {
            // Both sides began at once (RFC 9293 §3.5, figure 8).
            if !self.take_options(seen) {
                self.refuse_segment_size();
                return;
            }
            self.conn.tcp = TcpState::SynReceived;
            self.send_syn();
            return;
        }
        if !self.take_options(seen) {
            self.refuse_segment_size();
            return;
        }
        let config = &self.shared.config;
        let ece = seen.flags & (flag::ECE | flag::CWR) == flag::ECE;
        self.conn.ecn = config.ecn_state(ece && config.asks_for_ecn());
        self.open(seen, u32::from(seen.window));
        self.conn.ack.now = true;
        if self.begin_byte_stream() {
            return;
        }
        self.conn.phase = Phase::AwaitReply;
        let at = self.now.saturating_add(self.shared.config.mpa_timeout);
        self.conn.timers.set(Timer::Phase, Some(at));
        self.send_request();
    }

    pub(super) fn in_syn_received(&mut self, seen: &Seen<'_>) {
        let rcv_nxt = self.conn.rcv_nxt();
        if seen.flags & flag::RST != 0 {
            let limit = self.conn.reassembly.limit();
            if seen.seq == rcv_nxt {
                self.lost(ConnectFailure::Closed, DisconnectReason::Reset);
            } else if seq::lt(rcv_nxt, seen.seq) && seq::le(seen.seq, limit) {
                self.challenge_early();
            }
            return;
        }
        let again = seen.seq.wrapping_add(1) == rcv_nxt;
        let answered = again && seen.flags & flag::ACK != 0 && seen.ack == self.conn.sender.nxt;
        if seen.flags & flag::SYN != 0 && !answered {
            if again {
                // The SYN again: our SYN-ACK was lost.
                self.send_syn();
            } else {
                self.challenge_early();
            }
            return;
        }
        if seen.flags & flag::ACK == 0 {
            return;
        }
        if seen.ack != self.conn.sender.nxt {
            self.refuse_ack(seen);
            return;
        }
        let window = self.window_of(seen);
        // That of a SYN is never scaled (RFC 7323 §2.2).
        let window = if answered {
            u32::from(seen.window)
        } else {
            window
        };
        self.open(seen, window);
        self.conn.ack.now |= self.is_initiator();
        if !self.begin_byte_stream() {
            let at = self.now.saturating_add(self.shared.config.mpa_timeout);
            self.conn.timers.set(Timer::Phase, Some(at));
            if self.is_initiator() {
                self.conn.phase = Phase::AwaitReply;
                self.send_request();
            } else {
                self.conn.phase = Phase::AwaitRequest;
            }
        }
        if !answered {
            self.in_open(seen);
        }
    }

    pub(super) fn in_time_wait(&mut self, seen: &Seen<'_>) {
        // No RST ends it early (RFC 1337).
        if seen.flags & flag::RST != 0 {
            return;
        }
        if seen.flags & flag::SYN != 0 {
            self.conn.ack.now = true;
        } else if seen.flags & (flag::ACK | flag::FIN) == flag::ACK | flag::FIN {
            self.conn.ack.now = true;
            let at = self.now.saturating_add(self.shared.config.time_wait);
            self.conn.timers.set(Timer::Phase, Some(at));
        }
    }

    /// A challenge acknowledgment before the connection stands (RFC 5961 §3.2, §4.2): who sent that
    /// RST or SYN in earnest answers with an exact RST.
    fn challenge_early(&mut self) {
        let _ = self.send_control(flag::ACK, self.conn.sender.nxt, Options::default(), &[]);
    }

    /// It acknowledges what was never sent: of an older connection between the same ports, which the peer has not forgotten.
    /// An RST makes it forget, and the SYN that is sent again finds it free (RFC 9293 §3.10.7.3, §3.10.7.4; figure 9).
    fn refuse_ack(&mut self, seen: &Seen<'_>) {
        if seen.flags & flag::RST != 0 {
            return;
        }
        if self.shared.may_reset(self.now) {
            let _ = self.send_control(flag::RST, seen.ack, Options::default(), &[]);
        }
    }

    /// The handshake is done.
    fn open(&mut self, seen: &Seen<'_>, window: u32) {
        let conn = &mut *self.conn;
        conn.tcp = TcpState::Open;
        conn.tries = 0;
        let ack = Ack {
            seq: seen.seq,
            ack: seen.ack,
            window,
            is_pure: false,
            sack: &[],
            echo: false,
            arrived: self.shared.times.word(self.now),
            departed: 0,
        };
        conn.sender.acknowledge(self.now, &ack);
        let mss = conn.sender.mss;
        let mut segments = u32::from(self.shared.config.initial_window_segments);
        if conn.syn_lost {
            // RFC 6298 §5.7, RFC 5681 §3.1.
            conn.sender.rtt.syn_was_lost();
            segments = 1;
        }
        let numbers = (seen.seq, seen.ack);
        conn.sender
            .establish(mss, segments, conn.sack, window, numbers);
    }
}

//! SYNs, and what follows them until there is a connection (RFC 9293 §3.10.7.2, §3.10.7.4; RFC 4987; RFC 5961).

use alloc::boxed::Box;

use weft_wire::ethernet::Mac;
use weft_wire::tcp::{flag, FrameHeader, Options};

use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::{
    own_scale, segment_size, window_size, Role, TcpState, DEFAULT_MSS, MIN_SEGMENT,
    MIN_STREAM_SEGMENT,
};
use crate::interface::cm::Endpoint;
use crate::interface::config::Ecn;
use crate::streaming::ring::ByteStream;
use crate::tcp::input::Seen;
use crate::tcp::syn_cache::{completes, HalfOpen};
use weft_tcp::seq;

/// A SYN that asks for ECN (RFC 3168 §6.1.1).
const ASKS: u8 = flag::ECE | flag::CWR;
/// The time until the first SYN-ACK goes again (RFC 6298 §2.1).
const RTO: u64 = 1_000_000_000;

impl Engine {
    /// A segment of no connection. True if it is a listener's: a SYN, or one of a handshake that was begun.
    pub(crate) fn half_open<P: Port>(
        &mut self,
        now: u64,
        mac: Mac,
        (local, remote): (Endpoint, Endpoint),
        seen: &Seen<'_>,
        port: &mut P,
    ) -> bool {
        if let Some(index) = self.half_open.rows.find(local, remote) {
            self.goes_on(now, index, seen, port);
            return true;
        }
        if !self.listens(local.port) {
            return false;
        }
        match seen.flags & (flag::SYN | flag::ACK | flag::RST) {
            // Refused as if nobody listened: no FPDU could be sent there.
            flag::SYN if !self.fits(local.port, seen) => false,
            flag::SYN => {
                self.syn(now, mac, (local, remote), seen, port);
                true
            }
            flag::ACK => self.cookie(now, mac, (local, remote), seen, port),
            _ => false,
        }
    }

    /// The segments that the SYN allows are large enough.
    fn fits(&mut self, port: u16, syn: &Seen<'_>) -> bool {
        let least = match self.listens_for_streams(port) {
            false => MIN_SEGMENT,
            true => MIN_STREAM_SEGMENT,
        };
        let config = &self.shared.config;
        let timestamps = config.timestamps && syn.options.timestamps.is_some();
        let fits = segment_size(config.mtu, syn.options.mss, timestamps, least).is_some();
        self.shared.stats.segments_too_small += u64::from(!fits);
        fits
    }

    fn syn<P: Port>(
        &mut self,
        now: u64,
        mac: Mac,
        (local, remote): (Endpoint, Endpoint),
        seen: &Seen<'_>,
        port: &mut P,
    ) {
        // Nobody takes what there is to tell: the peer will send it again.
        if self.shared.outbox.events.len() >= self.shared.outbox.most_events {
            self.shared.stats.syns_dropped += 1;
            return;
        }
        let timestamps = seen
            .options
            .timestamps
            .filter(|_| self.shared.config.timestamps);
        let mut row = HalfOpen {
            local,
            remote,
            mac,
            irs: seen.seq,
            iss: self.shared.secrets.initial_sequence(now, local, remote),
            mss: seen.options.mss,
            scale: seen.options.window_scale,
            sack: seen.options.sack_permitted,
            ecn: self.shared.config.ecn != Ecn::Never && seen.flags & ASKS == ASKS,
            ts_val: timestamps.map(|(value, _)| value),
            stands_since: None,
            unsent: false,
            since: now,
            again_at: now.saturating_add(RTO),
            tries: 0,
        };
        if !self.half_open.rows.insert(row) {
            let mss = row.mss.filter(|mss| *mss > 0).unwrap_or(DEFAULT_MSS);
            if mss < MIN_SEGMENT {
                // A cookie cannot say that.
                self.shared.stats.syns_dropped += 1;
                return;
            }
            row.iss = self
                .half_open
                .cookies
                .make(now, local, remote, row.irs, mss);
            (row.scale, row.sack, row.ecn, row.ts_val) = (None, false, false, None);
            self.shared.stats.syn_cookies_sent += 1;
        }
        if !self.syn_ack(now, &row, port) {
            // Nobody remembers a cookie: the peer will ask again.
            self.half_open.rows.unsent(now, &row);
        }
    }

    /// A segment of a half-open connection.
    fn goes_on<P: Port>(&mut self, now: u64, index: usize, seen: &Seen<'_>, port: &mut P) {
        let Some(row) = self.half_open.rows.get(index).copied() else {
            return;
        };
        let rcv_nxt = row.irs.wrapping_add(1);
        let window = window_size(&self.shared.config);
        let distance = seq::diff(seen.seq, rcv_nxt);
        if seen.flags & flag::RST != 0 {
            if distance == 0 {
                self.shared.stats.resets_received += 1;
                self.half_open.rows.remove(index);
            } else if distance > 0 && distance as u32 <= window {
                self.challenge(now, &row, port);
            }
        } else if seen.flags & flag::SYN != 0 {
            if seen.seq == row.irs && row.stands_since.is_none() {
                // The SYN again: our SYN-ACK was lost. If there is no room for it now, it has a timer.
                let _ = self.syn_ack(now, &row, port);
            } else {
                self.challenge(now, &row, port);
            }
        } else if seen.flags & flag::ACK == 0 {
            self.shared.stats.refused_no_ack += 1;
        } else if seen.ack != row.iss.wrapping_add(1) {
            // RFC 9293 §3.10.7.4: it acknowledges what was never sent.
            if self.shared.may_reset(now) {
                self.bare(now, &row, flag::RST, seen.ack, port);
            }
        } else if !completes(row.irs, row.iss, seen.seq, seen.ack, window) {
            self.challenge(now, &row, port);
        } else if self.says_nothing(row.local.port, seen) {
            self.stands(now, index, &row, port);
        } else {
            self.half_open.rows.remove(index);
            self.open(now, &row, true, seen, port);
        }
    }

    /// A segment behind which there need be no connection yet: who connects speaks first in MPA (RFC 5044 §7.1), and has said nothing. With
    /// plain bytes this side may have something to say.
    fn says_nothing(&self, port: u16, seen: &Seen<'_>) -> bool {
        seen.length == 0 && seen.flags & flag::FIN == 0 && !self.listens_for_streams(port)
    }

    /// The handshake is done, and the peer silent so far.
    fn stands<P: Port>(&mut self, now: u64, index: usize, row: &HalfOpen, port: &mut P) {
        if row.stands_since.is_some() {
            return;
        }
        let until = now.saturating_add(self.shared.config.mpa_timeout);
        if let Some(gone) = self.half_open.rows.stands(now, index, until) {
            self.shared.stats.strangers_gave_way += 1;
            self.reset(now, &gone, port);
        }
    }

    /// An acknowledgment of nothing that is known: perhaps it returns a cookie.
    fn cookie<P: Port>(
        &mut self,
        now: u64,
        mac: Mac,
        (local, remote): (Endpoint, Endpoint),
        seen: &Seen<'_>,
        port: &mut P,
    ) -> bool {
        let (irs, iss) = (seen.seq.wrapping_sub(1), seen.ack.wrapping_sub(1));
        let Some(mss) = self.half_open.cookies.open(now, local, remote, irs, iss) else {
            return false;
        };
        if self.says_nothing(local.port, seen) {
            // It comes again with the first data.
            return true;
        }
        let row = HalfOpen {
            local,
            remote,
            mac,
            irs,
            iss,
            mss: Some(mss),
            scale: None,
            sack: false,
            ecn: false,
            ts_val: None,
            stands_since: None,
            unsent: false,
            since: now,
            again_at: now,
            tries: 0,
        };
        let made = self.open(now, &row, false, seen, port);
        self.shared.stats.syn_cookies_taken += u64::from(made);
        true
    }

    /// Makes the connection. False: there is no place for one, which the peer hears.
    fn open<P: Port>(
        &mut self,
        now: u64,
        row: &HalfOpen,
        timed: bool,
        seen: &Seen<'_>,
        port: &mut P,
    ) -> bool {
        let addresses = (row.local, row.remote);
        let Some(slot) = self.new_connection(now, Role::Responder, addresses, port) else {
            self.shared.stats.connections_refused += 1;
            self.reset(now, row, port);
            return false;
        };
        let bytes = self.listens_for_streams(row.local.port);
        let id = self.conns.get(slot).map(|conn| conn.id);
        // The silence since the third segment is no round trip.
        let silent = row.stands_since.map_or(0, |(at, _)| now.saturating_sub(at));
        let since = row.since.saturating_add(silent);
        let syn = Seen {
            seq: row.irs,
            options: Options {
                mss: row.mss,
                window_scale: row.scale,
                sack_permitted: row.sack,
                timestamps: row.ts_val.map(|value| (value, 0)),
                ..Options::default()
            },
            ..*seen
        };
        self.run(now, slot, port, |link| {
            link.conn.listener = row.local.port;
            if bytes {
                // What comes before somebody accepts is his, and there is no frame that says how much it may be.
                link.conn.byte_stream = Some(Box::<ByteStream>::default());
                link.conn.reassembly.grant(u32::MAX);
            }
            link.conn.remote_mac = row.mac;
            // Its size was looked at when the SYN came.
            let _ = link.take_options(&syn);
            link.conn.syn_lost = row.tries > 0;
            link.conn
                .sender
                .syn_was_sent(row.iss, since, timed && row.tries == 0);
            link.conn.ecn = link.shared.config.ecn_state(row.ecn);
            link.conn.tcp = TcpState::SynReceived;
            link.segment(seen);
        });
        if let Some(id) = id {
            self.came_in(now, id, row.local.port, port);
        }
        true
    }

    /// SYN-ACKs that are due again, and silence that has lasted too long.
    pub(super) fn half_open_timers<P: Port>(&mut self, now: u64, port: &mut P) {
        let retries = self.shared.config.syn_retries;
        while let Some((row, gone)) = self.half_open.rows.take_expired(now, retries, RTO) {
            if gone {
                self.shared.stats.half_open_forgotten += 1;
                if row.stands_since.is_some() {
                    self.reset(now, &row, port);
                }
            } else if !self.syn_ack(now, &row, port) && row.tries == 0 {
                self.half_open.rows.unsent(now, &row);
            }
        }
    }

    /// A challenge acknowledgment (RFC 5961 §3.2, §4.2): who sent that in earnest answers with an exact RST.
    fn challenge<P: Port>(&mut self, now: u64, row: &HalfOpen, port: &mut P) {
        let most = self.shared.config.challenge_acks.saturating_mul(10);
        if self.half_open.challenges.allow(now, most) {
            self.shared.stats.challenge_acks += 1;
            self.bare(now, row, flag::ACK, row.iss.wrapping_add(1), port);
        } else {
            self.shared.stats.challenge_acks_withheld += 1;
        }
    }

    /// Who has come through the handshake hears that it was for nothing.
    fn reset<P: Port>(&mut self, now: u64, row: &HalfOpen, port: &mut P) {
        self.shared.stats.resets_sent += 1;
        let seq = row.iss.wrapping_add(1);
        self.bare(now, row, flag::RST | flag::ACK, seq, port);
    }

    fn bare<P: Port>(&mut self, now: u64, row: &HalfOpen, flags: u8, seq: u32, port: &mut P) {
        let ack = row.irs.wrapping_add(1);
        self.send(now, row, (flags, seq, ack), Options::default(), port);
    }

    /// False if there was no room.
    fn syn_ack<P: Port>(&mut self, now: u64, row: &HalfOpen, port: &mut P) -> bool {
        let options = Options {
            mss: Some(self.shared.config.own_mss()),
            // Only what the SYN had (RFC 7323 §1.3, RFC 2018 §2).
            window_scale: row.scale.map(|_| own_scale(&self.shared.config)),
            sack_permitted: row.sack,
            ..Options::default()
        };
        let ece = if row.ecn { flag::ECE } else { 0 };
        let numbers = (
            flag::SYN | flag::ACK | ece,
            row.iss,
            row.irs.wrapping_add(1),
        );
        self.send(now, row, numbers, options, port)
    }

    /// False if there was no room.
    fn send<P: Port>(
        &mut self,
        now: u64,
        row: &HalfOpen,
        (flags, seq, ack): (u8, u32, u32),
        mut options: Options,
        port: &mut P,
    ) -> bool {
        let window = window_size(&self.shared.config);
        // Never scaled in a SYN (RFC 7323 §2.2).
        let scaled = flags & flag::SYN == 0 && row.scale.is_some();
        let shift = if scaled {
            own_scale(&self.shared.config)
        } else {
            0
        };
        options.timestamps = row.ts_val.map(|value| {
            let offset = self.shared.secrets.timestamp_offset(row.local, row.remote);
            (offset.wrapping_add((now / 1_000_000) as u32), value)
        });
        let header = FrameHeader {
            source_mac: self.shared.config.mac,
            destination_mac: row.mac,
            source_ip: row.local.ip,
            destination_ip: row.remote.ip,
            identification: self.shared.identification,
            // Not known before somebody accepts.
            tos: 0,
            source_port: row.local.port,
            destination_port: row.remote.port,
            seq,
            ack,
            flags,
            window: (window >> shift).min(0xffff) as u16,
            options,
        };
        let Some(length) = header.write(&[], &mut self.shared.buffers.frame) else {
            return true;
        };
        let sent = port
            .send_frame(&self.shared.buffers.frame[..length])
            .is_ok();
        if sent {
            self.shared.identification = self.shared.identification.wrapping_add(1);
            self.shared.stats.frames_sent += 1;
        }
        sent
    }
}

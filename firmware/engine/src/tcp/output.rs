//! What goes out, and in which order: retransmissions, start-up frames, messages, acknowledgments, FIN.

mod control;
pub mod messages;
pub mod next_message;
pub mod software;

use weft_wire::tcp::{flag, Options};

use crate::card::port::{Full, Port};
use crate::connection::conn::TcpState;
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use weft_tcp::seq;

/// What came of an attempt to send.
pub(crate) enum Step {
    Sent,
    /// Nothing was sent, and what comes next is to be looked for once more.
    Again,
    Nothing,
    /// The peer's window has no room for it.
    NoWindow,
    /// The congestion window has no room for it.
    NoRoom,
    Full,
    /// It cannot go out any more: the connection is over.
    Over,
}

impl<P: Port> Link<'_, P> {
    /// Sends what can be sent.
    pub fn transmit(&mut self) {
        if self.conn.tcp == TcpState::Open {
            self.conn.timers.set(Timer::Retry, None);
            let mut full = self.retransmit().is_err();
            if self.conn.tcp != TcpState::Open {
                return;
            }
            full = full || self.send_new().is_err();
            // A probe, or the question whether the timer expired for nothing, waits for new data: there was none.
            if !full && self.conn.sender.no_news() {
                full = self.retransmit().is_err();
                if self.conn.tcp != TcpState::Open {
                    return;
                }
            }
            if full {
                if self.conn.tcp != TcpState::Open {
                    return;
                }
                self.try_later();
            }
            self.acknowledge();
            self.conn
                .timers
                .set(Timer::Retransmit, self.conn.sender.deadline());
            self.count();
        } else if self.conn.tcp == TcpState::TimeWait {
            self.acknowledge();
        }
    }

    /// What the sender has counted since.
    fn count(&mut self) {
        let (now, before) = (self.conn.sender.counts, self.conn.counted);
        let stats = &mut self.shared.stats;
        stats.fast_recoveries += now.recoveries - before.recoveries;
        stats.recoveries_undone += now.undone - before.undone;
        stats.tail_probes += now.probes - before.probes;
        stats.ecn_reductions += now.echoes - before.echoes;
        self.conn.counted = now;
    }

    // ------------------------------------------------------------------ sending again

    fn retransmit(&mut self) -> Result<(), Full> {
        while let Some(seq) = self.conn.sender.next_lost() {
            let Some((from, end)) = self.send_again(seq)? else {
                self.source_gone_for_good();
                return Ok(());
            };
            self.conn.sender.sent_again(self.now, from, end);
            self.shared.stats.retransmits += 1;
        }
        Ok(())
    }

    /// Sends what lies at `seq` again; from where to where. `None`: what lies there may not be read any more.
    fn send_again(&mut self, seq: u32) -> Result<Option<(u32, u32)>, Full> {
        if let Some(start) = self.conn.startup.seq {
            let sent = self.conn.startup.sent as u32;
            let offset = seq.wrapping_sub(start);
            if offset < sent {
                // It was cut from its begin on.
                let mss = self.conn.sender.mss.max(1);
                let offset = offset - offset % mss;
                let from = start.wrapping_add(offset);
                let length = (sent - offset).min(mss);
                self.send_startup(from, offset, length)?;
                return Ok(Some((from, from.wrapping_add(length))));
            }
        }
        if self.conn.fin_seq == Some(seq) {
            self.send_control(flag::FIN | flag::ACK, seq, Options::default(), &[])?;
            return Ok(Some((seq, seq.wrapping_add(1))));
        }
        if self.conn.byte_stream.is_some() {
            return self.resend_stream(seq).map(Some);
        }
        let index = self
            .conn
            .in_flight
            .partition_point(|segment| seq::le(segment.end, seq));
        let tcp = self.tcp_fields(flag::ACK | flag::PSH);
        let markers = self.conn.tx_markers;
        let append_crc = self.card_makes_crc();
        let (Some(segment), Some(qp)) = (self.conn.in_flight.get_mut(index), &self.qp) else {
            // Nothing is known to lie there; it cannot be.
            return Ok(Some((seq, self.conn.sender.nxt)));
        };
        if segment
            .region
            .is_some_and(|region| !self.shared.regions.stands(region))
        {
            return Ok(None);
        }
        if let Some(buffer) = qp.software {
            // It lies in the send buffer as it was sent.
            let (flow, range) = (qp.id.flow(), (segment.seq, segment.end));
            let job = buffer.job(flow, range, append_crc, tcp);
            segment.job = self.port.post_job(&job.to_bytes())?;
            self.shared.stats.jobs += 1;
            self.ack_with_data();
            return Ok(Some(range));
        }
        let slice = segment.fpdu_at(markers, seq);
        segment.job = self
            .port
            .post_job(&segment.slot(qp.id.flow(), &slice, tcp))?;
        self.shared.stats.jobs += 1;
        self.ack_with_data();
        Ok(Some((slice.seq, slice.end)))
    }

    fn send_startup(&mut self, seq: u32, offset: u32, length: u32) -> Result<(), Full> {
        let frame = core::mem::take(&mut self.conn.startup.bytes);
        let bytes = frame.get(offset as usize..(offset + length) as usize);
        let bytes = bytes.unwrap_or_default();
        let sent = self.send_control(flag::ACK | flag::PSH, seq, Options::default(), bytes);
        self.conn.startup.bytes = frame;
        sent
    }

    /// The next segment of the start-up frame.
    fn send_more_startup(&mut self, congestion: u32, window: u32) -> Step {
        let sender = &self.conn.sender;
        let idle = sender.flight() == 0;
        let mut length = (self.conn.startup.unsent() as u32).min(sender.mss);
        if window < length {
            // As with messages: less than a segment only behind a probe.
            if window == 0 || !idle || self.conn.probes == 0 {
                return Step::NoWindow;
            }
            length = window;
        }
        if congestion < length && !idle {
            return Step::NoRoom;
        }
        let seq = sender.nxt;
        let offset = self.conn.startup.sent as u32;
        if self.send_startup(seq, offset, length).is_err() {
            return Step::Full;
        }
        self.conn.startup.seq.get_or_insert(seq);
        self.conn.startup.sent += length as usize;
        self.conn.sender.sent(self.now, length);
        Step::Sent
    }

    // ------------------------------------------------------------------ sending

    fn send_new(&mut self) -> Result<(), Full> {
        loop {
            match self.send_one() {
                Step::Sent => {
                    self.conn.probes = 0;
                    self.conn.timers.set(Timer::Persist, None);
                }
                Step::Full | Step::Over => return Err(Full),
                Step::NoWindow => {
                    // Nothing is in flight that would bring a window update: probe for it.
                    let idle = self.conn.sender.flight() == 0;
                    if idle && !self.conn.timers.is_set(Timer::Persist) {
                        let at = self.now.saturating_add(self.conn.sender.rtt.timeout());
                        self.conn.timers.set(Timer::Persist, Some(at));
                    }
                    return Ok(());
                }
                Step::Nothing => {
                    self.conn.timers.set(Timer::Persist, None);
                    return Ok(());
                }
                // What comes next is another message.
                Step::Again => {}
                Step::NoRoom => return Ok(()),
            }
        }
    }

    fn send_one(&mut self) -> Step {
        let (congestion, window) = self.conn.sender.allowed(self.now);
        if self.conn.startup.unsent() > 0 {
            return self.send_more_startup(congestion, window);
        }
        self.issue_entries();
        self.atomic_work();
        if self.waits_for_room(congestion, window) {
            return Step::NoRoom;
        }
        match self.send_middle(congestion.min(window)) {
            Ok(true) => return Step::Sent,
            Ok(false) => {}
            Err(Full) => return Step::Full,
        }
        if let Some(message) = next_message::next_message(self.conn, self.qp.as_deref()) {
            let gone = |region| !self.shared.regions.stands(region);
            if message.region().is_some_and(gone) {
                // What follows is the Terminate.
                self.source_gone();
                return self.send_one();
            }
            return self.send_message(&message, congestion, window);
        }
        match self.send_stream(congestion, window) {
            Step::Nothing => {}
            step => return step,
        }
        if self.conn.fin_queued && self.conn.fin_seq.is_none() {
            let seq = self.conn.sender.nxt;
            let sent = self.send_control(flag::FIN | flag::ACK, seq, Options::default(), &[]);
            if sent.is_err() {
                return Step::Full;
            }
            self.conn.fin_seq = Some(seq);
            self.conn.closed_first = !self.conn.peer_fin_done;
            self.conn.sender.sent(self.now, 1);
            return Step::Sent;
        }
        Step::Nothing
    }
}

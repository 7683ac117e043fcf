//! What goes out: retransmissions, start-up frames, messages, acknowledgments, FIN.

use weft_layout::Job;
use weft_wire::mpa::RtrKinds;
use weft_wire::rdmap::{control, opcode, queue, ReadRequest};
use weft_wire::tcp::{flag, FrameHeader, Options};

use crate::conn::{Phase, TcpState, MAX_PARTS};
use crate::link::Link;
use crate::part::{fit, Data, Fit, Header, Origin, Part};
use crate::port::{Full, Port};
use crate::qp::{Action, PendingRead};
use crate::tcp::seq;
use crate::timers::Timer;
use crate::verbs::MAX_INLINE;

/// The STag of a 0-byte RTR: never 0, and of no region (peers.md).
const RTR_STAG: u32 = 1;

/// Which queue the next message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Terminate,
    Rtr,
    Response,
    Send,
    Read,
}

/// A message, or what is left of one.
#[derive(Clone, Copy, Debug)]
struct Message {
    source: Source,
    header: Header,
    data: Data,
    /// Already sent.
    sent: u32,
    /// All of it.
    length: u32,
}

/// What came of an attempt to send.
enum Step {
    Sent,
    Nothing,
    /// The peer's window has no room for it.
    NoWindow,
    /// The congestion window has no room for it.
    NoRoom,
    Full,
}

impl<P: Port> Link<'_, P> {
    /// Sends what can be sent.
    pub fn transmit(&mut self) {
        if self.conn.tcp == TcpState::Open {
            self.conn.timers.set(Timer::Retry, None);
            if self.retransmit().is_err() || self.send_new().is_err() {
                self.try_later();
            }
            self.acknowledge();
            self.conn
                .timers
                .set(Timer::Retransmit, self.conn.sender.rto_at);
        } else if self.conn.tcp == TcpState::TimeWait {
            self.acknowledge();
        }
    }

    // ------------------------------------------------------------------ frames made here

    /// Sends one frame that the engine makes itself.
    pub fn send_control(
        &mut self,
        flags: u8,
        seq: u32,
        mut options: Options,
        payload: &[u8],
    ) -> Result<(), Full> {
        if self.conn.timestamps {
            options.timestamps = Some((self.ts_val(), self.conn.ts_recent));
        }
        let synchronized = !matches!(self.conn.tcp, TcpState::Closed | TcpState::SynSent);
        let window = if flags & flag::SYN != 0 {
            // Never scaled in a SYN (RFC 7323 §2.2).
            let window = self
                .conn
                .reassembly
                .limit()
                .wrapping_sub(self.conn.reassembly.base());
            window.min(0xffff) as u16
        } else {
            self.conn.window_field()
        };
        let header = FrameHeader {
            source_mac: self.shared.config.mac,
            destination_mac: self.conn.remote_mac,
            source_ip: self.conn.local.ip,
            destination_ip: self.conn.remote.ip,
            identification: self.shared.identification,
            source_port: self.conn.local.port,
            destination_port: self.conn.remote.port,
            seq,
            ack: if synchronized { self.conn.rcv_nxt() } else { 0 },
            flags,
            window,
            options,
        };
        let Some(length) = header.write(payload, &mut self.shared.frame) else {
            return Ok(());
        };
        self.port.send_frame(&self.shared.frame[..length])?;
        self.shared.identification = self.shared.identification.wrapping_add(1);
        self.shared.stats.frames_sent += 1;
        if flags & flag::ACK != 0 && flags & flag::RST == 0 {
            self.ack_sent();
        }
        Ok(())
    }

    /// SYN or SYN-ACK.
    pub fn send_syn(&mut self) {
        let config = &self.shared.config;
        let answers = self.conn.tcp == TcpState::SynReceived;
        let options = Options {
            mss: Some(config.mtu.saturating_sub(40).max(536)),
            // In a SYN-ACK only what the SYN had (RFC 7323 §1.3, RFC 2018 §2).
            window_scale: (!answers || self.conn.peer_scale != u8::MAX).then_some(self.conn.scale),
            sack_permitted: !answers || self.conn.sack,
            ..Options::default()
        };
        let flags = if answers {
            flag::SYN | flag::ACK
        } else {
            flag::SYN
        };
        let seq = self.conn.sender.una;
        let timestamps = self.conn.timestamps;
        // A timestamp in the first SYN asks for them.
        self.conn.timestamps = if answers {
            timestamps
        } else {
            self.shared.config.timestamps
        };
        let sent = self.send_control(flags, seq, options, &[]);
        self.conn.timestamps = timestamps;
        if sent.is_ok() {
            if self.conn.sender.nxt == self.conn.sender.una {
                self.conn.sender.sent(self.now, 1);
            } else {
                self.conn.sender.syn_sent_again(self.now);
            }
            self.conn
                .timers
                .set(Timer::Retransmit, self.conn.sender.rto_at);
        } else {
            self.try_later();
        }
    }

    /// RST.
    pub fn send_reset(&mut self) {
        let seq = self.conn.sender.nxt;
        self.shared.stats.resets_sent += 1;
        let _ = self.send_control(flag::RST | flag::ACK, seq, Options::default(), &[]);
    }

    /// A segment just outside the window: the peer must answer it (window probe, keepalive).
    pub fn send_probe(&mut self) {
        let seq = self.conn.sender.una.wrapping_sub(1);
        let _ = self.send_control(flag::ACK, seq, Options::default(), &[]);
    }

    fn ts_val(&self) -> u32 {
        (self.now / 1_000_000) as u32
    }

    // ------------------------------------------------------------------ acknowledgments

    /// Every segment carries the acknowledgment.
    fn ack_sent(&mut self) {
        self.conn.edge = self.conn.right_edge();
        self.conn.ack = Default::default();
        self.conn.timers.set(Timer::DelayedAck, None);
    }

    /// Sends an acknowledgment alone, if one is due and nothing else took it along.
    fn acknowledge(&mut self) {
        let opened = seq::diff(self.conn.right_edge(), self.conn.edge).max(0) as u32;
        let told = seq::diff(self.conn.edge, self.conn.rcv_nxt()).max(0) as u32;
        let mss = self.conn.sender.mss;
        // A window that was small and has opened (RFC 9293 §3.8.6.2.2).
        let update = told < 4 * mss && opened >= 2 * mss && !self.conn.peer_fin_done;
        if !(self.conn.ack.now || self.conn.ack.pending >= 2 || update) {
            return;
        }
        let gap = self.conn.sack && self.conn.reassembly.has_gap();
        let sent = match (&self.qp, self.conn.card.bound, gap) {
            (Some(qp), true, false) => {
                let job = Job {
                    kind: 2,
                    flow: qp.id.flow(),
                    seq: self.conn.sender.nxt,
                    ..self.tcp_fields(flag::ACK)
                };
                let posted = self.port.post_job(&job.to_bytes());
                if posted.is_ok() {
                    self.shared.stats.jobs += 1;
                    self.ack_sent();
                }
                posted.map(|_| ())
            }
            _ => {
                let mut options = Options::default();
                if gap {
                    options.sack = self.conn.reassembly.sack_blocks();
                }
                self.send_control(flag::ACK, self.conn.sender.nxt, options, &[])
            }
        };
        match sent {
            Ok(()) => self.shared.stats.acks_sent += 1,
            Err(Full) => self.try_later(),
        }
    }

    fn tcp_fields(&self, tcp_flags: u8) -> Job {
        Job {
            ack: self.conn.rcv_nxt(),
            window: self.conn.window_field(),
            tcp_flags,
            ts_val: self.ts_val(),
            ts_ecr: self.conn.ts_recent,
            ..Job::default()
        }
    }

    // ------------------------------------------------------------------ sending again

    fn retransmit(&mut self) -> Result<(), Full> {
        while let Some(seq) = self.conn.sender.next_lost() {
            let end = self.send_again(seq)?;
            self.conn.sender.sent_again(self.now, end);
            self.shared.stats.retransmits += 1;
        }
        Ok(())
    }

    /// Sends what lies at `seq` again; where it ends.
    fn send_again(&mut self, seq: u32) -> Result<u32, Full> {
        if let Some(start) = self.conn.startup.seq {
            let end = start.wrapping_add(self.conn.startup.length as u32);
            if seq::le(start, seq) && seq::lt(seq, end) {
                self.send_startup(start)?;
                return Ok(end);
            }
        }
        if self.conn.fin_seq == Some(seq) {
            self.send_control(flag::FIN | flag::ACK, seq, Options::default(), &[])?;
            return Ok(seq.wrapping_add(1));
        }
        let index = self
            .conn
            .parts
            .partition_point(|part| seq::le(part.end, seq));
        let tcp = self.tcp_fields(flag::ACK | flag::PSH);
        let markers = self.conn.tx_markers;
        let (Some(part), Some(qp)) = (self.conn.parts.get_mut(index), &self.qp) else {
            // Nothing is known to lie there; it cannot be.
            return Ok(self.conn.sender.nxt);
        };
        let slice = part.fpdu_at(markers, seq);
        part.job = self.port.post_job(&part.slot(qp.id.flow(), &slice, tcp))?;
        self.shared.stats.jobs += 1;
        self.ack_sent();
        Ok(slice.end)
    }

    fn send_startup(&mut self, seq: u32) -> Result<(), Full> {
        let startup = self.conn.startup.clone();
        let bytes = &startup.bytes[..startup.length];
        self.send_control(flag::ACK | flag::PSH, seq, Options::default(), bytes)
    }

    // ------------------------------------------------------------------ sending

    fn send_new(&mut self) -> Result<(), Full> {
        loop {
            match self.send_one() {
                Step::Sent => {
                    self.conn.probes = 0;
                    self.conn.timers.set(Timer::Persist, None);
                }
                Step::Full => return Err(Full),
                Step::NoWindow => {
                    // Nothing is under way that would bring a window update: probe for it.
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
                Step::NoRoom => return Ok(()),
            }
        }
    }

    fn send_one(&mut self) -> Step {
        let (congestion, window) = self.conn.sender.allowed();
        if self.conn.startup.length > 0 && self.conn.startup.seq.is_none() {
            let length = self.conn.startup.length as u32;
            if window < length {
                return Step::NoWindow;
            }
            let seq = self.conn.sender.nxt;
            if self.send_startup(seq).is_err() {
                return Step::Full;
            }
            self.conn.startup.seq = Some(seq);
            self.conn.sender.sent(self.now, length);
            return Step::Sent;
        }
        if let Some(message) = self.next_message() {
            return self.send_message(&message, congestion, window);
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

    /// What is to be sent next.
    fn next_message(&mut self) -> Option<Message> {
        if self.conn.fin_seq.is_some() || !self.conn.may_send {
            return None;
        }
        if let Some(terminate) = &self.conn.terminate {
            let mut bytes = [0; MAX_INLINE];
            bytes[..terminate.length].copy_from_slice(&terminate.bytes[..terminate.length]);
            return Some(Message {
                source: Source::Terminate,
                header: untagged(opcode::TERMINATE, queue::TERMINATE, 1),
                data: Data::Inline(bytes),
                sent: 0,
                length: terminate.length as u32,
            });
        }
        if !matches!(self.conn.phase, Phase::Established | Phase::Closing) {
            return None;
        }
        if self.conn.rtr_pending {
            return self.rtr();
        }
        let qp = self.qp.as_mut()?;
        let response = qp.responses.front().map(|response| Message {
            source: Source::Response,
            header: tagged(opcode::READ_RESPONSE, response.stag, response.to),
            data: response.data,
            sent: response.sent,
            length: response.length,
        });
        // A message that was begun is finished first.
        let response_begun = response.as_ref().is_some_and(|message| message.sent > 0);
        let send_begun = qp.sq.next().is_some_and(|entry| entry.sent > 0);
        if response_begun || response.is_some() && !send_begun && !qp.send_turn {
            return response;
        }
        self.next_request().or(response)
    }

    /// The RTR (RFC 6581 §9.2): no work request stands behind it.
    fn rtr(&self) -> Option<Message> {
        let qp = self.qp.as_ref()?;
        let mut bytes = [0; MAX_INLINE];
        let mut length = 0;
        let header = match self.conn.agreed.rtr? {
            RtrKinds::READ => {
                let request = ReadRequest {
                    sink_stag: RTR_STAG,
                    source_stag: RTR_STAG,
                    ..ReadRequest::default()
                };
                length = ReadRequest::SIZE;
                bytes[..length].copy_from_slice(&request.to_bytes());
                untagged(opcode::READ_REQUEST, queue::READ_REQUEST, qp.read_msn)
            }
            RtrKinds::WRITE => tagged(opcode::WRITE, RTR_STAG, 0),
            _ => untagged(opcode::SEND, queue::SEND, qp.send_msn),
        };
        Some(Message {
            source: Source::Rtr,
            header,
            data: Data::Inline(bytes),
            sent: 0,
            length: length as u32,
        })
    }

    /// The send queue's next message, unless it has to wait.
    fn next_request(&self) -> Option<Message> {
        let qp = self.qp.as_ref()?;
        let entry = qp.sq.next()?;
        let begun = entry.sent > 0 || entry.requested > 0;
        let reads_before = qp
            .reads
            .iter()
            .any(|read| read.entry.is_some_and(|number| number != qp.sq.started));
        if entry.fence && !begun && reads_before {
            return None;
        }
        match entry.action {
            Action::Send { opcode, invalidate } => Some(Message {
                source: Source::Send,
                header: Header {
                    rsvd_ulp: invalidate,
                    ..untagged(opcode, queue::SEND, qp.send_msn)
                },
                data: entry.data,
                sent: entry.sent,
                length: entry.length,
            }),
            Action::Write { stag, to } => Some(Message {
                source: Source::Send,
                header: tagged(opcode::WRITE, stag, to),
                data: entry.data,
                sent: entry.sent,
                length: entry.length,
            }),
            Action::Read { stag, to } => {
                // The ORD limit.
                if qp.reads.len() >= usize::from(self.conn.agreed.ord) {
                    return None;
                }
                let sink = entry
                    .sinks
                    .get(usize::from(entry.requested))
                    .filter(|_| entry.requested < entry.sink_count.max(1))?;
                let request = ReadRequest {
                    sink_stag: if sink.length == 0 {
                        RTR_STAG
                    } else {
                        sink.stag
                    },
                    sink_to: sink.to,
                    size: sink.length,
                    source_stag: stag,
                    source_to: to.wrapping_add(entry.requested_bytes),
                };
                let mut bytes = [0; MAX_INLINE];
                bytes[..ReadRequest::SIZE].copy_from_slice(&request.to_bytes());
                Some(Message {
                    source: Source::Read,
                    header: untagged(opcode::READ_REQUEST, queue::READ_REQUEST, qp.read_msn),
                    data: Data::Inline(bytes),
                    sent: 0,
                    length: ReadRequest::SIZE as u32,
                })
            }
        }
    }

    fn send_message(&mut self, message: &Message, congestion: u32, window: u32) -> Step {
        if self.conn.parts.len() >= MAX_PARTS {
            return Step::NoRoom;
        }
        let conn = &*self.conn;
        let markers = conn.tx_markers;
        // FPDUs as large as the EMSS allows, and no larger than half the largest window of the
        // peer, so that there is always a way forward.
        let emss = conn.sender.mss.min((conn.sender.max_window / 2).max(256));
        let mut limit = markers.mulpdu(emss as usize);
        let left = message.length - message.sent;
        let seq = conn.sender.nxt;
        let room = congestion.min(window);
        let try_fit = |limit: usize, room: u32| {
            let header = message.header.length();
            let payload = (limit - header) as u32;
            fit(markers, seq, header, payload, left, room).map(|fit| (payload, fit))
        };
        let mut fitted = try_fit(limit, room);
        if fitted.is_none() {
            if window < congestion || try_fit(limit, window).is_none() {
                // The window may stay this small: after a probe, smaller FPDUs (of 128 octets or
                // more of ULPDU) go into what there is.
                let small = (window as usize).saturating_sub(24).min(limit);
                if conn.probes > 0 && conn.sender.flight() == 0 && small >= 128 {
                    limit = small & !3;
                    fitted = try_fit(limit, window);
                }
                if fitted.is_none() {
                    return Step::NoWindow;
                }
            } else if conn.sender.flight() == 0 {
                fitted = try_fit(limit, window.min(emss.max(limit as u32 + 64)));
                if fitted.is_none() {
                    return Step::NoWindow;
                }
            } else {
                return Step::NoRoom;
            }
        }
        let Some((fpdu_payload, fitted)) = fitted else {
            return Step::NoRoom;
        };
        self.post(message, fpdu_payload, &fitted)
    }

    fn post(&mut self, message: &Message, fpdu_payload: u32, fitted: &Fit) -> Step {
        let Some(qp) = self.qp.as_ref() else {
            return Step::Nothing;
        };
        let seq = self.conn.sender.nxt;
        let origin = match message.source {
            Source::Send => Origin::Request(qp.sq.started, fitted.whole),
            _ => Origin::Silent,
        };
        let mut part = Part {
            seq,
            end: seq.wrapping_add(fitted.wire),
            header: Header {
                to_or_mo: message
                    .header
                    .to_or_mo
                    .wrapping_add(u64::from(message.sent)),
                ..message.header
            },
            last: fitted.whole,
            length: fitted.payload,
            fpdu_payload: fpdu_payload.min(0xffff) as u16,
            data: message.data.slice(message.sent, fitted.payload),
            job: 0,
            origin,
        };
        let push = if fitted.whole { flag::PSH } else { 0 };
        let tcp = self.tcp_fields(flag::ACK | push);
        match self
            .port
            .post_job(&part.slot(qp.id.flow(), &part.whole(), tcp))
        {
            Ok(job) => part.job = job,
            Err(Full) => return Step::Full,
        }
        self.shared.stats.jobs += 1;
        self.ack_sent();
        self.conn.parts.push_back(part);
        self.conn.sender.sent(self.now, fitted.wire);
        self.advance(message, fitted);
        Step::Sent
    }

    /// The queue that the message came from moves on.
    fn advance(&mut self, message: &Message, fitted: &Fit) {
        let Some(qp) = self.qp.as_mut() else {
            return;
        };
        match message.source {
            Source::Terminate => {
                self.conn.terminate = None;
                self.shared.stats.terminates_sent += 1;
            }
            Source::Rtr => {
                self.conn.rtr_pending = false;
                if message.header.tagged {
                    return;
                }
                if message.header.stag_or_qn == queue::READ_REQUEST {
                    qp.read_msn = qp.read_msn.wrapping_add(1);
                    qp.reads.push_back(PendingRead {
                        entry: None,
                        stag: RTR_STAG,
                        to: 0,
                        left: 0,
                    });
                } else {
                    qp.send_msn = qp.send_msn.wrapping_add(1);
                }
            }
            Source::Response => {
                qp.send_turn = true;
                if fitted.whole {
                    qp.responses.pop_front();
                } else if let Some(response) = qp.responses.front_mut() {
                    response.sent += fitted.payload;
                }
            }
            Source::Send => {
                qp.send_turn = false;
                let number = qp.sq.started;
                if let Some(entry) = qp.sq.get_mut(number) {
                    entry.sent += fitted.payload;
                }
                if fitted.whole {
                    qp.sq.started = number.wrapping_add(1);
                    if !message.header.tagged {
                        qp.send_msn = qp.send_msn.wrapping_add(1);
                    }
                }
            }
            Source::Read => {
                qp.send_turn = false;
                qp.read_msn = qp.read_msn.wrapping_add(1);
                let number = qp.sq.started;
                let Some(entry) = qp.sq.get_mut(number) else {
                    return;
                };
                let sink = entry.sinks[usize::from(entry.requested)];
                entry.requested += 1;
                entry.requested_bytes += u64::from(sink.length);
                entry.missing += 1;
                let all = entry.requested >= entry.sink_count.max(1);
                qp.reads.push_back(PendingRead {
                    entry: Some(number),
                    stag: sink.stag,
                    to: sink.to,
                    left: sink.length,
                });
                if all {
                    qp.sq.started = number.wrapping_add(1);
                }
            }
        }
    }
}

fn untagged(opcode: u8, qn: u32, msn: u32) -> Header {
    Header {
        tagged: false,
        rdmap_control: control(opcode),
        stag_or_qn: qn,
        msn,
        to_or_mo: 0,
        rsvd_ulp: 0,
    }
}

fn tagged(opcode: u8, stag: u32, to: u64) -> Header {
    Header {
        tagged: true,
        rdmap_control: control(opcode),
        stag_or_qn: stag,
        msn: 0,
        to_or_mo: to,
        rsvd_ulp: 0,
    }
}

//! How much of the next message fits, and the job that sends it.

use weft_layout::Job;
use weft_wire::rdmap::queue;
use weft_wire::tcp::flag;

use super::next_message::{NextMessage, Source, RTR_STAG};
use super::software::NotSent;
use super::Step;
use crate::card::port::{Full, Port};
use crate::connection::conn::{Phase, MIN_SEGMENT};
use crate::connection::in_flight::{fit, Fit, Header, InFlight, Origin};
use crate::connection::link::Link;
use crate::memory::job_data::JOB_INLINE;
use crate::queues::issue::refusal;
use crate::queues::qp::{Asked, PendingRead, PendingResponse};

impl<P: Port> Link<'_, P> {
    /// Something is in flight whose acknowledgment brings more room, and what is sent next fills a segment, for which there is
    /// not enough now; or more of them, where it is the peer's window that is too small: so many that they are worth a job.
    #[inline]
    pub(crate) fn waits_for_room(&self, congestion: u32, window: u32) -> bool {
        let conn = &*self.conn;
        let Some(qp) = self.qp.as_ref() else {
            return false;
        };
        let next = qp.sq.next_entry();
        let next = next.filter(|entry| entry.is_message());
        let left = next.map_or(0, |entry| entry.length - entry.sent);
        let (flight, emss) = (conn.sender.flight(), self.emss());
        let enough = if window < congestion {
            self.worth_a_job(flight, left)
        } else {
            emss
        };
        flight > 0
            && left >= emss
            && congestion.min(window) + 4 <= enough
            && conn.may_send
            && conn.fin_seq.is_none()
            && conn.terminate.is_none()
            && !conn.rtr_pending
            && matches!(conn.phase, Phase::Established | Phase::Closing)
            && qp.responses.is_empty()
    }

    /// Octets of the message's rest that are sent together while so many are in flight: a segment at least. (Where it is the congestion window that is too small,
    /// what it allows is sent at once: a controller learns nothing of a window that is not used.)
    fn worth_a_job(&self, flight: u32, left: u32) -> u32 {
        let emss = self.emss();
        if !self.conn.sender.is_steady() {
            return emss;
        }
        let burst = u32::from(self.shared.config.burst) * emss;
        burst.min(flight / 4).min(left).max(emss)
    }

    /// FPDUs are as large as the EMSS allows, and no larger than half the largest window of the
    /// peer, so that there is always a way forward.
    pub fn emss(&self) -> u32 {
        let sender = &self.conn.sender;
        sender
            .mss
            .min((sender.max_window / 2).max(MIN_SEGMENT.into()))
    }

    pub(super) fn send_message(
        &mut self,
        message: &NextMessage,
        congestion: u32,
        window: u32,
    ) -> Step {
        if self.conn.in_flight_is_full() {
            return Step::NoRoom;
        }
        let conn = &*self.conn;
        let markers = conn.tx_markers;
        let emss = self.emss();
        let mut limit = markers.mulpdu(emss as usize);
        let left = message.reach;
        let seq = conn.sender.nxt;
        let mut room = congestion.min(window);
        if conn.sender.owes_cwr() {
            // In one segment and no more.
            room = room.min(emss);
        }
        let software = self.qp.as_ref().and_then(|qp| qp.software);
        let oldest = || conn.in_flight.front().map_or(seq, |segment| segment.seq);
        if software.is_some_and(|buffer| !buffer.has_room(oldest(), seq, emss)) {
            return Step::NoRoom;
        }
        let try_fit = |limit: usize, room: u32| {
            let header = message.header.length();
            let payload = (limit - header) as u32;
            // What software makes goes out one by one.
            let left = match software {
                Some(_) => left.min(payload),
                None => left,
            };
            fit(markers, seq, header, payload, left, room).map(|fit| (payload, fit))
        };
        let mut fitted = try_fit(limit, room);
        if fitted.is_none() {
            if window < congestion || try_fit(limit, window).is_none() {
                // The window may stay this small: after a probe, smaller FPDUs go into what there is.
                let small = (window as usize).saturating_sub(24).min(limit) & !3;
                if conn.probes > 0 && conn.sender.flight() == 0 && small >= message.least() {
                    limit = small;
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
        let Some((fpdu_payload, mut fitted)) = fitted else {
            return Step::NoRoom;
        };
        fitted.whole &= message.sent + fitted.payload == message.length;
        self.post(message, fpdu_payload, &fitted)
    }

    fn post(&mut self, message: &NextMessage, fpdu_payload: u32, fitted: &Fit) -> Step {
        let Some(qp) = self.qp.as_ref() else {
            return Step::Nothing;
        };
        let seq = self.conn.sender.nxt;
        let origin = match message.source {
            Source::Send => Origin::Request(qp.sq.started, fitted.whole),
            _ => Origin::Silent,
        };
        let mut segment = InFlight {
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
            data: message.data.slice(0, fitted.payload),
            region: message.region,
            job: 0,
            first_job: 0,
            origin,
        };
        let push = if fitted.whole { flag::PSH } else { 0 };
        let (ect, cwr) = self.new_data();
        let tcp = Job {
            flags: ect,
            ..self.tcp_fields(flag::ACK | push | cwr)
        };
        // The sink is open before the request is out, and only for as long as it is.
        if let Some(sink) = &message.sink {
            let (pd, regions) = (qp.config.pd, &mut self.shared.regions);
            if let Err(error) = regions.open_sink(pd, sink, self.port) {
                // A peer has invalidated it since it was issued.
                self.refuse_next(refusal(error));
                return Step::Again;
            }
        }
        let mut response_job = None;
        let flow = qp.id.flow();
        let posted = match qp.software {
            None => self
                .port
                .post_job(&segment.slot(flow, &segment.whole(), tcp))
                .map_err(|Full| NotSent::Full),
            Some(buffer) => {
                // Once it is made, nobody's memory is read for it again.
                segment.region = None;
                self.post_fpdu(buffer, flow, &segment, tcp)
            }
        };
        match posted {
            Ok(job) => {
                (segment.job, segment.first_job) = (job, job);
                if message.source == Source::Response {
                    response_job = Some(job);
                }
            }
            Err(why) => {
                if let Some(sink) = &message.sink {
                    self.shared.regions.close_sink(sink.stag, self.port);
                }
                return match why {
                    NotSent::Full => Step::Full,
                    NotSent::Unreadable => {
                        self.unreadable(origin);
                        Step::Over
                    }
                };
            }
        }
        if let (Some(job), Some(qp)) = (response_job, self.qp.as_mut()) {
            qp.response_job = Some(job);
        }
        self.shared.stats.jobs += 1;
        let _ = self.conn.sender.take_cwr();
        // A small message, and what goes out where nothing is in flight.
        if fitted.whole && fitted.payload as usize <= JOB_INLINE || self.conn.sender.flight() == 0 {
            self.port.urgent();
        }
        self.ack_with_data();
        self.shared.buffers.lend(self.conn);
        self.conn.in_flight.push_back(segment);
        self.conn.sender.sent(self.now, fitted.wire);
        self.advance(message, fitted);
        Step::Sent
    }

    /// The queue that the message came from moves on.
    fn advance(&mut self, message: &NextMessage, fitted: &Fit) {
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
                        open: false,
                        atomic: false,
                    });
                } else {
                    qp.send_msn = qp.send_msn.wrapping_add(1);
                }
            }
            Source::Response => {
                qp.send_queue_next = true;
                if fitted.whole {
                    qp.pop_response(&mut self.shared.regions);
                } else if let Some(PendingResponse {
                    asked: Asked::Read { sent, .. },
                    ..
                }) = qp.responses.front_mut()
                {
                    *sent += fitted.payload;
                }
            }
            Source::Send => {
                qp.send_queue_next = false;
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
            Source::AtomicResponse => {
                qp.send_queue_next = true;
                qp.atomic_msn = qp.atomic_msn.wrapping_add(1);
                qp.pop_response(&mut self.shared.regions);
            }
            Source::Read | Source::Atomic => {
                qp.send_queue_next = false;
                qp.read_msn = qp.read_msn.wrapping_add(1);
                let number = qp.sq.started;
                let Some(sink) = qp.sq.work(number).and_then(|work| work.next_sink()) else {
                    return;
                };
                if let Some(entry) = qp.sq.get_mut(number) {
                    entry.requested += 1;
                    entry.missing += 1;
                }
                let all = qp.sq.has_asked_all(number);
                qp.reads.push_back(PendingRead {
                    entry: Some(number),
                    stag: sink.stag,
                    to: sink.at,
                    left: sink.length,
                    open: message.sink.is_some(),
                    atomic: message.source == Source::Atomic,
                });
                if all {
                    qp.sq.started = number.wrapping_add(1);
                }
            }
        }
    }
}

//! The fast path of reports. Where a connection stands, the card frames and places, and nothing is missing, a segment
//! changes little: what is decided elsewhere step by step is decided here at once, and what it leads to is done by the same
//! functions. A report that does not fit is left alone, as if it had not been looked at, and takes the slow path.
//! `EngineConfig::fast_path` turns it off, so that a test can compare: the frames are the same.
//!
//! Most of what makes a report fit is the connection's state, which the fast path does not change: it is looked at when the
//! connection has taken the slow path ([`Conn::find_path`]), and found again in [`Conn::path`].

use weft_layout::{fpdu_verdict, refusal, FpduReport, Job, JobKind, PlacedReport, SegmentReport};
use weft_wire::ddp;
use weft_wire::fpdu::Markers;
use weft_wire::rdmap::{control, opcode};
use weft_wire::tcp::flag;

use crate::card::port::{Full, Port};
use crate::connection::conn::{Conn, Ended, Phase, ReportPath, TcpState};
use crate::connection::in_flight::{Header, InFlight, Origin, MAX_FPDUS};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::config::EngineConfig;
use crate::memory::job_data::{Data, JOB_PIECES};
use crate::memory::region::IovaRange;
use crate::queues::qp::Qp;
use crate::rdmap::ends::{ended, is_write};
use crate::tcp::input::is_marked;
use weft_tcp::sender::{Ack, Acked};
use weft_tcp::seq;

impl Conn {
    /// Which path its reports may take now.
    pub fn find_path(&self, qp: Option<&Qp>, config: &EngineConfig) -> ReportPath {
        let Some(qp) = qp.filter(|qp| qp.conn == Some(self.id.slot)) else {
            return ReportPath::Slow;
        };
        let fast = config.fast_path
            && self.tcp == TcpState::Open
            && self.phase == Phase::Established
            && self.handover.is_attached()
            && !self.handover.awaits_frame()
            && self.agreed.ord > 0
            && !self.timestamps
            && self.peer_fin.is_none()
            && self.startup.seq.is_none()
            && self.reassembly.is_empty()
            && self.reassembly.twice().is_none();
        let idle = self.in_flight.is_empty()
            && self.sender.is_at_rest()
            && self.terminate.is_none()
            && !self.rtr_pending
            && !self.fin_queued
            && !self.timers.is_set(Timer::Retransmit)
            && !self.timers.is_set(Timer::Persist)
            && !self.timers.is_set(Timer::Retry)
            && qp.sq.completed == qp.sq.posted
            && qp.responses.is_empty();
        match (fast, idle) {
            (false, _) => ReportPath::Slow,
            (true, false) => ReportPath::Fast,
            (true, true) => ReportPath::FastIdle,
        }
    }
}

/// What of a segment's report says whether it fits the fast path, and what follows then.
struct Segment {
    tcp_flags: u8,
    epoch: u8,
    window: u16,
    seq: u32,
    ack: u32,
    length: u32,
    /// A switch has marked it.
    marked: bool,
    /// What the FPDU in it ends.
    ended: Ended,
}

/// Handles the report of a Write's FPDU that was placed. False: it is another one, and nothing was done.
pub fn placed_write(
    conn: &mut Conn,
    report: &[u8; FpduReport::SIZE],
    config: &EngineConfig,
) -> bool {
    let report = FpduReport::from_bytes(report);
    let (ddp_control, rdmap_control) = (report.ddp_control, report.rdmap_control);
    let placed = config.fast_path
        && report.verdict == fpdu_verdict::PLACED
        && is_write(ddp_control, rdmap_control)
        && report.epoch == conn.handover.epoch()
        && conn.phase == Phase::Established
        && !seq::lt(report.seq, conn.reassembly.base());
    if placed {
        conn.ack.ends(ended(config, ddp_control, rdmap_control));
    }
    placed
}

impl<P: Port> Link<'_, P> {
    /// Handles a segment of one FPDU of a Write if it fits the fast path; false: nothing was done.
    #[inline]
    pub fn fast_placed(&mut self, report: &PlacedReport) -> bool {
        let (ddp_control, rdmap_control) = (report.ddp_control, report.rdmap_control);
        let ended = ended(&self.shared.config, ddp_control, rdmap_control);
        let done = report.flags & !PlacedReport::ATTACHED == 0
            && is_write(ddp_control, rdmap_control)
            && self.fast_path(&Segment {
                tcp_flags: report.tcp_flags,
                epoch: report.epoch,
                window: report.window,
                seq: report.seq,
                ack: report.ack,
                length: u32::from(report.payload_len),
                marked: is_marked(report.status),
                ended,
            });
        self.shared.stats.fpdus_card += u64::from(done);
        done
    }

    /// Handles a segment if it fits the fast path; false: nothing was done. Inlined, so that the report is not taken apart for a call.
    #[inline(always)]
    pub fn fast_segment(&mut self, report: &SegmentReport) -> bool {
        report.flags & !SegmentReport::ATTACHED == 0
            && report.status & (SegmentReport::REFUSAL_MASK | SegmentReport::RAW_FAILED)
                == refusal::NONE
            && report.done_len == report.payload_len
            && self.fast_path(&Segment {
                tcp_flags: report.tcp_flags,
                epoch: report.epoch,
                window: report.window,
                seq: report.seq,
                ack: report.ack,
                length: u32::from(report.payload_len),
                marked: is_marked(report.status),
                ended: Ended::Nothing,
            })
    }

    /// A segment without timestamps and SACK blocks that the card has dealt with as a whole.
    #[inline(always)]
    fn fast_path(&mut self, report: &Segment) -> bool {
        let conn = &mut *self.conn;
        let next = conn.reassembly.next();
        let length = report.length;
        let fits = report.tcp_flags & !flag::PSH == flag::ACK
            && report.seq == next
            && report.epoch == conn.handover.epoch()
            && report.marked == conn.ecn.marked;
        if !fits {
            return false;
        }
        let shift = if conn.peer_scale == u8::MAX {
            0
        } else {
            conn.peer_scale
        };
        let window = u32::from(report.window) << shift;
        let idle = conn.path == ReportPath::FastIdle;
        let mut steady = false;
        if idle && report.ack == conn.sender.una {
            conn.sender.take_window_of(report.seq, report.ack, window);
        } else {
            let ack = Ack {
                seq: report.seq,
                ack: report.ack,
                window,
                is_pure: length == 0,
                sack: &[],
                echo: false,
                arrived: self.shared.times.word(self.now),
                departed: self.shared.departed(conn, report.ack),
            };
            steady = conn.sender.advance(self.now, &ack);
            if !steady && conn.sender.acknowledge(self.now, &ack) == Acked::Unacceptable {
                return false;
            }
        }
        self.shared.stats.segments += 1;
        self.shared.stats.marked += u64::from(report.marked);
        conn.ack.ends(report.ended);
        conn.tries = 0;
        if let Some(keepalive) = self.shared.config.keepalive {
            let at = self.now.saturating_add(keepalive);
            conn.timers.set(Timer::Keepalive, Some(at));
        }
        if length > 0 {
            let end = next.wrapping_add(length);
            conn.reassembly.skip_to(end, &mut self.shared.buffers.pool);
            conn.owe_ack(self.now, self.shared.config.delayed_ack);
            self.shared.stats.acks_with_data += u64::from(!idle);
        }
        if idle {
            self.acknowledge();
            if self.conn.timers.is_set(Timer::Retry) {
                self.conn.path = ReportPath::Fast;
            }
        } else if !(steady && self.rest()) {
            self.go_on();
        }
        true
    }

    /// After an acknowledgment on the fast path: nothing is to be sent again, and what is new has to wait until there is more room for it. False: it
    /// has not, and nothing was done.
    #[inline]
    fn rest(&mut self) -> bool {
        let conn = &mut *self.conn;
        let front = conn.in_flight.front();
        if front.is_none_or(|segment| seq::le(segment.end, conn.sender.una))
            || !conn.sender.is_steady()
            || conn.timers.is_set(Timer::Retry)
            || conn.startup.unsent() > 0
        {
            return false;
        }
        let (congestion, window) = conn.sender.allowed(self.now);
        if !self.waits_for_room(congestion, window) {
            return false;
        }
        self.acknowledge();
        let deadline = self.conn.sender.deadline();
        self.conn.timers.set(Timer::Retransmit, deadline);
        true
    }

    /// What follows from an acknowledgment.
    fn go_on(&mut self) {
        self.retire();
        self.transmit();
        while self.conn.in_flight_is_full() && self.retire() {
            self.transmit();
        }
        if self.conn.phase != Phase::Established || self.conn.tcp != TcpState::Open {
            self.housekeeping();
        }
        self.shared.buffers.take_back(self.conn);
        self.conn.path = self.conn.find_path(self.qp.as_deref(), &self.shared.config);
    }

    /// Sends the middle of a Write: whole segments from one piece of memory. False: that is not what comes next, or there is
    /// no room for it.
    pub fn send_middle(&mut self, room: u32) -> Result<bool, Full> {
        let conn = &*self.conn;
        let emss = self.emss();
        let Some(qp) = self.qp.as_ref() else {
            return Ok(false);
        };
        let Some(entry) = qp.sq.next() else {
            return Ok(false);
        };
        if entry.sent == 0 {
            return Ok(false);
        }
        let Some((stag, to, source)) = entry.one_piece_write() else {
            return Ok(false);
        };
        let fpdu_payload = (Markers::OFF.mulpdu(emss as usize) - ddp::TAGGED_HEADER) as u32;
        let wire = Markers::OFF.fpdu_length(0, ddp::TAGGED_HEADER + fpdu_payload as usize) as u32;
        let left = entry.length - entry.sent;
        if !self.shared.config.fast_path
            || conn.tx_markers != Markers::OFF
            || qp.software.is_some()
            || !qp.responses.is_empty()
            || room < wire
            || left <= fpdu_payload
            || conn.in_flight_is_full()
            || conn.sender.owes_cwr()
            || !conn.may_send
            || conn.fin_seq.is_some()
            || conn.terminate.is_some()
            || conn.rtr_pending
            || conn.phase != Phase::Established
        {
            return Ok(false);
        }
        let count = (room / wire).min(MAX_FPDUS as u32);
        let (payload, octets) = (count * fpdu_payload, count * wire);
        if payload + fpdu_payload >= left {
            // What is left behind them might fit as well: that is the end of the message.
            return Ok(false);
        }
        let first = conn.sender.nxt;
        let header = Header {
            tagged: true,
            rdmap_control: control(opcode::WRITE),
            stag_or_qn: stag,
            msn: 0,
            to_or_mo: to.wrapping_add(u64::from(entry.sent)),
            rsvd_ulp: 0,
        };
        let piece = IovaRange {
            iova: source.at.wrapping_add(u64::from(entry.sent)),
            length: payload,
        };
        let job = Job {
            kind: JobKind::Message.raw(),
            flags: Job::TAGGED | self.new_data().0,
            flow: qp.id.flow(),
            seq: first,
            length: payload,
            fpdu_payload: fpdu_payload.min(0xffff) as u16,
            rdmap_control: header.rdmap_control,
            stag_or_qn: stag,
            to_or_mo: header.to_or_mo,
            sge_count: 1,
            sge0_iova: piece.iova,
            sge0_length: payload,
            ..self.tcp_fields(flag::ACK)
        };
        let origin = Origin::Request(qp.sq.started, false);
        let number = self.port.post_job(&job.to_bytes())?;
        self.shared.stats.jobs += 1;
        self.ack_with_data();
        self.shared.buffers.lend(self.conn);
        let mut all = [IovaRange::default(); JOB_PIECES];
        all[0] = piece;
        self.conn.in_flight.push_back(InFlight {
            seq: first,
            end: first.wrapping_add(octets),
            header,
            last: false,
            length: payload,
            fpdu_payload: job.fpdu_payload,
            data: Data::Gather(all),
            region: None,
            job: number,
            first_job: number,
            origin,
        });
        self.conn.sender.sent(self.now, octets);
        if let Some(qp) = self.qp.as_mut() {
            qp.send_queue_next = false;
            if let Some(entry) = qp.sq.next_mut() {
                entry.sent += payload;
            }
        }
        Ok(true)
    }
}

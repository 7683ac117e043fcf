//! A connection that carries plain bytes: TCP as it is, without MPA's start-up and without messages. Handshake, acceptance,
//! acknowledgments, recovery, closing are those of every connection; what is different is here.
//!
//! ```text
//!   the user writes ─► ring in registered memory ─► segment jobs      raw segments ─► reassembly ─► the user reads
//!                      │ kept till acknowledged │                                     │ the window follows it
//! ```

use weft_layout::{Job, JobKind};
use weft_wire::tcp::flag;

use crate::card::port::{Full, MemoryError, Port};
use crate::connection::conn::{Phase, TcpState};
use crate::connection::in_flight::{Header, InFlight, Origin};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::cm::{DisconnectReason, Event};
use crate::interface::verbs::QpState;
use crate::memory::job_data::{gather, Data};
use crate::tcp::output::Step;
use weft_tcp::seq;

/// The longest payload of a segment job.
const LONGEST: u32 = 9000;

impl<P: Port> Link<'_, P> {
    /// The handshake of a connection in stream mode is done: there is no start-up. False: it is another connection.
    pub fn begin_byte_stream(&mut self) -> bool {
        let Some(bytes) = self.conn.byte_stream.as_mut() else {
            return false;
        };
        bytes.start_at(self.conn.sender.nxt);
        self.conn.timers.set(Timer::Phase, None);
        if self.is_initiator() {
            self.byte_stream_established();
        } else {
            self.await_backlog();
        }
        true
    }

    /// The connection stands, and its user may read and write.
    pub fn byte_stream_established(&mut self) {
        let Some(qp) = self.qp.as_mut() else {
            return;
        };
        qp.state = QpState::Rts;
        let qp = qp.id;
        self.conn.phase = Phase::Established;
        self.conn.reported = true;
        self.conn.timers.set(Timer::Phase, None);
        let conn = self.conn.id;
        self.tell(Event::StreamEstablished { conn, qp });
    }

    /// Takes bytes of the user's, as many as there is room for; how many.
    pub fn write_stream(&mut self, data: &[u8]) -> Result<usize, MemoryError> {
        self.make_room();
        let Some(bytes) = self.conn.byte_stream.as_mut() else {
            return Ok(0);
        };
        let count = bytes
            .room()
            .min(u32::try_from(data.len()).unwrap_or(u32::MAX));
        let mut rest = &data[..count as usize];
        for piece in bytes.pieces(bytes.kept().0, count) {
            let (now, later) = rest.split_at(piece.length as usize);
            if !now.is_empty() {
                self.port.copy_in(piece.iova, now)?;
            }
            rest = later;
        }
        bytes.written(count);
        Ok(count as usize)
    }

    /// What is acknowledged and read by the card makes room for new bytes.
    pub fn make_room(&mut self) {
        self.retire();
        let first = self.conn.in_flight.front().map(|segment| segment.seq);
        if let Some(bytes) = self.conn.byte_stream.as_mut() {
            bytes.release(first.unwrap_or(bytes.sent_end()));
        }
    }

    /// Gives the user bytes in order, as many as there are and `out` holds; how many. The window opens by whole segments only, or by
    /// half of it (RFC 9293 §3.8.6.2.2).
    pub fn read_stream(&mut self, out: &mut [u8]) -> usize {
        let conn = &mut *self.conn;
        let count = conn.reassembly.copy_front(out);
        conn.reassembly
            .consume(count, &mut self.shared.buffers.pool);
        let opened = seq::diff(conn.reassembly.limit(), conn.edge).max(0) as u32;
        conn.frozen = opened < conn.sender.mss.min(conn.reassembly.capacity() / 2);
        count
    }

    /// The user writes no more: FIN follows what was written. It may go on reading.
    pub fn close_byte_stream(&mut self) {
        if self.conn.phase == Phase::Established {
            self.conn.phase = Phase::Closing;
            self.arm_drain();
        }
    }

    /// Sends the next segment of what the user has written.
    pub(crate) fn send_stream(&mut self, congestion: u32, window: u32) -> Step {
        let conn = &*self.conn;
        let Some(bytes) = conn.byte_stream.as_ref().filter(|bytes| bytes.unsent() > 0) else {
            return Step::Nothing;
        };
        if conn.fin_seq.is_some() || !matches!(conn.phase, Phase::Established | Phase::Closing) {
            return Step::Nothing;
        }
        if conn.in_flight_is_full() {
            return Step::NoRoom;
        }
        let (unsent, idle) = (bytes.unsent(), conn.sender.flight() == 0);
        let full = conn.sender.mss.min(LONGEST);
        let mut length = unsent.min(full);
        if window < length {
            // RFC 9293 §3.8.6.2.1: a full segment, half the largest window, or, behind a probe, what there is.
            let enough = window >= (conn.sender.max_window / 2).max(1);
            if !(enough || window > 0 && idle && conn.probes > 0) {
                return Step::NoWindow;
            }
            length = window;
        }
        if congestion < length && !idle {
            return Step::NoRoom;
        }
        // Nagle (RFC 9293 §3.7.4): a small one waits for its company, unless it is the last.
        let last = conn.phase == Phase::Closing && length == unsent;
        if length < full && !idle && !bytes.no_delay && !last {
            return Step::NoRoom;
        }
        let seq = conn.sender.nxt;
        let push = if length == unsent { flag::PSH } else { 0 };
        let (ect, cwr) = self.new_data();
        let job = match self.post_stream_segment(seq, length, flag::ACK | push | cwr, ect) {
            Ok(job) => job,
            Err(Full) => return Step::Full,
        };
        let _ = self.conn.sender.take_cwr();
        if push != 0 {
            self.port.urgent();
        }
        self.shared.buffers.lend(self.conn);
        let end = seq.wrapping_add(length);
        self.conn.in_flight.push_back(segment(seq, end, job));
        self.conn.sender.sent(self.now, length);
        if let Some(bytes) = self.conn.byte_stream.as_mut() {
            bytes.sent_more(length);
        }
        Step::Sent
    }

    /// Sends what lies at `seq` again, a segment at most; from where to where.
    pub(crate) fn resend_stream(&mut self, seq: u32) -> Result<(u32, u32), Full> {
        let conn = &*self.conn;
        let most = conn.sender.mss.min(LONGEST);
        let index = conn
            .in_flight
            .partition_point(|segment| seq::le(segment.end, seq));
        let Some(segment) = conn.in_flight.get(index) else {
            // Nothing is known to lie there; it cannot be.
            return Ok((seq, conn.sender.nxt));
        };
        // Cut as it was at first. (One that was adopted is cut from its begin on.)
        let first = seq::max(segment.seq, conn.sender.una);
        let skipped = seq::diff(seq, first).max(0) as u32;
        let from = first.wrapping_add(skipped - skipped % most);
        let length = (seq::diff(segment.end, from).max(0) as u32).min(most);
        let job = self.post_stream_segment(from, length, flag::ACK | flag::PSH, 0)?;
        if let Some(segment) = self.conn.in_flight.get_mut(index) {
            segment.job = job;
        }
        Ok((from, from.wrapping_add(length)))
    }

    /// A segment job for bytes that lie in the ring.
    fn post_stream_segment(
        &mut self,
        seq: u32,
        length: u32,
        flags: u8,
        ect: u8,
    ) -> Result<u32, Full> {
        let (Some(bytes), Some(qp)) = (self.conn.byte_stream.as_ref(), self.qp.as_ref()) else {
            return Err(Full);
        };
        let offset = seq.wrapping_sub(bytes.front());
        let [first, second] = bytes.pieces(offset, length);
        let job = Job {
            kind: JobKind::Segment.raw(),
            flags: ect,
            flow: qp.id.flow(),
            seq,
            length,
            sge_count: 1 + u8::from(second.length > 0),
            sge0_iova: first.iova,
            sge0_length: first.length,
            sge1_iova: if second.length > 0 { second.iova } else { 0 },
            sge1_length: second.length,
            ..self.tcp_fields(flags)
        };
        let number = self.port.post_job(&job.to_bytes())?;
        self.shared.stats.jobs += 1;
        self.ack_with_data();
        Ok(number)
    }

    /// All that the user has written is sent: FIN may follow.
    pub fn stream_is_sent(&self) -> bool {
        self.conn
            .byte_stream
            .as_ref()
            .is_none_or(|b| b.unsent() == 0)
    }

    /// The end of a connection in stream mode: TCP is through with it, and its user has read everything.
    pub fn stream_is_over(&self) -> bool {
        self.conn.byte_stream.is_some()
            && self.conn.phase == Phase::Closing
            && matches!(self.conn.tcp, TcpState::TimeWait | TcpState::Dead)
            && self.conn.in_flight.is_empty()
            && self.conn.reassembly.available() == 0
    }

    /// The stream goes on somewhere else: the card and the queue pair have nothing more to do with it.
    pub fn let_go(&mut self) {
        self.unbind();
        if let Some(qp) = self.qp.as_mut() {
            (qp.conn, qp.state) = (None, QpState::Idle);
        }
        self.conn.qp = None;
        self.conn.in_flight.clear();
    }

    /// Why it is over.
    pub fn who_closed(&self) -> DisconnectReason {
        if self.conn.closed_first {
            DisconnectReason::Local
        } else {
            DisconnectReason::Peer
        }
    }

    /// An adopted connection whose neighbour is known goes on: what was in flight elsewhere is taken for lost.
    pub fn resume_byte_stream(&mut self) {
        let Some(bytes) = self.conn.byte_stream.as_ref() else {
            return;
        };
        let (sent, end) = (bytes.kept().1, bytes.sent_end());
        self.conn.tcp = TcpState::Open;
        self.byte_stream_established();
        self.conn.ack.now = true;
        if sent > 0 {
            self.shared.buffers.lend(self.conn);
            let read = self.port.jobs_done().wrapping_sub(1);
            let from = end.wrapping_sub(sent);
            self.conn.in_flight.push_back(segment(from, end, read));
            self.conn.sender.sent(self.now, sent);
            self.conn.sender.timeout(self.now);
        }
    }
}

/// An account of bytes that were sent; they are sent again from the ring.
fn segment(seq: u32, end: u32, job: u32) -> InFlight {
    let nothing = Header {
        tagged: false,
        rdmap_control: 0,
        stag_or_qn: 0,
        msn: 0,
        to_or_mo: 0,
        rsvd_ulp: 0,
    };
    let (data, _): (Data, u32) = gather(core::iter::empty(), 0, 0);
    InFlight {
        seq,
        end,
        header: nothing,
        last: false,
        length: 0,
        fpdu_payload: 0,
        data,
        region: None,
        job,
        first_job: job,
        origin: Origin::Silent,
    }
}

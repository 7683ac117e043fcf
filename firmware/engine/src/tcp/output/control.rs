//! Frames that no message is in: SYN, RST, probes, acknowledgments.

use weft_layout::{Job, JobKind};
use weft_wire::tcp::{flag, FrameHeader, Options};

use crate::card::port::{Full, Port};
use crate::connection::conn::TcpState;
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::config::own_mss;
use weft_tcp::seq;

impl<P: Port> Link<'_, P> {
    /// Sends one frame that the engine makes itself.
    pub fn send_control(
        &mut self,
        mut flags: u8,
        seq: u32,
        mut options: Options,
        payload: &[u8],
    ) -> Result<(), Full> {
        if flags & (flag::SYN | flag::RST) == 0 {
            flags |= self.echo();
        }
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
            tos: self.conn.tos,
            source_port: self.conn.local.port,
            destination_port: self.conn.remote.port,
            seq,
            ack: if synchronized { self.conn.rcv_nxt() } else { 0 },
            flags,
            window,
            options,
        };
        let Some(length) = header.write(payload, &mut self.shared.buffers.frame) else {
            return Ok(());
        };
        self.port.send_frame(&self.shared.buffers.frame[..length])?;
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
            mss: Some(own_mss(self.conn.mtu)),
            // In a SYN-ACK only what the SYN had (RFC 7323 §1.3, RFC 2018 §2).
            window_scale: (!answers || self.conn.peer_scale != u8::MAX).then_some(self.conn.scale),
            sack_permitted: !answers || self.conn.sack,
            ..Options::default()
        };
        // Once only: a SYN with these flags may be what is dropped on the way (RFC 3168 §6.1.1.1).
        let first = self.conn.sender.nxt == self.conn.sender.una;
        let flags = if answers {
            flag::SYN | flag::ACK
        } else if first && config.asks_for_ecn() {
            flag::SYN | flag::ECE | flag::CWR
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
                .set(Timer::Retransmit, self.conn.sender.deadline());
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

    pub(crate) fn ts_val(&self) -> u32 {
        self.conn
            .ts_offset
            .wrapping_add((self.now / 1_000_000) as u32)
    }

    /// Every segment carries the acknowledgment.
    pub(super) fn ack_sent(&mut self) {
        self.conn.edge = self.conn.right_edge();
        self.conn.ack = Default::default();
        self.conn.timers.set(Timer::DelayedAck, None);
    }

    /// A segment with data carries it too, but says nothing of a gap: it has no room for SACK blocks, and
    /// is no duplicate acknowledgment (RFC 5681 §2). That one goes out beside it.
    pub(crate) fn ack_with_data(&mut self) {
        let beside = self.conn.ack.beside;
        self.ack_sent();
        self.conn.ack.beside = beside;
        self.shared.stats.acks_beside_data += u64::from(beside);
    }

    /// Sends an acknowledgment alone, if one is due and nothing else took it along.
    #[inline]
    pub(crate) fn acknowledge(&mut self) {
        let owed = &self.conn.ack;
        if owed.now || owed.beside || owed.pending >= 2 || self.window_has_opened() {
            self.send_acknowledgment();
        }
    }

    /// A window that was small and has opened (RFC 9293 §3.8.6.2.2).
    #[inline]
    fn window_has_opened(&self) -> bool {
        let mss = self.conn.sender.mss;
        let told = seq::diff(self.conn.edge, self.conn.rcv_nxt()).max(0) as u32;
        if told >= 4 * mss {
            return false;
        }
        let opened = seq::diff(self.conn.right_edge(), self.conn.edge).max(0) as u32;
        opened >= 2 * mss && !self.conn.peer_fin_done
    }

    fn send_acknowledgment(&mut self) {
        let gap = self.conn.sack && self.conn.reassembly.has_gap() || self.tells_twice();
        let sent = match (&self.qp, self.conn.handover.is_bound(), gap) {
            (Some(qp), true, false) => {
                let job = Job {
                    kind: JobKind::Segment.raw(),
                    flow: qp.id.flow(),
                    seq: self.conn.sender.nxt,
                    ..self.tcp_fields(flag::ACK)
                };
                let mut half = [0; Job::SIZE / 2];
                half.copy_from_slice(&job.to_bytes()[..Job::SIZE / 2]);
                let posted = self.port.post_bare_job(&half);
                if posted.is_ok() {
                    self.shared.stats.jobs += 1;
                    if self.conn.ack.urgent {
                        self.port.urgent();
                    }
                    self.ack_sent();
                }
                posted.map(|_| ())
            }
            _ => {
                let mut options = Options::default();
                if gap {
                    for (left, right) in self.conn.reassembly.sack_blocks() {
                        options.sack.push(left, right);
                    }
                }
                let sent = self.send_control(flag::ACK, self.conn.sender.nxt, options, &[]);
                if sent.is_ok() {
                    self.conn.reassembly.told();
                }
                sent
            }
        };
        match sent {
            Ok(()) => self.shared.stats.acks_sent += 1,
            Err(Full) => self.try_later(),
        }
    }

    /// What tells the peer of marks.
    fn echo(&self) -> u8 {
        if self.conn.ecn.echo {
            flag::ECE
        } else {
            0
        }
    }

    /// Flags of a job with new data and its TCP flags: it may be marked, and the first after a reduction says so. (Not what is sent again, and
    /// no bare acknowledgment: RFC 3168 §6.1.4, §6.1.5.)
    pub(crate) fn new_data(&self) -> (u8, u8) {
        let ect = if self.conn.ecn.agreed { Job::ECT } else { 0 };
        let cwr = if self.conn.sender.owes_cwr() {
            flag::CWR
        } else {
            0
        };
        (ect, cwr)
    }

    pub(crate) fn tcp_fields(&self, tcp_flags: u8) -> Job {
        Job {
            ack: self.conn.rcv_nxt(),
            window: self.conn.window_field(),
            tcp_flags: tcp_flags | self.echo(),
            ts_val: self.ts_val(),
            ts_ecr: self.conn.ts_recent,
            ..Job::default()
        }
    }
}

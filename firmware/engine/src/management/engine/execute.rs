//! The calls as commands: what comes from a command ring, answered.

use alloc::vec;

use weft_layout::{Answer, Command, CommandOpcode, QueuePairKind, StreamState as Record};

use super::Engine;
use crate::card::port::Port;
use crate::interface::cm::{Agreed, ConnId, Endpoint, StartMpa, StreamHandover, MAX_PRIVATE_DATA};
use crate::interface::error::Error;
use crate::interface::verbs::{Access, PdId, QpConfig, QpId, QpState, Sge, SrqId};
use crate::management::commands::{
    accept_params, connect_params, describe, refused, rung, stag_kind, state, stream_of, Refusal,
};
use crate::queues::srq::SrqConfig;
use crate::queues::xrc::XrcdId;

/// Stands for private data that no slot holds: longer than any that is taken.
static TOO_LONG: [u8; MAX_PRIVATE_DATA + 1] = [0; MAX_PRIVATE_DATA + 1];

impl Engine {
    /// Does what a command says, and answers it. `private_data`: what lay beside it, no more than
    /// [`MAX_PRIVATE_DATA`] bytes; of a command that has more ([`Command::length`]) the beginning, and it is refused.
    ///
    /// Nothing of it is believed. But whoever may register regions names the memory (`iova`): whether it is his must be known to the
    /// one who takes his commands.
    pub fn execute<P: Port>(
        &mut self,
        now: u64,
        command: &Command,
        private_data: &[u8],
        port: &mut P,
    ) -> Answer {
        let given = command.length as usize;
        let private_data = match given > MAX_PRIVATE_DATA {
            true => &TOO_LONG,
            false => private_data,
        };
        match self.carry_out(now, command, private_data, port) {
            Ok(answer) => answer,
            Err(Refusal::Engine(Error::PrivateDataTooLong { limit, .. })) => {
                refused(Error::PrivateDataTooLong { given, limit }.into())
            }
            Err(refusal) => refused(refusal),
        }
    }

    fn carry_out<P: Port>(
        &mut self,
        now: u64,
        command: &Command,
        private_data: &[u8],
        port: &mut P,
    ) -> Result<Answer, Refusal> {
        let opcode = command.opcode().map_err(|_| Refusal::Malformed)?;
        let pd = PdId::from_number(command.pd);
        let qp = QpId::from_number(command.qp);
        let srq = SrqId::from_number(command.srq);
        let xrcd = XrcdId::from_number(command.xrcd);
        let conn = || ConnId::from_number(command.conn).ok_or(Error::UnknownConnection);
        let mut answer = Answer::default();
        match opcode {
            CommandOpcode::AllocPd => {
                self.check_each(self.shared.regions.domains())?;
                answer.pd = self.alloc_pd().number();
            }
            CommandOpcode::DeallocPd => self.dealloc_pd(pd)?,
            CommandOpcode::Register => {
                let access = Access::from_bits(command.access).ok_or(Refusal::Malformed)?;
                let (base, iova) = (command.base_to, command.iova);
                let length = command.region_length;
                answer.stag = self.register(pd, base, iova, length, access, port)?;
            }
            CommandOpcode::AllocStag => {
                let kind = stag_kind(command.stag_kind).ok_or(Refusal::Malformed)?;
                answer.stag = self.alloc_stag(pd, kind)?;
            }
            CommandOpcode::Deregister => self.deregister(now, command.stag, port)?,
            CommandOpcode::CreateQp => {
                let config = QpConfig {
                    pd,
                    send_depth: command.send_depth,
                    recv_depth: command.recv_depth,
                    max_sge: command.max_sge,
                    rung: match command.rung {
                        0 => None,
                        number => Some(rung(number).ok_or(Refusal::Malformed)?),
                    },
                };
                let made = match (kind(command.qp_kind)?, command.srq) {
                    (Some(QueuePairKind::XrcInitiator), _) => {
                        self.create_xrc_initiator(&config, port)
                    }
                    (Some(QueuePairKind::XrcTarget), _) => {
                        self.create_xrc_target(&config, xrcd, port)
                    }
                    (None, 0) => self.create_qp(&config, port),
                    (None, srq) => self.create_qp_with_srq(&config, SrqId::from_number(srq), port),
                };
                answer.qp = made?.number();
            }
            CommandOpcode::CreateSrq => {
                let config = SrqConfig {
                    pd,
                    depth: command.recv_depth,
                    max_sge: command.max_sge,
                    limit: command.srq_limit,
                };
                let made = match command.xrcd {
                    0 => self.create_srq(&config),
                    _ => self.create_xrc_srq(&config, xrcd),
                };
                answer.srq = made?.number();
            }
            CommandOpcode::AllocXrcd => {
                self.check_each(self.shared.queues.xrcds.count())?;
                answer.xrcd = self.alloc_xrcd().number();
            }
            CommandOpcode::DeallocXrcd => self.dealloc_xrcd(xrcd)?,
            CommandOpcode::DestroySrq => self.destroy_srq(srq)?,
            CommandOpcode::ModifySrq => self.set_srq_limit(srq, command.srq_limit)?,
            CommandOpcode::QuerySrq => {
                let state = self.srq_state(srq)?;
                answer.srq_limit = state.limit;
                answer.srq_waiting = state.waiting;
            }
            CommandOpcode::DestroyQp => self.destroy_qp(now, qp, port)?,
            CommandOpcode::ModifyQp => {
                let to = state(command.state).ok_or(Refusal::Malformed)?;
                self.modify_qp(now, qp, to, port)?;
            }
            CommandOpcode::QueryQp => {
                answer = describe(self.qp_state(qp)?, self.qp_rung(qp)?, self.conn_info(qp)?);
            }
            CommandOpcode::Listen => {
                answer.port = self.listen(command.port, command.backlog as usize)?;
            }
            CommandOpcode::Unlisten => self.unlisten(now, command.port, port)?,
            CommandOpcode::Forget => {
                let end = |ip, port| Endpoint { ip, port };
                let local = end(self.shared.config.ip, command.port);
                self.forget_waiting(local, end(command.remote_ip, command.remote_port));
            }
            CommandOpcode::Connect => {
                let params = connect_params(command, private_data)?;
                answer.conn = self.connect(now, qp, &params, port)?.number();
            }
            CommandOpcode::Resolve => {
                let station = self.resolve(now, command.remote_ip, port)?;
                answer.next_hop = station.unwrap_or_default();
            }
            CommandOpcode::Accept => {
                let params = accept_params(command, private_data)?;
                self.accept(now, conn()?, qp, &params, port)?;
            }
            CommandOpcode::Reject => self.reject(now, conn()?, private_data, port)?,
            CommandOpcode::Disconnect => self.disconnect(now, conn()?, port)?,
            CommandOpcode::Abort => self.abort(now, conn()?, port)?,
            CommandOpcode::Adopt => {
                answer.conn = self
                    .adopt_from(now, qp, command, private_data, port)?
                    .number();
            }
            CommandOpcode::StartMpa => {
                let how = match (command.passive(), command.past_start_up()) {
                    (true, true) => return Err(Refusal::Malformed),
                    (true, false) => StartMpa::Passive,
                    (false, true) => StartMpa::Past(Agreed {
                        revision: match command.revision {
                            revision @ (1 | 2) => revision,
                            _ => return Err(Refusal::Malformed),
                        },
                        crc: command.crc(),
                        markers_sent: command.markers_sent(),
                        markers_received: command.markers(),
                        ird: command.ird,
                        ord: command.ord,
                        rtr: None,
                        aligned: command.aligned(),
                    }),
                    (false, false) => StartMpa::Active(connect_params(command, private_data)?),
                };
                self.start_mpa(now, conn()?, &how, port)?;
            }
        }
        Ok(answer)
    }

    /// A connection of another stack, whose bytes lie in the ring.
    fn adopt_from<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        command: &Command,
        record: &[u8],
        port: &mut P,
    ) -> Result<ConnId, Refusal> {
        let record: &[u8; Record::SIZE] = record.try_into().map_err(|_| Refusal::Malformed)?;
        let (mut tcp, unacknowledged, unread) = stream_of(&Record::from_bytes(record));
        let ring = Sge {
            stag: command.stag,
            to: command.base_to,
            length: u32::try_from(command.region_length).map_err(|_| Refusal::Malformed)?,
        };
        let memory = self.ring(qp, &ring)?;
        let all = unacknowledged.checked_add(unread);
        if all.is_none_or(|all| all > memory.length) {
            return Err(Error::NoMemory.into());
        }
        let mut copy = |at: u32, length: u32| {
            let mut bytes = vec![0; length as usize];
            let from = memory.iova.wrapping_add(u64::from(at));
            let copied = match length {
                0 => Ok(()),
                _ => port.copy_out(from, &mut bytes),
            };
            copied.map(|()| bytes).map_err(|_| Error::InvalidRegion)
        };
        tcp.unacknowledged = copy(0, unacknowledged)?;
        tcp.unread = copy(unacknowledged, unread)?;
        let state = StreamHandover {
            local: Endpoint {
                ip: self.shared.config.ip,
                port: command.port,
            },
            remote: Endpoint {
                ip: command.remote_ip,
                port: command.remote_port,
            },
            tcp,
        };
        Ok(self.adopt(now, qp, &ring, &state, port)?)
    }

    /// Moves a queue pair to a state that somebody may command.
    fn modify_qp<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        to: QpState,
        port: &mut P,
    ) -> Result<(), Refusal> {
        let from = self.qp_state(qp)?;
        match (from, to) {
            _ if from == to => {}
            (_, QpState::Error) => self.set_qp_error(now, qp, port)?,
            (QpState::Rts, QpState::Closing) if self.close_loopback(qp) => {}
            (QpState::Rts, QpState::Closing) => {
                if let Some(conn) = self.connection_of(qp) {
                    self.disconnect(now, conn, port)?;
                }
            }
            _ => return Err(Refusal::NoTransition { from }),
        }
        Ok(())
    }
}

/// A kind of queue pair; `None`: reliable connected.
fn kind(number: u8) -> Result<Option<QueuePairKind>, Refusal> {
    match number {
        0 => Ok(None),
        _ => QueuePairKind::from_raw(number)
            .map(Some)
            .ok_or(Refusal::Malformed),
    }
}

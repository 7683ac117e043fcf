//! Commands as records. The private data of one that has some go beside it.

use weft_layout::{Command, CommandOpcode, QueuePairKind};

use super::{rtr_bits, rung_number, stag_kind_number, state_number};
use crate::interface::cm::{AcceptParams, ConnId, ConnectParams, Endpoint, Revision};
use crate::interface::verbs::{Access, PdId, QpConfig, QpId, QpState, SrqId, StagKind};
use crate::queues::srq::SrqConfig;
use crate::queues::xrc::XrcdId;

fn command(opcode: CommandOpcode) -> Command {
    Command {
        opcode: opcode as u8,
        ..Command::default()
    }
}

fn of_pd(opcode: CommandOpcode, pd: PdId) -> Command {
    Command {
        pd: pd.number(),
        ..command(opcode)
    }
}

pub(super) fn of_qp(opcode: CommandOpcode, qp: QpId) -> Command {
    Command {
        qp: qp.number(),
        ..command(opcode)
    }
}

pub(super) fn of_conn(opcode: CommandOpcode, conn: ConnId) -> Command {
    Command {
        conn: conn.number(),
        ..command(opcode)
    }
}

/// A new domain: [`Answer::pd`](super::Answer::pd).
pub fn alloc_pd() -> Command {
    command(CommandOpcode::AllocPd)
}

/// Removes an empty domain.
pub fn dealloc_pd(pd: PdId) -> Command {
    of_pd(CommandOpcode::DeallocPd, pd)
}

/// A new region: [`Answer::stag`](super::Answer::stag).
pub fn register(pd: PdId, base_to: u64, iova: u64, length: u64, access: Access) -> Command {
    Command {
        base_to,
        iova,
        region_length: length,
        access: access.bits(),
        ..of_pd(CommandOpcode::Register, pd)
    }
}

/// An STag without memory: [`Answer::stag`](super::Answer::stag). It is removed as a region is.
pub fn alloc_stag(pd: PdId, kind: StagKind) -> Command {
    Command {
        stag_kind: stag_kind_number(kind),
        ..of_pd(CommandOpcode::AllocStag, pd)
    }
}

/// Removes a region.
pub fn deregister(stag: u32) -> Command {
    Command {
        stag,
        ..command(CommandOpcode::Deregister)
    }
}

/// A new queue pair: [`Answer::qp`](super::Answer::qp).
pub fn create_qp(config: &QpConfig) -> Command {
    Command {
        send_depth: config.send_depth,
        recv_depth: config.recv_depth,
        max_sge: config.max_sge,
        rung: config.rung.map_or(0, rung_number),
        ..of_pd(CommandOpcode::CreateQp, config.pd)
    }
}

/// The same of one that takes its receives from a shared queue.
pub fn create_qp_with_srq(config: &QpConfig, srq: SrqId) -> Command {
    Command {
        srq: srq.number(),
        ..create_qp(config)
    }
}

/// The same of an XRC initiator.
pub fn create_xrc_initiator(config: &QpConfig) -> Command {
    Command {
        qp_kind: QueuePairKind::XrcInitiator as u8,
        ..create_qp(config)
    }
}

/// The same of an XRC target.
pub fn create_xrc_target(config: &QpConfig, xrcd: XrcdId) -> Command {
    Command {
        qp_kind: QueuePairKind::XrcTarget as u8,
        xrcd: xrcd.number(),
        ..create_qp(config)
    }
}

/// A new XRC domain: [`Answer::xrcd`](super::Answer::xrcd).
pub fn alloc_xrcd() -> Command {
    command(CommandOpcode::AllocXrcd)
}

/// Removes an XRC domain that nothing is in.
pub fn dealloc_xrcd(xrcd: XrcdId) -> Command {
    Command {
        xrcd: xrcd.number(),
        ..command(CommandOpcode::DeallocXrcd)
    }
}

/// The same of an XRC domain.
pub fn create_xrc_srq(config: &SrqConfig, xrcd: XrcdId) -> Command {
    Command {
        xrcd: xrcd.number(),
        ..create_srq(config)
    }
}

/// A new shared receive queue: [`Answer::srq`](super::Answer::srq).
pub fn create_srq(config: &SrqConfig) -> Command {
    Command {
        recv_depth: config.depth,
        max_sge: config.max_sge,
        srq_limit: config.limit,
        ..of_pd(CommandOpcode::CreateSrq, config.pd)
    }
}

fn of_srq(opcode: CommandOpcode, srq: SrqId) -> Command {
    Command {
        srq: srq.number(),
        ..command(opcode)
    }
}

/// Removes a shared receive queue that no queue pair has.
pub fn destroy_srq(srq: SrqId) -> Command {
    of_srq(CommandOpcode::DestroySrq, srq)
}

/// Asks for an event when fewer elements wait; 0: for none.
pub fn modify_srq(srq: SrqId, limit: u32) -> Command {
    Command {
        srq_limit: limit,
        ..of_srq(CommandOpcode::ModifySrq, srq)
    }
}

/// Asks for a shared receive queue: [`srq_state_of`](super::srq_state_of).
pub fn query_srq(srq: SrqId) -> Command {
    of_srq(CommandOpcode::QuerySrq, srq)
}

/// Removes a queue pair.
pub fn destroy_qp(qp: QpId) -> Command {
    of_qp(CommandOpcode::DestroyQp, qp)
}

/// Moves a queue pair to a state: `Closing` (its connection is closed in order) or `Error`, or the one that it has.
pub fn modify_qp(qp: QpId, to: QpState) -> Command {
    Command {
        state: state_number(to),
        ..of_qp(CommandOpcode::ModifyQp, qp)
    }
}

/// Asks for a queue pair: [`state_of`](super::state_of), [`rung_of`](super::rung_of), [`connection_of`](super::connection_of).
pub fn query_qp(qp: QpId) -> Command {
    of_qp(CommandOpcode::QueryQp, qp)
}

/// Listens on a port, 0: on one that is chosen: [`Answer::port`](super::Answer::port).
pub fn listen(port: u16, backlog: usize) -> Command {
    Command {
        port,
        backlog: backlog.try_into().unwrap_or(u32::MAX),
        ..command(CommandOpcode::Listen)
    }
}

/// Listens no more.
pub fn unlisten(port: u16) -> Command {
    Command {
        port,
        ..command(CommandOpcode::Unlisten)
    }
}

/// A connection between these addresses that is over, and waits, makes room.
pub fn forget(port: u16, remote: Endpoint) -> Command {
    Command {
        port,
        remote_ip: remote.ip,
        remote_port: remote.port,
        ..command(CommandOpcode::Forget)
    }
}

/// Connects: [`Answer::conn`](super::Answer::conn). Its private data go beside it.
pub fn connect(qp: QpId, params: &ConnectParams<'_>) -> Command {
    with_params(of_qp(CommandOpcode::Connect, qp), params)
}

/// What a connection is to be like.
pub(super) fn with_params(command: Command, params: &ConnectParams<'_>) -> Command {
    Command {
        remote_ip: params.remote.ip,
        remote_port: params.remote.port,
        port: params.local_port.unwrap_or(0),
        ird: params.ird,
        ord: params.ord,
        rtr: rtr_bits(params.rtr),
        revision: match params.revision {
            Revision::Rev1 => 1,
            Revision::Rev2 => 2,
        },
        next_hop: params.route.map_or([0; 6], |route| route.next_hop),
        mtu: params.route.map_or(0, |route| route.mtu),
        tos: params.tos,
        ..command
    }
    .with_routed(params.route.is_some())
    .with_peer_to_peer(params.peer_to_peer)
    .with_crc(params.crc)
    .with_markers(params.markers)
    .with_aligned(params.aligned)
    .with_fall_back(params.fall_back)
}

/// Asks for the next station on the way to an address: [`Answer::next_hop`](super::Answer::next_hop), all zeros as long as it is not known.
/// Then it was asked for by ARP, once a second at most, however often this is commanded.
pub fn resolve(remote: [u8; 4]) -> Command {
    Command {
        remote_ip: remote,
        ..command(CommandOpcode::Resolve)
    }
}

/// Accepts a request. Its private data go beside it.
pub fn accept(conn: ConnId, qp: QpId, params: &AcceptParams<'_>) -> Command {
    Command {
        conn: conn.number(),
        ird: params.ird,
        ord: params.ord,
        rtr: rtr_bits(params.rtr),
        tos: params.tos,
        ..of_qp(CommandOpcode::Accept, qp)
    }
    .with_crc(params.crc)
    .with_markers(params.markers)
    .with_aligned(params.aligned)
}

/// Rejects a request. Its private data go beside it.
pub fn reject(conn: ConnId) -> Command {
    of_conn(CommandOpcode::Reject, conn)
}

/// Closes in order.
pub fn disconnect(conn: ConnId) -> Command {
    of_conn(CommandOpcode::Disconnect, conn)
}

/// Closes at once.
pub fn abort(conn: ConnId) -> Command {
    of_conn(CommandOpcode::Abort, conn)
}

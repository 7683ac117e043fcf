//! What can be asked of a queue pair and a device, and the states that a program can name.

use weft_engine::commands::{self, Refusal};
use weft_engine::{on_card, ConnInfo, QpState, Rung, MAX_INLINE, MAX_READS, MAX_RECV_SGE, MAX_SGE};
use weft_queues::MAX_CQES;

use super::qp::{Qp, QpCap, MAX_WORK};
use super::VerbsError;
use crate::device::Device;

/// A queue pair as it stands (`ibv_qp_attr` and `ibv_qp_init_attr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QpAttr {
    /// Its number.
    pub qp_num: u32,
    /// The card's flow that it has.
    pub flow: u16,
    /// Its state.
    pub state: QpState,
    /// How much of its data path the card does.
    pub rung: Rung,
    /// Its capacities.
    pub cap: QpCap,
    /// Every send work request is signaled.
    pub sq_sig_all: bool,
    /// Another process has its queues ([`Qp::share`]).
    pub lent: bool,
    /// Its connection: addresses, IRD and ORD as agreed, segment size, and how TCP fares. `None`: it has none, or none any more.
    pub connection: Option<ConnInfo>,
}

/// What a device can do at most (`ibv_device_attr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceAttr {
    /// Queue pairs: each has one of the card's flows.
    pub max_qp: u32,
    /// Work requests in a send or receive queue.
    pub max_qp_wr: u32,
    /// SGEs of a send work request.
    pub max_send_sge: usize,
    /// SGEs of a receive.
    pub max_recv_sge: usize,
    /// Bytes inline.
    pub max_inline_data: usize,
    /// Regions, parts and windows included: each has one of the STags that the device has of its card.
    pub max_mr: u32,
    /// Entries of a completion queue.
    pub max_cqe: usize,
    /// Reads of the peer under way on a connection (IRD).
    pub max_qp_rd_atom: u16,
    /// Reads of this side under way on a connection (ORD).
    pub max_qp_init_rd_atom: u16,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Bytes of a page, in which memory is registered.
    pub page_size: usize,
}

impl Device {
    /// What it can do at most (`ibv_query_device`). Host memory may end before.
    #[doc(alias("ibv_query_device", "ibv_query_port"))]
    pub fn attributes(&self) -> DeviceAttr {
        let caps = self.capabilities();
        // Number 0 of the STags is nobody's, and of a shared card some are another device's.
        let share = self.config().split;
        let flows = share.flows(caps.flows.try_into().unwrap_or(u16::MAX));
        let limits = self.limits();
        let own = (flows.len() as u32, MAX_WORK);
        let (max_qp, max_qp_wr) = limits.unwrap_or(own);
        let reads = limits.map_or(MAX_READS, |_| on_card::MEMORY.reads);
        DeviceAttr {
            max_qp,
            max_qp_wr,
            max_send_sge: MAX_SGE,
            max_recv_sge: MAX_RECV_SGE,
            max_inline_data: MAX_INLINE,
            max_mr: share.stags(caps.stags).len() as u32,
            max_cqe: MAX_CQES,
            max_qp_rd_atom: reads,
            max_qp_init_rd_atom: reads,
            mtu: self.config().mtu,
            page_size: weft_card_transport::dma::page_size(),
        }
    }
}

impl Qp {
    /// Everything about it, as of one moment (`ibv_query_qp`).
    #[tracing::instrument(name = "query_qp", level = "debug", skip_all, fields(qp_num = self.qp_num()))]
    #[doc(alias = "ibv_query_qp")]
    pub fn query(&self) -> Result<QpAttr, VerbsError> {
        let answer = self.ask()?;
        Ok(QpAttr {
            qp_num: self.qp_num(),
            flow: self.flow(),
            state: commands::state_of(&answer)?,
            rung: commands::rung_of(&answer)?,
            cap: self.cap(),
            sq_sig_all: self.signals_all(),
            lent: self.rings().is_lent(),
            connection: commands::connection_of(&answer)?,
        })
    }

    /// Moves it to a state (`ibv_modify_qp`).
    ///
    /// | to | from | what happens |
    /// |---|---|---|
    /// | `Closing` | `Rts` | the connection is closed in order, as [`CmId::disconnect`](crate::cm::CmId::disconnect) does: what is posted is done first |
    /// | `Error` | any | the connection is aborted, everything in the queues is flushed |
    /// | the state it has | | nothing |
    ///
    /// The others it reaches by itself: `Rts` with its connection (connect, accept), `Terminating` by a fault. `Idle` is where
    /// it begins and never comes back to: in iWARP a queue pair goes with its TCP connection (RFC 5040 §5), and a new one costs no more.
    #[tracing::instrument(name = "modify_qp", level = "debug", skip_all, fields(qp_num = self.qp_num(), ?to))]
    #[doc(alias = "ibv_modify_qp")]
    pub fn modify(&self, to: QpState) -> Result<(), VerbsError> {
        let moved = self
            .device()
            .command(&commands::modify_qp(self.id(), to), &[])?;
        match moved {
            Err(Refusal::NoTransition { from }) => Err(VerbsError::NoSuchTransition { from, to }),
            Err(refusal) => Err(refusal.into()),
            Ok(_) => Ok(()),
        }
    }
}

//! What happens outside any work request.

use weft_engine::TerminateCode;

use crate::error::DeviceError;

/// What happened outside any work request (`ibv_async_event`).
///
/// Of the standard's others none can occur: completion queues do not overrun (`CQ_ERR`: work that could is refused), a shared receive queue
/// does not fail (`SRQ_ERR`: what is wrong with a receive fails the queue pair that takes it), the send queue has no drained state (`SQ_DRAINED`), nothing migrates
/// (`PATH_MIG*`), a request that no queue pair takes is the connection manager's (`QP_REQ_ERR`), and the card has no register of its
/// link's state (`PORT_ACTIVE`, `PORT_ERR`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsyncEvent {
    /// The queue pair failed; everything in it was flushed.
    QpFatal {
        /// Which ([`Qp::qp_num`](crate::verbs::Qp::qp_num)).
        qp_num: u32,
        /// The Terminate that ended it, if one did.
        terminate: Option<TerminateCode>,
        /// True if the peer sent it, false if this side did.
        received: bool,
    },
    /// The peer tried to reach what it may not (`IBV_EVENT_QP_ACCESS_ERR`). Comes after `QpFatal`.
    QpAccessError {
        /// Which.
        qp_num: u32,
        /// The Terminate that this side sent.
        terminate: TerminateCode,
    },
    /// The peer's first message arrived at a queue pair whose connection this side accepted (`IBV_EVENT_COMM_EST`).
    CommEstablished {
        /// Which.
        qp_num: u32,
    },
    /// Fewer receives than its limit wait in a shared receive queue (`IBV_EVENT_SRQ_LIMIT_REACHED`); the limit is 0 from now on.
    SrqLimitReached {
        /// Which ([`Srq::srq_num`](crate::verbs::Srq::srq_num)).
        srq_num: u32,
    },
    /// A queue pair with a shared receive queue takes nothing more from it, and what it has taken is flushed (`IBV_EVENT_QP_LAST_WQE_REACHED`): poll its
    /// completion queue before it is destroyed, else the `wr_id` of what it has taken is not told.
    LastWqeReached {
        /// Which.
        qp_num: u32,
    },
    /// The device failed, and does no more (`IBV_EVENT_DEVICE_FATAL`).
    DeviceFatal(DeviceError),
}

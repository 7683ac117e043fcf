//! Nothing waits without something that wakes it: a timer, a job that is polled for, or an answer that is
//! waited for under a timer.

use super::Engine;
use crate::connection::conn::{Conn, Phase, TcpState};
use crate::connection::timers::Timer;
use crate::interface::cm::ConnId;
use crate::queues::issue::is_issuable;
use crate::queues::qp::Qp;
use crate::tcp::output::next_message::next_message;
use weft_tcp::seq;

impl Engine {
    /// A connection that nothing would ever wake although it has something to do, and what that is. There is
    /// none: debug builds look after each step.
    pub fn check_liveness(&self) -> Result<(), (ConnId, &'static str)> {
        for conn in self.conns.iter() {
            let qp = conn
                .qp
                .and_then(|flow| self.qps[usize::from(flow)].as_deref());
            if let Some(why) = stuck(conn, qp) {
                return Err((conn.id, why));
            }
        }
        Ok(())
    }
}

/// What the connection would wait for in vain.
pub(super) fn stuck(conn: &Conn, qp: Option<&Qp>) -> Option<&'static str> {
    let set = |timer| conn.timers.is_set(timer);
    let why = |wrong: bool, why| wrong.then_some(why);
    let front = conn.in_flight.front();
    let acknowledged = front.is_some_and(|segment| {
        conn.phase == Phase::Draining || seq::le(segment.end, conn.sender.una)
    });
    // The memory of segments that are acknowledged is free when their jobs are done.
    let jobs = why(acknowledged && !set(Timer::JobsDone), "a job to be done");
    match conn.tcp {
        TcpState::Closed => why(
            conn.phase == Phase::Resolving && !set(Timer::Phase),
            "a neighbour's address",
        ),
        TcpState::SynSent | TcpState::SynReceived => why(
            !set(Timer::Retransmit) && !set(Timer::Retry),
            "the end of the handshake",
        ),
        TcpState::TimeWait => why(!set(Timer::Phase), "the end of TIME_WAIT").or(jobs),
        TcpState::Dead => jobs,
        TcpState::Open => {
            let flight = conn.sender.flight() > 0;
            let owed = conn.ack.now || conn.ack.beside || conn.ack.pending > 0;
            let unsent = conn.startup.unsent() > 0
                || conn.fin_queued && conn.fin_seq.is_none()
                || next_message(conn, qp).is_some()
                || is_issuable(conn, qp)
                || conn.byte_stream.as_ref().is_some_and(|b| b.unsent() > 0);
            let tried = flight
                || set(Timer::Persist)
                || set(Timer::Retry)
                || acknowledged && set(Timer::JobsDone);
            let answer = match conn.phase {
                Phase::AwaitReply
                | Phase::AwaitRequest
                | Phase::AwaitBacklog
                | Phase::Finishing
                | Phase::Finished => true,
                Phase::AwaitFirst => conn.agreed.rtr.is_some(),
                _ => conn.fin_queued,
            };
            let shut = conn.holds_up() && !set(Timer::Window);
            jobs.or(why(shut, "room in the window"))
                .or(why(flight && !set(Timer::Retransmit), "an acknowledgment"))
                .or(why(unsent && !tried, "a chance to send"))
                .or(why(
                    owed && !set(Timer::DelayedAck) && !set(Timer::Retry),
                    "a chance to acknowledge",
                ))
                .or(why(answer && !set(Timer::Phase), "the peer's next step"))
        }
    }
}

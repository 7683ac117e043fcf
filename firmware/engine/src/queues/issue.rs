//! The issue of a send queue's entries. An entry is issued behind all that was posted before it, and before anything behind it. What sends nothing is done
//! then: an STag is bound, gets its memory, or is invalidated. What sends gets its memory then, as its STags name it at that time, until it is completed.

use weft_wire::terminate::TerminateCode;

use crate::card::port::Port;
use crate::connection::conn::{Conn, Phase};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::error::Error;
use crate::interface::verbs::{PdId, QpId, Status};
use crate::memory::region::Regions;
use crate::queues::qp::Qp;
use crate::queues::send_queue::Action;

/// How long to wait before a region is looked at again that other work uses.
const AGAIN: u64 = 20_000;

/// What has become of an entry that was issued.
pub(crate) enum Issued {
    /// It is done: it sends nothing.
    Done,
    /// It may send.
    Begun,
    /// It waits until a region is let go.
    Waits,
    /// It cannot be done.
    Failed(Status),
}

impl<P: Port> Link<'_, P> {
    /// Issues the entries of the send queue, up to the first one that sends or has to wait.
    #[inline]
    pub(crate) fn issue_entries(&mut self) {
        while is_issuable(self.conn, self.qp.as_deref()) {
            let Some(qp) = self.qp.as_mut() else {
                return;
            };
            match issue_next(qp, &mut self.shared.regions, self.port) {
                Issued::Done => {
                    let (regions, completions) = (
                        &mut self.shared.regions,
                        &mut self.shared.queues.completions,
                    );
                    qp.complete_sends(regions, completions);
                }
                Issued::Begun => return,
                Issued::Waits => {
                    let at = self.now.saturating_add(AGAIN);
                    return self.conn.timers.set(Timer::Retry, Some(at));
                }
                Issued::Failed(status) => return self.refuse_next(status),
            }
        }
    }

    /// What is next in the send queue ends so, and with it the stream: what is behind it was posted for what it was to do.
    pub(crate) fn refuse_next(&mut self, status: Status) {
        if let Some(qp) = self.qp.as_mut() {
            let number = qp.sq.started;
            if let Some(entry) = qp.sq.get_mut(number) {
                entry.outcome = Some(status);
            }
        }
        self.send_terminate(TerminateCode::RDMAP_LOCAL, None, None);
    }
}

/// There is an entry that may be issued, and was not.
#[inline]
pub(crate) fn is_issuable(conn: &Conn, qp: Option<&Qp>) -> bool {
    let Some((qp, entry)) = qp.and_then(|qp| Some((qp, qp.sq.next_entry()?))) else {
        return false;
    };
    !entry.begun
        && conn.may_send
        && matches!(conn.phase, Phase::Established | Phase::Closing)
        && conn.terminated.is_none()
        && !(entry.fence && qp.has_reads())
}

/// Issues the next entry of a send queue, which may be.
pub(crate) fn issue_next<P: Port>(qp: &mut Qp, regions: &mut Regions, port: &mut P) -> Issued {
    let (pd, id, number) = (qp.config.pd, qp.id, qp.sq.started);
    let Some(work) = qp.sq.next() else {
        return Issued::Begun;
    };
    let failed = |error| Issued::Failed(refusal(error));
    if work.is_message() || work.is_read() {
        return match qp.sq.begin_next(pd, regions) {
            Ok(()) => Issued::Begun,
            Err(error) => failed(error),
        };
    }
    match regions.local_work(&work.action(), pd, id, port) {
        None => Issued::Begun,
        Some(Ok(())) => {
            if let Some(entry) = qp.sq.get_mut(number) {
                entry.outcome = Some(Status::Success);
            }
            qp.sq.started = number.wrapping_add(1);
            Issued::Done
        }
        Some(Err(Error::InUse)) => Issued::Waits,
        Some(Err(error)) => failed(error),
    }
}

impl Regions {
    /// Does this, if it is such work.
    fn local_work<P: Port>(
        &mut self,
        action: &Action,
        pd: PdId,
        qp: QpId,
        port: &mut P,
    ) -> Option<Result<(), Error>> {
        Some(match action {
            Action::Bind(binding) => self.bind(pd, qp, (binding, false), port),
            Action::FastRegister(binding) => self.bind(pd, qp, (binding, true), port),
            Action::LocalInvalidate { stag } => self.invalidate_own(pd, qp, *stag, port),
            _ => return None,
        })
    }
}

/// How work ends that could not be done.
pub(crate) fn refusal(error: Error) -> Status {
    match error {
        Error::NotBindable(_) | Error::InvalidRegion => Status::LocalOperation,
        _ => Status::LocalProtection,
    }
}

//! Work of the send queue that sends nothing: an STag is bound, gets its memory, or is invalidated. It is done in its turn, behind all that was posted before
//! it has gone out and before anything behind it does.

use weft_wire::terminate::TerminateCode;

use crate::conn::Phase;
use crate::error::Error;
use crate::link::Link;
use crate::port::Port;
use crate::qp::Action;
use crate::region::Regions;
use crate::verbs::{PdId, QpId, Status};

impl<P: Port> Link<'_, P> {
    /// Does what is next in the send queue, as long as it is such work.
    pub(crate) fn local_work(&mut self) {
        while let Some(done) = self.local_step() {
            let Some(qp) = self.qp.as_mut() else {
                return;
            };
            let number = qp.sq.started;
            let status = done.map_or_else(refusal, |()| Status::Success);
            if let Some(entry) = qp.sq.get_mut(number) {
                entry.outcome = Some(status);
            }
            if status != Status::Success {
                // Nothing behind it may go out: it was posted for what this was to give.
                return self.send_terminate(TerminateCode::RDMAP_LOCAL, None, None);
            }
            qp.sq.started = number.wrapping_add(1);
            qp.complete_sends(&mut self.shared.completions);
        }
    }

    /// Does one; `None`: it is none, or has to wait.
    fn local_step(&mut self) -> Option<Result<(), Error>> {
        let stands = matches!(self.conn.phase, Phase::Established | Phase::Closing);
        if !stands || self.conn.terminated.is_some() {
            return None;
        }
        let qp = self.qp.as_ref()?;
        let entry = qp.sq.next()?;
        let (pd, id) = (qp.config.pd, qp.id);
        if entry.fence && !qp.reads.is_empty() {
            return None;
        }
        let regions = &mut self.shared.regions;
        regions.local_work(&entry.action, pd, id, self.port)
    }
}

impl Regions {
    /// Does this, if it is such work.
    pub(crate) fn local_work<P: Port>(
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

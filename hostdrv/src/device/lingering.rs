//! Queue pairs that nobody has any more, and whose connection is closing in order: they stay until that is over.

use weft_engine::commands::{self, Refusal};
use weft_engine::{Error, PdId, QpId, QpState};

use super::{Place, State};

/// What stays, and what goes with it.
#[derive(Default)]
pub(super) struct Lingering {
    qps: Vec<QpId>,
    /// Domains that nobody has, of queue pairs that stay.
    domains: Vec<PdId>,
}

impl State {
    /// The last handle of a queue pair has gone. True: it stays until its connection has closed. What completes in it is nobody's.
    pub(crate) fn lingers(&mut self, qp: QpId) -> bool {
        let Place::Here(here) = &self.place else {
            return false;
        };
        let is_closing = here.engine.qp_state(qp) == Ok(QpState::Closing);
        if !is_closing || here.engine.connection_of(qp).is_none() {
            return false;
        }
        let Some(entry) = self.qps.get_mut(&qp) else {
            return false;
        };
        if entry.queues.is_shared() {
            return false;
        }
        entry.is_silent = true;
        self.lingering.qps.push(qp);
        true
    }

    /// A domain that nobody has any more is removed, with the last queue pair in it that stays.
    pub(crate) fn leave_domain(&mut self, now: u64, domain: PdId) -> Result<(), Refusal> {
        let gone = self.command(now, &commands::dealloc_pd(domain), &[]);
        let is_used = gone.as_ref().err() == Some(&Refusal::Engine(Error::InUse));
        if is_used && (self.is_lent() || !self.lingering.qps.is_empty()) {
            self.lingering.domains.push(domain);
            return Ok(());
        }
        gone.map(|_| ())
    }

    /// Removes queue pairs that stayed, and whose connection is over.
    pub(super) fn end_lingering(&mut self) {
        if self.lingering.qps.is_empty() {
            return;
        }
        let Place::Here(here) = &self.place else {
            return;
        };
        let engine = &here.engine;
        let over = |qp: &QpId| engine.connection_of(*qp).is_none();
        let (over, stay): (Vec<_>, Vec<_>) = std::mem::take(&mut self.lingering.qps)
            .into_iter()
            .partition(over);
        self.lingering.qps = stay;
        if over.is_empty() {
            return;
        }
        let now = self.now();
        for qp in over {
            let gone = self
                .command(now, &commands::destroy_qp(qp), &[])
                .map(|_| ());
            tracing::debug!(
                flow = qp.flow(),
                ?gone,
                "queue pair destroyed, its connection closed"
            );
            self.deliver_completions();
            self.remove_qp(qp);
        }
        self.leave_regions();
        self.leave_domains();
    }

    /// Removes domains that nobody has and that were in use.
    pub(super) fn leave_domains(&mut self) {
        let now = self.now();
        for domain in std::mem::take(&mut self.lingering.domains) {
            if let Err(error) = self.leave_domain(now, domain) {
                tracing::debug!(pd = domain.number(), %error, "protection domain not removed");
            }
        }
    }
}

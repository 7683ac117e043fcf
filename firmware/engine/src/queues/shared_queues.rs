//! What queue pairs share: receive queues, their XRC domains, and the way of all completions.

use alloc::collections::VecDeque;

use crate::interface::config::EngineConfig;
use crate::interface::verbs::{Completion, PdId};
use crate::queues::qp::Qp;
use crate::queues::srq::Srqs;
use crate::queues::xrc::Xrcds;

/// Queues that no queue pair has alone.
#[derive(Debug)]
pub struct SharedQueues {
    /// Shared receive queues.
    pub srqs: Srqs,
    /// XRC domains.
    pub xrcds: Xrcds,
    /// Completions out.
    pub completions: VecDeque<Completion>,
}

impl SharedQueues {
    /// Empty.
    pub fn new(config: &EngineConfig) -> Self {
        SharedQueues {
            srqs: Srqs::default(),
            xrcds: Xrcds::default(),
            completions: VecDeque::with_capacity(config.max_work.unwrap_or(0) as usize),
        }
    }

    /// The protection domain that the element in hand is judged by. `None`: its shared queue is no more.
    pub fn element_pd(&mut self, qp: &Qp) -> Option<PdId> {
        match qp.receives.of_domain() {
            Some(srq) => self.srqs.config(srq).ok().map(|config| config.pd),
            None => Some(qp.config.pd),
        }
    }
}

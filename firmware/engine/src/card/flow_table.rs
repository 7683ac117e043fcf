//! The card's flows, as far as all connections share them: the lookup by addresses, and the mark of each flow's last binding.

use alloc::vec;
use alloc::vec::Vec;

use crate::card::flow_key::FlowKeys;
use crate::card::port::Port;
use crate::interface::cm::Endpoint;
use crate::interface::config::EngineConfig;
use weft_tcp::seq;

/// All flows of the card.
#[derive(Debug)]
pub struct FlowTable {
    keys: FlowKeys,
    /// The last epoch of each flow.
    epochs: Vec<u8>,
    /// Flows that were left with replays to do, and the last job of each.
    replaying: Vec<(u16, u32)>,
}

impl FlowTable {
    /// Of a card whose tables are empty.
    pub fn new(config: &EngineConfig) -> Self {
        FlowTable {
            keys: FlowKeys::new(config.num_flows, config.split, config.hash_secret),
            epochs: vec![0; usize::from(config.num_flows)],
            replaying: Vec::new(),
        }
    }

    /// The card finds the flow by these addresses. False: there is no room.
    pub fn insert<P: Port>(
        &mut self,
        flow: u16,
        remote: Endpoint,
        local: Endpoint,
        port: &mut P,
    ) -> bool {
        self.keys.insert(flow, remote, local, port)
    }

    /// It finds it no longer.
    pub fn remove<P: Port>(&mut self, flow: u16, port: &mut P) {
        self.keys.remove(flow, port);
    }

    /// The mark of a flow's next binding. Never 0, which is in the rows of flows never bound.
    pub fn next_epoch(&mut self, flow: u16) -> u8 {
        let Some(epoch) = self.epochs.get_mut(usize::from(flow)) else {
            return 1;
        };
        *epoch = epoch.wrapping_add(1).max(1);
        *epoch
    }

    /// The flow is left with replays to do. Until the card has done this job nobody may have it: the card would walk over them for whoever has
    /// the flow then (`docs/handover.md`).
    pub fn leave_with_replays(&mut self, flow: u16, last: u32) {
        self.replaying.push((flow, last));
    }

    /// Forgets the replays that the card has done.
    pub fn forget_done(&mut self, jobs_done: u32) {
        self.replaying.retain(|(_, job)| !seq::lt(*job, jobs_done));
    }

    /// The card has no replay of this flow to do.
    pub fn is_without_replays(&self, flow: u16) -> bool {
        self.replaying.iter().all(|(left, _)| *left != flow)
    }
}

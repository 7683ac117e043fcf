//! The card's flows, as far as all connections share them: the lookup by addresses, and the mark of each flow's last binding.

use alloc::vec;
use alloc::vec::Vec;

use crate::card::flow_key::FlowKeys;
use crate::card::port::Port;
use crate::interface::cm::Endpoint;
use crate::interface::config::EngineConfig;

/// All flows of the card.
#[derive(Debug)]
pub struct FlowTable {
    keys: FlowKeys,
    /// The last epoch of each flow.
    epochs: Vec<u8>,
}

impl FlowTable {
    /// Of a card whose tables are empty.
    pub fn new(config: &EngineConfig) -> Self {
        FlowTable {
            keys: FlowKeys::new(config.num_flows, config.split, config.hash_secret),
            epochs: vec![0; usize::from(config.num_flows)],
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
}

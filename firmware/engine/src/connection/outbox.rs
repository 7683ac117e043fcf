//! What the engine's user has not taken yet: events.

use alloc::collections::VecDeque;

use crate::interface::cm::Event;
use crate::interface::config::EngineConfig;
use crate::interface::verbs::QpId;
use crate::queues::loopback::LoopbackEvent;
use crate::queues::qp::Receives;

/// Events that there are at most, for each connection that there may be: beyond four no connection is begun, and each that there is then adds
/// what becomes of it: that it stands, has moved, ends in error, is over, and is forgotten.
pub const EVENTS: usize = 4 + 6;

/// Events out.
#[derive(Debug)]
pub struct Outbox {
    /// Of connections and queues.
    pub events: VecDeque<Event>,
    /// Of queue pairs on the loopback.
    pub loopback_events: VecDeque<LoopbackEvent>,
    /// Next stations that were found to be others.
    pub address_moves: u64,
    /// Connections of which nothing is left.
    pub forgotten: u64,
    /// Events not taken beyond which no SYN is taken.
    pub most_events: usize,
}

impl Outbox {
    /// Empty.
    pub fn new(config: &EngineConfig) -> Self {
        let slots = usize::from(config.slots());
        let most_events = 4 * slots;
        Outbox {
            events: VecDeque::with_capacity(match config.memory.counted {
                true => slots * EVENTS,
                false => most_events.min(256),
            }),
            loopback_events: VecDeque::new(),
            address_moves: 0,
            forgotten: 0,
            most_events,
        }
    }

    /// A queue pair was flushed: it takes nothing more from its shared queue, if it has one.
    pub fn last_wqe(&mut self, receives: Receives, qp: QpId) {
        if receives.are_shared() {
            self.events.push_back(Event::LastWqe { qp });
        }
    }
}

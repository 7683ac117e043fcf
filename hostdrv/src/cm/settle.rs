//! What the connection manager does by itself when the device makes progress: connections that have waited long enough, neighbours that have moved,
//! channels whose events go to a function, devices that are gone.

use std::sync::{Arc, Weak};

use weft_engine::ConnId;

use super::channel::ChannelInner;
use super::event::{errno, CmEvent, CmEventType};
use super::id::{CmId, IdInner};
use super::kept::Kept;
use crate::device::Device;

/// What is to be looked at. It keeps nobody alive.
#[derive(Default)]
pub(super) struct Unsettled {
    /// Channels of the device that asked for all events, or have a function.
    pub(super) channels: Vec<Weak<ChannelInner>>,
    /// Connections that are over, and that the engine may still remember.
    pub(super) waiting: Vec<(ConnId, Weak<IdInner>)>,
    /// Neighbours that had moved when it was looked at.
    moves: u64,
}

impl Unsettled {
    pub(super) fn add(&mut self, channel: &Arc<ChannelInner>) {
        self.channels.retain(|channel| channel.strong_count() > 0);
        let new = Arc::downgrade(channel);
        if !self.channels.iter().any(|old| old.ptr_eq(&new)) {
            self.channels.push(new);
        }
    }

    /// Is there nothing to be looked at?
    pub(super) fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.waiting.is_empty()
    }
}

/// Looks at it; how much there was. Called without any lock.
pub(super) fn settle(kept: &Kept, device: &Device) -> usize {
    let (over, channels, moved) = {
        let mut state = device.lock();
        // Of an engine on the card nobody hears what it remembers, and which neighbours have moved.
        let Some((engine, _)) = state.place.here() else {
            return 0;
        };
        let engine = &*engine;
        let moves = engine.address_moves();
        let unsettled = &mut *kept.unsettled();
        let over: Vec<_> = unsettled
            .waiting
            .iter()
            .filter(|(conn, _)| !engine.remembers(*conn))
            .cloned()
            .collect();
        unsettled
            .waiting
            .retain(|(conn, _)| !over.iter().any(|(gone, _)| gone == conn));
        let moved = std::mem::replace(&mut unsettled.moves, moves) != moves;
        (over, unsettled.channels.clone(), moved)
    };
    let mut handled = over.len();
    for (_, id) in over {
        if let Some(inner) = id.upgrade() {
            let id = CmId { inner };
            id.tell(CmEvent::new(id.clone(), CmEventType::TimewaitExit));
        }
    }
    let channels: Vec<_> = channels.iter().filter_map(Weak::upgrade).collect();
    if moved {
        for channel in &channels {
            handled += channel.tell_of_moves();
        }
    }
    for channel in channels {
        handled += channel.call();
    }
    handled
}

/// The device does no more: who has identifiers of it hears so, once.
pub(super) fn removed(kept: &Kept) {
    let channels = kept.unsettled().channels.clone();
    for channel in channels.iter().filter_map(Weak::upgrade) {
        channel.tell_removal();
        channel.call();
    }
}

impl ChannelInner {
    /// Whose next hop is another station by now.
    fn tell_of_moves(&self) -> usize {
        let mut told = 0;
        for id in self.ids() {
            let Some(qp) = id.qp() else { continue };
            let now = match qp.query().map(|attributes| attributes.connection) {
                Ok(Some(connection)) => connection.next_hop,
                _ => continue,
            };
            let before = id.data().next_hop.replace(now);
            if before.is_some_and(|before| before != now) {
                id.tell(CmEvent::new(id.clone(), CmEventType::AddrChange));
                told += 1;
            }
        }
        told
    }

    fn tell_removal(&self) {
        if self.is_removed() {
            return;
        }
        for id in self.ids() {
            let event = CmEvent::new(id.clone(), CmEventType::DeviceRemoval);
            id.tell(event.with_status(errno::ENODEV));
        }
    }
}

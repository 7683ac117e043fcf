//! What the connection manager does by itself when the device makes progress: connections that have waited long enough, neighbours that have moved,
//! channels whose events go to a function, devices that are gone.

use std::mem;
use std::sync::{Arc, Weak};

use weft_engine::ConnId;

use super::channel::ChannelInner;
use super::device_state::DeviceState;
use super::event::{errno, CmEvent, CmEventType};
use super::id::{CmId, IdInner};
use crate::device::Device;

/// A connection, and who wants to hear of its end.
type Waiting = (ConnId, Weak<IdInner>);

/// What is to be looked at. It keeps nobody alive.
#[derive(Default)]
pub(super) struct Pending {
    /// Channels of the device that asked for all events, or have a function.
    pub(super) channels: Vec<Weak<ChannelInner>>,
    /// Connections that are over, and that the engine may still remember.
    waiting: Vec<Waiting>,
    /// One of them has been added since they were looked at.
    is_longer: bool,
    /// Connections that the engine had forgotten when they were looked at.
    forgotten: u64,
    /// Neighbours that had moved when it was looked at.
    moves: u64,
}

impl Pending {
    pub(super) fn add(&mut self, channel: &Arc<ChannelInner>) {
        self.channels.retain(|channel| channel.strong_count() > 0);
        let new = Arc::downgrade(channel);
        if !self.channels.iter().any(|old| old.ptr_eq(&new)) {
            self.channels.push(new);
        }
    }

    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
        self.is_longer = true;
    }

    /// Takes those that are over. Turns of the device between two ends of connections do not walk over all that wait.
    fn take_over(&mut self, forgotten: u64, is_over: impl Fn(ConnId) -> bool) -> Vec<Waiting> {
        let is_new = mem::take(&mut self.is_longer) || self.forgotten != forgotten;
        self.forgotten = forgotten;
        match is_new && !self.waiting.is_empty() {
            true => self.take_waiting(is_over),
            false => Vec::new(),
        }
    }

    /// Takes those that are like this.
    fn take_waiting(&mut self, is_over: impl Fn(ConnId) -> bool) -> Vec<Waiting> {
        let waiting = mem::take(&mut self.waiting);
        let (over, waiting) = waiting.into_iter().partition(|(conn, _)| is_over(*conn));
        self.waiting = waiting;
        over
    }

    /// Is there nothing to be looked at?
    pub(super) fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.waiting.is_empty()
    }
}

/// IdlePolls at it; how much there was. Called without any lock.
pub(super) fn housekeep(device_state: &DeviceState, device: &Device) -> usize {
    let (over, channels, moved) = {
        let mut state = device.lock();
        let is_lent = state.is_lent();
        let pending = &mut *device_state.pending();
        let (over, moved) = match state.place.here() {
            Some((engine, _)) => {
                let over = pending.take_over(engine.forgotten(), |conn| !engine.remembers(conn));
                let moves = engine.address_moves();
                (over, mem::replace(&mut pending.moves, moves) != moves)
            }
            // A lender does not say what it remembers.
            None if is_lent => (pending.take_waiting(|_| true), false),
            // One on the card says so: `forgotten`, `moved`.
            None => (Vec::new(), false),
        };
        (over, pending.channels.clone(), moved)
    };
    let mut handled = over.len();
    tell_of_exits(over);
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

/// Nothing is left of a connection. Called without any lock.
pub(super) fn forgotten(device_state: &DeviceState, conn: ConnId) {
    let over = device_state
        .pending()
        .take_waiting(|waiting| waiting == conn);
    tell_of_exits(over);
}

/// A connection's next station is another one. Likewise.
pub(super) fn moved(device_state: &DeviceState) {
    let channels = device_state.pending().channels.clone();
    for channel in channels.iter().filter_map(Weak::upgrade) {
        channel.tell_of_moves();
    }
}

fn tell_of_exits(over: Vec<Waiting>) {
    for (_, id) in over {
        if let Some(inner) = id.upgrade() {
            let id = CmId { inner };
            id.tell(CmEvent::new(id.clone(), CmEventType::TimewaitExit));
        }
    }
}

/// The device does no more: who has identifiers of it hears so, once.
pub(super) fn removed(device_state: &DeviceState) {
    let channels = device_state.pending().channels.clone();
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Nobody hears of these: what is asked is which are looked at, and taken.
    fn waiting(number: u32) -> Waiting {
        (ConnId::inside(number), Weak::new())
    }

    #[test]
    fn who_waits_is_looked_at_when_something_has_changed() {
        let (mut pending, looks) = (Pending::default(), Cell::new(0));
        let take = |pending: &mut Pending, forgotten, over: u32| {
            looks.set(0);
            let taken = pending.take_over(forgotten, |conn| {
                looks.set(looks.get() + 1);
                (0..over).any(|number| conn == ConnId::inside(number))
            });
            (taken.len(), looks.get())
        };
        assert_eq!(take(&mut pending, 7, 9), (0, 0));
        (0..200).for_each(|number| pending.wait(waiting(number)));
        assert_eq!(take(&mut pending, 7, 0), (0, 200));
        assert_eq!(take(&mut pending, 7, 9), (0, 0));
        assert_eq!(take(&mut pending, 8, 9), (9, 200));
        // One that is over when it is added.
        pending.wait(waiting(3));
        assert_eq!(take(&mut pending, 8, 9), (1, 192));
        assert_eq!(take(&mut pending, 8, 9), (0, 0));
    }
}

//! The packet filter of the host's own stack, where the card is joined to that: asked before the policy is, about requests by the wire.

use std::net::SocketAddrV4;
use std::sync::Arc;

use super::device_state::DeviceState;
use crate::device::Device;

/// What knows the filter of the host's stack.
pub trait PacketFilter: Send + Sync {
    /// Does it let the first segment of such a connection in? Called without any lock.
    fn lets_in(&self, from: SocketAddrV4, to: SocketAddrV4) -> bool;
}

impl Device {
    /// Whom else to ask about each request that comes to this device's listeners by the wire; `None`: nobody, as at first. A request that is not let in is
    /// rejected with [`REJECTED_BY_POLICY`](super::REJECTED_BY_POLICY), and no program hears of it. An interface of `weft-tools` sets it when asked
    /// to (`NetInterface::honour_packet_filter`).
    pub fn set_packet_filter(&self, filter: Option<Arc<dyn PacketFilter>>) {
        *DeviceState::of(self).filter() = filter;
    }
}

/// Is a request from there let in to this port?
pub(super) fn lets_in(device: &Device, from: SocketAddrV4, port: u16) -> bool {
    let filter = DeviceState::of(device).filter().clone();
    filter.is_none_or(|filter| filter.lets_in(from, SocketAddrV4::new(device.ip(), port)))
}

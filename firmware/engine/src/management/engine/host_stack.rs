//! The host's own stack beside the engine on one card and one address: whose is a frame that came up
//! without a flow?
//!
//! TCP of the engine's connections, and SYNs to the ports it listens on, are the engine's: the host's
//! stack never sees them, or it would answer with RST. ARP is for both: the host's stack answers, the
//! engine learns. All else is the host's.

use weft_wire::arp::Arp;
use weft_wire::bytes::u16_at;
use weft_wire::ethernet::{ethertype, EthernetHeader};
use weft_wire::ipv4::{protocol, Ipv4Packet};
use weft_wire::tcp::TcpSegment;

use crate::card::port::Port;
use crate::interface::cm::Endpoint;
use crate::management::engine::Engine;

impl Engine {
    /// With a host stack the engine answers neither ARP nor ICMP nor TCP that it does not know, and
    /// [`Engine::on_report`] says which frames the host's stack is to have. Without one, as it
    /// begins, the engine is the station's only stack.
    pub fn set_host_stack(&mut self, present: bool) {
        self.host_stack = present;
    }

    /// Handles what of a frame is the engine's; true if the host's stack is to have it.
    pub(crate) fn frame_beside_host<P: Port>(
        &mut self,
        now: u64,
        frame: &[u8],
        port: &mut P,
    ) -> bool {
        let Some((ethernet, packet)) = EthernetHeader::parse(frame) else {
            return true;
        };
        match ethernet.ethertype {
            ethertype::ARP => {
                if let Some(arp) = Arp::parse(packet) {
                    self.arp(now, &arp, port);
                }
                true
            }
            ethertype::IPV4 => {
                let Ok(packet) = Ipv4Packet::parse(packet) else {
                    return true;
                };
                if !self.is_ours(&packet) {
                    return true;
                }
                // A piece of a segment is of no use, and the host's stack must not put it together:
                // without its first piece it cannot.
                let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload);
                if let (Ok(segment), false) = (segment, packet.fragment) {
                    return !self.tcp_frame(now, &ethernet, &packet, &segment, port);
                }
                self.shared.stats.frames_ignored += 1;
                false
            }
            _ => true,
        }
    }

    /// TCP of a connection of the engine, or for one of its listeners, whatever else is wrong with it.
    fn is_ours(&self, packet: &Ipv4Packet<'_>) -> bool {
        if packet.destination != self.shared.config.ip
            || packet.protocol != protocol::TCP
            || packet.fragment_offset != 0
        {
            return false;
        }
        let (Some(source), Some(destination)) =
            (u16_at(packet.payload, 0), u16_at(packet.payload, 2))
        else {
            return false;
        };
        let remote = Endpoint {
            ip: packet.source,
            port: source,
        };
        let local = Endpoint {
            ip: packet.destination,
            port: destination,
        };
        // Of a port that is listened on, the engine says whose a segment is when it has seen it.
        self.find_connection(local, remote).is_some() || self.listens(destination)
    }
}

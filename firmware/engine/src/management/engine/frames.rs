//! Frames of no flow: ARP, ICMP echo, and TCP of connections that the card does not know.

use weft_wire::arp::Arp;
use weft_wire::bytes::Writer;
use weft_wire::ethernet::{ethertype, EthernetHeader};
use weft_wire::icmp;
use weft_wire::ipv4::{protocol, Ipv4Header, Ipv4Packet};
use weft_wire::tcp::{flag, FrameHeader, Options, TcpSegment};

use crate::card::port::Port;
use crate::connection::shared::Shared;
use crate::interface::cm::Endpoint;
use crate::management::engine::Engine;
use crate::tcp::arp::News;
use crate::tcp::input::Seen;

impl Engine {
    /// A frame of no flow that the owner of the card's other port [gave](Port::give_frame).
    pub fn on_given_frame<P: Port>(&mut self, now: u64, frame: &[u8], port: &mut P) {
        self.shared.stats.steps += 1;
        let _ = self.frame(now, frame, port);
    }

    /// A frame from the raw ring. None if nothing could be made of it.
    pub(crate) fn frame<P: Port>(&mut self, now: u64, frame: &[u8], port: &mut P) -> Option<()> {
        if port.give_frame(frame) {
            return Some(());
        }
        let (ethernet, packet) = EthernetHeader::parse(frame)?;
        match ethernet.ethertype {
            ethertype::ARP => self.arp(now, &Arp::parse(packet)?, port),
            ethertype::IPV4 => {
                let packet = Ipv4Packet::parse(packet).ok()?;
                if packet.destination != self.shared.config.ip || packet.fragment {
                    return None;
                }
                match packet.protocol {
                    protocol::ICMP => echo(&mut self.shared, &ethernet, &packet, port)?,
                    protocol::TCP => {
                        let (from, to) = (packet.source, packet.destination);
                        let segment = TcpSegment::parse(from, to, packet.payload).ok()?;
                        if !self.tcp_frame(now, &ethernet, &packet, &segment, port)
                            && segment.flags & flag::RST == 0
                            && self.shared.may_reset(now)
                        {
                            refuse(&mut self.shared, &ethernet, &packet, &segment, port);
                        }
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }

    pub(crate) fn arp<P: Port>(&mut self, now: u64, arp: &Arp, port: &mut P) {
        let config = &self.shared.config;
        let own = (config.ip, config.mac);
        let in_use = |ip| self.conns.behind(ip).next().is_some();
        let neighbours = &mut self.shared.neighbours;
        let (reply, news) = neighbours.receive(now, arp, own, in_use);
        if let Some(reply) = reply.filter(|_| !self.host_stack) {
            // A full job ring loses the reply; the question will come again.
            if port.send_frame(&reply).is_ok() {
                self.shared.stats.frames_sent += 1;
            }
        }
        match news {
            News::Nothing => {}
            News::Found => self.neighbour_found(now, arp.sender_ip, arp.sender_mac, port),
            News::TooSoon => self.shared.stats.moves_put_off += 1,
        }
    }

    /// A segment that the card passed up as a frame. False if it belongs to no connection and to no
    /// listener.
    pub(crate) fn tcp_frame<P: Port>(
        &mut self,
        now: u64,
        ethernet: &EthernetHeader,
        packet: &Ipv4Packet<'_>,
        segment: &TcpSegment<'_>,
        port: &mut P,
    ) -> bool {
        let remote = Endpoint {
            ip: packet.source,
            port: segment.source_port,
        };
        let local = Endpoint {
            ip: packet.destination,
            port: segment.destination_port,
        };
        if ethernet.destination[0] & 1 != 0 || !self.may_be_peer(remote.ip) {
            // RFC 9293 §3.9.2.3, MUST-57, MUST-63: to or from a group, or nobody: not even a RST.
            self.shared.stats.frames_from_nobody += 1;
            return true;
        }
        let seen = Seen::of_segment(segment);
        let syn = segment.flags & (flag::SYN | flag::ACK | flag::RST) == flag::SYN;
        let mut slot = self.find_connection(local, remote);
        if let Some(found) = slot {
            if syn && self.may_be_replaced(found, segment.seq) {
                self.forget(found);
                slot = None;
            }
        }
        if let Some(slot) = slot {
            if self.card_may_place(slot) {
                // What the card has for its flow, it says in a report of the flow. This came another way, before the flow was known:
                // it would be taken twice.
                self.shared.stats.frames_of_bound += 1;
                return true;
            }
            self.run(now, slot, port, |link| {
                link.segment(&seen);
                link.offer();
            });
            return true;
        }
        self.half_open(now, ethernet.source, (local, remote), &seen, port)
    }
}

/// Answers an echo request.
fn echo<P: Port>(
    shared: &mut Shared,
    ethernet: &EthernetHeader,
    packet: &Ipv4Packet<'_>,
    port: &mut P,
) -> Option<()> {
    if !icmp::is_echo_request(packet.payload) {
        return None;
    }
    let mut writer = Writer::new(&mut shared.buffers.frame);
    EthernetHeader {
        destination: ethernet.source,
        source: shared.config.mac,
        ethertype: ethertype::IPV4,
    }
    .write(&mut writer);
    Ipv4Header {
        source: packet.destination,
        destination: packet.source,
        protocol: protocol::ICMP,
        ttl: 64,
        tos: packet.tos,
        identification: shared.identification,
    }
    .write(packet.payload.len(), &mut writer);
    writer.put(packet.payload);
    let length = writer.finish()?;
    let at = length - packet.payload.len();
    icmp::make_reply(&mut shared.buffers.frame[at..length]);
    if port.send_frame(&shared.buffers.frame[..length]).is_ok() {
        shared.identification = shared.identification.wrapping_add(1);
        shared.stats.frames_sent += 1;
    }
    Some(())
}

/// RST for a segment of no connection (RFC 9293 §3.10.7.1), unless there were many of late.
fn refuse<P: Port>(
    shared: &mut Shared,
    ethernet: &EthernetHeader,
    packet: &Ipv4Packet<'_>,
    segment: &TcpSegment<'_>,
    port: &mut P,
) {
    let length = segment.payload.len() as u32
        + u32::from(segment.flags & flag::SYN != 0)
        + u32::from(segment.flags & flag::FIN != 0);
    let (seq, ack, flags) = if segment.flags & flag::ACK != 0 {
        (segment.ack, 0, flag::RST)
    } else {
        let ack = segment.seq.wrapping_add(length);
        (0, ack, flag::RST | flag::ACK)
    };
    let header = FrameHeader {
        source_mac: shared.config.mac,
        destination_mac: ethernet.source,
        source_ip: packet.destination,
        destination_ip: packet.source,
        identification: shared.identification,
        tos: 0,
        source_port: segment.destination_port,
        destination_port: segment.source_port,
        seq,
        ack,
        flags,
        window: 0,
        options: Options::default(),
    };
    if let Some(length) = header.write(&[], &mut shared.buffers.frame) {
        if port.send_frame(&shared.buffers.frame[..length]).is_ok() {
            shared.identification = shared.identification.wrapping_add(1);
            shared.stats.frames_sent += 1;
        }
    }
}

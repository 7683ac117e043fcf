//! Whether the kernel's packet filter lets somebody in: the kernel is shown the first segment of such a connection, on the interface, and a raw
//! socket hears of it if no rule was against it. That is behind all that the kernel has (its routes, nftables, iptables, connection tracking), whoever made
//! the rules.
//!
//! ```text
//!   Probe ── SYN ──► TAP ──► PREROUTING ──► INPUT ──► raw socket ──► it is let in
//!                     ▲                                  TCP: RST, or a listener's SYN and ACK
//!                     └── the kernel's answer is the probe's, and does not go to the wire
//! ```
//!
//! The kernel takes a frame from a TAP within the `write`, so whoever was not heard then is not let in.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::{ipproto, AddressFamily, RecvFlags, SocketFlags, SocketType};

use super::segment::{self, Segment};
use crate::tap::{Tap, Written};
use weft_hostdrv::cm::PacketFilter;

/// Probes whose answers are known at a time: an answer comes at once, or when the kernel has asked for the peer's station.
const REMEMBERED: usize = 256;

/// Asks the kernel.
pub(super) struct Probe {
    tap: Arc<Tap>,
    /// The interface's station, and the address that the kernel has there.
    mac: [u8; 6],
    own: Ipv4Addr,
    ear: OwnedFd,
    /// Those of late.
    asked: Mutex<VecDeque<Segment>>,
    kept_out: AtomicU64,
}

impl Probe {
    /// Of the interface that has this address.
    pub(super) fn new(tap: Arc<Tap>, own: Ipv4Addr) -> io::Result<Self> {
        let mac = tap.mac().map_err(io::Error::other)?;
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let tcp = Some(ipproto::TCP);
        let ear = rustix::net::socket_with(AddressFamily::INET, SocketType::RAW, flags, tcp)?;
        let probe = Self {
            tap,
            mac,
            own,
            ear,
            asked: Mutex::default(),
            kept_out: AtomicU64::new(0),
        };
        rustix::net::bind(&probe.ear, &SocketAddrV4::new(own, 0))?;
        probe.hear(own)?;
        Ok(probe)
    }

    /// From now on it hears this address alone. Nobody comes from the own one.
    fn hear(&self, whom: Ipv4Addr) -> io::Result<()> {
        Ok(rustix::net::connect(
            &self.ear,
            &SocketAddrV4::new(whom, 0),
        )?)
    }

    fn asked(&self) -> MutexGuard<'_, VecDeque<Segment>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that were not let in.
    pub(super) fn kept_out(&self) -> u64 {
        self.kept_out.load(Ordering::Relaxed)
    }

    fn ask(&self, from: SocketAddrV4, to: SocketAddrV4) -> io::Result<bool> {
        let mut number = [0; 4];
        getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
        let syn = Segment {
            from,
            to,
            seq: u32::from_ne_bytes(number),
        };
        // One at a time, so that one hears its own.
        let mut asked = self.asked();
        asked.truncate(REMEMBERED - 1);
        asked.push_front(syn);
        self.hear(*from.ip())?;
        let written = self.tap.write_frame(&syn.frame(self.mac, segment::SYN));
        let heard = self.is_heard(&syn);
        self.hear(self.own)?;
        match written.map_err(io::Error::other)? {
            Written::Taken => heard,
            Written::Down => Err(io::Error::other("the interface is down")),
            Written::Full => Err(io::Error::other("the interface takes nothing")),
        }
    }

    fn is_heard(&self, syn: &Segment) -> io::Result<bool> {
        let mut packet = [0; 128];
        loop {
            match rustix::net::recv(&self.ear, &mut packet, RecvFlags::TRUNC) {
                Ok((_, length)) => {
                    let heard = packet.get(..length).unwrap_or(&packet);
                    if syn.is_packet(heard) {
                        return Ok(true);
                    }
                }
                Err(rustix::io::Errno::AGAIN) => return Ok(false),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Is it the kernel's answer to a probe? It is for nobody. A listener of the kernel that waits for more is told that there is none.
    pub(super) fn takes(&self, frame: &[u8]) -> bool {
        let asked = self.asked();
        let Some((syn, answer)) = asked
            .iter()
            .find_map(|syn| Some((*syn, syn.answer(frame)?)))
        else {
            return false;
        };
        drop(asked);
        if answer == segment::Answer::Accepted {
            let reset = Segment {
                seq: syn.seq.wrapping_add(1),
                ..syn
            };
            let written = self.tap.write_frame(&reset.frame(self.mac, segment::RST));
            tracing::trace!(?written, "a listener of the kernel, asked");
        }
        true
    }
}

impl PacketFilter for Probe {
    fn lets_in(&self, from: SocketAddrV4, to: SocketAddrV4) -> bool {
        let answer = self.ask(from, to);
        match &answer {
            Ok(true) => return true,
            Ok(false) => tracing::info!(%from, %to, "the kernel's packet filter is against it"),
            // Of whom nothing is known, nothing is let in.
            Err(error) => tracing::warn!(%from, %to, %error, "the kernel cannot be asked"),
        }
        self.kept_out.fetch_add(1, Ordering::Relaxed);
        false
    }
}

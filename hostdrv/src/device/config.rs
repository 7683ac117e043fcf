//! How a device is to be set up.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use weft_engine::{Congestion, Ecn, EngineConfig, ResourceSplit, Rung, Seed};

#[cfg(doc)]
use super::Device;
use crate::card::RingSizes;
use crate::processor::Image;

/// After so long without a segment a peer is asked whether it is still there. RFC 9293 §3.8.4 allows no
/// less as a default.
const KEEPALIVE: Duration = Duration::from_secs(2 * 60 * 60);

/// How long connections have to close when their device goes.
const LINGER: Duration = Duration::from_secs(1);

/// How a device is to be set up. Each setting is a method; what is not set is right for a card on a network.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "nothing is set up before `Device::open`"]
pub struct DeviceConfig {
    /// Addresses, TCP and MPA settings. Flows and STags are taken from the card.
    pub(crate) engine: EngineConfig,
    /// Sizes of the rings in host memory.
    pub(crate) rings: RingSizes,
    /// A post only writes its WQE and rings; the next [`Device::progress`] sends. Else the thread that posts sends, if no other thread
    /// is at work in the device; so it is while somebody sleeps on the device, or holds a [`Readiness`](super::Readiness) of it.
    pub(crate) deferred: bool,
    /// The first call that sleeps gives the device a thread that drives it ([`Device::drive`]).
    pub(crate) driven: bool,
    /// How long connections that are closing have to get to their end when the last handle of the device goes, or the process ends in order;
    /// `None`: they are cut off.
    pub(crate) linger: Option<Duration>,
    /// What runs on the card's processor at rung `firmware`; `None`: the file that the environment names
    /// ([`IMAGE_VARIABLE`](crate::processor::IMAGE_VARIABLE)).
    pub(crate) firmware: Option<Arc<Image>>,
}

impl DeviceConfig {
    /// A station with this address in a network of 256. Sequence numbers, ports and STag keys are secret.
    ///
    /// # Panics
    /// If the operating system has no randomness to give.
    pub fn new(mac: [u8; 6], ip: Ipv4Addr) -> Self {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("randomness of the operating system");
        let engine = EngineConfig {
            seed: Seed(seed),
            mac,
            ip: ip.octets(),
            replay: u16::MAX,
            ..EngineConfig::default()
        };
        let config = Self {
            engine,
            rings: RingSizes::default(),
            deferred: false,
            driven: true,
            linger: Some(LINGER),
            firmware: None,
        };
        config.keepalive(Some(KEEPALIVE))
    }

    /// The same, with a station address that is made of the IP address: 02:57 and its four numbers.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn at(ip: Ipv4Addr) -> Self {
        let [a, b, c, d] = ip.octets();
        Self::new([0x02, 0x57, a, b, c, d], ip)
    }

    /// Sizes of the rings in host memory.
    pub fn rings(mut self, rings: RingSizes) -> Self {
        self.rings = rings;
        self
    }

    /// Largest IPv4 packet: 1500, or 9000 with jumbo frames.
    pub fn mtu(mut self, mtu: u16) -> Self {
        self.engine.mtu = mtu;
        self
    }

    /// Posts only ring, and cost the same whatever the device has to do; the next [`Device::progress`] (every poll that finds nothing
    /// calls it) sends what was posted.
    pub fn deferred(mut self) -> Self {
        self.deferred = true;
        self
    }

    /// The device makes progress in the program's calls alone, unless it is [asked](Device::drive) to drive itself: for programs that poll all the time,
    /// and for tests.
    pub fn polled(mut self) -> Self {
        self.driven = false;
        self
    }

    /// How long connections that [are closing](crate::cm::CmId::disconnect) have to get to their end when the last handle of the device goes, or the
    /// process returns from `main` or calls `exit`: one second unless this says otherwise. `None`: they are cut off, as they are when a process is killed.
    pub fn linger(mut self, limit: Option<Duration>) -> Self {
        self.linger = limit;
        self
    }

    /// Congestion control of its connections: CUBIC unless this says otherwise.
    pub fn congestion(mut self, congestion: Congestion) -> Self {
        self.engine.congestion = congestion;
        self
    }

    /// New data goes at the pace of the controller, where it has one ([`Congestion::Delay`] has): so unless this says otherwise.
    pub fn pacing(mut self, pacing: bool) -> Self {
        self.engine.pacing = pacing;
        self
    }

    /// The card carries FPDUs over the ends of segments, where a peer cuts them: so unless this says otherwise, to compare.
    pub fn carry(mut self, carry: bool) -> Self {
        self.engine.carry = carry;
        self
    }

    /// FPDUs that wait in the card behind each other share segments (RFC 5044 §5.1): not so unless this says otherwise.
    pub fn pack(mut self, pack: bool) -> Self {
        self.engine.pack = pack;
        self
    }

    /// Marks of congestion instead of losses (ECN, RFC 3168): used where the peer asks for it, unless this says otherwise.
    pub fn ecn(mut self, ecn: Ecn) -> Self {
        self.engine.ecn = ecn;
        self
    }

    /// The rung of queue pairs that name none ([`QpInit::rung`](crate::verbs::QpInit::rung)): `Placement` unless this says otherwise. With `Firmware` the
    /// engine of the device is on the card's processor, and all its queue pairs are of this rung; a card without a processor is refused.
    pub fn rung(mut self, rung: Rung) -> Self {
        self.engine.rung = rung;
        self
    }

    /// The card's second port will be another device's ([`Device::second_port`]): a part of the flows, STags, TCP ports and rows of the lookup are left to that one.
    pub fn share_card(mut self) -> Self {
        self.engine.split = ResourceSplit::First;
        self
    }

    /// The same, and that device has half of the flows and of the STags: for two engines on the host, each served by a thread.
    pub fn share_card_evenly(mut self) -> Self {
        self.engine.split = ResourceSplit::FirstHalf;
        self
    }

    /// The firmware of rung `Firmware`: one with the engine.
    pub fn firmware(mut self, image: Arc<Image>) -> Self {
        self.firmware = Some(image);
        self
    }

    /// Payload that comes while a flow is detached stays in the raw ring, and the card walks over it again (`docs/partitions.md`): so it is unless
    /// this says otherwise, or the card cannot. Then it is copied.
    pub fn replay(mut self, replay: bool) -> Self {
        self.engine.replay = if replay { u16::MAX } else { 0 };
        self
    }

    /// The network's prefix mask: 255.255.255.0 unless this says otherwise.
    pub fn netmask(mut self, mask: Ipv4Addr) -> Self {
        self.engine.netmask = mask.octets();
        self
    }

    /// Who takes what is for other networks. `None`, unless this says otherwise: such peers cannot be reached.
    pub fn gateway(mut self, gateway: Option<Ipv4Addr>) -> Self {
        self.engine.gateway = gateway.map(|gateway| gateway.octets());
        self
    }

    /// The receive window of each connection in bytes: a power of two, at least 128 KiB.
    pub fn receive_window(mut self, bytes: u32) -> Self {
        self.engine.receive_window = bytes;
        self
    }

    /// Bounds of TCP's retransmission timer (RFC 6298 §2.4, §2.5).
    pub fn rto(mut self, least: Duration, longest: Duration) -> Self {
        (self.engine.rto_min, self.engine.rto_max) = (ns(least), ns(longest));
        self
    }

    /// The least that the retransmission timer allows beyond SRTT, with two full segments or more in flight and with less: 1 ms and 200 ms, unless
    /// this says otherwise.
    pub fn rto_least(mut self, in_flight: Duration, alone: Duration) -> Self {
        self.engine.rto_min_in_flight = ns(in_flight);
        self.engine.rto_min = ns(alone);
        self
    }

    /// After so many retransmissions of the same data, and of a SYN, a peer is gone.
    pub fn retries(mut self, data: u8, syn: u8) -> Self {
        (self.engine.retries, self.engine.syn_retries) = (data, syn);
        self
    }

    /// The peer's part of the MPA start-up may take so long.
    pub fn mpa_timeout(mut self, longest: Duration) -> Self {
        self.engine.mpa_timeout = ns(longest);
        self
    }

    /// The peer's part of closing may take so long.
    pub fn close_timeout(mut self, longest: Duration) -> Self {
        self.engine.close_timeout = ns(longest);
        self
    }

    /// A closed connection's addresses stay reserved so long (2 MSL, RFC 9293 §3.6.1).
    pub fn time_wait(mut self, time: Duration) -> Self {
        self.engine.time_wait = ns(time);
        self
    }

    /// When a peer that says nothing is asked whether it is still there: two hours unless this says
    /// otherwise. `None`: never, and an idle connection outlives a peer that vanished.
    pub fn keepalive(mut self, idle: Option<Duration>) -> Self {
        self.engine.keepalive = idle.map(ns);
        self
    }

    /// A seed that everybody may know: the same seed, the same sequence numbers, ports and STag keys. For simulations and
    /// tests; without it they are secret.
    pub fn seed(mut self, seed: u64) -> Self {
        self.engine.seed = Seed::from(seed);
        self
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> DeviceConfig {
        DeviceConfig::new([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 0, 0, 1))
    }

    #[test]
    fn the_seed_comes_from_the_operating_system_unless_it_is_given() {
        assert!(config() != config());
        assert!(config().seed(1) == config().seed(1));
        assert!(config().seed(1) != config().seed(2));
    }
}

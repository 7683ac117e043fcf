//! The stations that a message goes through, and between which rates they let it.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use weft_hostdrv::Rung;

use super::cost::{Cost, End};

/// A PCIe port: generation and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pcie {
    /// 3 to 6.
    pub generation: u32,
    /// 1 to 16.
    pub lanes: u32,
}

/// Bytes of a TLP's payload: what most hosts agree to.
const PAYLOAD: f64 = 256.0;
/// Most that one read request asks for.
const REQUEST: f64 = 512.0;
/// Framing, sequence number, header of four words, LCRC: of a write or a read request. (Neugebauer et al., "Understanding PCIe performance
/// for end host networking", SIGCOMM 2018.)
const HEADER: f64 = 24.0;
/// The same of a completion, whose header has three words.
const COMPLETION: f64 = 20.0;

impl Pcie {
    /// Bytes that it moves in a nanosecond, each way, TLPs with their headers; a twelfth goes to flow control and acknowledgments.
    pub(crate) fn bytes_a_ns(self) -> f64 {
        let (gigatransfers, coding) = match self.generation {
            3 => (8.0, 128.0 / 130.0),
            4 => (16.0, 128.0 / 130.0),
            5 => (32.0, 128.0 / 130.0),
            _ => (64.0, 236.0 / 256.0),
        };
        gigatransfers * coding * f64::from(self.lanes) / 8.0 * (11.0 / 12.0)
    }

    /// Time of a message's accesses: towards the host, and from it.
    fn times(self, end: &End, rows: f64) -> [f64; 2] {
        let tlps = |bytes: f64, accesses: f64, most: f64| (bytes / most).max(accesses);
        let row = rows * ROW_BYTES;
        let written = end.written_bytes
            + row
            + HEADER * (tlps(end.written_bytes, end.writes, PAYLOAD) + rows);
        let requests = HEADER * (tlps(end.read_bytes, end.reads, REQUEST) + rows);
        let read =
            end.read_bytes + row + COMPLETION * (tlps(end.read_bytes, end.reads, PAYLOAD) + rows);
        let registers = end.mmio_writes * (HEADER + 4.0);
        [written + requests, read + registers].map(|bytes| bytes / self.bytes_a_ns())
    }
}

impl fmt::Display for Pcie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.generation, self.lanes)
    }
}

impl FromStr for Pcie {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('x');
        let numbers = parts.and_then(|(g, l)| Some((g.parse().ok()?, l.parse().ok()?)));
        match numbers {
            Some((generation @ 3..=6, lanes @ (1 | 2 | 4 | 8 | 16))) => Ok(Self { generation, lanes }),
            _ => Err(format!("`{text}` is no PCIe port: generation 3 to 6, x, and 1, 2, 4, 8 or 16 lanes, as in 4x16")),
        }
    }
}

/// What the host's software takes, in instructions.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Instructions {
    /// A post and its poll.
    pub post_poll: f64,
    /// A segment sent.
    pub sent: f64,
    /// A segment received.
    pub received: f64,
}

impl Instructions {
    /// As counted by callgrind: `cargo bench -p weft-hostdrv --bench post_poll`, `cargo bench -p weft-engine --bench cost`; docs/partitions.md.
    pub(super) fn of(rung: Rung) -> Option<Self> {
        let (sent, received) = match rung {
            Rung::Placement => (288.0, 397.0),
            Rung::Host => (9544.0, 8448.0),
            _ => return None,
        };
        Some(Self {
            post_poll: 149.0,
            sent,
            received,
        })
    }
}

/// The processors that a host gives to this.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Host {
    /// How many.
    pub cores: f64,
    /// Instructions of one in a nanosecond: its clock in GHz, times instructions a cycle.
    pub instructions_a_ns: f64,
}

/// What is assumed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Target {
    /// Rate of each host's line; `None`: as fast as it is asked for.
    pub gbps: Option<f64>,
    /// Each host's PCIe port; `None`: it limits nothing, as in simulation.
    pub pcie: Option<Pcie>,
    /// Hosts that post, at one that does not.
    pub hosts: u64,
    /// Queue pairs of the one that does not.
    pub queue_pairs: u64,
    /// Messages under way on each; `None`: as the load has it.
    pub depth: Option<u64>,
    /// How many times as fast a card is as the one that was measured: its width times its clock.
    pub card_speed: f64,
    /// Rows of flows on a card. What has none is fetched from host memory, as likely as any other, and put back.
    pub rows: u64,
    /// How long host memory takes to answer.
    pub memory_ns: f64,
    /// Each host's processors; `None`: they take no time, as in simulation.
    pub host: Option<Host>,
}

/// The bounds are so much wider: what the measured time of one by itself and the time of the slowest station are wrong by
/// elsewhere than where they were measured (`weft project --check`).
const MARGIN: f64 = 0.05;

/// A flow's rows, once they have to be fetched.
const ROW_BYTES: f64 = 128.0;

/// Between which rates it stands.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounds {
    /// Messages a second: at least, and at most.
    pub messages_per_second: [f64; 2],
    /// Gb/s of message bytes.
    pub gbps: [f64; 2],
    /// How long one takes that is by itself.
    pub unloaded_ns: f64,
    /// What limits it when enough are under way.
    pub limit: &'static str,
    /// Processors of the host that does not post, at the rate at most; `None`: instructions were not counted.
    pub cores: Option<f64>,
}

/// Instructions of an end for a message.
fn instructions(cost: &Cost, n: usize) -> Option<f64> {
    let each = cost.instructions?;
    let [own, other] = [&cost.ends[n], &cost.ends[1 - n]];
    let posts = if n == 0 { each.post_poll } else { 0.0 };
    Some(posts + own.frames * each.sent + other.frames * each.received)
}

/// The stations, by name, with the time that a message takes there.
fn stations(cost: &Cost, target: &Target) -> Vec<(&'static str, f64)> {
    let missing = missing(target);
    let rows = missing * cost.ends.iter().map(|end| end.frames).sum::<f64>();
    // What the clients share.
    let share = 1.0 / target.hosts as f64;
    let mut all = vec![("card", cost.card_ns / target.card_speed)];
    if let Some(gbps) = target.gbps {
        let bytes = cost.ends.iter().map(|end| end.wire_bytes);
        all.push(("line", bytes.fold(0.0, f64::max) * 8.0 / gbps));
    }
    if let Some(pcie) = target.pcie {
        let [to_host, from_host] = pcie.times(&cost.ends[1], rows);
        let client = pcie.times(&cost.ends[0], 0.0).map(|ns| ns * share);
        all.extend([
            ("PCIe to the host", to_host),
            ("PCIe from the host", from_host),
            ("PCIe of who posts", client[0].max(client[1])),
        ]);
    }
    if let Some(host) = target.host {
        let time = |n| instructions(cost, n).map(|i| i / host.instructions_a_ns / host.cores);
        all.extend(time(1).map(|ns| ("host", ns)));
        all.extend(time(0).map(|ns| ("host that posts", ns * share)));
    }
    all
}

/// How likely it is that a flow's rows are not on the card.
fn missing(target: &Target) -> f64 {
    (1.0 - target.rows as f64 / target.queue_pairs.max(1) as f64).max(0.0)
}

/// How long a frame of the way on which there is less to carry is on the line: a request, or an acknowledgment.
fn answer_ns(cost: &Cost, target: &Target) -> f64 {
    let [a, b] = &cost.ends;
    let less = if a.wire_bytes < b.wire_bytes { a } else { b };
    let frame = less.wire_bytes / less.frames.max(1.0);
    target.gbps.map_or(0.0, |gbps| frame * 8.0 / gbps)
}

fn slowest(stations: &[(&'static str, f64)]) -> (&'static str, f64) {
    let most = stations.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    most.unwrap_or(("nothing", 0.0))
}

/// Reckons.
pub fn bounds(cost: &Cost, target: &Target) -> Bounds {
    let there = stations(cost, target);
    let (limit, slowest_ns) = slowest(&there);
    // A message of many segments is in all stations at once: by itself it takes the time of the slowest one, and what is fixed.
    let measured = Target {
        gbps: Some(cost.unloaded_gbps as f64),
        pcie: None,
        hosts: 1,
        queue_pairs: 1,
        card_speed: 1.0,
        host: None,
        ..*target
    };
    let (_, then_ns) = slowest(&stations(cost, &measured));
    let segments_ns = slowest_ns - then_ns + answer_ns(cost, target) - answer_ns(cost, &measured);
    let fetched_ns = 2.0 * missing(target) * target.memory_ns;
    let software_ns = target.host.map_or(0.0, |host| {
        let both = [0, 1].map(|n| instructions(cost, n).unwrap_or(0.0));
        (both[0] + both[1]) / host.instructions_a_ns
    });
    let unloaded_ns = (cost.unloaded_ns + segments_ns + fetched_ns + software_ns).max(slowest_ns);
    let depth = target.depth.unwrap_or(cost.depth);
    let under_way = (depth * target.queue_pairs.max(target.hosts)) as f64;
    let least = (1.0 - MARGIN) * under_way / (unloaded_ns + (under_way - 1.0) * slowest_ns);
    let most = (1.0 + MARGIN) * (under_way / unloaded_ns).min(1.0 / slowest_ns);
    let rates = [least, most].map(|a_ns| a_ns * 1e9);
    Bounds {
        messages_per_second: rates,
        gbps: rates.map(|rate| rate * cost.bytes * 8.0 / 1e9),
        unloaded_ns,
        limit,
        cores: target
            .host
            .and_then(|host| Some(instructions(cost, 1)? * most / host.instructions_a_ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes in one frame, answered by a bare acknowledgment; 2000 ns alone at 100 Gb/s, 50 ns of the card.
    fn cost() -> Cost {
        let end = |wire_bytes| End {
            frames: 1.0,
            wire_bytes,
            ..End::default()
        };
        Cost {
            bytes: 1000.0,
            unloaded_ns: 2000.0,
            unloaded_gbps: 100,
            card_ns: 50.0,
            ends: [end(1125.0), end(84.0)],
            depth: 1,
            instructions: Instructions::of(Rung::Placement),
        }
    }

    fn target() -> Target {
        Target {
            gbps: Some(100.0),
            pcie: None,
            hosts: 1,
            queue_pairs: 1,
            depth: None,
            card_speed: 1.0,
            rows: 1024,
            memory_ns: 400.0,
            host: None,
        }
    }

    #[test]
    fn one_under_way_is_as_fast_as_it_is_alone() {
        let b = bounds(&cost(), &target());
        assert_eq!(
            b.messages_per_second.map(f64::round),
            [475_000.0, 525_000.0]
        );
        assert_eq!(
            (b.limit, b.gbps.map(|gbps| gbps as f32)),
            ("line", [3.8, 4.2])
        );
    }

    #[test]
    fn many_stand_between_the_slowest_station_and_a_queue_at_it() {
        let b = bounds(
            &cost(),
            &Target {
                depth: Some(10),
                ..target()
            },
        );
        // 10 / 2000 ns; 10 / (2000 + 9 * 90).
        assert_eq!(b.messages_per_second[1], 1.05 * 5_000_000.0);
        assert!((b.messages_per_second[0] - 0.95 * 3_558_718.86).abs() < 0.01);
        let b = bounds(
            &cost(),
            &Target {
                depth: Some(1000),
                ..target()
            },
        );
        assert!((b.messages_per_second[1] - 1.05 * 1e9 / 90.0).abs() < 0.01);
    }

    #[test]
    fn the_slowest_station_moves() {
        let many = Target {
            depth: Some(1000),
            ..target()
        };
        let limit = |target: Target| bounds(&cost(), &target).limit;
        assert_eq!(limit(many), "line");
        assert_eq!(
            limit(Target {
                gbps: Some(400.0),
                ..many
            }),
            "card"
        );
        let fast = Target {
            gbps: Some(400.0),
            card_speed: 4.0,
            ..many
        };
        assert_eq!(limit(fast), "line");
        let host = Some(Host {
            cores: 1.0,
            instructions_a_ns: 3.0,
        });
        // 149 + 288 + 397 instructions where it is posted, 685 at the other end.
        assert_eq!(limit(Target { host, ..fast }), "host that posts");
        assert_eq!(
            limit(Target {
                host,
                hosts: 2,
                ..fast
            }),
            "host"
        );
        // Both take their time, once, and the slowest is slower than the line was; the answer is sooner over.
        let two = Target {
            host,
            hosts: 2,
            ..fast
        };
        let software = (834.0 + 685.0) / 3.0;
        let wanted = 2000.0 + (685.0 / 3.0 - 90.0) + software - (84.0 * 8.0 / 100.0) * 0.75;
        assert!((bounds(&cost(), &two).unloaded_ns - wanted).abs() < 0.01);
    }

    #[test]
    fn more_queue_pairs_than_rows_fetch_them() {
        let pcie = Some(Pcie {
            generation: 4,
            lanes: 16,
        });
        let of = |queue_pairs| {
            bounds(
                &cost(),
                &Target {
                    queue_pairs,
                    pcie,
                    ..target()
                },
            )
        };
        assert_eq!(of(1024).unloaded_ns, of(1).unloaded_ns);
        assert_eq!(of(2048).unloaded_ns, of(1).unloaded_ns + 400.0);
        assert_eq!(of(1 << 30).limit, "line");
    }

    #[test]
    fn a_port_is_said_as_people_say_it() {
        assert_eq!("4x16".parse::<Pcie>().unwrap().to_string(), "4x16");
        for wrong in ["", "4", "4x", "2x16", "7x16", "4x3", "x16"] {
            assert!(wrong.parse::<Pcie>().is_err(), "{wrong}");
        }
    }
}

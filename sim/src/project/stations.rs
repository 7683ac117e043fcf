//! The stations that a message goes through, and between which rates they let it.

use serde::Serialize;
use weft_hostdrv::Rung;

use super::cost::Cost;
use crate::pcie::Pcie;

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

/// The limit where messages wait for nothing but each other's end.
pub const TOO_FEW: &str = "too few in flight";

/// Between which rates it stands.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounds {
    /// Messages a second: at least, and at most.
    pub messages_per_second: [f64; 2],
    /// Gb/s of message bytes.
    pub gbps: [f64; 2],
    /// How long one takes that is by itself.
    pub unloaded_ns: f64,
    /// What limits it: a station, or that too few are in flight.
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
    let (all_move, slowest_moves) = (under_way / unloaded_ns, 1.0 / slowest_ns);
    let most = (1.0 + MARGIN) * all_move.min(slowest_moves);
    // Where no station is ever busy, no faster one helps.
    let limit = match all_move < slowest_moves {
        true => TOO_FEW,
        false => limit,
    };
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
    use super::super::cost::End;
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
            (TOO_FEW, [3.8, 4.2])
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
}

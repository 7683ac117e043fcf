//! Programs that are told something wrong say so, whatever it was; and their figures are those of queues.

use weft_hostdrv::Rung;

use super::bytes::spoils;
use super::Kind;
use crate::host::HostConfig;
use crate::kind::CardKind;
use crate::partitions::run::{run, Place};
use crate::partitions::workload::{self, Load};
use crate::partitions::{Figures, PartitionsError};

fn place(host: HostConfig, seed: u64) -> Place {
    Place {
        kind: CardKind::Model,
        seed,
        mtu: 1500,
        gbps: CardKind::Model.gbps(),
        host,
    }
}

fn at(load: &Load, rung: Rung) -> Result<Figures, PartitionsError> {
    run(place(HostConfig::default(), 1), rung, load)
}

/// The first load of a ready workload, with so many requests.
fn load(name: &str, messages: usize) -> Load {
    let mut load = workload::read(name).unwrap().remove(0);
    load.messages = messages;
    load
}

/// All ready programs.
const NAMES: [&str; 6] = [
    "key-value",
    "rpc",
    "block-io",
    "all-reduce",
    "incast",
    "churn",
];

#[test]
fn every_program_runs_at_every_rung_on_any_host_and_by_a_link_that_loses() {
    let hosts = ["free", "3ghz"].map(|name| name.parse::<HostConfig>().unwrap());
    for load in NAMES.iter().flat_map(|name| workload::read(name).unwrap()) {
        for rung in [Rung::Host, Rung::CrcSend, Rung::Crc, Rung::Placement] {
            for (host, loss) in [(hosts[0], 0), (hosts[1], 10_000)] {
                let mut load = load.clone();
                // Most of the time of the largest one is that of its bytes.
                let most = if load.sizes == [1 << 20] { 1 } else { 10 };
                (load.messages, load.loss) = (most, loss);
                let figures = run(place(host, 7), rung, &load).unwrap();
                assert_eq!(figures.took_ns.len(), most, "{} {rung}", load.name);
                assert_eq!(figures.hosts.is_some(), !host.is_free());
            }
        }
    }
}

#[test]
fn a_seed_decides_everything() {
    for name in NAMES {
        // Some ask for nothing that a seed decides, one at a time; but what is lost it does decide.
        let load = Load {
            loss: 20_000,
            ..load(name, 40)
        };
        let figures = |seed| {
            let figures = run(place(HostConfig::default(), seed), Rung::Crc, &load).unwrap();
            serde_json::to_string(&figures).unwrap()
        };
        assert_eq!(figures(3), figures(3), "{name}");
        assert_ne!(figures(3), figures(4), "{name}");
    }
}

/// A wrong byte in the first message of each kind that a program moves.
#[test]
fn wrong_bytes_are_found() {
    let mut gets = load("key-value", 300);
    let mut sends = gets.clone();
    (sends.read, sends.send) = (0, 30);
    let mut sets = gets.clone();
    (sets.read, sets.write) = (0, 1);
    gets.write = 0;
    let blocks = |read, write| Load {
        read,
        write,
        ..load("block-io", 30)
    };
    let all = [
        // The value of the most popular key, which many ask for; then what is the first to be sent.
        ("a GET by Read", gets, 0),
        ("a GET by Send", sends, 0),
        ("a SET", sets, 10_000),
        ("an answer", load("rpc", 5), 0),
        // One block, of the two that a disk of one lane has.
        ("a block that is read", blocks(1, 0), 1),
        ("a block that is written", blocks(0, 1), 2),
        ("a vector", load("all-reduce", 2), 3),
        ("one answer of seven", load("incast", 2), 5),
        ("a request", load("churn", 3), 0),
        ("its answer", load("churn", 3), 2),
    ];
    for (what, load, calls) in all {
        for rung in [Rung::Host, Rung::Placement] {
            assert!(at(&load, rung).is_ok(), "{what}");
            spoils::after(calls);
            let error = at(&load, rung).err();
            assert!(!spoils::is_left(), "{what} was not made");
            let is_told = matches!(&error, Some(PartitionsError::Answer(_)));
            assert!(is_told, "{what} at {rung}: {error:?}");
        }
    }
}

#[test]
fn an_open_loop_has_its_rate_and_waits_the_longer_the_nearer_it_is_to_the_limit() {
    let mut load = load("key-value", 3000);
    (load.think_ns, load.depth) = (0, 16);
    let mut at_rate = |rate| {
        load.rate = Some(rate);
        let steady = at(&load, Rung::Placement).unwrap().steady.unwrap();
        (steady.messages_per_second, steady.latency_ns[2].unwrap())
    };
    let (slow, short) = at_rate(50_000);
    assert!((47_000.0..53_000.0).contains(&slow), "{slow}");
    let (fast, long) = at_rate(200_000);
    assert!((190_000.0..210_000.0).contains(&fast), "{fast}");
    assert!(long > short + short / 4, "{short} {long}");
    // More than the hosts can do: what comes waits, and what waits counts.
    let (most, longest) = at_rate(2_000_000);
    assert!(
        most < 1_000_000.0 && longest > 10 * long,
        "{most} {longest}"
    );
}

/// Little's law: of those that think and those that wait there are as many as lanes.
#[test]
fn a_closed_loop_has_as_many_requests_as_littles_law_says() {
    let load = load("key-value", 3000);
    let figures = at(&load, Rung::Placement).unwrap();
    let all: u64 = figures.took_ns.iter().sum();
    let mean = all as f64 / figures.took_ns.len() as f64;
    let steady = figures.steady.unwrap();
    let lanes = steady.messages_per_second * (mean + load.think_ns as f64) / 1e9;
    assert!((15.0..16.6).contains(&lanes), "{lanes}");
}

#[test]
fn a_port_without_room_loses_frames_and_is_told_of() {
    let loads = workload::read("incast").unwrap();
    let [with, without] = [0, 1].map(|n| at(&loads[n], Rung::Placement).unwrap());
    assert_eq!(with.lost, [0, 0]);
    assert!(without.lost[1] > 10, "{:?}", without.lost);
    assert!(without.gbps < 0.8 * with.gbps);
    assert_eq!(loads[0].program, Some(Kind::Incast));
}

#[test]
fn what_a_program_does_is_charged() {
    let done = |name: &str, messages: usize| {
        let load = load(name, messages);
        let hosts = at(&load, Rung::Placement).unwrap().hosts.unwrap();
        let [first, others] = hosts.map(|host| host.used.done);
        (load, first, others)
    };
    // Seven are asked and answer, three times: a Write each, and a Send.
    let (_, sink, senders) = done("incast", 3);
    assert_eq!((sink.sends, sink.receives, sink.polls), (21, 21, 21));
    assert_eq!(
        (senders.sends, senders.receives, senders.polls),
        (42, 21, 21)
    );
    // Each adds seven chunks of eight in each round, and copies nothing else.
    let (load, first, others) = done("all-reduce", 3);
    let added = 3 * (load.sizes[0] * 7 / 8) as u64;
    let frames = |done: &crate::host::Done| done.raw_segments * 1600;
    let copied = added..=added + frames(&first);
    assert!(copied.contains(&first.bytes_copied), "{first:?}");
    let copied = 7 * added..=7 * added + frames(&others);
    assert!(copied.contains(&others.bytes_copied), "{others:?}");
}

/// What an all-reduce sends: each host 2 (n - 1) / n of its vector, and no more than headers beside.
#[test]
fn an_all_reduce_sends_what_a_ring_has_to() {
    let load = load("all-reduce", 4);
    let figures = at(&load, Rung::Placement).unwrap();
    let bytes = (load.sizes[0] * load.messages) as f64 * 2.0 * 7.0 / 8.0;
    // The first host's port alone; in `wire_bytes` the switch's ports are among the others.
    let sent = figures.wire_bytes[0] as f64 / bytes;
    assert!((1.0..1.15).contains(&sent), "{sent}");
}

/// What a test does to a load.
type Change = &'static dyn Fn(&mut Load);

#[test]
fn values_that_a_program_does_not_have_are_refused() {
    let refused = |name: &str, change: &dyn Fn(&mut Load)| {
        let mut load = load(name, 10);
        change(&mut load);
        let text = toml::to_string(&std::collections::BTreeMap::from([("load", [load])])).unwrap();
        workload::parse("f", &text).unwrap_err().to_string()
    };
    let cases: [(&str, Change, &str); 8] = [
        (
            "key-value",
            &|l| l.sizes = vec![64],
            "sizes is 1, it must be left out",
        ),
        (
            "key-value",
            &|l| (l.read, l.write) = (0, 0),
            "it must be 1 to 1000",
        ),
        (
            "rpc",
            &|l| l.sizes.clear(),
            "sizes is 0, it must be 1 to 64",
        ),
        (
            "block-io",
            &|l| l.send = 1,
            "send is 1, it must be left out",
        ),
        (
            "all-reduce",
            &|l| l.machines = 17,
            "machines is 17, it must be 2 to 16",
        ),
        (
            "all-reduce",
            &|l| l.rate = Some(5),
            "rate is 5, it must be left out",
        ),
        ("churn", &|l| l.depth = 2, "depth is 2, it must be 1"),
        (
            "book",
            &|l| l.think_ns = 1,
            "think_ns is 1, it must be left out",
        ),
    ];
    for (name, change, said) in cases {
        let why = refused(name, change);
        assert!(why.contains(said), "{name}: {why}");
    }
}

//! Simulated hosts: software takes its time, the same for the same seed.

use std::collections::BTreeSet;

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::{Access, SendWr};
use weft_hostdrv::Rung;
use weft_sim::fabric::{Fabric, FabricConfig, FabricError};
use weft_sim::host::{CostIs, CostName, Done, HostConfig, Hosts, Waits};
use weft_sim::kind::CardKind;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::pair::Pair;
use weft_sim::partitions::run::{run, Place};
use weft_sim::partitions::{workload, Figures};
use weft_sim::transport::lock;

/// Writes of 4 KiB where some frames are lost: the capture, and when the last one was done.
fn capture(host: HostConfig, seed: u64) -> (Vec<u8>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let faults = Faults {
        loss: 20_000,
        ..Faults::default()
    };
    let fabric = Fabric::new(&FabricConfig {
        seed,
        captures: Some(folder.path().into()),
        ..FabricConfig::default()
    })
    .unwrap();
    let param = ConnParam::default();
    let mut pair = Pair::connect(&fabric, 4800, &param, &param, &[7; 4096], 4096).unwrap();
    pair.established().unwrap();
    let link = LinkConfig {
        faults,
        ..LinkConfig::default()
    };
    lock(fabric.world()).link(0).set_config(link);
    let mut hosts = Hosts::new(&fabric, host);
    let [a, b] = &pair.ends;
    let (mut posted, mut done) = (0, 0);
    while done < 50 {
        let mut any = false;
        if hosts.is_program_free(0, 0) {
            if posted < done + 8 && posted < 50 {
                let write = SendWr::write(posted, b.target.remote()).signaled();
                let step = || a.qp.post_send(write.sge(a.source.sge(0, 4096)));
                let sends = Done {
                    sends: 1,
                    ..Done::default()
                };
                hosts
                    .program(0, 0, || step().map(|()| ((), sends)))
                    .unwrap();
                posted += 1;
                any = true;
            } else if a.cq.poll_there().is_some() {
                // A poll without its charge leaves the core free, and its host asleep beside completions.
                let polls = Done {
                    polls: 1,
                    ..Done::default()
                };
                let step = || Ok::<_, FabricError>(((), polls));
                hosts.program(0, 0, step).unwrap();
                done += 1;
                any = true;
            }
        }
        any |= hosts.turns().unwrap();
        if !any {
            hosts.rest(fabric.now() + 1_000_000_000).unwrap();
        }
    }
    let end = fabric.now();
    drop(hosts);
    let captured = fabric.captures().next().unwrap().to_owned();
    drop(pair);
    drop(fabric);
    (std::fs::read(captured).unwrap(), end)
}

#[test]
fn the_same_seed_gives_the_same_capture() {
    for host in [HostConfig::default(), two_cores(), asleep()] {
        let (first, end) = capture(host, 5);
        assert!(first.len() > 200_000, "{host}: {}", first.len());
        assert!((first.clone(), end) == capture(host, 5), "{host}");
        assert!(first != capture(host, 6).0, "{host}");
        assert!(first != capture(HostConfig::of(2.0), 5).0, "{host}");
    }
}

fn two_cores() -> HostConfig {
    HostConfig {
        cores: 2,
        ..HostConfig::default()
    }
}

fn asleep() -> HostConfig {
    HostConfig {
        waits: Waits::Sleeping,
        ..HostConfig::default()
    }
}

/// 4 KiB Writes, so many in flight.
fn figures(host: HostConfig, depth: usize) -> Figures {
    seeded(host, depth, 1)
}

fn seeded(host: HostConfig, depth: usize, seed: u64) -> Figures {
    let mut load = workload::read("book").unwrap().remove(2);
    (load.depth, load.messages) = (depth, 100);
    let place = Place {
        kind: CardKind::Model,
        seed,
        mtu: 1500,
        gbps: CardKind::Model.gbps(),
        host,
    };
    run(place, Rung::Placement, &load).unwrap()
}

/// Where nothing is lost as well: the seed says when cores begin, and that changes little where one message is in flight.
#[test]
fn each_seed_has_a_run_of_its_own() {
    let times = |host| (1..=4).map(move |seed| seeded(host, 1, seed).time_ns);
    let runs = |host| times(host).collect::<BTreeSet<_>>().len();
    assert_eq!(runs(HostConfig::free()), 1);
    for host in [HostConfig::default(), two_cores()] {
        assert_eq!(runs(host), 4, "{host}");
        let [least, most] = [times(host).min(), times(host).max()].map(Option::unwrap);
        assert!(most - least < 10_000 && most > 500_000, "{least} {most}");
    }
}

#[test]
fn software_takes_its_time() {
    let latency = |host| figures(host, 1).latency_ns[0].unwrap();
    let (free, usual) = (latency(HostConfig::free()), latency(HostConfig::default()));
    // A post, its job, three turns with their reports and acknowledgments: some 20,000 instructions, not all of them in the way.
    assert!((3000..9000).contains(&(usual - free)), "{free} {usual}");
    assert!(latency(HostConfig::of(1.5)) > usual + (usual - free) / 2);
    let sleeper = latency(asleep());
    assert!(sleeper > usual + 4000, "{sleeper}");
    let rate = |host| figures(host, 16).gbps;
    let (one, two) = (rate(HostConfig::default()), rate(two_cores()));
    assert!(two > 1.2 * one && two < 2.1 * one, "{one} {two}");
}

#[test]
fn what_hosts_are_charged_is_what_was_done() {
    let figures = figures(HostConfig::default(), 4);
    let hosts = figures.hosts.unwrap();
    let [posts, other] = hosts.map(|host| host.used);
    assert_eq!((posts.done.sends, posts.done.polls), (100, 100));
    assert_eq!((other.done.sends, other.done.polls), (0, 0));
    assert_eq!(posts.done.completions, 100);
    assert_eq!(other.done.fpdus, 300);
    for host in [posts, other] {
        assert_eq!(host.instructions, host.done.instructions());
        let ns = host.done.time_ns(&HostConfig::default());
        assert!((host.busy_ns - ns).abs() < 1.0, "{} {ns}", host.busy_ns);
        assert!(host.busy_ns <= figures.time_ns as f64);
    }
}

#[test]
fn named_costs_are_what_they_are_set_to() {
    let latency = |host| figures(host, 1).latency_ns[0].unwrap();
    let with = |name, ns| HostConfig::default().with_cost(CostIs { name, ns });
    let usual = latency(HostConfig::default());
    let dear = latency(with(CostName::MmioWrite, 1020));
    assert!(dear > usual + 2000, "{usual} {dear}");
    assert_eq!(latency(with(CostName::Mapping, 9000)), usual);
}

#[test]
fn registered_memory_is_charged_its_mapping() {
    let fabric = Fabric::new(&FabricConfig::default()).unwrap();
    let pd = fabric.device(0).alloc_pd().unwrap();
    let mut hosts = Hosts::new(&fabric, HostConfig::default());
    let memory = hosts.program(0, 0, || {
        let memory = pd.alloc_mr(4096, Access::default());
        memory.map(|memory| (memory, Done::default()))
    });
    memory.unwrap();
    let used = hosts.used(0);
    assert_eq!(used.done.mappings, 1);
    assert!(used.busy_ns >= 2000.0, "{used:?}");
}

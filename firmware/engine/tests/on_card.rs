//! An engine on the card is as it was configured, or whoever configured it hears why not (`docs/processor.md`).
#![allow(missing_docs)]

use crate::bench;

use bench::script::Script;
use weft_engine::on_card::{configuration, record, NotOnCard, CONNECTIONS};
use weft_engine::{
    Congestion, Ecn, EngineConfig, Error, QpConfig, ResourceSplit, Rung, Seed, SrqConfig, SrqId,
};
use weft_layout::ProcEngine;

fn usual() -> EngineConfig {
    EngineConfig {
        rung: Rung::Firmware,
        ..EngineConfig::default()
    }
}

/// A change of one setting.
type Change = fn(&mut EngineConfig);

/// Each to a value that no other one has.
const TOLD: [Change; 31] = [
    |c| c.mac = [2, 4, 6, 8, 10, 12],
    |c| c.ip = [192, 168, 7, 9],
    |c| c.netmask = [255, 255, 0, 0],
    |c| c.gateway = Some([192, 168, 0, 1]),
    |c| c.mtu = 1280,
    |c| c.seed = Seed(core::array::from_fn(|i| i as u8)),
    |c| c.congestion = Congestion::Reno,
    |c| c.congestion = Congestion::Dctcp,
    |c| c.congestion = Congestion::Delay,
    |c| c.ecn = Ecn::Never,
    |c| c.ecn = Ecn::Ask,
    |c| c.pacing = false,
    |c| c.timestamps = true,
    |c| c.prompt_ack = false,
    |c| c.fast_path = false,
    |c| c.attach = false,
    |c| c.replay = 4096,
    |c| c.carry = false,
    |c| c.retries = 3,
    |c| c.syn_retries = 4,
    |c| c.burst = 5,
    |c| c.initial_window_segments = 6,
    |c| c.resets = 7,
    |c| c.challenge_acks = 8,
    |c| (c.peer_ack_delay, c.delayed_ack) = (9, 1 << 40),
    |c| (c.rto_min, c.rto_min_in_flight) = (11, 12),
    |c| (c.rto_max, c.time_wait) = (13 << 33, 14),
    |c| (c.mpa_timeout, c.first_message_timeout) = (15, 16),
    |c| c.drain_timeout = 17,
    |c| c.close_timeout = 18,
    |c| c.keepalive = Some(19),
];

#[test]
fn it_is_as_it_was_configured() {
    let mut all = usual();
    for change in TOLD {
        let mut config = usual();
        change(&mut config);
        change(&mut all);
        for config in [&config, &all] {
            let record = record(config).expect("it can be told");
            // As it crosses the processor's memory.
            let record = ProcEngine::from_bytes(&record.to_bytes());
            let there = configuration(&record).expect("it was just made");
            let wanted = EngineConfig {
                on_card: true,
                max_connections: Some(CONNECTIONS),
                max_work: there.max_work,
                receive_window: there.receive_window,
                reassembly_memory: there.reassembly_memory,
                memory: there.memory,
                syn_cache: there.syn_cache,
                ..config.clone()
            };
            assert_eq!(there, wanted);
        }
    }
}

static OWN: weft_engine::congestion::Custom = weft_engine::congestion::Custom {
    name: "own",
    paces: false,
    by_delay: false,
    exact_ecn: false,
    new: || Box::new(weft_engine::congestion::Reno::default()),
};

#[test]
fn what_it_cannot_have_is_refused() {
    let refused: [(Change, NotOnCard); 11] = [
        (|c| c.mtu = 575, NotOnCard::Mtu(575)),
        (|c| c.mtu = 1501, NotOnCard::Mtu(1501)),
        (|c| c.receive_window = 1 << 18, NotOnCard::Sizes),
        (|c| c.reassembly_memory = 1 << 20, NotOnCard::Sizes),
        (|c| c.send_buffer = 1 << 19, NotOnCard::Sizes),
        (|c| c.max_connections = Some(8), NotOnCard::Sizes),
        (|c| c.max_work = Some(8), NotOnCard::Sizes),
        (|c| c.syn_cache = 17, NotOnCard::Sizes),
        (|c| c.memory.in_flight = 7, NotOnCard::Sizes),
        (|c| c.num_flows = 8, NotOnCard::Sizes),
        (
            |c| c.congestion = Congestion::Custom(&OWN),
            NotOnCard::Congestion("own"),
        ),
    ];
    for (change, why) in refused {
        let mut config = usual();
        change(&mut config);
        assert_eq!(record(&config).err(), Some(why));
    }
}

#[test]
fn a_record_that_says_what_cannot_be_is_no_configuration() {
    let good = record(&usual()).expect("it can be told");
    assert!(configuration(&good).is_some());
    for bad in [
        ProcEngine { mtu: 575, ..good },
        ProcEngine { mtu: 1501, ..good },
        ProcEngine {
            congestion: 4,
            ..good
        },
        ProcEngine {
            congestion: 255,
            ..good
        },
        ProcEngine { ecn: 3, ..good },
    ] {
        assert!(configuration(&bad).is_none(), "{bad:?}");
    }
    let second = configuration(&ProcEngine { frames: 16, ..good });
    assert_eq!(
        second.map(|config| config.split),
        Some(ResourceSplit::Second)
    );
}

/// Queues of all kinds count for the memory that there is, as long as they are there.
#[test]
fn all_queues_together_have_so_much_work() {
    let mut s = Script::with(false, &|c| c.max_work = Some(100));
    let srq = |s: &mut Script, depth| {
        let config = SrqConfig {
            pd: s.pd,
            depth,
            max_sge: 1,
            limit: 0,
        };
        s.engine.create_srq(&config)
    };
    let qp = |s: &mut Script, depth| {
        let config = QpConfig {
            pd: s.pd,
            send_depth: depth,
            recv_depth: depth,
            max_sge: 1,
            rung: None,
        };
        s.engine.create_qp(&config, &mut s.card)
    };
    let first = srq(&mut s, 60).expect("40 are left");
    assert_eq!(srq(&mut s, 41), Err::<SrqId, _>(Error::NoMemory));
    let second = srq(&mut s, 40).expect("none is left");
    assert_eq!(qp(&mut s, 1), Err(Error::NoMemory));
    s.engine.destroy_srq(second).expect("nobody has it");
    let there = qp(&mut s, 16).expect("8 are left");
    assert_eq!(srq(&mut s, 9), Err(Error::NoMemory));
    let now = s.now;
    let gone = s.engine.destroy_qp(now, there, &mut s.card);
    gone.expect("it is there");
    s.engine.destroy_srq(first).expect("nobody has it");
    srq(&mut s, 100).expect("all are left");
}

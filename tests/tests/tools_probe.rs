//! `probe`, `regs` and `trace` as a library: on good cards and on broken ones.

use crate::faulty;

use faulty::{transport, Fault};
use weft_debug::trace::TraceReader;
use weft_layout::reg;
use weft_sim::fabric::{ip, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::transport::SimTransport;
use weft_tests::{cards, rungs};
use weft_tools::probe::{examine, CardReport, Severity};
use weft_tools::regs::{counters, difference, Snapshot};
use weft_tools::rping::{ClientConfig, RpingClient, RpingServer, ServerConfig, PORT};
use weft_tools::trace::{Filter, Timeline, KINDS};
use weft_tools::Machine;

fn probe(kind: CardKind, fault: Fault) -> CardReport {
    examine(transport(kind, fault).as_ref())
}

/// The one thing that is wrong.
fn finding(fault: Fault) -> (Severity, String, String) {
    let report = probe(CardKind::Model, fault);
    let [finding] = report.findings.as_slice() else {
        panic!("{fault:?}: {report:?}");
    };
    assert_eq!(report.usable(), finding.severity < Severity::Error);
    (
        finding.severity,
        finding.what.clone(),
        finding.advice.clone(),
    )
}

#[test]
fn a_good_card_is_usable_and_says_what_it_is() {
    let report = probe(cards()[0], Fault::None);
    assert!(report.usable() && report.findings.is_empty(), "{report:?}");
    assert_eq!(report.id, Some(reg::ID_RESET));
    let capabilities = report.capabilities.expect("readable");
    assert!(capabilities.contains("bits wide"), "{capabilities}");
}

#[test]
fn each_fault_has_a_name_and_an_advice() {
    let cases = [
        (
            Fault::Answers(u32::MAX),
            Severity::Error,
            "0xffffffff",
            "clock",
        ),
        (Fault::Answers(0), Severity::Error, "0x00000000", "in reset"),
        (
            Fault::Answers(u32::from_be_bytes(*b"TFEW")),
            Severity::Error,
            "0x54464557",
            "wrong order",
        ),
        (
            Fault::Answers(0x1234_5678),
            Severity::Error,
            "0x12345678",
            "bitstream",
        ),
        (
            Fault::WriteBitStuck(13),
            Severity::Error,
            "SCRATCH",
            "data lines",
        ),
        (
            Fault::Register(reg::CAPS, 0x0108_0a07),
            Severity::Error,
            "CAPS",
            "register block",
        ),
        (
            Fault::Register(reg::STATUS, 0),
            Severity::Error,
            "busy",
            "reset it",
        ),
        (
            Fault::Register(reg::STATUS, 3),
            Severity::Warning,
            "DMA read",
            "IOMMU",
        ),
        (
            Fault::Register(reg::STATUS, 5),
            Severity::Warning,
            "DMA write",
            "IOMMU",
        ),
    ];
    for (fault, severity, what, advice) in cases {
        let found = finding(fault);
        println!("{fault:?}: {found:?}");
        assert_eq!(found.0, severity, "{found:?}");
        assert!(
            found.1.contains(what) && found.2.contains(advice),
            "{found:?}"
        );
    }
    // A version that is not this one's also differs from the PCI revision.
    let report = probe(CardKind::Model, Fault::Register(reg::VERSION, 99));
    assert!(
        !report.usable() && report.findings[0].what.contains("version 99"),
        "{report:?}"
    );
}

#[test]
fn registers_and_counters_with_their_meaning() {
    let transport = transport(cards()[0], Fault::None);
    let snapshot = Snapshot::read(transport.as_ref()).expect("readable");
    let register = |name: &str| {
        snapshot
            .registers
            .iter()
            .find(|r| r.name == name)
            .expect("known")
    };
    assert_eq!(register("ID").value, reg::ID_RESET);
    assert_eq!(register("ID").decoded.as_deref(), Some("\"WEFT\""));
    assert!(!register("ID").writable && register("CTRL").writable);
    assert!(snapshot.registers.iter().all(|r| !r.meaning.is_empty()));
    assert!(snapshot
        .counters
        .iter()
        .all(|c| !c.meaning.is_empty() && !c.group.is_empty()));
}

/// Two cards that have pinged each other.
fn pinged(seed: u64) -> Fabric {
    let fabric = Fabric::new(&FabricConfig {
        seed,
        cards: cards(),
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    })
    .expect("two cards");
    let mut server =
        RpingServer::start(fabric.device(1), ServerConfig::default(), None).expect("listens");
    let at = std::net::SocketAddrV4::new(ip(1), PORT);
    let mut client =
        RpingClient::start(fabric.device(0), ClientConfig::new(at), None).expect("connects");
    let (mut c, mut s) = (None, None);
    fabric
        .run_until("a ping", 60_000_000_000, || {
            c = c.take().or_else(|| client.poll());
            s = s.take().or_else(|| server.poll());
            (c.is_some() && s.is_some()).then_some(())
        })
        .expect("both end");
    drop((client, server));
    // The last acknowledgments are still on their way.
    fabric.run_for(10_000_000).expect("runs");
    fabric
}

#[test]
fn counters_count_what_happened() {
    let fabric = pinged(1);
    let transport = SimTransport::new(fabric.world(), 0);
    let before = counters(&transport).expect("readable");
    let value = |name: &str| before.iter().find(|c| c.name == name).expect("known").value;
    // What software frames is none of the card's.
    let framed = rungs()[0].duties().places;
    assert!(value("rx_frames") > 5);
    assert_eq!(value("tx_fpdus") >= 2, framed);
    assert_eq!(value("rx_drop_fcs"), 0);
    let after = counters(&transport).expect("readable");
    assert!(difference(&before, &after).iter().all(|c| c.value == 0));
}

#[test]
fn the_timeline_of_a_ping() {
    let fabric = pinged(2);
    let trace = TraceReader::of(fabric.device(0))
        .expect("has one")
        .snapshot()
        .expect("readable");
    let lines = Timeline::new(Filter::default(), 250.0).lines(&trace);
    assert!(
        lines.len() > 50 && lines.iter().all(|l| KINDS.contains(&l.kind)),
        "{lines:?}"
    );
    assert!(lines
        .windows(2)
        .all(|pair| pair[0].ns <= pair[1].ns && pair[1].since_ns >= 0.0));
    let filter = Filter {
        kinds: vec!["frame-out".into()],
        flow: None,
    };
    let frames = Timeline::new(filter, 250.0).lines(&trace);
    let framed = frames.iter().any(|l| l.text.contains("an FPDU"));
    assert_eq!(framed, rungs()[0].duties().places, "{frames:?}");
    assert!(frames.iter().all(|l| l.kind == "frame-out"));
}

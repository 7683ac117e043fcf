//! The self-test finds what is broken, by name; and nothing in a card that is not.

use crate::faulty;

use std::sync::Arc;

use faulty::{transport, Fault};
use weft_layout::{doorbell, reg, Counter};
use weft_sim::kind::CardKind;
use weft_tests::cards;
use weft_tools::selftest::{run, Outcome, SelftestReport};

fn test(kind: CardKind, fault: Fault) -> SelftestReport {
    run(&transport(kind, fault), &[], |_| {})
}

/// The tests that fail with this fault, on the functional model.
fn failed(fault: Fault) -> Vec<&'static str> {
    let report = test(CardKind::Model, fault);
    println!("{fault:?}\n{report}\n");
    assert!(!report.passed());
    report.failed()
}

#[test]
fn a_good_card_passes_everything() {
    let report = test(cards()[0], Fault::None);
    println!("{report}");
    assert!(report.passed());
    assert!(report
        .tests
        .iter()
        .all(|t| t.checks > 0 && t.outcome == Outcome::Passed));
}

#[test]
fn broken_register_accesses() {
    assert_eq!(failed(Fault::WriteBitStuck(13)), ["scratch"]);
    assert_eq!(
        failed(Fault::AddressLineStuck(9)),
        ["registers", "read-only", "doorbell-region"]
    );
    assert_eq!(failed(Fault::Writable(reg::REPORT_TAIL)), ["read-only"]);
    assert_eq!(failed(Fault::DoorbellsInRegisters)[0], "doorbell-region");
    assert_eq!(
        failed(Fault::DoorbellLost(doorbell::JOB_TAIL)),
        ["job-ring"]
    );
    assert_eq!(
        failed(Fault::DoorbellLost(doorbell::JOB_PUSH)),
        ["job-ring"]
    );
    assert_eq!(
        failed(Fault::DoorbellLost(doorbell::REPORT_HEAD)),
        ["job-ring"]
    );
    assert_eq!(
        failed(Fault::DoorbellLost(doorbell::REPORT_ARM)),
        ["interrupts"]
    );
    assert_eq!(
        failed(Fault::DoorbellLost(doorbell::RAW_HEAD))[0],
        "dma-read"
    );
    assert_eq!(failed(Fault::TableWordLost(3)), ["tables"]);
    assert_eq!(failed(Fault::TableRowsShared), ["tables"]);
}

#[test]
fn broken_interrupts() {
    assert_eq!(failed(Fault::InterruptsLost), ["interrupts"]);
    assert_eq!(failed(Fault::InterruptsUnasked), ["interrupts"]);
}

#[test]
fn broken_dma() {
    assert_eq!(failed(Fault::ReadAlignment(61))[0], "dma-read");
    assert_eq!(failed(Fault::ReadPageWrap)[..2], ["dma-read", "page-edges"]);
    assert_eq!(
        failed(Fault::WriteAlignment(33)),
        ["dma-write", "receive-queue"]
    );
    assert_eq!(failed(Fault::WriteTooLong), ["dma-write", "receive-queue"]);
    assert_eq!(failed(Fault::UnmappedReadsZero), ["dma-read-error"]);
}

#[test]
fn broken_packets() {
    // The window's high byte: every frame is sound, and not what was asked for.
    assert_eq!(failed(Fault::JobByte(13, 0x40)), ["fpdu", "checksums"]);
    assert_eq!(failed(Fault::CrcNotChecked), ["crc-check"]);
    let dropped = reg::COUNTERS + 4 * Counter::RxDropTcpChecksum as u32;
    assert_eq!(failed(Fault::Register(dropped, 0)), ["checksum-check"]);
    assert_eq!(failed(Fault::JobKindIgnored), ["malformed-job"]);
}

#[test]
fn what_is_no_weft_card_is_not_touched() {
    for fault in [
        Fault::Answers(u32::MAX),
        Fault::Answers(0),
        Fault::Register(reg::VERSION, 99),
    ] {
        let report = test(CardKind::Model, fault);
        assert!(!report.passed() && report.failed().is_empty());
        assert!(report.tests.iter().all(|t| t.outcome == Outcome::Skipped));
    }
}

#[test]
fn a_choice_of_tests_brings_what_it_needs() {
    let transport = transport(CardKind::Model, Fault::None);
    let report = run(&transport, &["dma-write".into()], |_| {});
    let names: Vec<_> = report.tests.iter().map(|t| t.name).collect();
    assert_eq!(
        names,
        [
            "scratch",
            "registers",
            "tables",
            "job-ring",
            "loopback",
            "dma-write"
        ]
    );
    assert!(report.passed(), "{report}");
    drop(Arc::clone(&transport));
}

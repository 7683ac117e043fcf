//! The report loop against a card that writes what a test wants.

use crate::fake;

use std::net::Ipv4Addr;
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::device::RingSizes;
use weft_hostdrv::{Device, DeviceConfig, DeviceError};
use weft_layout::{doorbell, reg, FrameReport, JobReport, ReportKind};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

fn open(card: &FakeCard) -> Device {
    let rings = RingSizes {
        jobs_log2: 3,
        reports_log2: 3,
        raw_log2: 2,
        ..RingSizes::default()
    };
    let config = DeviceConfig::new(MAC, Ipv4Addr::new(10, 0, 0, 1)).rings(rings);
    Device::open(Arc::new(card.clone()), config).expect("nothing is wrong")
}

/// Nobody's frame: the engine ignores it.
const FRAME: [u8; 60] = [0xff; 60];

#[test]
fn reports_are_taken_in_order_through_many_passes() {
    let card = FakeCard::new();
    let device = open(&card);
    assert_eq!(device.progress(), Ok(0));
    let mut number = 0;
    for batch in [1u32, 2, 8, 7, 3, 8, 8, 5] {
        // Four raw slots: only the first reports of a batch bring a frame.
        for i in 0..batch {
            let raw = device.host_stats().frames_received as u32 + i;
            if i < 3 {
                card.frame(number, raw, &FRAME);
            } else {
                let mut job_done = [0; 64];
                job_done[0] = 4;
                card.report(number, job_done);
            }
            number += 1;
        }
        assert_eq!(device.progress(), Ok(batch as usize));
        assert_eq!(device.progress(), Ok(0), "a report was taken twice");
    }
    let stats = device.host_stats();
    assert_eq!(stats.reports, u64::from(number));
    // Room is returned often enough that the card never waits for an idle driver, and not for each report.
    let returned = card
        .doorbell(doorbell::REPORT_HEAD)
        .expect("room was returned");
    assert!(
        number - returned < 2,
        "{} reports kept back",
        number - returned
    );
    assert!(fake::rings(&card, doorbell::REPORT_HEAD) <= number as usize / 2);
    let raw = card
        .doorbell(doorbell::RAW_HEAD)
        .expect("slots were returned");
    assert_eq!(u64::from(raw), stats.frames_received);
}

fn impossible(report: [u8; 64], why: &str) {
    let card = FakeCard::new();
    let device = open(&card);
    card.report(0, report);
    let error = device.progress().expect_err("an impossible report");
    assert!(
        matches!(&error, DeviceError::BadReport { number: 0, .. }),
        "{error}"
    );
    assert!(error.to_string().contains(why), "{error}");
    assert_eq!(
        device.progress(),
        Err(error.clone()),
        "a device that failed stays so"
    );
    assert!(device.alloc_pd().is_err());
}

#[test]
fn impossible_reports() {
    let kind = (0..=u8::MAX)
        .rev()
        .find(|raw| ReportKind::from_raw(*raw).is_none())
        .expect("not every number is a kind");
    let report = JobReport {
        kind,
        ..JobReport::default()
    };
    impossible(report.to_bytes(), "no such kind");
    let report = JobReport {
        kind: ReportKind::Job.raw(),
        job_done: 1,
        ..JobReport::default()
    };
    impossible(report.to_bytes(), "JOB_DONE");
    let report = FrameReport {
        kind: ReportKind::Frame.raw(),
        raw_slot: 1,
        ..FrameReport::default()
    };
    impossible(report.to_bytes(), "raw slot");
    let report = FrameReport {
        raw_slot: 0,
        raw_len: 2049,
        ..report
    };
    impossible(report.to_bytes(), "longer than a slot");
}

#[test]
fn a_report_of_the_last_pass_is_not_taken() {
    let card = FakeCard::new();
    let device = open(&card);
    let report = JobReport {
        kind: ReportKind::Job.raw(),
        ..JobReport::default()
    }
    .to_bytes();
    for number in 0..8 {
        card.report(number, report);
    }
    assert_eq!(device.progress(), Ok(8));
    // Slot 0 still has phase 1; the second pass has 0.
    assert_eq!(device.progress(), Ok(0));
    assert_eq!(card.register(reg::REPORT_LOG2), 3);
    card.report(8, report);
    assert_eq!(device.progress(), Ok(1));
}

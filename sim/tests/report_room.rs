//! Transmit does not need the host to make room for reports.

use weft_layout::{job_kind, job_status, reg, report_kind, Counter, Job, JobReport};
use weft_sim::bench::{Bench, Rings};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;

const JOBS: u32 = 200;
const FAILURES: u32 = 12;

/// A frame from the slot; with `kind` 0 a job that fails.
fn job(kind: u8) -> Job {
    Job {
        kind,
        flags: Job::NOTIFY | Job::INLINE_PAYLOAD,
        length: 60,
        ..Job::default()
    }
}

#[test]
fn transmit_goes_on_while_the_report_ring_is_full() {
    for kind in CardKind::available() {
        let rings = Rings {
            report: 1,
            ..Rings::default()
        };
        let mut bench = Bench::new(kind.build(1, 0), 1, LinkConfig::default(), rings).unwrap();
        bench.sent();
        let fails = |number: u32| number % 16 == 5 && number < 16 * FAILURES;
        for number in 0..JOBS {
            let kind = if fails(number) {
                0
            } else {
                job_kind::RAW_FRAME
            };
            bench.post(&job(kind), &[0x5a; 60]);
        }
        bench.ring_jobs();
        bench.settle(200_000).unwrap();
        let sent = bench.sent().len() as u32;
        assert_eq!(sent, JOBS - FAILURES, "{kind}: frames without report room");
        assert_eq!(bench.read(reg::JOB_DONE).unwrap(), JOBS, "{kind}");
        let joined = bench.counter(Counter::TxReportsJoined).unwrap();
        let (mut failed, mut done, mut last) = (Vec::new(), 0, 0);
        for _ in 0..JOBS {
            for (report, _) in bench.reports() {
                let report = JobReport::from_bytes(&report);
                assert_eq!(report.kind, report_kind::JOB);
                if report.status == job_status::DONE {
                    assert!(!fails(report.job) && (done == 0 || report.job > last));
                    (done, last) = (done + 1, report.job);
                } else {
                    failed.push(report.job);
                }
            }
            bench.settle(1_000).unwrap();
        }
        let expected: Vec<_> = (0..JOBS).filter(|n| fails(*n)).collect();
        assert_eq!(
            failed, expected,
            "{kind}: failures are all reported, in order"
        );
        assert_eq!(
            last,
            JOBS - 1,
            "{kind}: the last done report stands for all"
        );
        assert_eq!(done + joined, JOBS - FAILURES, "{kind}");
        assert!(joined > 0, "{kind}: something was joined");
    }
}

#[test]
fn many_failures_wait_and_none_is_lost() {
    for kind in CardKind::available() {
        let rings = Rings {
            report: 1,
            ..Rings::default()
        };
        let mut bench = Bench::new(kind.build(1, 0), 1, LinkConfig::default(), rings).unwrap();
        for _ in 0..JOBS {
            bench.post(&job(0), &[]);
        }
        bench.ring_jobs();
        bench.settle(50_000).unwrap();
        let done = bench.read(reg::JOB_DONE).unwrap();
        assert!(
            (16..JOBS).contains(&done),
            "{kind}: {done} failures before it waits"
        );
        let mut failed = Vec::new();
        for _ in 0..2 * JOBS {
            let reports = bench.reports();
            failed.extend(reports.iter().map(|(r, _)| JobReport::from_bytes(r).job));
            bench.settle(1_000).unwrap();
        }
        assert_eq!(failed, (0..JOBS).collect::<Vec<_>>(), "{kind}");
    }
}

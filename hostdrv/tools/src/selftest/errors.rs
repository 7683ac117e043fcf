//! What goes wrong on purpose: it is reported, and nothing else is lost.

use weft_layout::{reg::Status, registers, Counter, Job, JobKind, JobStatus};

use super::bench::{plain_frame, Arrived, Bench};
use super::{Context, Failure};
use weft_card_transport::dma::{DmaBuffer, PAGE_SIZE};
use weft_card_transport::RegisterAccess;

/// The bits of STATUS that stay set.
fn errors_of(status: Status) -> u32 {
    status.0 & (Status::READ_ERROR | Status::WRITE_ERROR)
}

/// Posts a bad job between two good frames: both come back, and the bad one has a report with this status.
fn between(
    c: &mut Context,
    bench: &mut Bench,
    memory: &DmaBuffer,
    bad: &Job,
    status: JobStatus,
    name: &str,
) -> Result<(), Failure> {
    let frames = [plain_frame(c, 100), plain_frame(c, 300)];
    memory.write(0, &frames[0])?;
    memory.write(1000, &frames[1])?;
    bench.post(&Bench::raw_job(memory.iova(), frames[0].len()))?;
    let number = bench.post(bad)?;
    bench.post(&Bench::raw_job(memory.iova() + 1000, frames[1].len()))?;
    bench.ring()?;
    let what = || format!("{name}, between two good frames");
    let mut reported = false;
    let mut back = Vec::new();
    // A job's report may pass the frame before it, which goes through transmit and receive.
    while !reported || back.len() < 2 {
        match bench.next(what)? {
            Arrived::Job(report) if report.job == number && !reported => {
                c.equal(status.raw(), report.status, || {
                    format!("{}: status in the job's report", what())
                })?;
                reported = true;
            }
            Arrived::Frame(frame) if back.len() < 2 => back.push(frame),
            other => {
                return Err(Failure::differs(
                    what(),
                    "a report of the job and the two frames",
                    other,
                ))
            }
        }
    }
    for (frame, back) in frames.iter().zip(&back) {
        c.same_bytes(frame, back, || format!("{}: a good frame", what()))?;
    }
    Ok(())
}

pub(super) fn unmapped(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = bench.dma(PAGE_SIZE)?;
    // An address that was mapped and is no longer: within the card's reach, and nobody's.
    let hole = bench.dma(PAGE_SIZE)?.iova();
    let count =
        |bench: &Bench, counter: Counter| bench.read(registers::COUNTERS.word(counter as u32));
    let errors = count(&bench, Counter::TxReadErrors)?;
    let mut gathered = Bench::raw_job(memory.iova() + 2000, 164);
    gathered.sge_count = 2;
    gathered.sge0_length = 100;
    gathered.sge1_iova = hole;
    gathered.sge1_length = 64;
    let cases = [
        (
            "a frame in memory that is not mapped",
            Bench::raw_job(hole, 64),
        ),
        ("a frame whose second piece is not mapped", gathered),
        (
            "a long frame in memory that is not mapped",
            Bench::raw_job(hole, 4000),
        ),
    ];
    for (number, (name, job)) in (1..).zip(cases) {
        between(c, &mut bench, &memory, &job, JobStatus::ReadError, name)?;
        let status = bench.read(registers::STATUS)?;
        c.equal(Status::READ_ERROR, errors_of(status), || {
            format!("{name}: READ_ERROR and WRITE_ERROR of STATUS")
        })?;
        let now = count(&bench, Counter::TxReadErrors)?;
        c.equal(errors.wrapping_add(number), now, || {
            format!("{name}: tx_read_errors")
        })?;
        // Writing CTRL clears the bits.
        let control = bench.read(registers::CTRL)?;
        c.transport.write(registers::CTRL, control)?;
        let status = bench.read(registers::STATUS)?;
        c.equal(0, errors_of(status), || {
            "READ_ERROR and WRITE_ERROR of STATUS after CTRL was written".into()
        })?;
    }
    Ok(())
}

pub(super) fn malformed(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = bench.dma(PAGE_SIZE)?;
    let good = Bench::raw_job(memory.iova(), 64);
    let flow = (c.caps.flows - 1) as u16;
    let row = weft_layout::FlowTxRow::default().to_bytes();
    bench.row(weft_layout::table::FLOW_TX, flow.into(), &row)?;
    let cases = [
        ("a job of kind 9", Job { kind: 9, ..good }),
        ("a raw frame of 13 bytes", Bench::raw_job(memory.iova(), 13)),
        (
            "a raw frame with 5 SGEs",
            Job {
                sge_count: 5,
                ..good
            },
        ),
        (
            "a raw frame whose SGE is shorter than its length",
            Job { length: 65, ..good },
        ),
        (
            "a segment of a flow that is not valid",
            Job {
                kind: JobKind::Segment.raw(),
                flow,
                ..good
            },
        ),
    ];
    for (name, job) in cases {
        between(c, &mut bench, &memory, &job, JobStatus::Malformed, name)?;
    }
    let bad = bench.read(registers::COUNTERS.word(Counter::TxJobsBad as u32))?;
    c.equal(cases.len() as u32, bad, || "tx_jobs_bad".into())
}

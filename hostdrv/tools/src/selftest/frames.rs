//! Raw frames through the data path: job ring, DMA reads, raw ring.

use weft_layout::{registers, Job, JobStatus};

use super::bench::{plain_frame, Arrived, Bench, MAX_FRAME};
use super::{Context, Failure};
use weft_card_transport::dma::{DmaBuffer, PAGE_SIZE};
use weft_hostdrv::device::RingSizes;

/// Frames under way at a time.
const BATCH: usize = 8;
/// Room for a frame at any alignment.
const SLOT: usize = 3 * PAGE_SIZE;

/// Lengths around everything that has a width.
const LENGTHS: [usize; 29] = [
    14, 15, 16, 17, 31, 32, 33, 47, 48, 49, 60, 63, 64, 65, 66, 79, 95, 127, 128, 129, 255, 256,
    257, 1023, 1025, 1514, 4095, 4097, MAX_FRAME,
];

pub(super) fn job_ring(c: &mut Context) -> Result<(), Failure> {
    jobs_in_order(c, 0, "JOB_TAIL was rung")?;
    // Where the card has a push window.
    jobs_in_order(c, 3, "it was written into the push window")
}

fn jobs_in_order(c: &mut Context, push: u32, told: &str) -> Result<(), Failure> {
    // As small as rings get: each job is another slot, each fourth another pass.
    let mut bench = Bench::with_rings(
        c,
        RingSizes {
            jobs_log2: 2,
            reports_log2: 2,
            raw_log2: 2,
            push,
        },
    )?;
    let memory = bench.dma(PAGE_SIZE)?;
    let mut frame = plain_frame(c, 64);
    // To another station: it comes back and is dropped, and only the jobs make reports.
    frame[5] ^= 0xff;
    memory.write(0, &frame)?;
    for round in 0..64u32 {
        let jobs = 1 + round % 3;
        let mut numbers = Vec::new();
        for _ in 0..jobs {
            let mut job = Bench::raw_job(memory.iova(), frame.len());
            job.flags = Job::NOTIFY;
            numbers.push(bench.post(&job)?);
        }
        bench.ring()?;
        for number in numbers {
            let what = || format!("job {number} was posted in a ring of 4, {told}");
            match bench.next(what)? {
                Arrived::Job(report) => {
                    c.equal(number, report.job, || {
                        format!("number in the report of job {number}")
                    })?;
                    c.equal(JobStatus::Done.raw(), report.status, || {
                        format!("status of job {number}")
                    })?;
                }
                other => return Err(Failure::differs(what(), "its job report", other)),
            }
        }
        let done = bench.read(registers::JOB_DONE)?;
        c.equal(bench.card.jobs_posted(), done, || {
            "JOB_DONE when all jobs were reported done".into()
        })?;
    }
    Ok(())
}

pub(super) fn loopback(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = bench.dma(PAGE_SIZE)?;
    let frame = plain_frame(c, 64);
    memory.write(0, &frame)?;
    bench.post(&Bench::raw_job(memory.iova(), 64))?;
    let start = bench.now();
    bench.ring()?;
    let what = || {
        "a frame of 64 bytes to the station itself was sent with MAC loopback on (CTRL bit 2)"
            .to_owned()
    };
    let back = bench.next_frame(what)?;
    let took = bench.now() - start;
    c.notes
        .push(format!("there and back in {:.3} µs", took as f64 / 1000.0));
    c.same_bytes(&frame, &back, what)
}

/// Sends frames that lie at these places of `memory`, each given by its pieces (offset, length), and compares
/// what comes back with what lies there.
fn through(
    c: &mut Context,
    bench: &mut Bench,
    memory: &DmaBuffer,
    frames: &[Vec<(usize, usize)>],
) -> Result<(), Failure> {
    let mut sent = Vec::new();
    for pieces in frames {
        let mut frame = plain_frame(c, pieces.iter().map(|(_, length)| length).sum());
        let mut job = Bench::raw_job(0, frame.len());
        job.sge_count = pieces.len() as u8;
        let mut rest = frame.as_mut_slice();
        for (n, (offset, length)) in pieces.iter().enumerate() {
            let (piece, behind) = rest.split_at_mut(*length);
            memory.write(*offset, piece)?;
            rest = behind;
            let (iova, length) = (memory.iova() + *offset as u64, *length as u32);
            match n {
                0 => (job.sge0_iova, job.sge0_length) = (iova, length),
                1 => (job.sge1_iova, job.sge1_length) = (iova, length),
                2 => (job.sge2_iova, job.sge2_length) = (iova, length),
                _ => (job.sge3_iova, job.sge3_length) = (iova, length),
            }
        }
        bench.post(&job)?;
        sent.push((frame, pieces));
    }
    bench.ring()?;
    for (frame, pieces) in sent {
        let what = || {
            let each: Vec<_> = pieces
                .iter()
                .map(|(offset, length)| {
                    format!("{length} at IOVA {:#x}", memory.iova() + *offset as u64)
                })
                .collect();
            format!(
                "a frame of {} bytes ({}) came back",
                frame.len(),
                each.join(", ")
            )
        };
        let back = bench.next_frame(what)?;
        c.same_bytes(&frame, &back, what)?;
    }
    Ok(())
}

pub(super) fn alignments(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = bench.dma(BATCH * SLOT)?;
    let cases: Vec<_> = (0..64)
        .flat_map(|alignment| LENGTHS.map(|length| (alignment, length)))
        .collect();
    for batch in cases.chunks(BATCH) {
        let frames: Vec<_> = batch
            .iter()
            .enumerate()
            .map(|(slot, (alignment, length))| vec![(slot * SLOT + alignment, *length)])
            .collect();
        through(c, &mut bench, &memory, &frames)?;
    }
    let health = bench.card.health()?;
    c.equal(0, u8::from(health.dma_read_error), || {
        "STATUS bit 1, a DMA read error".into()
    })
}

pub(super) fn page_edges(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = bench.dma(BATCH * SLOT)?;
    // So many bytes before the edge of the page.
    let before: Vec<usize> = (0..=64).chain([127, 128, 129, 1000, 4095]).collect();
    let mut cases: Vec<Vec<(usize, usize)>> = Vec::new();
    for before in before {
        for length in [64, 200, 1514, 4200, MAX_FRAME.min(SLOT - PAGE_SIZE)] {
            cases.push(vec![(PAGE_SIZE - before, length)]);
        }
    }
    // Two to four pieces of every length up to a word and some, at odd places.
    for first in 14..100 {
        let second = 1 + first * 5 % 67;
        let third = 1 + first * 11 % 131;
        let fourth = 1 + first * 3 % 200;
        let pieces = [
            (first * 7 % 64, first),
            (300 + first * 3 % 64, second),
            (PAGE_SIZE - 1 - first % 64, third),
            (2 * PAGE_SIZE + 1 + first % 63, fourth),
        ];
        for count in 2..=4 {
            cases.push(pieces[..count].to_vec());
        }
    }
    for batch in cases.chunks(BATCH) {
        let frames: Vec<Vec<_>> = batch
            .iter()
            .enumerate()
            .map(|(slot, pieces)| {
                pieces
                    .iter()
                    .map(|(at, length)| (slot * SLOT + at, *length))
                    .collect()
            })
            .collect();
        through(c, &mut bench, &memory, &frames)?;
    }
    Ok(())
}

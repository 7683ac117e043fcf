//! CRC32C and the making of FPDUs, against software.

use weft_layout::{FpduVerdict, Job, JobKind};

use super::bench::{Arrived, Bench};
use super::stream::{tagged, Shape, Stream, BASE, STAG, WRITE};
use super::{Context, Failure};
use weft_card_transport::dma::PAGE_SIZE;

/// The Terminate of a wrong CRC: MPA, 0x02.
const CRC_ERROR: u16 = 0x2002;
const BATCH: usize = 8;

pub(super) fn transmit(c: &mut Context) -> Result<(), Failure> {
    let plain = Shape::default();
    let shapes = [
        ("with CRC", Shape { crc: true, ..plain }),
        ("without CRC", plain),
        (
            "with CRC and markers",
            Shape {
                crc: true,
                markers: Some(0xffff_f000),
                ..plain
            },
        ),
    ];
    let lengths: Vec<usize> = (0..=200)
        .chain([255, 256, 257, 511, 512, 513, 1442, 4000])
        .collect();
    for (name, shape) in shapes {
        let mut bench = Bench::new(c)?;
        let memory = bench.dma(BATCH * 2 * PAGE_SIZE)?;
        let mut stream = Stream::new(c, &mut bench, shape)?;
        for batch in lengths.chunks(BATCH) {
            let mut sent = Vec::new();
            for (slot, length) in batch.iter().enumerate() {
                let at = slot * 2 * PAGE_SIZE + length % 64;
                let payload = c.random.bytes(*length);
                memory.write(at, &payload)?;
                let to = BASE + *length as u64;
                let job = Job {
                    flags: Job::TAGGED | Job::LAST,
                    rdmap_control: WRITE,
                    stag_or_qn: STAG,
                    to_or_mo: to,
                    ..stream.job(JobKind::Message, memory.iova() + at as u64, *length)
                };
                bench.post(&job)?;
                let fpdu = stream.fpdu(&tagged(WRITE, STAG, to, &payload));
                sent.push((stream.seq, *length, fpdu.clone()));
                stream.seq = stream.seq.wrapping_add(fpdu.len() as u32);
            }
            bench.ring()?;
            let behind = stream.seq;
            for (seq, length, fpdu) in sent {
                let what = || {
                    format!("the frame of an FPDU {name}, {length} bytes of payload, sequence number {seq:#x}")
                };
                let got = bench.next_frame(what)?;
                stream.seq = seq;
                c.same_bytes(&stream.frame(&fpdu, Some(&got)), &got, what)?;
            }
            stream.seq = behind;
        }
    }
    Ok(())
}

pub(super) fn receive(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let (memory, sink, rq) = (
        bench.dma(PAGE_SIZE)?,
        bench.dma(PAGE_SIZE)?,
        bench.dma(PAGE_SIZE)?,
    );
    let shape = Shape {
        crc: true,
        ..Shape::default()
    };
    let mut stream = Stream::to_itself(c, &mut bench, shape, &sink, &rq)?;
    for length in [1, 2, 3, 4, 61, 62, 63, 64, 130] {
        let payload = c.random.bytes(length);
        let fpdu = stream.fpdu(&tagged(WRITE, STAG, BASE, &payload));
        // The length field stays: another length is another FPDU.
        for wrong in 2..fpdu.len() {
            let mut bad = fpdu.clone();
            bad[wrong] ^= 1 << (wrong % 8);
            sink.fill(0, 256, 0xee)?;
            let frame = stream.frame(&bad, None);
            memory.write(0, &frame)?;
            bench.post(&Bench::raw_job(memory.iova(), frame.len()))?;
            bench.ring()?;
            let what = || {
                format!(
                    "an FPDU of {} bytes with bit {} of byte {wrong} wrong was received",
                    fpdu.len(),
                    wrong % 8
                )
            };
            match bench.next(what)? {
                Arrived::Fpdu(report) if report.verdict() == Ok(FpduVerdict::Error) => {
                    c.equal(CRC_ERROR, report.terminate, || {
                        format!("{}: terminate", what())
                    })?;
                }
                other => {
                    return Err(Failure::differs(
                        what(),
                        "an FPDU report with an error",
                        other,
                    ))
                }
            }
            match bench.next(what)? {
                Arrived::Segment(_, Some(_)) => {}
                other => {
                    return Err(Failure::differs(
                        what(),
                        "the segment's report with its raw frame",
                        other,
                    ))
                }
            }
            let placed = sink.memory().to_vec(0, 256)?;
            c.same_bytes(&[0xee; 256], &placed, || {
                format!("{}: its place in memory, which must stay", what())
            })?;
            stream.attach(&mut bench, 1)?;
        }
        // The same without the error.
        let frame = stream.frame(&fpdu, None);
        memory.write(0, &frame)?;
        bench.post(&Bench::raw_job(memory.iova(), frame.len()))?;
        bench.ring()?;
        let what = || {
            format!(
                "an FPDU of {} bytes without an error was received",
                fpdu.len()
            )
        };
        bench.placed(what)?;
        let placed = sink.memory().to_vec(0, length)?;
        c.same_bytes(&payload, &placed, what)?;
        stream.seq = stream.seq.wrapping_add(fpdu.len() as u32);
    }
    Ok(())
}

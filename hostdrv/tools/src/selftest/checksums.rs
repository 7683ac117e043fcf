//! IPv4 and TCP checksums, against software.

use weft_layout::{registers, Counter, JobKind};

use super::bench::{plain_frame, Bench};
use super::stream::{Shape, Stream};
use super::{Context, Failure};
use weft_card_transport::dma::PAGE_SIZE;

const BATCH: usize = 8;
/// Where the headers begin in a frame.
const IP: usize = 14;
const TCP: usize = 34;

pub(super) fn transmit(c: &mut Context) -> Result<(), Failure> {
    let shapes = [
        ("", Shape::default()),
        (
            " with timestamps",
            Shape {
                timestamps: Some((0x0102_0304, 0xf0e0_d0c0)),
                ..Shape::default()
            },
        ),
    ];
    let lengths: Vec<usize> = (0..=200)
        .chain([1447, 1448, 1459, 1460, 4001, 8001])
        .collect();
    for (name, shape) in shapes {
        let mut bench = Bench::new(c)?;
        let memory = bench.dma(BATCH * 3 * PAGE_SIZE)?;
        let mut stream = Stream::new(c, &mut bench, shape)?;
        for batch in lengths.chunks(BATCH) {
            let mut sent = Vec::new();
            for (slot, length) in batch.iter().enumerate() {
                let at = slot * 3 * PAGE_SIZE + length * 3 % 64;
                let payload = c.random.bytes(*length);
                memory.write(at, &payload)?;
                bench.post(&stream.job(JobKind::Segment, memory.iova() + at as u64, *length))?;
                sent.push((stream.seq, payload));
                stream.seq = stream.seq.wrapping_add(*length as u32);
            }
            bench.ring()?;
            let behind = stream.seq;
            for (seq, payload) in sent {
                let what = || {
                    format!("the frame of a segment{name} with {} bytes of payload, sequence number {seq:#x}", payload.len())
                };
                let got = bench.next_frame(what)?;
                stream.seq = seq;
                c.same_bytes(&stream.frame(&payload, Some(&got)), &got, what)?;
            }
            stream.seq = behind;
        }
    }
    Ok(())
}

pub(super) fn receive(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = bench.dma(2 * PAGE_SIZE)?;
    let stream = Stream::new(c, &mut bench, Shape::default())?;
    let sentinel = plain_frame(c, 64);
    memory.write(PAGE_SIZE, &sentinel)?;
    for length in [0, 1, 2, 17, 64, 131] {
        let good = stream.frame(&c.random.bytes(length), None);
        // Type of service, identification, time to live, checksum, addresses.
        let ip = [1, 4, 5, 8, 10, 11]
            .into_iter()
            .chain(12..20)
            .map(|at| (IP + at, Counter::RxDropIpChecksum));
        // Ports, numbers, window, checksum, urgent pointer, payload.
        let tcp = (0..12)
            .chain(14..20 + length)
            .map(|at| (TCP + at, Counter::RxDropTcpChecksum));
        for (at, counter) in ip.chain(tcp).collect::<Vec<_>>() {
            let mut bad = good.clone();
            let bit = (at * 5 + length) % 8;
            bad[at] ^= 1 << bit;
            memory.write(0, &bad)?;
            let address = registers::COUNTERS.word(counter as u32);
            let before = bench.read(address)?;
            bench.post(&Bench::raw_job(memory.iova(), bad.len()))?;
            bench.post(&Bench::raw_job(
                memory.iova() + PAGE_SIZE as u64,
                sentinel.len(),
            ))?;
            bench.ring()?;
            let what = || {
                format!("a frame of {} bytes with bit {bit} of byte {at} wrong was received, then a good one", bad.len())
            };
            let next = bench.next_frame(what)?;
            c.same_bytes(&sentinel, &next, || {
                format!("{}: the first frame that was not dropped", what())
            })?;
            let after = bench.read(address)?;
            c.equal(before.wrapping_add(1), after, || {
                format!("{}: {}", what(), counter.name())
            })?;
        }
        memory.write(0, &good)?;
        bench.post(&Bench::raw_job(memory.iova(), good.len()))?;
        bench.ring()?;
        let what = || {
            format!(
                "a frame of {} bytes with right checksums was received",
                good.len()
            )
        };
        let got = bench.next_frame(what)?;
        c.same_bytes(&good, &got, what)?;
    }
    Ok(())
}

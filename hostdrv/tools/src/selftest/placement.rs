//! Zero-copy placement: messages of a stream from the card to itself.

use weft_layout::{doorbells, Job, JobKind, ReceiveElement};

use super::bench::Bench;
use super::stream::{Shape, Stream, BASE, RQ_LOG2, SEND, STAG, WRITE};
use super::{Context, Failure};
use weft_card_transport::dma::{publish, DmaBuffer, PAGE_SIZE};
use weft_card_transport::RegisterAccess;

/// Messages under way at a time.
const BATCH: usize = 4;
/// Room for a message and what is beside it.
const SLOT: usize = 4 * PAGE_SIZE;
/// Where a message goes in its slot, before its alignment is added.
const MARGIN: usize = 128;
const UNTOUCHED: u8 = 0xee;

const LENGTHS: [usize; 29] = [
    1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 60, 63, 64, 65, 66, 127, 128, 129, 255, 257,
    1023, 1442, 4095, 4097, 8192,
];

/// Memory of a placement test.
struct Memory {
    source: DmaBuffer,
    sink: DmaBuffer,
    rq: DmaBuffer,
}

impl Memory {
    fn new(bench: &Bench) -> Result<Self, Failure> {
        Ok(Self {
            source: bench.dma(BATCH * SLOT)?,
            sink: bench.dma(BATCH * SLOT)?,
            rq: bench.dma(ReceiveElement::SIZE << RQ_LOG2)?,
        })
    }

    /// What a message looks like in its slot of the sink.
    fn expect(pieces: &[(usize, usize)], bytes: &[u8]) -> Vec<u8> {
        let mut slot = vec![UNTOUCHED; SLOT];
        let mut rest = bytes;
        for (at, length) in pieces {
            let (piece, behind) = rest.split_at((*length).min(rest.len()));
            slot[*at..at + piece.len()].copy_from_slice(piece);
            rest = behind;
        }
        slot
    }
}

/// Takes the reports of a message in `fpdus` FPDUs, all of which must have been placed.
fn placed(bench: &mut Bench, fpdus: usize, what: impl Fn() -> String) -> Result<(), Failure> {
    for number in 0..fpdus {
        let what = || format!("{}, FPDU {number}", what());
        bench.placed(what)?;
    }
    Ok(())
}

/// Advances the stream behind FPDUs of these payload lengths.
fn advance(stream: &mut Stream, header: usize, payloads: impl IntoIterator<Item = usize>) {
    for payload in payloads {
        let fpdu = stream.fpdu(&vec![0; header + payload]);
        stream.seq = stream.seq.wrapping_add(fpdu.len() as u32);
    }
}

pub(super) fn tagged(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = Memory::new(&bench)?;
    let shape = Shape {
        crc: true,
        ..Shape::default()
    };
    let mut stream = Stream::to_itself(c, &mut bench, shape, &memory.sink, &memory.rq)?;
    let mut cases: Vec<(usize, usize, u16)> = (0..64)
        .flat_map(|alignment| LENGTHS.map(|length| (alignment, length, 8900)))
        .collect();
    // In many FPDUs, each of which begins elsewhere; and across page edges.
    cases.extend((0..64).map(|alignment| (alignment, 9000 + alignment, 1441 + alignment as u16)));
    cases.extend((0..=64).map(|before| (PAGE_SIZE - MARGIN - before, 200, 8900)));
    for batch in cases.chunks(BATCH) {
        memory.sink.fill(0, BATCH * SLOT, UNTOUCHED)?;
        let mut sent = Vec::new();
        for (slot, (alignment, length, fpdu_payload)) in batch.iter().enumerate() {
            let at = slot * SLOT + MARGIN + alignment;
            let from = slot * SLOT + (alignment * 7 + length) % 64;
            let bytes = c.random.bytes(*length);
            memory.source.write(from, &bytes)?;
            let job = Job {
                flags: Job::TAGGED | Job::LAST,
                fpdu_payload: *fpdu_payload,
                rdmap_control: WRITE,
                stag_or_qn: STAG,
                to_or_mo: BASE + at as u64,
                ..stream.job(
                    JobKind::Message,
                    memory.source.iova() + from as u64,
                    *length,
                )
            };
            bench.post(&job)?;
            let most = usize::from(*fpdu_payload);
            let payloads: Vec<usize> = (0..length.div_ceil(most))
                .map(|n| most.min(length - n * most))
                .collect();
            advance(&mut stream, 14, payloads.iter().copied());
            sent.push((slot, *alignment, bytes, payloads.len()));
        }
        bench.ring()?;
        for (slot, alignment, bytes, fpdus) in sent {
            let iova = memory.sink.iova() + (slot * SLOT + MARGIN + alignment) as u64;
            let what = || {
                format!(
                    "a Write of {} bytes to IOVA {iova:#x} (alignment {})",
                    bytes.len(),
                    iova % 64
                )
            };
            placed(&mut bench, fpdus, what)?;
            let expected = Memory::expect(&[(MARGIN + alignment, bytes.len())], &bytes);
            let got = memory.sink.memory().to_vec(slot * SLOT, SLOT)?;
            c.same_bytes(&expected, &got, || {
                format!(
                    "memory from IOVA {:#x} on after {}",
                    memory.sink.iova() + (slot * SLOT) as u64,
                    what()
                )
            })?;
        }
    }
    Ok(())
}

/// `length` bytes in `count` pieces at odd places of a slot.
fn pieces(alignment: usize, length: usize, count: usize) -> Vec<(usize, usize)> {
    let mut list = Vec::new();
    let mut left = length;
    for n in 0..count {
        let share = if n + 1 == count {
            left
        } else {
            (left / (count - n)).max(1).min(left)
        };
        list.push((
            MARGIN + n * (SLOT / 4) + (alignment * (2 * n + 1)) % 64,
            share,
        ));
        left -= share;
    }
    list.retain(|(_, share)| *share > 0);
    list
}

pub(super) fn untagged(c: &mut Context) -> Result<(), Failure> {
    let mut bench = Bench::new(c)?;
    let memory = Memory::new(&bench)?;
    let shape = Shape {
        crc: true,
        ..Shape::default()
    };
    let mut stream = Stream::to_itself(c, &mut bench, shape, &memory.sink, &memory.rq)?;
    let doorbell = doorbells::RQ_TAIL.of(stream.flow);
    c.transport.ring(doorbell, 0)?;
    let lengths = [0, 1, 2, 3, 4, 63, 64, 65, 127, 128, 129, 1000, 1442, 3500];
    let cases: Vec<_> = (0..64)
        .flat_map(|alignment| lengths.map(|length| (alignment, length)))
        .collect();
    let mut msn = 0u32;
    for batch in cases.chunks(BATCH) {
        memory.sink.fill(0, BATCH * SLOT, UNTOUCHED)?;
        let mut sent = Vec::new();
        for (slot, (alignment, length)) in batch.iter().enumerate() {
            let count = 1 + (alignment + length) % 4;
            let pieces = pieces(*alignment, *length, count);
            let at = |n: usize| -> (u64, u32, u32) {
                pieces.get(n).map_or((0, 0, 0), |(at, length)| {
                    (BASE + (slot * SLOT + at) as u64, *length as u32, STAG)
                })
            };
            let mut element = ReceiveElement::default();
            (element.sge0_to, element.sge0_length, element.sge0_stag) = at(0);
            (element.sge1_to, element.sge1_length, element.sge1_stag) = at(1);
            (element.sge2_to, element.sge2_length, element.sge2_stag) = at(2);
            (element.sge3_to, element.sge3_length, element.sge3_stag) = at(3);
            let index = msn as usize % (1 << RQ_LOG2);
            memory
                .rq
                .write(index * ReceiveElement::SIZE, &element.to_bytes())?;
            msn += 1;
            let from = slot * SLOT + (alignment * 5 + length) % 64;
            let bytes = c.random.bytes(*length);
            memory.source.write(from, &bytes)?;
            let job = Job {
                flags: Job::LAST,
                rdmap_control: SEND,
                msn,
                ..stream.job(
                    JobKind::Message,
                    memory.source.iova() + from as u64,
                    *length,
                )
            };
            bench.post(&job)?;
            advance(&mut stream, 18, [*length]);
            sent.push((slot, msn, pieces, bytes));
        }
        publish();
        c.transport.ring(doorbell, msn)?;
        bench.ring()?;
        for (slot, msn, pieces, bytes) in sent {
            let what = || {
                let each: Vec<_> = pieces
                    .iter()
                    .map(|(at, length)| format!("{length} at {at}"))
                    .collect();
                format!(
                    "a Send of {} bytes, MSN {msn}, into a receive element of [{}]",
                    bytes.len(),
                    each.join(", ")
                )
            };
            placed(&mut bench, 1, what)?;
            let expected = Memory::expect(&pieces, &bytes);
            let got = memory.sink.memory().to_vec(slot * SLOT, SLOT)?;
            c.same_bytes(&expected, &got, || {
                format!(
                    "memory from IOVA {:#x} on after {}",
                    memory.sink.iova() + (slot * SLOT) as u64,
                    what()
                )
            })?;
        }
    }
    Ok(())
}

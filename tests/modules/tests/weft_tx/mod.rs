//! Transmit alone, behind the card's DMA reader: jobs of all kinds in a ring, payload anywhere, read answers delayed, mixed and
//! failing, a MAC that stops for longer than the store lasts; jobs told of by the ring's tail, by the push window, or both. Every frame, every
//! replay and every report is held against `reference`. What a job that is done has read is overwritten at once. No cycle is counted.

mod packed;
mod reference;
mod rings;

use fastrand::Rng;
use reference::{identify, packed, Job, Row, MESSAGE, RAW, REPLAY, SEGMENT};
use rtl_sim::axi::{self, Fault, Memory, MemorySlave, Timing};
use rtl_sim::axis::Sink;
use rtl_sim::{replay, Pace, Run, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{weft_tx_128, weft_tx_512};

const FLOWS: usize = 16;
const RING: u64 = 0x12_3456_7000;
const AREA: u64 = 0x77_0000_0000;
const AREA_BYTES: usize = 1 << 20;
/// What can be read or not as a whole: a beat at 512 bits, four at 128.
const LINE: u64 = 64;
/// Bytes of the card's store, and of what is between it and the MAC at most.
const STORE: u32 = 32768;
/// Slots of the push window.
const SLOTS: u32 = 32;

struct Host {
    ring: Vec<u8>,
    area: Vec<u8>,
    bad: Vec<u64>,
}

impl Host {
    fn is_bad(&self, addr: u64, bytes: usize) -> bool {
        let lines = addr / LINE..=(addr + bytes as u64 - 1) / LINE;
        bytes > 0 && self.bad.iter().any(|line| lines.contains(line))
    }
}

impl Memory for Host {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        if self.is_bad(addr, bytes.len()) {
            return Err(Fault::Slave);
        }
        let (base, from) = match addr < AREA {
            true => (RING, &self.ring),
            false => (AREA, &self.area),
        };
        let at = addr.wrapping_sub(base) as usize;
        let from = from.get(at..at + bytes.len()).ok_or(Fault::Decode)?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8], _: u128) -> Result<(), Fault> {
        Err(Fault::Slave)
    }
}

/// A job that is not done.
struct Posted {
    area: std::ops::Range<usize>,
    bad: Vec<u64>,
    flow: u16,
}

/// What has to be told of a job.
#[derive(Debug)]
struct Told {
    number: u32,
    status: u8,
    flow: Option<u16>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    jobs: u64,
    bad: u64,
    frames: u64,
    bytes: u64,
    fpdus: u64,
    errors: u64,
    joined: u64,
    packed: u64,
}

/// A frame to come: of which row's `pack` it is, if it is an FPDU, and whether the card makes its headers.
struct Coming {
    bytes: Vec<u8>,
    headers: bool,
    pack: Option<(u16, u16)>,
}

fn any_row(rng: &mut Rng) -> Row {
    let mut ends = [0; 24];
    rng.fill(&mut ends);
    Row {
        markers: rng.bool(),
        crc: rng.u8(0..4) != 0,
        valid: rng.u8(0..24) != 0,
        timestamps: rng.bool(),
        ttl: rng.u8(..),
        tos: rng.u8(..),
        ends,
        marker_base: rng.u32(..),
        pack: match rng.u8(0..6) {
            0 | 1 => 0,
            2 => rng.u16(..),
            3 => rng.u16(0..2100),
            _ => 1448,
        },
    }
}

/// A job of the same flow that goes on where the last one ended, often a short one.
fn go_on(rng: &mut Rng, job: &mut Job, last: (u16, u32)) {
    job.kind = MESSAGE;
    (job.flow, job.seq) = last;
    job.tcp_flags = match rng.u8(0..12) {
        0 => rng.u8(..),
        n => [0x10, 0x18][usize::from(n) % 2],
    };
    if rng.u8(0..8) > 0 {
        job.length = rng.u32(0..200);
    }
    job.inline &= job.length <= 64;
}

/// A job without its payload.
fn any_job(rng: &mut Rng, rows: &[Row], long: bool) -> Job {
    let flow = rng.u16(0..FLOWS as u16);
    let row = &rows[usize::from(flow)];
    let kind = [
        RAW, REPLAY, SEGMENT, SEGMENT, MESSAGE, MESSAGE, MESSAGE, MESSAGE,
    ][rng.usize(0..8)];
    let fpdu_payload = match rng.u8(0..8) {
        0 => 9000,
        1 => rng.u16(1..20),
        2 | 3 => rng.u16(1..9000),
        _ => rng.u16(400..1500),
    };
    let most = if long { 30_000 } else { 4_000 };
    let length = match (kind, rng.u8(0..8)) {
        (RAW, 0) => [14, 15, 9216][rng.usize(0..3)],
        (RAW, _) => rng.u32(14..2000),
        (REPLAY, n) => [1, 4096, 65, 64, rng.u32(1..4097)][usize::from(n).min(4)],
        (_, 0) => 0,
        (_, 1 | 2) => rng.u32(1..80),
        (SEGMENT, 3) => 9000,
        (SEGMENT, _) => rng.u32(1..if long { 9001 } else { 2000 }),
        (_, 3) => u32::from(fpdu_payload) * rng.u32(1..4),
        _ => rng.u32(1..most),
    };
    // Not too many frames.
    let length = match kind {
        MESSAGE => length.min(u32::from(fpdu_payload) * 40),
        _ => length,
    };
    let words = row.marker_base.wrapping_add(rng.u32(..) & !3);
    Job {
        kind,
        tagged: rng.bool(),
        last: rng.bool(),
        notify: rng.bool(),
        inline: length <= 64 && rng.bool(),
        flow,
        seq: match rng.u8(0..4) {
            0 => row.marker_base.wrapping_sub(rng.u32(0..30) * 4),
            1 => words | 0xffff_ff00 & !3,
            _ => words,
        },
        ack: rng.u32(..),
        window: rng.u16(..),
        tcp_flags: rng.u8(..),
        ts: (rng.u32(..), rng.u32(..)),
        length,
        fpdu_payload,
        rdmap_control: rng.u8(..),
        ddp_rsvd: rng.u8(0..16) << 2,
        stag_or_qn: rng.u32(..),
        msn: rng.u32(..),
        to_or_mo: [rng.u64(..), u64::MAX - rng.u64(0..4000), 0xffff_ff00][rng.usize(0..3)],
        rsvd_ulp: rng.u32(..),
        ..Job::default()
    }
}

fn spoil(rng: &mut Rng, job: &mut Job) {
    match rng.u8(0..8) {
        0 => job.kind = [0, rng.u8(REPLAY + 1..)][rng.usize(0..2)],
        1 => job.length += 1,
        2 => job.length = job.length.wrapping_sub(1),
        3 => job.sge_count = rng.u8(5..),
        4 => job.fpdu_payload = [0, 9001, 65535][rng.usize(0..3)],
        5 => job.seq = job.seq.wrapping_add(rng.u32(1..4)),
        6 => job.inline = !job.inline,
        _ => job.length = [0, 13, 4097, 9217, 9001][rng.usize(0..5)],
    }
}

macro_rules! weft_tx_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            fn check(run: &Run, wanted: u32, all: &mut [u64; 9]) -> Result<(), Box<dyn Error>> {
                let mut rng = run.seed.rng("test");
                let mut sim = run.sim::<$design::Model>();
                // In every fourth seed the store fills: memory is fast, messages are long, the MAC stops.
                let (full, smooth) = (run.seed.0 % 4 == 0, rng.bool());
                // In every other of these there are more jobs than may be ahead.
                let many = run.seed.0 % 8 == 4;
                let timing = match full || smooth {
                    true => Timing::latency(rng.u32(1..60)),
                    false => Timing::any(run.seed),
                };
                let mut memory = MemorySlave::<$bytes>::new(timing, run.seed);
                let mut bus = axi::Checker::<$bytes>::new("m_axi").limit(1_000_000);
                let stall = if smooth { Stall::Never } else { Stall::any(&mut rng) };
                let mut sink = Sink::<$bytes>::new(stall, run.seed);
                let mut replayed = Sink::<$bytes>::new(Stall::any(&mut rng), run.seed);
                let mut reporting = Pace::new(Stall::any(&mut rng), rng.fork());
                let log2 = if many { 6 } else { rng.u8(1..7) };
                let mut host = Host {
                    ring: vec![0; 128 << log2],
                    area: vec![0; AREA_BYTES],
                    bad: vec![],
                };
                sim.inputs.enable = true;
                sim.inputs.job_base = RING;
                sim.inputs.job_log2 = log2;
                sim.reset(3);
                let mut rows = [Row::default(); FLOWS];
                let mut writes: VecDeque<(usize, bool)> = (0..FLOWS).map(|n| (n, true)).collect();
                rows.iter_mut().for_each(|row| *row = any_row(&mut rng));
                let mut accessing = false;
                let mut jobs: VecDeque<Posted> = VecDeque::new();
                let mut area_at = 0;
                let (mut posted, mut done) = (0u32, 0u32);
                // Told of, or on their way into the push window; told of.
                let (mut planned, mut announced) = (0u32, 0u32);
                let mut from_ring: Vec<bool> = vec![];
                let mut window: VecDeque<Beat> = VecDeque::new();
                let mut frames: VecDeque<Coming> = VecDeque::new();
                // Flow and next sequence number of the last message.
                let mut before = (0, 0);
                let chain = rng.u8(0..8);
                let mut replays: VecDeque<Vec<u8>> = VecDeque::new();
                let mut told: VecDeque<Told> = VecDeque::new();
                let mut id = 0u16;
                let mut begun = false;
                let (mut hold, mut mute) = (0u32, 0u32);
                let mut counts = Counts::default();
                let (mut last_frame, mut rung) = (0, 0);
                let mut counters = [0u64; 93];
                let mut quiet = 0;
                loop {
                    sim.step();
                    let now = sim.cycle();
                    let (i, o) = (&mut sim.inputs, &sim.outputs);
                    if now > 100_000 + 20_000 * u64::from(wanted) {
                        return Err(format!("stuck: {posted} posted, {done} done, {} frames to come", frames.len()).into());
                    }
                    bus.cycle(now, false, &o.m_axi, &i.m_axi)?;
                    for (count, inc) in counters.iter_mut().zip(o.cnt_inc.chunks(2)) {
                        *count += u64::from(u16::from_le_bytes([inc[0], inc[1]]));
                    }
                    // ---- frames: without a bubble, each as it should be
                    if begun && !o.mac_tx.valid {
                        return Err("a bubble inside a frame".into());
                    }
                    if o.mac_tx.valid {
                        begun = !(o.mac_tx.last && i.mac_tx.ready);
                    }
                    memory.cycle(now, &mut i.m_axi, &o.m_axi, &mut host);
                    sink.cycle(now, &mut i.mac_tx, &o.mac_tx);
                    while let Some(received) = sink.pop() {
                        let first = frames.pop_front().ok_or("a frame too many")?;
                        let (mut should, headers, mut fpdus) = (first.bytes, first.headers, 1);
                        // As many FPDUs as it must have, by its length, and may.
                        while let (true, Some((flow, pack)), Some(next)) = (should.len() < received.data.len(), first.pack, frames.front()) {
                            let same = next.pack.map(|next| next.0) == Some(flow);
                            let Some(both) = packed(&should, fpdus, &next.bytes, pack).filter(|_| same) else { break };
                            (should, fpdus) = (both, fpdus + 1);
                            frames.pop_front();
                        }
                        counts.packed += fpdus as u64 - 1;
                        if headers {
                            identify(&mut should, id);
                            id = id.wrapping_add(1);
                        }
                        if received.data != should {
                            let at = received.data.iter().zip(&should).position(|(a, b)| a != b);
                            return Err(format!(
                                "frame {}: {} bytes, should be {}; differ at {at:?}\n{:02x?}\n{:02x?}",
                                counts.frames, received.data.len(), should.len(),
                                &received.data[..received.data.len().min(80)], &should[..should.len().min(80)]
                            ).into());
                        }
                        counts.frames += 1;
                        counts.bytes += should.len() as u64;
                        last_frame = now;
                        sink.recycle(received);
                    }
                    replayed.cycle(now, &mut i.replay, &o.replay);
                    while let Some(received) = replayed.pop() {
                        if Some(&received.data) != replays.pop_front().as_ref() {
                            return Err(format!("a replay of {} bytes is another", received.data.len()).into());
                        }
                        replayed.recycle(received);
                    }
                    // ---- jobs done: what they read may change
                    while done != o.job_done {
                        let job = jobs.pop_front().ok_or("done, and was not posted")?;
                        host.bad.retain(|line| !job.bad.contains(line));
                        rng.fill(&mut host.area[job.area]);
                        done = done.wrapping_add(1);
                    }
                    // ---- reports
                    if o.rpt_valid && i.rpt_ready {
                        let record = &o.rpt;
                        let number = u32::from_le_bytes([record[4], record[5], record[6], record[7]]);
                        if number >= done {
                            return Err("a report of a job that is not done".into());
                        }
                        let status = record[1];
                        // A done one stands for those before it; failures come all, in their order.
                        let place = told.iter().position(|t| t.number == number);
                        let place = place.ok_or(format!("a report of job {number}, not asked for or for the second time"))?;
                        let t = &told[place];
                        let flow = u16::from_le_bytes([record[2], record[3]]);
                        let mut should = [0; 64];
                        (should[0], should[1]) = (4, t.status);
                        should[2..4].copy_from_slice(&t.flow.unwrap_or(flow).to_le_bytes());
                        should[4..8].copy_from_slice(&number.to_le_bytes());
                        if record[..] != should {
                            return Err(format!("{record:02x?}, should be {t:?}").into());
                        }
                        if status != 0 {
                            if told.iter().take(place).any(|t| t.status != 0) {
                                return Err("a failure before an earlier one".into());
                            }
                            told.remove(place);
                        } else {
                            let stood_for = told.iter().take(place).filter(|t| t.status == 0).count();
                            counts.joined += stood_for as u64;
                            let mut n = 0;
                            told.retain(|t| {
                                n += 1;
                                n > place + 1 || t.status != 0
                            });
                        }
                    }
                    mute = match mute {
                        0 if rng.u16(0..4000) == 0 => rng.u32(100..6000),
                        _ => mute.saturating_sub(1),
                    };
                    i.rpt_ready = mute == 0 && reporting.next(o.rpt_valid);
                    // ---- the MAC stops, for longer than the store lasts
                    let beats = STORE / $bytes;
                    hold = match hold {
                        0 if full && rng.u32(0..2 * beats) == 0 => rng.u32(beats..4 * beats),
                        _ => hold.saturating_sub(1),
                    };
                    i.mac_tx.ready &= hold == 0;
                    // ---- table
                    if i.tbl_req_valid && o.tbl_req_ready {
                        i.tbl_req_valid = false;
                    }
                    if o.tbl_rsp_valid {
                        let (flow, write) = writes.pop_front().ok_or("an answer to nothing")?;
                        accessing = false;
                        if o.tbl_refused || (!write && o.tbl_row != rows[flow].bytes()) {
                            return Err("the table has another row".into());
                        }
                    }
                    if writes.is_empty() && rng.u8(0..100) == 0 {
                        let flow = rng.usize(0..FLOWS);
                        let free = jobs.iter().all(|job| usize::from(job.flow) != flow);
                        if free {
                            rows[flow] = any_row(&mut rng);
                        }
                        writes.push_back((flow, free));
                    }
                    if let Some((flow, write)) = writes.front().filter(|_| !accessing) {
                        (i.tbl_req_valid, i.tbl_write, i.tbl_index) = (true, *write, *flow as u32);
                        i.tbl_row = rows[*flow].bytes();
                        accessing = true;
                    }
                    // ---- jobs
                    let room = jobs.len() < 1 << log2 && jobs.len() < if many { 60 } else { 24 };
                    let free = jobs.iter().map(|job| job.area.len()).sum::<usize>() < AREA_BYTES / 2;
                    if posted < wanted && room && free && writes.is_empty() && (full || rng.u8(0..16) == 0) {
                        let mut job = any_job(&mut rng, &rows, full && !many);
                        if rng.u8(0..8) < chain {
                            go_on(&mut rng, &mut job, before);
                        }
                        let length = job.length as usize;
                        job.payload = (0..length).map(|_| rng.u8(..)).collect();
                        // Sums with many carries.
                        if rng.u8(0..8) == 0 {
                            job.payload.fill(0xff);
                        }
                        let mut bad = vec![];
                        let slot = (posted as usize & ((1 << log2) - 1)) * 128;
                        let size = (length + 4096).next_multiple_of(LINE as usize);
                        if area_at + size > AREA_BYTES {
                            area_at = 0;
                        }
                        let area = area_at..area_at + size;
                        area_at += size;
                        if !job.inline {
                            let mut at = area.start + rng.usize(0..128);
                            let mut left = length;
                            job.sge_count = rng.u8(u8::from(length > 0)..=4);
                            for n in 0..job.sge_count {
                                let bytes = match n + 1 == job.sge_count {
                                    true => left,
                                    false => rng.usize(0..=left),
                                };
                                let from = length - left;
                                host.area[at..at + bytes].copy_from_slice(&job.payload[from..from + bytes]);
                                job.sges.push((AREA + at as u64, bytes as u32));
                                left -= bytes;
                                at += bytes + rng.usize(0..900);
                            }
                        }
                        let spoilt = rng.u8(0..16) == 0;
                        if spoilt {
                            spoil(&mut rng, &mut job);
                            if job.inline && job.length <= 64 {
                                job.payload.resize(job.length as usize, 0);
                            }
                        }
                        // Lines that cannot be read: somewhere in the payload, or the slot itself.
                        if rng.u8(0..12) == 0 && !job.sges.is_empty() {
                            let (iova, bytes) = job.sges[rng.usize(0..job.sges.len())];
                            if bytes > 0 {
                                bad.push((iova + rng.u64(0..bytes.into())) / LINE);
                            }
                        }
                        if rng.u8(0..40) == 0 {
                            bad.push((RING + slot as u64) / LINE + rng.u64(0..2));
                        }
                        host.bad.extend(&bad);
                        let mut bytes = job.bytes();
                        bytes[52..56].copy_from_slice(&posted.to_le_bytes());
                        host.ring[slot..slot + 128].copy_from_slice(&bytes);
                        // What has to come of it.
                        let row = &rows[usize::from(job.flow)];
                        let unread = host.is_bad(RING + slot as u64, 128);
                        let malformed = job.malformed(row);
                        let mut status = if unread { 2 } else { u8::from(malformed) };
                        if status == 0 {
                            let all = job.frames(row);
                            if let (MESSAGE, Some((frame, _))) = (job.kind, all.last()) {
                                let seq = u32::from_be_bytes([frame[38], frame[39], frame[40], frame[41]]);
                                let headers = if row.timestamps { 66 } else { 54 };
                                before = (job.flow, seq.wrapping_add((frame.len() - headers) as u32));
                            }
                            for (frame, part) in all {
                                let mut at = 0;
                                let hit = job.sges.iter().any(|(iova, bytes)| {
                                    let (from, to) = (part.start.max(at), part.end.min(at + *bytes as usize));
                                    let into = from.wrapping_sub(at) as u64;
                                    at += *bytes as usize;
                                    from < to && host.is_bad(iova + into, to - from)
                                });
                                if hit {
                                    status = 2;
                                    break;
                                }
                                match job.kind {
                                    REPLAY => replays.push_back(frame),
                                    kind => frames.push_back(Coming {
                                        bytes: frame,
                                        headers: kind != RAW,
                                        pack: (kind == MESSAGE).then_some((job.flow, row.pack)),
                                    }),
                                }
                                counts.fpdus += u64::from(job.kind == MESSAGE);
                            }
                        }
                        counts.jobs += 1;
                        counts.bad += u64::from(status == 1);
                        counts.errors += u64::from(status == 2);
                        if job.notify || status != 0 {
                            told.push_back(Told {
                                number: posted,
                                status,
                                flow: (!unread).then_some(job.flow),
                            });
                        }
                        // What only the ring can show comes from there.
                        from_ring.push(unread);
                        jobs.push_back(Posted { area, bad, flow: job.flow });
                        posted += 1;
                    }
                    if o.idle && o.job_done != announced && now > rung + 8 {
                        return Err("idle, and is not".into());
                    }
                    // Told of some jobs at once, or one is pushed; what is on its way into the window may be overtaken.
                    if planned != posted && (rng.u8(0..4) == 0 || posted == wanted) {
                        // No more jobs than slots of the window may be under way when one is pushed.
                        let room = planned - done < SLOTS;
                        if from_ring[planned as usize] || !room || rng.u8(0..4) == 0 {
                            (i.job_tail, planned, announced, rung) = (posted, posted, posted, now);
                        } else {
                            let slot = (planned as usize & ((1 << log2) - 1)) * 128;
                            let job = &host.ring[slot..slot + 128];
                            push(&mut rng, planned, job, &mut window);
                            planned += 1;
                        }
                    }
                    i.push_valid = false;
                    if rng.u8(0..3) > 0 {
                        if let Some((place, data, strobes, ends)) = window.pop_front() {
                            (i.push_valid, i.push_addr, i.push_data, i.push_strb) = (true, place, data, strobes as _);
                            if let Some(number) = ends.filter(|n| *n >= announced) {
                                (announced, rung) = (number + 1, now);
                            }
                        }
                    }
                    let over = posted == wanted && done == wanted && frames.is_empty() && replays.is_empty() && told.is_empty();
                    quiet = if over && o.idle { quiet + 1 } else { 0 };
                    if quiet > 40 {
                        break;
                    }
                }
                let c = counts;
                let now = [c.jobs, c.bad, c.frames, c.bytes, c.fpdus, c.errors];
                if counters[92] != c.packed {
                    return Err(format!("{} FPDUs counted as packed, should be {}", counters[92], c.packed).into());
                }
                let joined = counters[74];
                if counters[49..55] != now || joined != c.joined {
                    return Err(format!("counted {:?} {joined}, should be {now:?} {}", &counters[49..55], c.joined).into());
                }
                for (all, n) in all.iter_mut().zip(now.iter().chain([&c.joined, &last_frame, &c.packed])) {
                    *all += n;
                }
                Ok(())
            }

            type Beat = (u16, [u8; $bytes], u64, Option<u32>);

            /// A job's way into the push window: front to back, in words of 32 bits or more at once.
            fn push(rng: &mut Rng, number: u32, job: &[u8], beats: &mut VecDeque<Beat>) {
                let start = (number as usize % 32) * 128;
                for (n, part) in job.chunks($bytes).enumerate() {
                    let words = rng.usize(1..=$bytes / 4);
                    for (m, bytes) in part.chunks(4 * words).enumerate() {
                        let at = 4 * words * m;
                        // What is not written there is noise.
                        let mut data = [0; $bytes];
                        rng.fill(&mut data);
                        data[at..at + bytes.len()].copy_from_slice(bytes);
                        let strobes = (!0 >> (64 - bytes.len())) << at;
                        let last = n * $bytes + at + bytes.len() == 128;
                        beats.push_back(((start + n * $bytes) as u16, data, strobes, last.then_some(number)));
                    }
                }
            }

            #[test]
            fn every_frame_and_report_with_slow_memory_errors_and_a_mac_that_stops() {
                let seen = std::cell::RefCell::new([0; 9]);
                let asked = std::env::var("WEFT_BENCH_SEEDS").ok();
                let seeds = asked.and_then(|n| n.parse().ok()).unwrap_or(32);
                replay(concat!("weft_tx_", $bytes), 0..seeds, |run| {
                    check(run, 150, &mut seen.borrow_mut())
                });
                let seen = seen.into_inner();
                println!("jobs, bad, frames, bytes, fpdus, errors, joined, cycles, packed: {seen:?}");
                if std::env::var_os("RTL_SIM_SEED").is_none() && seeds >= 32 {
                    assert!(seen.iter().all(|n| *n > 10), "what came: {seen:?}");
                }
            }
        }
    };
}

weft_tx_tests!(bits_128, weft_tx_128, 16);
weft_tx_tests!(bits_512, weft_tx_512, 64);

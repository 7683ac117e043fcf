//! The receive walk alone: segments of several flows, under random back-pressure at every port, with regions, receive queues and
//! fences written all the while. Every placed byte, report and `done` is held against `reference`. No cycle is counted: what is
//! asked is what comes, in which order, and before what it may not come.

mod reference;
mod stream;

use fastrand::Rng;
use reference::{Done, Edges, Op, Reference, Region, Ring, Row, Segment};
use rtl_sim::{replay, Pace, Run, Stall};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use stream::{any_region, Flow, What, FLOWS, STAGS};
use weft_module_tests::{rx_walk_128, rx_walk_512};

const STAG: u8 = 5;
/// Places of segments in the walk.
const PLACES: u64 = 8;
const CNT_FENCES: usize = 76;
const CNT_STALL_ELEMENT: usize = 45;
const CNT_STALL_CARRY: usize = 89;
/// Flows that may have an FPDU carried at a time.
const CARRIES: usize = 8;
/// From the end of a flow's walks to its next start, at the least: an ATTACH.
const ATTACHES: u64 = 4;
/// Cycles from one write of a row to the next, at the least: what the table takes for one.
const ROWS_APART: u64 = 5;
/// Rings lie so far apart.
const RING_BITS: u32 = 16;
const RINGS: u64 = 0x5_0000_0000;

/// A segment that is offered.
struct Offer {
    segment: Segment,
    /// Its payload is under way already.
    eager: bool,
}

struct Payload {
    number: u64,
    bytes: Vec<u8>,
    at: usize,
}

enum Access {
    Write(usize, Region),
    Read(usize),
    /// Of another table, or behind the end of this one.
    Refused(u8, u32),
}

/// A read of receive elements.
struct Read {
    accepted: u64,
    addr: u64,
    bytes: usize,
    at: usize,
    due: u64,
}

/// An FPDU's placements on their way to host memory.
struct Landing {
    started: u64,
    colour: bool,
    due: u64,
}

fn region_row(r: &Region) -> [u8; 64] {
    let mut row = [0; 64];
    (row[0], row[1], row[2]) = (u8::from(r.valid), r.key, r.access);
    row[4..8].copy_from_slice(&r.pd.to_le_bytes());
    row[8..16].copy_from_slice(&r.base.to_le_bytes());
    row[16..24].copy_from_slice(&r.length.to_le_bytes());
    row[24..32].copy_from_slice(&r.iova.to_le_bytes());
    row
}

fn flow_row(r: &Row, log2: u8) -> [u8; 64] {
    let mut row = [0; 64];
    row[0] = u8::from(r.markers) | u8::from(r.crc) << 1 | 4 | u8::from(r.carries) << 6;
    (row[1], row[2]) = (log2, r.epoch);
    row[4..8].copy_from_slice(&r.pd.to_le_bytes());
    row[8..12].copy_from_slice(&r.marker_base.to_le_bytes());
    let base = RINGS + ((r.ring as u64) << RING_BITS);
    row[16..24].copy_from_slice(&base.to_le_bytes());
    row
}

/// The ring and its slots that a read takes, if it may.
fn elements(rings: &[Ring], addr: u64, bytes: usize) -> Result<(usize, usize, usize), String> {
    let at = addr.wrapping_sub(RINGS);
    let (ring, into) = ((at >> RING_BITS) as usize, (at & 0xffff) as usize);
    let (slot, count) = (into / 64, bytes / 64);
    let whole = into % 64 == 0 && bytes % 64 == 0 && count > 0;
    let known = rings
        .get(ring)
        .filter(|r| whole && slot + count <= r.slots.len());
    let known = known.ok_or(format!("a read of {bytes} bytes at {addr:#x}"))?;
    if known.dead {
        return Err("a read of a receive queue that was taken away behind a fence".into());
    }
    if known.slots[slot..][..count].iter().any(|s| s.is_none()) {
        return Err("a read of elements that were not posted".into());
    }
    Ok((ring, slot, count))
}

fn new_ring(rng: &mut Rng, r: &mut Reference, least: u32) -> usize {
    let log2 = rng
        .u8(0..6)
        .max(least.next_power_of_two().trailing_zeros() as u8);
    r.rings.push(Ring {
        log2,
        slots: vec![None; 1 << log2],
        retired: None,
        dead: false,
    });
    r.rings.len() - 1
}

/// Few, so that the same ones are met again.
const ISLANDS: [u8; 3] = [0, 5, 7];

/// Of what came, over all seeds.
#[derive(Default)]
struct Seen {
    kinds: BTreeMap<u16, u32>,
    stops: [u32; 4],
    fences: u32,
    /// Segments whose last FPDU was carried; that had no room for it.
    carried: [u64; 2],
    /// Beyond a gap: whole; stopped before the first FPDU, or before another one.
    beyond: [u32; 3],
    /// Messages beyond a gap: islands joined, and passed in order where they met, or did not.
    islands: [u32; 3],
    /// Segments of one FPDU of flows that carry, which did not wait.
    alone: u32,
}

macro_rules! rx_walk_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            fn check(run: &Run, wanted: u64, all: &mut Seen) -> Result<(), Box<dyn Error>> {
                let mut rng = run.seed.rng("test");
                let mut sim = run.sim::<$design::Model>();
                let mut r = Reference::new(FLOWS, STAGS);
                let smooth = rng.u8(0..3) == 0;
                let mut paces = [(); 8].map(|()| {
                    let stall = if smooth { Stall::Never } else { Stall::any(&mut rng) };
                    Pace::new(stall, rng.fork())
                });
                let used = [1, 2, 4, 12][rng.usize(0..4)];
                let latency = [1, 20, 300][rng.usize(0..3)];
                let busy_tables = [20, 200, 2000][rng.usize(0..3)];
                sim.reset(3);
                // ---- the first rows, and rings
                let mut accesses: VecDeque<Access> = (1..STAGS)
                    .map(|n| Access::Write(n, any_region(&mut rng, n)))
                    .collect();
                let mut accessing = false;
                let mut flows: Vec<Flow> = (0..used)
                    .map(|n| {
                        let markers = rng.bool();
                        let seq: u32 = [rng.u32(..), 0xffff_f000][rng.usize(0..2)] & !3;
                        let msn = [1, rng.u32(..), u32::MAX - 3][rng.usize(0..3)];
                        let ring = new_ring(&mut rng, &mut r, 1);
                        Flow {
                            row: Row {
                                markers,
                                crc: rng.u8(0..4) != 0,
                                epoch: rng.u8(..),
                                pd: 7 + n as u32 % 2,
                                marker_base: seq.wrapping_sub(4 * rng.u32(0..256)),
                                ring,
                                carries: n < CARRIES && rng.bool(),
                            },
                            seq,
                            rest: vec![],
                            msn,
                            mo: 0,
                            done_msn: msn,
                            posted: msn.wrapping_sub(1),
                            in_walk: 0,
                            held: 0,
                            position: (msn, 0),
                            place: 0,
                            rings: vec![ring],
                        }
                    })
                    .collect();
                let mut tails: VecDeque<usize> = (0..used).collect();
                let mut ready = false;
                let mut offer: Option<Offer> = None;
                let mut made = 0;
                let mut started = 0;
                let mut payloads: VecDeque<Payload> = VecDeque::new();
                let mut op_since = None;
                let mut run_bytes: Vec<u8> = vec![];
                let mut run_since = None;
                let mut runs: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
                let mut place_since = None;
                let mut reads: VecDeque<Read> = VecDeque::new();
                let mut landings: VecDeque<Landing> = VecDeque::new();
                let mut fences: VecDeque<(u64, u32)> = VecDeque::new();
                let mut fence_number = rng.u32(..) / 2;
                let (mut fence_done, mut ended) = (0, 0u64);
                let (mut flush_last, mut flushed) = (None, 0);
                let mut counts = [0u64; reference::COUNTERS];
                let mut quiet = 0;
                let (mut left, mut dropped) = (None, 0);
                loop {
                    sim.step();
                    let now = sim.cycle();
                    let (i, o) = (&mut sim.inputs, &sim.outputs);
                    if now > 60_000 + 4_000 * wanted {
                        let open = r.segments.len();
                        return Err(format!("stuck: {made} made, {open} in the walk").into());
                    }
                    for (count, inc) in counts.iter_mut().zip(o.cnt_inc.chunks(2)) {
                        *count += u64::from(u16::from_le_bytes([inc[0], inc[1]]));
                    }
                    // ---- tables: first, so that what is seen now may be by them
                    if i.tbl_req_valid && o.tbl_req_ready {
                        if let Some(Access::Write(index, row)) = accesses.front() {
                            r.regions[*index].set(now, *row);
                        }
                        i.tbl_req_valid = false;
                    }
                    if o.tbl_rsp_valid {
                        let access = accesses.pop_front().ok_or("an answer to nothing")?;
                        accessing = false;
                        let (refused, row) = match access {
                            Access::Write(..) => (false, None),
                            Access::Read(index) => (false, Some(region_row(&r.regions[index].now()))),
                            Access::Refused(..) => (true, None),
                        };
                        if refused != o.tbl_refused || row.is_some_and(|row| row != o.tbl_row) {
                            return Err(format!("refused {} {:x?}, should be {refused} {row:x?}", o.tbl_refused, o.tbl_row).into());
                        }
                    }
                    if i.rq_tail_valid {
                        r.tails[usize::from(i.rq_tail_flow)].set(now, i.rq_tail_value);
                        i.rq_tail_valid = false;
                    }
                    // ---- payload taken
                    if i.pl_valid && o.pl_ready {
                        let p = payloads.front_mut().ok_or("no payload")?;
                        p.at = (p.at + $bytes).min(p.bytes.len());
                        r.fed.entry(p.number).or_default().push((now, p.at));
                        if p.at == p.bytes.len() {
                            payloads.pop_front();
                        }
                        i.pl_valid = false;
                    }
                    // ---- starts
                    if i.start_valid && o.start_ready {
                        let Offer { mut segment, eager } = offer.take().ok_or("no offer")?;
                        segment.started = now;
                        let flow = &mut flows[segment.flow];
                        flow.in_walk += 1;
                        flow.place = i.start_place;
                        started += 1;
                        if !eager {
                            payloads.push_back(Payload {
                                number: segment.number,
                                bytes: segment.bytes.clone(),
                                at: 0,
                            });
                        }
                        r.start(segment);
                    }
                    i.start_valid = false;
                    // ---- what comes out: operations, then the end of their segment
                    if o.op_valid {
                        let shown = *op_since.get_or_insert(now);
                        if i.op_ready {
                            op_since = None;
                            let started = r.segments.front().map_or(0, |s| s.started);
                            r.op(Op {
                                is_report: o.op_is_report,
                                last: o.op_last,
                                record: o.op_record,
                                iova: o.op_iova,
                                bytes: usize::from(o.op_bytes),
                                shown,
                            })?;
                            if !o.op_is_report && o.op_last {
                                landings.push_back(Landing {
                                    started,
                                    colour: o.op_colour,
                                    due: now + rng.u64(1..2 * latency + 2),
                                });
                            }
                        }
                    } else if op_since.is_some() {
                        return Err("an operation was withdrawn".into());
                    }
                    if o.done_valid {
                        let done = Done {
                            stop: o.done_stop,
                            len: o.done_len,
                            engine: o.done_engine,
                            msn: o.done_msn,
                            mo: o.done_mo,
                        };
                        let segment = r.done(done)?;
                        let flow = &mut flows[segment.flow];
                        // Behind islands that did not meet somebody else finds out, and gives the flow back.
                        let lost = done.msn.wrapping_sub(flow.posted) as i32 > 1;
                        let done = match lost {
                            true => Done { msn: flow.posted.wrapping_add(1), mo: 0, ..done },
                            false => done,
                        };
                        flow.in_walk -= 1;
                        flow.done_msn = done.msn;
                        flow.position = (done.msn, done.mo);
                        let waits = offer.as_mut().filter(|o| o.segment.flow == segment.flow);
                        (left, flow.held) = match done.stop {
                            0 => (None, 0),
                            _ => (Some(segment.flow), now + ATTACHES),
                        };
                        if flow.in_walk == 0 && done.stop == 0 && !flow.row.carries {
                            match waits {
                                Some(o) => (o.segment.msn, o.segment.mo) = (done.msn, done.mo),
                                None => (flow.msn, flow.mo) = (done.msn, done.mo),
                            }
                        } else if flow.in_walk == 0 && done.stop != 0 {
                            flow.rest.clear();
                            // Somebody else has walked on, and gives the flow back.
                            (flow.msn, flow.mo) = (done.msn, done.mo);
                            if rng.bool() {
                                (flow.msn, flow.mo) = (flow.msn.wrapping_add(1), 0);
                            }
                            flow.seq = (segment.seq & !3).wrapping_add(4 * rng.u32(0..2000));
                            // What came meanwhile took an element, which had been posted for it: it may still be read.
                            let taken = flow.msn.wrapping_sub(flow.posted).wrapping_sub(1);
                            if taken as i32 > 0 && flow.post(&mut rng, &mut r, taken) {
                                tails.push_back(segment.flow);
                            }
                            flow.done_msn = flow.msn;
                            flow.position = (flow.msn, flow.mo);
                            if waits.is_some() {
                                (offer, dropped) = (None, now);
                            }
                        }
                    }
                    i.left_valid = left.is_some();
                    i.left_flow = left.take().unwrap_or_default() as u16;
                    // ---- placed payload
                    if o.place_valid {
                        let since = *place_since.get_or_insert(now);
                        run_since.get_or_insert(since);
                        let count = usize::from(o.place_count);
                        if count == 0 || count > $bytes || (!o.place_last && count != $bytes) {
                            return Err(format!("a beat of {count} bytes").into());
                        }
                        if i.place_ready {
                            place_since = None;
                            run_bytes.extend(&o.place_data[..count]);
                            if o.place_last {
                                let since = run_since.take().unwrap_or(now);
                                runs.push_back((since, std::mem::take(&mut run_bytes)));
                            }
                        }
                    } else if place_since.is_some() {
                        return Err("placed payload was withdrawn".into());
                    }
                    while !runs.is_empty() && !r.runs.is_empty() {
                        let (Some((since, bytes)), Some(should)) = (runs.pop_front(), r.runs.pop_front()) else {
                            break;
                        };
                        if bytes != should.bytes {
                            let at = bytes.iter().zip(&should.bytes).position(|(a, b)| a != b);
                            return Err(format!("placed {} bytes, should be {}; differ at {at:?}", bytes.len(), should.bytes.len()).into());
                        }
                        if since < should.from {
                            return Err("placed payload before its FPDU was there".into());
                        }
                    }
                    // ---- receive elements
                    if o.el_req_valid && i.el_req_ready {
                        let (addr, bytes) = (o.el_req_addr, usize::from(o.el_req_bytes));
                        elements(&r.rings, addr, bytes)?;
                        reads.push_back(Read {
                            accepted: now,
                            addr,
                            bytes,
                            at: 0,
                            due: now + rng.u64(1..latency + 1),
                        });
                    }
                    if i.el_rsp_valid && o.el_rsp_ready {
                        i.el_rsp_valid = false;
                        let read = reads.front_mut().ok_or("no read")?;
                        read.at += $bytes;
                        if read.at == read.bytes {
                            reads.pop_front();
                        }
                    }
                    // ---- fences
                    if o.fence_done != fence_done {
                        fence_done = o.fence_done;
                        let place = fences.iter().position(|f| f.1 == fence_done);
                        let at = fences[place.ok_or("the end of no fence")?].0;
                        fences.drain(..=place.unwrap_or(0));
                        all.fences += 1;
                        ended += 1;
                        let inside = r.segments.iter().any(|s| s.started < at);
                        let landing = landings.iter().any(|l| l.started < at);
                        let reading = reads.iter().any(|read| read.accepted < at);
                        if inside || landing || reading {
                            return Err(format!("a fence ended with segments {inside} placements {landing} reads {reading} from before").into());
                        }
                        for (n, ring) in r.rings.iter_mut().enumerate() {
                            if ring.retired.is_some_and(|f| f <= fence_done) && !ring.dead {
                                ring.dead = true;
                                flows.iter_mut().for_each(|f| f.rings.retain(|k| *k != n));
                            }
                        }
                    }
                    let open = !r.segments.is_empty() && r.segments[0].started + 8 < now;
                    if o.idle && (open || !reads.is_empty()) {
                        return Err("idle, and is not".into());
                    }

                    // ================================================ the next cycle
                    i.op_ready = paces[0].next(o.op_valid);
                    i.place_ready = paces[1].next(o.place_valid);
                    i.el_req_ready = paces[2].next(o.el_req_valid);
                    // ---- tables
                    let begun = ready;
                    ready |= accesses.is_empty();
                    if accesses.is_empty() && made < wanted && rng.u32(0..busy_tables) == 0 {
                        let index = rng.usize(1..STAGS);
                        let row = r.regions[index].now();
                        match rng.u8(0..8) {
                            0 => accesses.push_back(Access::Read(rng.usize(0..STAGS))),
                            1 => accesses.push_back(Access::Refused(STAG, STAGS as u32)),
                            2 => accesses.push_back(Access::Refused(rng.u8(6..16), 1)),
                            3 => accesses.push_back(Access::Write(0, any_region(&mut rng, 0))),
                            // Taken away; and given back with another key.
                            4 | 5 if row.valid => accesses.push_back(Access::Write(index, Region { valid: false, ..row })),
                            _ => accesses.push_back(Access::Write(index, any_region(&mut rng, index))),
                        }
                    }
                    if !accessing {
                        if let Some(access) = accesses.front() {
                            (i.tbl_number, i.tbl_write, i.tbl_index, i.tbl_row) = match access {
                                Access::Write(n, row) => (STAG, true, *n as u32, region_row(row)),
                                Access::Read(n) => (STAG, false, *n as u32, [0; 64]),
                                Access::Refused(number, n) => (*number, rng.bool(), *n, [0; 64]),
                            };
                            (i.tbl_req_valid, accessing) = (true, true);
                        }
                    }
                    // ---- receive queues: elements posted, rings exchanged
                    if rng.u8(0..16) == 0 {
                        let flow = rng.usize(0..used);
                        if flows[flow].post(&mut rng, &mut r, 4) {
                            tails.push_back(flow);
                        }
                    }
                    // Not while the tables clear themselves: such a doorbell may be lost.
                    if let Some(flow) = ready.then(|| tails.pop_front()).flatten() {
                        i.rq_tail_valid = true;
                        i.rq_tail_flow = flow as u16;
                        i.rq_tail_value = flows[flow].posted;
                    }
                    let rows_before: Vec<Row> = flows.iter().map(|f| f.row).collect();
                    i.el_flush = false;
                    i.fence_valid = false;
                    if begun && rng.u16(0..500) == 0 && made < wanted && now >= flushed + ROWS_APART {
                        let n = rng.usize(0..used);
                        let flow = &mut flows[n];
                        let open = flow.posted.wrapping_sub(flow.done_msn).wrapping_add(1);
                        if flow.rings.len() == 1 && (open as i32) >= 0 {
                            let ring = new_ring(&mut rng, &mut r, open.max(1));
                            // All that is open is posted there as well, as other elements.
                            let old = flow.row.ring;
                            (flow.row.ring, flow.rings) = (ring, vec![ring]);
                            let posted = flow.posted;
                            flow.posted = flow.done_msn.wrapping_sub(1);
                            flow.post(&mut rng, &mut r, open);
                            if flow.posted != posted {
                                return Err("the new ring is too small".into());
                            }
                            flow.rings.push(old);
                            flow.row.epoch = rng.u8(..);
                            (i.el_flush, i.el_flush_flow) = (true, n as u16);
                            flush_last = Some(old);
                            flushed = now;
                        }
                    } else if flush_last.is_some() || rng.u16(0..300) == 0 && begun {
                        fence_number += rng.u32(1..3);
                        (i.fence_valid, i.fence_number) = (true, fence_number);
                        fences.push_back((now + 1, fence_number));
                        if let Some(old) = flush_last.take() {
                            r.rings[old].retired = Some(fence_number);
                        }
                    }
                    i.landed = false;
                    if landings.front().is_some_and(|l| l.due <= now) {
                        if let Some(landing) = landings.pop_front() {
                            (i.landed, i.landed_colour) = (true, landing.colour);
                        }
                    }
                    if let Some(read) = reads.front().filter(|read| read.due <= now) {
                        if !i.el_rsp_valid && paces[3].start() {
                            let (ring, slot, count) = elements(&r.rings, read.addr, read.bytes)?;
                            let slots = &r.rings[ring].slots[slot..][..count];
                            let element = slots[read.at / 64].ok_or("not posted")?;
                            let mut bytes = [0; 64];
                            for (sge, to) in element.sges.iter().zip(bytes.chunks_mut(16)) {
                                to[..8].copy_from_slice(&sge.to.to_le_bytes());
                                to[8..12].copy_from_slice(&sge.length.to_le_bytes());
                                to[12..].copy_from_slice(&sge.stag.to_le_bytes());
                            }
                            i.el_rsp_data.copy_from_slice(&bytes[read.at % 64..][..$bytes]);
                            i.el_rsp_last = read.at + $bytes == read.bytes;
                            i.el_rsp_error = i.el_rsp_last && slots.iter().flatten().any(|e| e.bad);
                            i.el_rsp_valid = true;
                        }
                    }
                    // ---- segments
                    if offer.is_none() && now > dropped && ready && made < wanted && tails.is_empty() {
                        let n = rng.usize(0..used);
                        let flow = &mut flows[n];
                        // Chained, or the only one in the walk.
                        if now >= flow.held && (flow.in_walk == 0 || rng.u8(0..4) != 0) {
                            if flow.posted.wrapping_sub(flow.msn) as i32 <= 0
                                && rng.u8(0..30) != 0
                                && flow.post(&mut rng, &mut r, 3)
                            {
                                tails.push_back(n);
                            }
                            let (seq, msn, mo) = (flow.seq, flow.msn, flow.mo);
                            let beyond = !flow.row.carries && rng.bool();
                            let certain = beyond && (!flow.row.markers || rng.bool());
                            if beyond && flow.post(&mut rng, &mut r, 2) {
                                tails.push_back(n);
                            }
                            let mut island = || {
                                let island = ISLANDS[rng.usize(0..ISLANDS.len())];
                                let is_written = |s: &Segment| s.flow == n && s.beyond && s.island == island;
                                let is_there = r.edges.contains_key(&(n, island)) && !r.segments.iter().any(is_written);
                                is_there.then_some(island)
                            };
                            let (left, right) = (island().filter(|_| beyond), island());
                            let right = right.filter(|right| Some(*right) != left && !flow.row.carries);
                            let edges = |island: Option<u8>| island.and_then(|island| r.edges.get(&(n, island)));
                            let (left_edges, right_edges) = (edges(left).copied(), edges(right).copied());
                            if beyond {
                                let first = match left_edges.and_then(|edges| edges.queue) {
                                    Some((_, next)) => next,
                                    None => (msn.wrapping_add([0, 0, 0, 0, 0, 1, 2, u32::MAX, 5 << 28, 7 << 28][rng.usize(0..10)]), [mo, 0][rng.usize(0..2)]),
                                };
                                (flow.msn, flow.mo) = first;
                            }
                            let meets_here = right_edges.and_then(|edges| edges.queue).is_some_and(|queue| queue.0 == (flow.msn, flow.mo));
                            let what = match (beyond, meets_here) {
                                (true, _) => What::Early,
                                (false, true) => What::Tagged,
                                (false, false) => What::Any,
                            };
                            let bytes = flow.segment(&mut rng, &r, what);
                            if beyond {
                                (flow.msn, flow.mo) = (msn, mo);
                            } else if let Some((Edges { queue: Some((first, next)), torn }, false)) = right_edges.map(|edges| (edges, flow.row.carries)) {
                                let meets = !torn && first == (flow.msn, flow.mo);
                                (flow.msn, flow.mo) = (next.0.wrapping_add(if meets { 0 } else { 1 << 30 }), next.1);
                            }
                            let eager = flow.in_walk == 0 && !flow.row.carries && rng.bool();
                            let fin = rng.u8(0..30) == 0;
                            if eager {
                                payloads.push_back(Payload { number: made, bytes: bytes.clone(), at: 0 });
                            }
                            let (row, chained) = (flow.row, false);
                            let segment = Segment {
                                number: made,
                                flow: n,
                                row,
                                fin,
                                seq,
                                bytes,
                                carried: 0,
                                kept: false,
                                chained,
                                beyond,
                                certain,
                                left,
                                right,
                                island: ISLANDS[rng.usize(0..ISLANDS.len())],
                                msn,
                                mo,
                                started: 0,
                            };
                            offer = Some(Offer { segment, eager });
                            made += 1;
                        }
                    }
                    i.start_wanted = false;
                    if let Some(Offer { segment, .. }) = &mut offer {
                        // Given with the row of this cycle; in the cycle in which it is written it is the one before.
                        let flow = &flows[segment.flow];
                        i.start_wanted = flow.row.carries && now >= flow.held && rng.u8(0..20) != 0;
                        let stood = i.start_flow == segment.flow as u16;
                        i.start_flow = segment.flow as u16;
                        i.start_alone = segment.is_alone();
                        let may = match i.start_alone && flow.row.carries {
                            true => stood,
                            false => i.start_wanted || !flow.row.carries,
                        };
                        let starts = paces[4].start() && may;
                        all.alone += u32::from(starts && i.start_alone && !i.start_wanted);
                        if i.start_wanted || starts {
                            let row = rows_before[segment.flow];
                            segment.row = row;
                            segment.chained = flow.in_walk != 0;
                            if row.carries {
                                (segment.msn, segment.mo) = flow.position;
                            }
                            i.start_valid = starts;
                            (i.start_carries, i.start_fin) = (row.carries, segment.fin);
                            i.start_chained = segment.chained;
                            (i.start_beyond, i.start_certain) = (segment.beyond, segment.certain);
                            let touch = |island: Option<u8>| island.map_or(0, |island| 8 | island);
                            (i.start_left, i.start_right) = (touch(segment.left), touch(segment.right));
                            i.start_island = segment.island;
                            (i.start_behind, i.start_place) = (flow.place, (started % PLACES) as u8);
                            i.start_seq = segment.seq;
                            i.start_len = segment.bytes.len() as u16;
                            i.start_row = flow_row(&row, r.rings[row.ring].log2);
                            (i.start_msn, i.start_mo) = match segment.chained {
                                true => (rng.u32(..), rng.u32(..)),
                                false => (segment.msn, segment.mo),
                            };
                        }
                    }
                    if let Some(p) = payloads.front().filter(|_| !i.pl_valid) {
                        if paces[5].start() {
                            let rest = &p.bytes[p.at..];
                            let count = rest.len().min($bytes);
                            i.pl_data.fill_with(|| rng.u8(..));
                            i.pl_data[..count].copy_from_slice(&rest[..count]);
                            i.pl_count = count as _;
                            i.pl_last = rest.len() <= $bytes;
                            i.pl_valid = true;
                        }
                    }
                    // ---- the end
                    let over = made == wanted
                        && offer.is_none()
                        && r.segments.is_empty()
                        && payloads.is_empty()
                        && landings.is_empty()
                        && fences.is_empty()
                        && tails.is_empty()
                        && accesses.is_empty()
                        && flush_last.is_none();
                    quiet = if over && o.idle && !i.fence_valid { quiet + 1 } else { 0 };
                    if quiet > 40 {
                        break;
                    }
                }
                if !runs.is_empty() || !r.runs.is_empty() || !run_bytes.is_empty() {
                    return Err("placements and payload do not match".into());
                }
                if std::mem::take(&mut counts[CNT_FENCES]) != ended {
                    return Err("fences were not counted".into());
                }
                (counts[CNT_STALL_ELEMENT], counts[CNT_STALL_CARRY]) = (0, 0);
                if counts != r.counts {
                    return Err(format!("counted {counts:?}\nshould be {:?}", r.counts).into());
                }
                all.carried[0] += r.counts[reference::CARRIED];
                let [first, other] = r.strayed;
                all.beyond.iter_mut().zip([r.beyond, first, other]).for_each(|(all, n)| *all += n);
                let [met, torn] = r.passed;
                all.islands.iter_mut().zip([r.joined, met, torn]).for_each(|(all, n)| *all += n);
                all.carried[1] += r.counts[reference::CARRY_FULL];
                for (kind, n) in &r.seen {
                    *all.kinds.entry(*kind).or_default() += n;
                }
                all.stops.iter_mut().zip(r.stops).for_each(|(all, n)| *all += n);
                Ok(())
            }

            #[test]
            fn every_byte_and_report_under_pressure_and_tables_written_all_the_while() {
                let seen = std::cell::RefCell::new(Seen::default());
                // Environment (tests): `WEFT_BENCH_SEEDS`: receive walk and transmit alone (`rx_walk`, `weft_tx`): how many seeds at each width.
                // Without it: 16.
                let asked = std::env::var("WEFT_BENCH_SEEDS").ok();
                let seeds = asked.and_then(|n| n.parse().ok()).unwrap_or(16);
                replay(concat!("rx_walk_", $bytes), 0..seeds, |run| {
                    check(run, 200, &mut seen.borrow_mut())
                });
                let seen = seen.into_inner();
                let (kinds, stops, fences) = (seen.kinds, seen.stops, seen.fences);
                let [carried, full] = seen.carried;
                let (beyond, islands) = (seen.beyond, seen.islands);
                println!("{kinds:x?} {stops:?} {fences} fences, {carried} carried, {full} had no room, {beyond:?} beyond a gap, {islands:?} islands of messages, {} did not wait", seen.alone);
                if std::env::var_os("RTL_SIM_SEED").is_none() && seeds >= 16 {
                    // Every error of the table in docs/card.md, every end of a walk.
                    assert!(kinds.len() == 19, "what came: {kinds:x?}");
                    assert!(stops.iter().all(|n| *n > 10) && fences > 100);
                    assert!(carried > 100 && full > 0);
                    assert!(beyond.iter().all(|n| *n > 10) && seen.alone > 100);
                    assert!(islands.iter().all(|n| *n > 0));
                }
            }
        }
    };
}

rx_walk_tests!(bits_128, rx_walk_128, 16);
rx_walk_tests!(bits_512, rx_walk_512, 64);

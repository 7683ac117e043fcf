//! The receive front alone, under random back-pressure and with its tables written all the while. The walk, the output and the host are here;
//! what has to come out is told by an account that shares nothing with it (`reference`).

mod frames;
mod rate;
mod reference;

use fastrand::Rng;
use frames::{Frame, Tcp, ACK, FIN, MTU, RST, STATION, SYN, URG};
use reference::{places, Close, Done, Position, Reference, Row, FLOWS, KEEPS, KEYS, SEEN};
use rtl_sim::axis::Source;
use rtl_sim::{replay, Pace, Run, Seed, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_layout::table::{ATTACH, FLOW_KEY, FLOW_RX};
use weft_layout::{AttachRow, FlowKeyRow, FlowRxRow};
use weft_module_tests::{rx_front_128, rx_front_512};

const STORE: usize = 4096;
const QUEUE: usize = 16;
/// Flows with a key.
const USED: usize = 5;
/// Bytes of the longest frame of a chain.
const FRAME: usize = 500;
/// Cycles from a table request to its answer.
const ANSWER: u64 = 8;
/// Cycles after which the card sees that the host has freed a raw slot.
const ROOM_LATE: usize = 3;

/// A frame on its way to the store, and the fullest the store has been since it was sent.
struct Arriving {
    frame: Frame,
    fullest: usize,
}

/// What comes.
#[derive(Clone, Copy)]
enum Traffic {
    /// All sorts of frames, from all flows.
    Any,
    /// Of some flows one segment after the other, so that the walk is long; one out of so many does not end whole.
    Chains,
    /// The same with segments that come before others, twice, or with some of others in them.
    Gaps,
}

/// Payload on its way into the walk.
struct Payload {
    number: u32,
    bytes: Vec<u8>,
    at: usize,
}

/// What the sender of a flow does next.
struct Sender {
    key: [u8; 12],
    seq: u32,
    ts: u32,
    /// What comes before it, in the order in which it comes.
    later: VecDeque<(u32, usize)>,
}

enum Access {
    Key(usize, Option<([u8; 12], usize)>),
    Row(usize, Row),
    Attach(usize, Position),
    Read(usize),
}

fn attach_row(p: &Position) -> [u8; 64] {
    let row = AttachRow {
        raw_seen: p.raw_seen.into(),
        rcv_nxt: p.rcv_nxt,
        msn: p.msn,
        ts_recent: p.ts_recent,
        window: p.window,
        ..AttachRow::default()
    };
    row.with_attached(p.attached)
        .with_freshen(p.freshens)
        .with_ts_recent_valid(p.ts_valid)
        .to_bytes()
}

impl Access {
    fn words(&self) -> (u8, bool, u32, [u8; 64]) {
        match self {
            Access::Key(place, row) => {
                let row = row.map_or(FlowKeyRow::default(), |(key, flow)| FlowKeyRow {
                    valid: FlowKeyRow::VALID,
                    flow: flow as u16,
                    remote_ip: [key[0], key[1], key[2], key[3]],
                    local_ip: [key[4], key[5], key[6], key[7]],
                    remote_port: [key[8], key[9]],
                    local_port: [key[10], key[11]],
                });
                (FLOW_KEY, true, *place as u32, row.to_bytes())
            }
            Access::Row(flow, row) => {
                let row = FlowRxRow {
                    flags: FlowRxRow::CRC | row.flags,
                    epoch: row.epoch,
                    ..FlowRxRow::default()
                }
                .with_valid(row.valid)
                .with_timestamps(row.timestamps);
                (FLOW_RX, true, *flow as u32, row.to_bytes())
            }
            Access::Attach(flow, position) => (ATTACH, true, *flow as u32, attach_row(position)),
            Access::Read(flow) => (ATTACH, false, *flow as u32, [0; 64]),
        }
    }
}

fn any_position(rng: &mut Rng, sender: &Sender, raw_tail: u32) -> Position {
    Position {
        attached: rng.u8(0..4) != 0,
        ts_valid: rng.bool(),
        freshens: rng.u8(0..4) == 0,
        raw_seen: if rng.u8(0..12) == 0 {
            rng.u16(..)
        } else {
            raw_tail.saturating_sub([0, 0, rng.u32(0..6)][rng.usize(0..3)]) as u16
        },
        rcv_nxt: sender.seq,
        msn: rng.u32(..),
        ts_recent: sender.ts,
        window: [0, 2000, 8000][rng.usize(0..3)],
        ..Position::default()
    }
}

/// A frame of one of the flows, nearly always the next, or something else.
fn any_frame(rng: &mut Rng, senders: &mut [Sender]) -> Frame {
    if rng.u8(0..12) == 0 {
        return frames::plain(rng);
    }
    let stranger = rng.u8(0..30) == 0;
    let sender = &mut senders[rng.usize(0..USED)];
    let len = match rng.u8(0..8) {
        0 => 0,
        1 => rng.usize(1..5),
        2..5 => rng.usize(1..200),
        _ => rng.usize(200..1100),
    };
    let mut tcp = Tcp {
        key: sender.key,
        seq: sender.seq,
        ack: rng.u32(..),
        window: rng.u16(..),
        flags: ACK | [0, 8][rng.usize(0..2)],
        ecn: rng.u8(0..8),
        payload: any_payload(rng, len),
        ..Tcp::default()
    };
    if stranger {
        tcp.key[rng.usize(0..12)] ^= 1 << rng.u8(0..8);
    }
    if rng.u8(0..3) != 0 {
        sender.ts = sender.ts.wrapping_add(rng.u32(0..2));
        let late = if rng.u8(0..20) == 0 {
            rng.u32(0..2) << 31 | rng.u32(0..3)
        } else {
            0
        };
        tcp.ts = Some((sender.ts.wrapping_sub(late), rng.u32(..)));
    } else if rng.u8(0..4) == 0 {
        tcp.sack = (0..rng.usize(1..=4))
            .map(|_| (rng.u32(..), rng.u32(..)))
            .collect();
    }
    let window = [2000u32, 8000][rng.usize(0..2)];
    match rng.u8(0..70) {
        0 => tcp.flags ^= ACK,
        1 => tcp.flags |= SYN,
        2 => tcp.flags |= RST,
        3 => tcp.flags |= URG,
        // The edges: wholly old or by all but one byte, the window's last byte and the one behind it.
        4 => {
            tcp.seq = sender
                .seq
                .wrapping_sub(len as u32)
                .wrapping_add(rng.u32(0..2))
        }
        5 => {
            tcp.seq = sender
                .seq
                .wrapping_sub(len as u32)
                .wrapping_add(window + rng.u32(0..2))
        }
        6 => tcp.seq = rng.u32(..),
        _ if !stranger => sender.seq = sender.seq.wrapping_add(len as u32),
        _ => {}
    }
    let options = if rng.u8(0..20) == 0 {
        4 * rng.usize(1..=10)
    } else {
        0
    };
    frames::segment(tcp, options, rng)
}

/// The next segment of one of the first flows, or a bare acknowledgment.
fn next_frame(rng: &mut Rng, senders: &mut [Sender], flows: usize) -> Frame {
    let sender = &mut senders[rng.usize(0..flows)];
    let len = match rng.u8(0..8) {
        0 => rng.usize(100..FRAME - 66),
        1 => 0,
        _ => rng.usize(1..60),
    };
    let seq = sender.seq;
    sender.seq = seq.wrapping_add(len as u32);
    data_frame(rng, sender, ACK, seq, len)
}

/// A segment of one of the first flows: the next of a stretch whose order is another one, or a bare acknowledgment.
fn gap_frame(rng: &mut Rng, senders: &mut [Sender], flows: usize) -> Frame {
    let sender = &mut senders[rng.usize(0..flows)];
    if rng.u8(0..10) == 0 {
        return data_frame(rng, sender, ACK, sender.seq, 0);
    }
    if sender.later.is_empty() {
        let mut pieces: Vec<(u32, usize)> = (0..rng.usize(1..48))
            .map(|_| {
                let piece = (sender.seq, rng.usize(1..60));
                sender.seq = piece.0.wrapping_add(piece.1 as u32);
                piece
            })
            .collect();
        match rng.u8(0..6) {
            0 => {}
            1 => rng.shuffle(&mut pieces),
            2 => pieces.reverse(),
            // Each second one comes first.
            3 => {
                let (second, first): (Vec<_>, Vec<_>) =
                    pieces.iter().enumerate().partition(|(n, _)| n % 2 == 1);
                pieces = second.into_iter().chain(first).map(|(_, p)| *p).collect();
            }
            _ => {
                let lost = pieces.remove(rng.usize(0..pieces.len()));
                pieces.insert(rng.usize(0..=pieces.len()), lost);
            }
        }
        for _ in 0..rng.usize(0..3) {
            // Again, as it was or with something more.
            let (seq, len) = pieces[rng.usize(0..pieces.len())];
            let more = if rng.bool() { 0 } else { rng.usize(1..3) };
            let again = (
                seq.wrapping_sub(more as u32),
                len + more + rng.usize(0..=more),
            );
            pieces.insert(rng.usize(0..=pieces.len()), again);
        }
        sender.later = pieces.into();
    }
    let (seq, len) = sender.later.pop_front().unwrap_or((sender.seq, 0));
    let flags = ACK | [0, FIN, URG][[0, 1, 2, 0][rng.usize(0..200).min(3)]];
    data_frame(rng, sender, flags, seq, len)
}

fn data_frame(rng: &mut Rng, sender: &mut Sender, flags: u8, seq: u32, len: usize) -> Frame {
    sender.ts = sender.ts.wrapping_add(rng.u32(0..2));
    let tcp = Tcp {
        key: sender.key,
        seq,
        flags,
        ts: Some((sender.ts, 0)),
        payload: any_payload(rng, len),
        ..Tcp::default()
    };
    loop {
        let frame = frames::segment(tcp.clone(), 0, rng);
        if frame.drop.is_none() && frame.tcp.is_some() {
            return frame;
        }
    }
}

macro_rules! rx_front_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            const BEATS: usize = STORE / $bytes;

            /// A packet whose close was taken: its beats are read, then given back.
            struct Leaving {
                frame: Frame,
                start: u16,
                stop: u16,
                read: Vec<u8>,
                asked: usize,
            }

            fn beats(frame: &Frame) -> usize {
                frame.bytes.len().div_ceil($bytes)
            }

            fn check(
                run: &Run,
                wanted: usize,
                traffic: Traffic,
            ) -> Result<[u32; SEEN], Box<dyn Error>> {
                let mut rng = run.seed.rng("test");
                let chains = !matches!(traffic, Traffic::Any);
                let (flows, breaks) = match traffic {
                    Traffic::Any => (USED, 0),
                    Traffic::Chains => (rng.usize(1..4), [2, 5, 20, 100][rng.usize(0..4)]),
                    Traffic::Gaps => (rng.usize(1..4), [5, 20, 100, 1000][rng.usize(0..4)]),
                };
                let mut sim = run.sim::<$design::Model>();
                let raw_log2 = if chains { 4 } else { rng.u8(1..5) };
                let reserve = rng.u32(0..3).min((1 << raw_log2) - 1);
                let mut reference = Reference::new(1 << raw_log2, reserve);
                let mut source = Source::<$bytes>::new(
                    if rng.bool() {
                        Stall::Never
                    } else {
                        Stall::any(&mut rng)
                    },
                    Seed(run.seed.0 + 1),
                );
                let pace = |rng: &mut Rng| Pace::new(Stall::any(rng), rng.fork());
                let mut paces = [(); 6].map(|()| pace(&mut rng));
                sim.inputs.mtu = MTU as u16;
                let mut mac = [0; 8];
                mac[..6].copy_from_slice(&STATION);
                sim.inputs.mac = u64::from_le_bytes(mac);
                sim.inputs.raw_count_log2 = raw_log2;
                sim.inputs.raw_reserve = reserve;
                sim.reset(3);
                let mut senders: Vec<Sender> = (0..USED)
                    .map(|_| {
                        let mut key = [0; 12];
                        rng.fill(&mut key);
                        Sender {
                            key,
                            seq: rng.u32(..),
                            ts: rng.u32(..),
                            later: VecDeque::new(),
                        }
                    })
                    .collect();
                // Near the wrap of both numbers.
                senders[0].seq = u32::MAX - 3000;
                senders[1].ts = u32::MAX - 10;
                let mut accesses: VecDeque<Access> = VecDeque::new();
                let mut taken = vec![];
                for (flow, sender) in senders.iter().enumerate() {
                    let (all, from) = (places(&sender.key), rng.usize(0..4));
                    let place = (from..from + 4)
                        .map(|n| all[n % 4])
                        .find(|place| !taken.contains(place))
                        .unwrap_or(all[from]);
                    taken.push(place);
                    let row = Row {
                        valid: true,
                        timestamps: flow % 2 == 1,
                        flags: match traffic {
                            Traffic::Gaps => KEEPS | FlowRxRow::MARKERS * rng.u8(0..2),
                            _ => any_flags(&mut rng),
                        },
                        epoch: flow as u8,
                    };
                    let position = Position {
                        attached: true,
                        rcv_nxt: sender.seq,
                        ts_recent: sender.ts,
                        ..Position::default()
                    };
                    accesses.push_back(Access::Key(place, Some((sender.key, flow))));
                    accesses.push_back(Access::Row(flow, row));
                    accesses.push_back(Access::Attach(flow, position));
                }
                let mut under_way: Option<(u64, bool)> = None;
                let mut arriving: VecDeque<Arriving> = VecDeque::new();
                // What is given back counts for some cycles more: the store tells late of what came.
                let mut freed: VecDeque<(u64, usize)> = VecDeque::new();
                let mut kept_beats = 0;
                let mut made = 0;
                let mut close_stands = false;
                let mut closing: Option<Frame> = None;
                let mut leaving: VecDeque<Leaving> = VecDeque::new();
                let mut reading = false;
                let mut raw_seen = 0u32;
                let mut heads = [0u32; 1 + ROOM_LATE];
                // The walk: what began, payload to come, what is to be told, whether the chain is broken.
                let mut payloads: VecDeque<Payload> = VecDeque::new();
                let (mut walks, mut told) = (0, 0);
                let mut dones: VecDeque<(Done, bool)> = VecDeque::new();
                let mut broken = [false; FLOWS];
                let (mut slow, mut silent) = (0, 0);
                loop {
                    sim.step();
                    let now = sim.cycle();
                    if now > 400_000 {
                        return Err(format!("stuck with {} open", reference.open()).into());
                    }
                    let (i, o) = (&mut sim.inputs, &sim.outputs);
                    // ---- the store
                    if freed.front().is_some_and(|f| f.0 + 4 <= now) {
                        kept_beats -= freed.pop_front().map_or(0, |f| f.1);
                    }
                    if o.stored_valid {
                        let a = arriving.pop_front().ok_or("a frame too many")?;
                        let why = (!o.stored_kept).then_some(o.stored_detail);
                        let full = why == Some(10);
                        if full {
                            // Two frames may have left the queue since.
                            let could = a.fullest + beats(&a.frame) > BEATS
                                || reference.waiting.len() + 2 >= QUEUE;
                            if !could || a.frame.drop.is_some() {
                                return Err("dropped, though there was room".into());
                            }
                        } else if why != a.frame.drop
                            && !(why == Some(8) && a.frame.drop == Some(9))
                        {
                            return Err(format!(
                                "{why:?}, should be {:?}: {:02x?}",
                                a.frame.drop, a.frame.bytes
                            )
                            .into());
                        }
                        if why.is_none() {
                            kept_beats += beats(&a.frame);
                            reference.waiting.push_back(a.frame);
                        }
                    }
                    // With what came, and before anything is given back.
                    for frame in &mut arriving {
                        frame.fullest = frame.fullest.max(kept_beats);
                    }
                    // ---- closes, then tables, then starts and what takes a slot: in this order they were decided
                    if o.close_valid && !close_stands {
                        let close = Close {
                            raw: o.close_raw,
                            report: o.close_report,
                            record: o.close_record,
                        };
                        closing = Some(reference.close(&close, heads[ROOM_LATE])?);
                    }
                    close_stands = o.close_valid && !i.close_ready;
                    if o.close_valid && i.close_ready {
                        let frame = closing.take().ok_or("a close without a frame")?;
                        leaving.push_back(Leaving {
                            frame,
                            start: o.close_start,
                            stop: o.close_stop,
                            read: vec![],
                            asked: 0,
                        });
                    }
                    if i.tbl_req_valid && o.tbl_req_ready {
                        under_way = under_way.map(|(at, _)| (at, true));
                        i.tbl_req_valid = false;
                    }
                    if let Some((at, _)) = under_way {
                        if now - at > ANSWER && reference.open() > 0 || now - at > 100 {
                            return Err("a table access that waits".into());
                        }
                    }
                    if o.tbl_rsp_valid {
                        let access = accesses.pop_front().ok_or("an answer to nothing")?;
                        under_way = None;
                        let good = match access {
                            Access::Key(place, row) => {
                                reference.keys[place] = row;
                                !o.tbl_refused
                            }
                            Access::Row(flow, row) => {
                                reference.rows[flow] = row;
                                !o.tbl_refused
                            }
                            Access::Attach(flow, row) => {
                                reference.attach(flow, row) != o.tbl_refused
                            }
                            Access::Read(flow) => {
                                let should = reference.read(flow);
                                if o.tbl_row != attach_row(&should) {
                                    return Err(format!(
                                        "flow {flow} {:02x?}, should be {should:?}",
                                        &o.tbl_row[..24]
                                    )
                                    .into());
                                }
                                true
                            }
                        };
                        if !good {
                            return Err("refused and should not be, or the other way round".into());
                        }
                    }
                    if o.enter {
                        reference.enter()?;
                    }
                    if o.start_valid {
                        if !i.start_ready {
                            return Err("a start that was not asked for".into());
                        }
                        let flow = usize::from(o.start_flow);
                        let len = usize::from(o.start_len);
                        let begun = (flow, o.start_seq, len, o.start_chained, o.start_beyond);
                        let markers = reference.rows[flow].flags & FlowRxRow::MARKERS != 0;
                        let certain = !markers || reference.is_behind_island(flow, o.start_seq);
                        if o.start_beyond && o.start_certain != certain {
                            return Err("whether an FPDU begins there is not told".into());
                        }
                        let payload = reference.start(begun, i.raw_head)?;
                        if o.start_alone != (!markers && is_one_fpdu(&payload)) {
                            return Err("one FPDU or not is not told".into());
                        }
                        reference.seen[23] += u32::from(o.start_alone);
                        if o.start_row[2] != reference.rows[flow].epoch {
                            return Err("a start with another row".into());
                        }
                        broken[flow] &= o.start_chained;
                        let stop = match traffic {
                            _ if broken[flow] => 3,
                            Traffic::Any => [0, 0, 0, 0, 0, 0, 1, 2][rng.usize(0..8)],
                            _ if rng.u32(0..breaks) == 0 => rng.u8(1..3),
                            _ => 0,
                        };
                        broken[flow] |= stop != 0;
                        let len = match stop {
                            0 => payload.len() as u16,
                            3 => 0,
                            _ => rng.u16(0..payload.len() as u16) & !3,
                        };
                        // What is not walked to its end may be told before all of it has passed.
                        let early = stop != 0 && rng.bool();
                        let done = Done {
                            stop,
                            len,
                            engine: rng.u8(0..4) == 0 && stop != 3,
                            msn: rng.u32(..),
                        };
                        dones.push_back((done, early));
                        payloads.push_back(Payload {
                            number: walks,
                            bytes: payload,
                            at: 0,
                        });
                        walks += 1;
                    }
                    if o.pl_valid && i.pl_ready {
                        let p = payloads.front_mut().ok_or("payload of nothing")?;
                        let count = usize::from(o.pl_count);
                        let rest = &p.bytes[p.at..];
                        // What is told of already may have given its space back; the walk throws the rest away.
                        let right = rest.len().min($bytes) == count
                            && (o.pl_data[..count] == rest[..count] || p.number < told)
                            && o.pl_last == (rest.len() <= $bytes);
                        if !right {
                            let (at, len) = (p.at, p.bytes.len());
                            return Err(format!("payload is wrong at {at} of {len}").into());
                        }
                        p.at += count;
                        if p.at == p.bytes.len() {
                            payloads.pop_front();
                        }
                    }
                    heads.rotate_right(1);
                    heads[0] = i.raw_head;

                    // ---- output: read the frame, give its space back
                    i.free_valid = false;
                    if reading {
                        if let Some(l) = leaving.front_mut() {
                            l.read.extend(&o.rd_data);
                        }
                        reading = false;
                    }
                    if i.rd_req && o.rd_grant {
                        reading = true;
                        if let Some(l) = leaving.front_mut() {
                            l.asked += 1;
                        }
                    }
                    i.rd_req = false;
                    slow = if slow == 0 && rng.u16(0..2000) == 0 {
                        rng.u32(200..1500)
                    } else {
                        slow.max(1) - 1
                    };
                    if let Some(l) = leaving.front().filter(|_| slow == 0) {
                        let all = beats(&l.frame);
                        if l.asked < all {
                            i.rd_req = paces[0].start();
                            i.rd_pos =
                                l.start.wrapping_add(l.asked as u16) & (2 * BEATS as u16 - 1);
                        } else if l.read.len() >= all * $bytes && paces[1].start() {
                            if l.read[..l.frame.bytes.len()] != l.frame.bytes {
                                return Err("the store has other bytes".into());
                            }
                            i.free_valid = true;
                            i.free_stop = l.stop;
                            freed.push_back((now, all));
                            leaving.pop_front();
                        }
                    }
                    // ---- the host frees raw slots, now and then none for long
                    if rng.u8(0..8) == 0 && slow == 0 {
                        raw_seen += rng.u32(0..=reference.raw_tail.wrapping_sub(raw_seen));
                        i.raw_head = raw_seen;
                    }
                    // ---- back-pressure
                    i.start_ready = paces[2].start();
                    i.pl_ready = paces[3].start();
                    i.close_ready = paces[4].start() && leaving.len() < 6;
                    // ---- the walk tells; where chains are wanted now and then nothing for long
                    i.done_valid = false;
                    silent = if silent == 0 && chains && rng.u8(0..100) == 0 {
                        rng.u32(20..300)
                    } else {
                        silent.max(1) - 1
                    };
                    if let Some((done, early)) = dones.front().copied().filter(|_| silent == 0) {
                        let passed = payloads.front().is_none_or(|p| p.number > told);
                        if (passed || early) && paces[5].start() {
                            dones.pop_front();
                            told += 1;
                            reference.done(done);
                            i.done_valid = true;
                            (i.done_stop, i.done_len) = (done.stop, done.len);
                            (i.done_engine, i.done_msn) = (done.engine, done.msn);
                        }
                    }
                    // ---- tables
                    if accesses.is_empty() && made < wanted {
                        match traffic {
                            Traffic::Any if rng.u8(0..60) == 0 => {
                                any_access(&mut rng, &mut accesses, &reference, &senders)
                            }
                            Traffic::Chains | Traffic::Gaps if rng.u8(0..20) == 0 => {
                                chain_access(&mut rng, &mut accesses, &reference, &senders, flows)
                            }
                            _ => {}
                        }
                    }
                    if under_way.is_none() {
                        if let Some(access) = accesses.front() {
                            let (number, write, index, row) = access.words();
                            (i.tbl_number, i.tbl_write, i.tbl_index, i.tbl_row) =
                                (number, write, index, row);
                            i.tbl_req_valid = true;
                            under_way = Some((now, false));
                        }
                    }
                    // ---- frames
                    let coming: usize = arriving.iter().map(|a| beats(&a.frame)).sum();
                    let fits = kept_beats + coming + FRAME.div_ceil($bytes) < BEATS
                        && reference.waiting.len() + arriving.len() + 3 < QUEUE;
                    // What the store dropped would end a chain.
                    let calm = !chains || fits;
                    if source.pending() < 3 && made < wanted && accesses.len() < 4 && calm {
                        let frame = match traffic {
                            Traffic::Any => any_frame(&mut rng, &mut senders),
                            Traffic::Chains => next_frame(&mut rng, &mut senders, flows),
                            Traffic::Gaps => gap_frame(&mut rng, &mut senders, flows),
                        };
                        source.push(&frame.bytes);
                        arriving.push_back(Arriving {
                            frame,
                            fullest: kept_beats,
                        });
                        made += 1;
                    }
                    source.cycle(&mut i.mac_rx, &o.mac_rx);
                    let all = made == wanted && source.is_idle() && arriving.is_empty();
                    if all
                        && reference.open() == 0
                        && leaving.is_empty()
                        && accesses.is_empty()
                        && !i.free_valid
                        && o.idle
                    {
                        break;
                    }
                }
                Ok(reference.seen)
            }

            /// What came in all runs.
            fn check_all(name: &str, runs: u64, wanted: usize, traffic: Traffic) -> [u32; SEEN] {
                let seen = std::cell::RefCell::new([0u32; SEEN]);
                replay(name, 0..runs, |run| {
                    let now = check(run, wanted, traffic)?;
                    let mut seen = seen.borrow_mut();
                    for (all, n) in seen.iter_mut().zip(now) {
                        *all += n;
                    }
                    Ok(())
                });
                seen.into_inner()
            }

            #[test]
            fn every_frame_under_pressure_and_tables_written_all_the_while() {
                let seen = check_all(concat!("rx_front_", $bytes), 12, 600, Traffic::Any);
                if std::env::var_os("RTL_SIM_SEED").is_none() {
                    assert!(seen[..8].iter().all(|n| *n > 10), "what came: {seen:?}");
                }
            }

            #[test]
            fn long_walks_that_break_and_flows_that_come_back() {
                let seen = check_all(
                    concat!("rx_front_chains_", $bytes),
                    24,
                    600,
                    Traffic::Chains,
                );
                if std::env::var_os("RTL_SIM_SEED").is_none() {
                    assert!(seen[8..15].iter().all(|n| *n > 100), "what came: {seen:?}");
                }
            }

            #[test]
            fn segments_beyond_gaps_and_what_fills_them() {
                let seen = check_all(concat!("rx_front_gaps_", $bytes), 24, 600, Traffic::Gaps);
                if std::env::var_os("RTL_SIM_SEED").is_none() {
                    assert!(seen[15..].iter().all(|n| *n > 10), "what came: {seen:?}");
                }
            }
        }
    };
}

/// Half of them begin with the length of an FPDU that is about as long.
fn any_payload(rng: &mut Rng, len: usize) -> Vec<u8> {
    let mut payload: Vec<_> = (0..len).map(|_| rng.u8(..)).collect();
    if len > 16 && rng.bool() {
        let length = (len - rng.usize(4..12)) as u16;
        payload[..2].copy_from_slice(&length.to_be_bytes());
    }
    payload
}

/// The payload is as long as the FPDU with which it begins, if it begins with one (RFC 5044 §4).
fn is_one_fpdu(payload: &[u8]) -> bool {
    let length = payload.first_chunk().map(|l| u16::from_be_bytes(*l));
    let whole = length.map(|l| (usize::from(l) + 2).next_multiple_of(4) + 4);
    whole == Some(payload.len())
}

/// Flags of a row, most of the time of one that keeps islands.
fn any_flags(rng: &mut Rng) -> u8 {
    let markers = FlowRxRow::MARKERS * rng.u8(0..2);
    markers
        | match rng.u8(0..8) {
            0 => 0,
            1 => KEEPS | FlowRxRow::CARRY,
            2 => KEEPS | FlowRxRow::CHECK_ONLY,
            _ => KEEPS,
        }
}

/// Something that the host does to a flow.
fn any_access(rng: &mut Rng, accesses: &mut VecDeque<Access>, r: &Reference, senders: &[Sender]) {
    let flow = rng.usize(0..senders.len());
    let sender = &senders[flow];
    match rng.u8(0..6) {
        0 => {
            // Moved: the new place first, then the old one.
            let from = (0..KEYS).find(|at| r.keys[*at].is_some_and(|row| row.1 == flow));
            let to = places(&sender.key)[rng.usize(0..4)];
            if let Some(from) = from.filter(|_| r.keys[to].is_none()) {
                accesses.push_back(Access::Key(to, r.keys[from]));
                accesses.push_back(Access::Key(from, None));
            }
        }
        1 => accesses.push_back(Access::Row(
            flow,
            Row {
                valid: rng.u8(0..8) != 0,
                timestamps: flow % 2 == 1,
                flags: any_flags(rng),
                epoch: rng.u8(..),
            },
        )),
        2 => accesses.push_back(Access::Read(rng.usize(0..FLOWS))),
        _ => {
            let row = any_position(rng, sender, r.raw_tail);
            accesses.push_back(Access::Attach(flow, row));
            accesses.push_back(Access::Read(flow));
        }
    }
}

/// The host gives a flow back that the card has left, from one of the segments that wait; now and then it takes one away.
fn chain_access(
    rng: &mut Rng,
    accesses: &mut VecDeque<Access>,
    r: &Reference,
    senders: &[Sender],
    flows: usize,
) {
    let flow = rng.usize(0..flows);
    let sender = &senders[flow];
    let now = r.read(flow);
    if now.attached {
        match rng.u8(0..20) {
            0 => {
                let row = Position {
                    attached: false,
                    raw_seen: rng.u16(..),
                    ..now
                };
                accesses.push_back(Access::Attach(flow, row));
                accesses.push_back(Access::Read(flow));
            }
            1 => any_access(rng, accesses, r, &senders[..flows]),
            2..5 => accesses.push_back(Access::Read(flow)),
            _ => {}
        }
        return;
    }
    let mut waiting = r.waiting.iter().filter_map(|frame| frame.tcp.as_ref());
    let next = waiting.find(|tcp| tcp.key == sender.key && rng.bool());
    let later = sender.later.iter().map(|piece| piece.0);
    let first = later.min_by_key(|seq| seq.wrapping_sub(sender.seq) as i32);
    let row = Position {
        attached: true,
        ts_valid: rng.bool(),
        freshens: false,
        raw_seen: r.raw_tail as u16,
        rcv_nxt: next.map_or(first.unwrap_or(sender.seq), |tcp| tcp.seq),
        msn: rng.u32(..),
        ts_recent: next.and_then(|tcp| tcp.ts).map_or(sender.ts, |ts| ts.0),
        window: [0, 8000][rng.usize(0..2)],
        ..Position::default()
    };
    accesses.push_back(Access::Attach(flow, row));
}

rx_front_tests!(bits_128, rx_front_128, 16);
rx_front_tests!(bits_512, rx_front_512, 64);

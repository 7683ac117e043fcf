//! What the receive front has to do, frame by frame: an account of its own of the tables, the walk and the raw ring.

use super::frames::{Frame, Tcp, ACK, FIN, RST, SYN, URG};
use std::collections::VecDeque;
use weft_layout::{refusal, report_kind, FlowRxRow, FrameReport, SegmentReport};

pub const FLOWS: usize = 16;
pub const KEYS: usize = 2 * FLOWS;
/// Segments in the walk at once.
const WALKS: usize = 8;
pub const SEEN: usize = 24;
/// Islands of a flow.
pub const ISLANDS: usize = 8;
/// Row flags that a flow with islands has, and those of which it has none.
pub const KEEPS: u8 = FlowRxRow::BEYOND;
const KEEPS_NOT: u8 = FlowRxRow::CARRY | FlowRxRow::CHECK_ONLY;

/// CRC32C bit by bit.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !crc
}

/// The rows in which a key may be.
pub fn places(key: &[u8; 12]) -> [usize; 4] {
    let hash = crc32c(key) as usize;
    let (low, high) = (hash % (FLOWS / 2) * 2, (hash >> 16) % (FLOWS / 2) * 2);
    [low, low + 1, FLOWS + high, FLOWS + high + 1]
}

/// A row of FLOW_RX, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub valid: bool,
    pub timestamps: bool,
    /// Other flags.
    pub flags: u8,
    pub epoch: u8,
}

/// A row of ATTACH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub attached: bool,
    /// Written only.
    pub freshens: bool,
    pub ts_valid: bool,
    /// Written: raw slots that the host has handled; read: behind the last one of the flow.
    pub raw_seen: u16,
    pub rcv_nxt: u32,
    pub msn: u32,
    pub ts_recent: u32,
    pub window: u32,
    /// Left and right edges of what was placed beyond a gap; the card's own.
    pub islands: [Option<(u32, u32)>; ISLANDS],
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// 0 whole, 1 partial, 2 error, 3 not walked.
    pub stop: u8,
    pub len: u16,
    pub engine: bool,
    pub msn: u32,
}

#[derive(Debug)]
struct Walking {
    frame: Frame,
    flow: usize,
    row: Row,
    /// Where it leaves the flow if it ends whole.
    after: Position,
    /// It is beyond a gap.
    beyond: bool,
    done: Option<Done>,
    /// Not walked: its report waits its turn.
    turn: Option<Turn>,
}

/// What is not walked, in the commit queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    /// Segments of its flow are in the walk before it.
    behind: bool,
    /// As its report has it: as judged, or as the last of these left the flow.
    attached: bool,
}

/// A close as it came.
#[derive(Debug)]
pub struct Close {
    pub raw: bool,
    pub report: bool,
    pub record: [u8; 64],
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Bare,
    Refused(u8),
    Bypass,
    Duplicate,
    Walk,
    Beyond,
    Leave,
}

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// The account.
pub struct Reference {
    pub keys: [Option<([u8; 12], usize)>; KEYS],
    pub rows: [Row; FLOWS],
    pub positions: [Position; FLOWS],
    kept: [Option<Position>; FLOWS],
    walking: VecDeque<Walking>,
    /// The flow of the walk that ended last, if it ended whole.
    left: Option<usize>,
    /// Kept by the store, not yet begun or closed.
    pub waiting: VecDeque<Frame>,
    pub raw_tail: u32,
    pub raw_slots: u32,
    pub reserve: u32,
    /// How often each verdict came: 0 plain, then as in [`Verdict`], 7 no slot. Segments of the walk: 8 chained, 9 the last for which it
    /// had room, 10 not whole with another of the flow behind. 11 waited its turn, 12 of these behind a walk that took the flow away.
    /// 13 chained to one that is not the youngest of all. 14 waited its turn though its flow was not the card's.
    /// Of islands: 15 walked beyond, 16 over an island, 17 no island free, 18 inside one, 19 overlapping one, 20 joined on both sides, 21 forgotten
    /// with a detach, 22 by an ATTACH. 23 one FPDU without markers.
    pub seen: [u32; SEEN],
}

impl Reference {
    pub fn new(raw_slots: u32, reserve: u32) -> Self {
        Self {
            keys: [None; KEYS],
            rows: Default::default(),
            positions: Default::default(),
            kept: [None; FLOWS],
            left: None,
            walking: VecDeque::new(),
            waiting: VecDeque::new(),
            raw_tail: 0,
            raw_slots,
            reserve,
            seen: [0; SEEN],
        }
    }

    pub fn in_walk(&self, flow: usize) -> bool {
        self.walked().any(|w| w.flow == flow)
    }

    /// The segments in the walk, without what waits its turn between them.
    fn walked(&self) -> impl DoubleEndedIterator<Item = &Walking> {
        self.walking.iter().filter(|w| w.turn.is_none())
    }

    /// Frames that have not been closed.
    pub fn open(&self) -> usize {
        self.walking.len() + self.waiting.len()
    }

    fn flow(&self, tcp: &Tcp) -> Option<usize> {
        let rows = places(&tcp.key).map(|place| self.keys[place]);
        let mut found = rows.into_iter().flatten();
        found.find(|row| row.0 == tcp.key).map(|row| row.1)
    }

    fn judge(tcp: &Tcp, row: Row, p: &Position) -> Verdict {
        let len = tcp.payload.len() as u32;
        if len == 0 || tcp.flags & (SYN | RST) != 0 {
            return Verdict::Bare;
        }
        if tcp.flags & ACK == 0 {
            return Verdict::Refused(refusal::NO_ACK);
        }
        if !row.valid || !p.attached {
            return Verdict::Bypass;
        }
        if row.timestamps && !tcp.ip_options {
            let Some((value, _)) = tcp.ts else {
                return Verdict::Refused(refusal::NO_TIMESTAMP);
            };
            if p.ts_valid && value.wrapping_sub(p.ts_recent) >= 1 << 31 {
                return Verdict::Refused(refusal::PAWS);
            }
        }
        let beyond = tcp.seq.wrapping_add(len).wrapping_sub(p.rcv_nxt) as i32;
        if beyond <= 0 {
            Verdict::Duplicate
        } else if p.window != 0 && i64::from(beyond) > i64::from(p.window) {
            Verdict::Refused(refusal::WINDOW)
        } else if tcp.flags & URG != 0 || tcp.ip_options {
            Verdict::Leave
        } else {
            Self::judge_place(tcp, row, p)
        }
    }

    fn keeps(row: Row) -> bool {
        row.flags & (KEEPS | KEEPS_NOT) == KEEPS
    }

    /// Next in sequence, beyond a gap, or neither.
    fn judge_place(tcp: &Tcp, row: Row, p: &Position) -> Verdict {
        let (seq, end) = (tcp.seq, tcp.seq.wrapping_add(tcp.payload.len() as u32));
        let keeps = Self::keeps(row);
        let any = |f: &dyn Fn(u32, u32) -> bool| p.islands.iter().flatten().any(|i| f(i.0, i.1));
        let meets = any(&|left, right| before(seq, right) && before(left, end));
        if seq == p.rcv_nxt {
            return if meets { Verdict::Leave } else { Verdict::Walk };
        }
        if !keeps || !before(p.rcv_nxt, seq) || tcp.flags & FIN != 0 {
            return Verdict::Leave;
        }
        let touches = any(&|left, right| right == seq || left == end);
        if any(&|left, right| !before(seq, left) && !before(right, end)) {
            Verdict::Duplicate
        } else if meets || (!touches && p.islands.iter().all(|i| i.is_some())) {
            Verdict::Leave
        } else {
            Verdict::Beyond
        }
    }

    /// Where a walk of it leaves the flow, if it ends whole.
    fn after(&mut self, tcp: &Tcp, row: Row, p: &Position, beyond: bool) -> Position {
        let end = tcp.seq.wrapping_add(tcp.payload.len() as u32);
        let mut after = *p;
        if beyond {
            let (mut island, mut joined) = ((tcp.seq, end), 0);
            for place in &mut after.islands {
                match *place {
                    Some((left, right)) if right == tcp.seq => (island.0, *place) = (left, None),
                    Some((left, right)) if left == end => (island.1, *place) = (right, None),
                    _ => continue,
                }
                joined += 1;
            }
            let free = after.islands.iter_mut().find(|i| i.is_none());
            *free.expect("an island is free") = Some(island);
            self.seen[15] += 1;
            self.seen[20] += u32::from(joined == 2);
            return after;
        }
        after.rcv_nxt = end.wrapping_add(u32::from(tcp.flags & FIN != 0));
        for place in &mut after.islands {
            if let Some((_, right)) = place.filter(|i| i.0 == after.rcv_nxt) {
                (after.rcv_nxt, *place) = (right, None);
                self.seen[16] += 1;
                break;
            }
        }
        if let Some((value, _)) = tcp.ts.filter(|_| row.timestamps) {
            (after.ts_recent, after.ts_valid) = (value, true);
        }
        after
    }

    fn meets(tcp: &Tcp, p: &Position) -> bool {
        let end = tcp.seq.wrapping_add(tcp.payload.len() as u32);
        let mut islands = p.islands.iter().flatten();
        islands.any(|(left, right)| before(tcp.seq, *right) && before(*left, end))
    }

    /// An island of the flow ends here, where its youngest walk will leave it.
    pub fn is_behind_island(&self, flow: usize, seq: u32) -> bool {
        let youngest = self.walked().rfind(|w| w.flow == flow);
        let position = youngest.map_or(self.positions[flow], |w| w.after);
        let mut islands = position.islands.iter().flatten();
        islands.any(|island| island.1 == seq)
    }

    /// A walk begins. Answers the payload.
    pub fn start(
        &mut self,
        (flow, seq, len, chained, beyond): (usize, u32, usize, bool, bool),
        raw_head: u32,
    ) -> Result<Vec<u8>, String> {
        let frame = self.waiting.pop_front().ok_or("a start of nothing")?;
        let tcp = frame.tcp.clone().ok_or("a start of a plain frame")?;
        let found = self.flow(&tcp);
        if (found, tcp.seq, tcp.payload.len()) != (Some(flow), seq, len) {
            return Err(format!(
                "start of {flow} {seq} {len}, should be {found:?} {tcp:?}"
            ));
        }
        let youngest = self.walked().rfind(|w| w.flow == flow);
        // What ended whole a moment ago may still be named.
        if chained != youngest.is_some() && (!chained || self.left != Some(flow)) {
            return Err("not chained to the youngest of its flow".into());
        }
        let older = self.walked().next_back().is_some_and(|w| w.flow != flow);
        if youngest.is_some() && self.kept[flow].is_some() {
            return Err("started behind an ATTACH that takes the flow away".into());
        }
        let before = youngest.map_or(self.positions[flow], |w| w.after);
        let row = self.rows[flow];
        let verdict = Self::judge(&tcp, row, &before);
        let should = [Verdict::Walk, Verdict::Beyond];
        if verdict != should[usize::from(beyond)] {
            return Err(format!("started, but {verdict:?}: {tcp:?} at {before:?}"));
        }
        if self.walking.len() >= WALKS {
            return Err("started, though the walk is full".into());
        }
        let used = self.raw_tail.wrapping_sub(raw_head);
        if used + self.walked().count() as u32 >= self.raw_slots {
            return Err("started without a raw slot".into());
        }
        let after = self.after(&tcp, row, &before, beyond);
        self.seen[5] += 1;
        self.seen[8] += u32::from(chained);
        self.seen[9] += u32::from(self.walking.len() == WALKS - 1);
        self.seen[13] += u32::from(chained && older);
        self.walking.push_back(Walking {
            frame,
            flow,
            row,
            after,
            beyond,
            done: None,
            turn: None,
        });
        Ok(tcp.payload)
    }

    /// The packet at the front is judged, and takes a slot to wait its turn.
    pub fn enter(&mut self) -> Result<(), String> {
        let frame = self.waiting.pop_front().ok_or("nothing takes a slot")?;
        let tcp = frame.tcp.as_ref().ok_or("a plain frame takes a slot")?;
        let flow = self.flow(tcp).ok_or("a frame of no flow takes a slot")?;
        let youngest = self.walked().rfind(|w| w.flow == flow);
        let behind = youngest.is_some();
        let before = youngest.map_or(self.positions[flow], |w| w.after);
        let (row, attached) = (self.rows[flow], before.attached);
        let bare = Self::judge(tcp, row, &before) == Verdict::Bare;
        if !bare || tcp.flags & (SYN | RST) != 0 || tcp.ip_options {
            return Err(format!("takes a slot: {tcp:?} at {before:?}"));
        }
        if self.walking.len() >= WALKS {
            return Err("takes a slot, though there is none".into());
        }
        self.seen[11] += 1;
        self.seen[14] += u32::from(!attached);
        self.walking.push_back(Walking {
            frame,
            flow,
            row,
            after: before,
            beyond: false,
            done: None,
            turn: Some(Turn { behind, attached }),
        });
        Ok(())
    }

    /// The walk tells of the oldest segment of which it has not told.
    pub fn done(&mut self, done: Done) {
        let mut walked = self.walking.iter_mut().filter(|w| w.turn.is_none());
        if let Some(walking) = walked.find(|w| w.done.is_none()) {
            walking.done = Some(done);
        }
    }

    /// A packet ends; `raw_head` is what the host had consumed when that was decided. Answers the frame.
    pub fn close(&mut self, close: &Close, raw_head: u32) -> Result<Frame, String> {
        if let Some(walking) = self.walking.pop_front() {
            return self.finish(walking, close);
        }
        let frame = self.waiting.pop_front().ok_or("a close of nothing")?;
        let used = self.raw_tail.wrapping_sub(raw_head);
        let flow = frame.tcp.as_ref().and_then(|tcp| self.flow(tcp));
        let (Some(flow), Some(tcp)) = (flow, &frame.tcp) else {
            self.seen[0] += 1;
            let room = used + self.reserve < self.raw_slots;
            return self.plain(frame, close, room);
        };
        // What is not walked leaves an eighth.
        let walk_room = used < self.raw_slots;
        let room = used + self.raw_slots / 8 < self.raw_slots;
        let mut position = self.positions[flow];
        let verdict = Self::judge(tcp, self.rows[flow], &position);
        let raw = match verdict {
            Verdict::Bare => tcp.flags & (SYN | RST) != 0 || tcp.ip_options,
            Verdict::Refused(_) | Verdict::Duplicate => false,
            Verdict::Bypass | Verdict::Leave => true,
            Verdict::Walk | Verdict::Beyond if walk_room => {
                return Err(format!("not walked: {tcp:?} at {position:?}"))
            }
            Verdict::Walk | Verdict::Beyond => true,
        };
        if raw && !room {
            self.seen[7] += 1;
            let good = !close.report && !close.raw;
            return good
                .then_some(frame)
                .ok_or("not dropped for want of a slot".into());
        }
        if verdict == Verdict::Leave {
            let all = position.islands.iter().all(|i| i.is_some());
            let kept = position.islands.iter().any(|i| i.is_some());
            self.seen[21] += u32::from(kept);
            let meets = kept && Self::meets(tcp, &position);
            self.seen[17] += u32::from(all && !meets && before(position.rcv_nxt, tcp.seq));
            self.seen[19] += u32::from(meets);
            (position.attached, position.islands) = (false, Default::default());
        }
        if raw {
            position.raw_seen = self.raw_tail.wrapping_add(1) as u16;
        }
        self.positions[flow] = position;
        let mut should = record(tcp, flow, self.rows[flow], &position);
        if verdict == Verdict::Duplicate {
            should.flags |= SegmentReport::DUPLICATE;
            self.seen[18] += u32::from(before(position.rcv_nxt, tcp.seq));
        }
        if let Verdict::Refused(status) = verdict {
            should.status |= status;
        }
        self.seen[match verdict {
            Verdict::Bare => 1,
            Verdict::Refused(_) => 2,
            Verdict::Bypass => 3,
            Verdict::Duplicate => 4,
            Verdict::Walk | Verdict::Beyond => 5,
            Verdict::Leave => 6,
        }] += 1;
        self.segment(should, raw, &frame, close)?;
        Ok(frame)
    }

    fn finish(&mut self, walking: Walking, close: &Close) -> Result<Frame, String> {
        let flow = walking.flow;
        let tcp = walking.frame.tcp.clone().ok_or("walked, but no segment")?;
        let mut position = self.positions[flow];
        if let Some(turn) = walking.turn {
            self.seen[1] += 1;
            self.seen[12] += u32::from(!turn.attached);
            position.attached = turn.attached;
            let should = record(&tcp, flow, walking.row, &position);
            self.segment(should, false, &walking.frame, close)?;
            return Ok(walking.frame);
        }
        let done = walking.done.ok_or("closed before its walk ended")?;
        let whole = done.stop == 0;
        let len = if whole {
            tcp.payload.len() as u16
        } else {
            done.len
        };
        position.attached = whole;
        let kept = position.islands.iter().any(|i| i.is_some());
        self.seen[21] += u32::from(!whole && kept);
        (position.rcv_nxt, position.islands) = match whole {
            true => (walking.after.rcv_nxt, walking.after.islands),
            false if walking.beyond => (walking.after.rcv_nxt, Default::default()),
            false => (tcp.seq.wrapping_add(len.into()), Default::default()),
        };
        position.msn = done.msn;
        (position.ts_valid, position.ts_recent) = (walking.after.ts_valid, walking.after.ts_recent);
        if !whole {
            self.seen[10] += u32::from(self.in_walk(flow));
            position.raw_seen = self.raw_tail.wrapping_add(1) as u16;
        }
        let mut should = record(&tcp, flow, walking.row, &position);
        should.done_len = len;
        self.positions[flow] = position;
        self.left = Some(flow).filter(|_| whole);
        // What stands behind it, up to the flow's next segment in the walk.
        let attached = self.kept[flow].map_or(position.attached, |kept| kept.attached);
        let of_flow = self.walking.iter_mut().filter(|w| w.flow == flow);
        for turn in of_flow.map_while(|w| w.turn.as_mut()) {
            turn.attached = attached && turn.behind;
        }
        if !self.in_walk(flow) {
            if let Some(kept) = self.kept[flow].take() {
                self.positions[flow] = Position {
                    raw_seen: position.raw_seen,
                    ..kept
                };
            }
        }
        self.segment(should, !whole || done.engine, &walking.frame, close)?;
        Ok(walking.frame)
    }

    fn plain(&mut self, frame: Frame, close: &Close, room: bool) -> Result<Frame, String> {
        if !room {
            self.seen[7] += 1;
            let good = !close.report && !close.raw;
            return good.then_some(frame).ok_or("junk not dropped".into());
        }
        let (raw_slot, raw_len) = self.slot(&frame);
        let should = FrameReport {
            kind: report_kind::FRAME,
            raw_slot,
            raw_len,
            ..FrameReport::default()
        };
        compare(should.to_bytes(), true, &frame, close)?;
        Ok(frame)
    }

    /// The next raw slot, and what is in it.
    fn slot(&mut self, frame: &Frame) -> (u16, u16) {
        let slot = self.raw_tail % self.raw_slots;
        self.raw_tail = self.raw_tail.wrapping_add(1);
        (slot as u16, frame.bytes.len() as u16)
    }

    fn segment(
        &mut self,
        mut should: SegmentReport,
        raw: bool,
        frame: &Frame,
        close: &Close,
    ) -> Result<(), String> {
        if raw {
            should.flags |= SegmentReport::RAW;
            (should.raw_slot, should.raw_len) = self.slot(frame);
        }
        compare(should.to_bytes(), raw, frame, close)
    }

    /// The host writes ATTACH; whether it is applied.
    pub fn attach(&mut self, flow: usize, row: Position) -> bool {
        if row.freshens {
            return self.freshen(flow, row);
        }
        let in_walk = self.in_walk(flow);
        // The card's mark is its own.
        let mark = self.positions[flow].raw_seen;
        let unseen = (self.raw_tail as u16).wrapping_sub(row.raw_seen);
        if row.attached && (in_walk || mark.wrapping_sub(row.raw_seen).wrapping_sub(1) < unseen) {
            return false;
        }
        let row = Position {
            raw_seen: mark,
            islands: Default::default(),
            ..row
        };
        let kept = self.positions[flow].islands.iter().any(|i| i.is_some());
        self.seen[22] += u32::from(kept);
        match in_walk {
            true => self.kept[flow] = Some(row),
            false => self.positions[flow] = row,
        }
        true
    }

    /// Of an attached flow that is not in the walk TS.Recent alone.
    fn freshen(&mut self, flow: usize, row: Position) -> bool {
        let applied = self.positions[flow].attached && !self.in_walk(flow);
        if applied {
            let position = &mut self.positions[flow];
            (position.ts_valid, position.ts_recent) = (row.ts_valid, row.ts_recent);
        }
        applied
    }

    /// What the host reads.
    pub fn read(&self, flow: usize) -> Position {
        let now = self.positions[flow];
        self.kept[flow].map_or(now, |kept| Position {
            raw_seen: now.raw_seen,
            ..kept
        })
    }
}

fn compare(should: [u8; 64], raw: bool, frame: &Frame, close: &Close) -> Result<(), String> {
    if (close.raw, close.report, close.record) != (raw, true, should) {
        return Err(format!(
            "raw {} report {} {:02x?}\nshould be raw {raw} {should:02x?}\n{:?}",
            close.raw, close.report, close.record, frame.tcp
        ));
    }
    Ok(())
}

/// A segment report without raw frame.
fn record(tcp: &Tcp, flow: usize, row: Row, position: &Position) -> SegmentReport {
    let sacks = tcp.sack.len().min(3);
    let sack = |n: usize| tcp.sack.get(n).copied().unwrap_or_default();
    let (ts_val, ts_ecr) = tcp.ts.unwrap_or_default();
    SegmentReport {
        kind: report_kind::SEGMENT,
        flow: flow as u16,
        seq: tcp.seq,
        ack: tcp.ack,
        window: tcp.window,
        tcp_flags: tcp.flags,
        ts_val,
        ts_ecr,
        payload_len: tcp.payload.len() as u16,
        sack0_left: sack(0).0,
        sack0_right: sack(0).1,
        sack1_left: sack(1).0,
        sack1_right: sack(1).1,
        sack2_left: sack(2).0,
        sack2_right: sack(2).1,
        epoch: row.epoch,
        status: tcp.ecn << 4,
        ..SegmentReport::default()
    }
    .with_timestamps(tcp.ts.is_some())
    .with_attached(position.attached)
    .with_sack_count(sacks as u8)
}

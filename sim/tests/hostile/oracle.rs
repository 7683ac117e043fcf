//! What has to become of a segment: the engine's rule of acceptance, and the checks of `docs/card.md` on what it lets in.

use weft_engine::acceptance::{judge, Arriving, DropReason, Position, Verdict};
use weft_layout::{fpdu_verdict, refusal, AttachRow, StagRow};
use weft_sim::bench::Region;
use weft_wire::crc32c::crc32c;

use super::frames::{marker_due, Spec};

/// log2 of the receive elements of a flow.
pub const RQ_LOG2: u8 = 3;
/// Bytes of each element: two pieces, with a hole between.
pub const PIECES: [(u64, u64); 2] = [(0, 100), (120, 100)];
/// Where the elements lie in the first region of a flow, and how far apart.
pub const ELEMENTS: u64 = 2048;
pub const APART: u64 = 256;

/// A region: what the card was told of it, and what has to be in it.
pub struct Memory {
    pub region: Region,
    pub stag: u32,
    pub row: StagRow,
    pub shadow: Vec<u8>,
}

/// A flow as this test follows it.
pub struct Tracked {
    pub at: AttachRow,
    pub timestamps: bool,
    pub markers: Option<u32>,
    pub crc: bool,
    pub pd: u32,
    pub rq_tail: u32,
    /// Number of its first region: the one of its elements.
    pub elements: usize,
    pub epoch: u8,
}

/// What a report of a segment has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub status: u8,
    pub duplicate: bool,
    pub raw: bool,
    pub attached: bool,
    /// For the engine to complete: the flow's mark is at its slot.
    pub leaves: bool,
    pub done: u16,
    /// Verdict, Terminate code, and place in the payload of each FPDU.
    pub fpdus: Vec<(u8, u16, u16)>,
}

/// The segment's outcome; position and memory move as it says.
pub fn outcome(flow: &mut Tracked, memories: &mut [Memory], spec: &Spec) -> Outcome {
    let mut out = Outcome {
        status: refusal::NONE,
        duplicate: false,
        raw: false,
        attached: flow.at.attached & AttachRow::ATTACHED != 0,
        leaves: false,
        done: 0,
        fpdus: Vec::new(),
    };
    let ip_options = spec.ip_options != 0;
    let arriving = Arriving {
        seq: spec.seq,
        length: spec.payload.len() as u32,
        flags: spec.flags,
        ts_val: spec.ts_val.filter(|_| !ip_options),
        ip_options,
    };
    let position = Position {
        rcv_nxt: flow.at.rcv_nxt,
        window: flow.at.window,
        // Behind IP options the card has not read them.
        timestamps: flow.timestamps && !ip_options,
        ts_recent: (flow.at.attached & AttachRow::TS_RECENT_VALID != 0)
            .then_some(flow.at.ts_recent),
    };
    let mut verdict = judge(&arriving, &position);
    if spec.payload.is_empty() {
        verdict = Verdict::Nobody;
    }
    if !out.attached
        && !matches!(
            verdict,
            Verdict::Nobody | Verdict::Refused(DropReason::NoAck)
        )
    {
        verdict = Verdict::ByHand;
    }
    let mut leaves = false;
    match verdict {
        Verdict::Nobody => out.raw = ip_options || spec.flags & 6 != 0,
        Verdict::Refused(why) => {
            out.status = match why {
                DropReason::NoAck => refusal::NO_ACK,
                DropReason::Window => refusal::WINDOW,
                DropReason::Timestamp => refusal::PAWS,
                DropReason::NoTimestamp => refusal::NO_TIMESTAMP,
            }
        }
        Verdict::Duplicate => out.duplicate = true,
        Verdict::ByHand => leaves = true,
        Verdict::InSequence => leaves = walk(flow, memories, spec, &mut out),
    }
    if leaves {
        flow.at.attached &= !AttachRow::ATTACHED;
        out.raw = true;
    }
    out.attached = flow.at.attached & AttachRow::ATTACHED != 0;
    out.leaves = leaves;
    out
}

/// Walks a segment in sequence; `true`: it stops before the end.
fn walk(flow: &mut Tracked, memories: &mut [Memory], spec: &Spec, out: &mut Outcome) -> bool {
    let mut stopped = false;
    let mut at = 0;
    while at < spec.payload.len() && !stopped {
        let seq = spec.seq.wrapping_add(at as u32);
        let Some(cut) = Cut::of(&spec.payload[at..], seq, flow.markers) else {
            stopped = true;
            break;
        };
        let (verdict, code) = match check(flow, memories, &cut) {
            Ok(verdict) => (verdict, 0),
            Err(code) => (fpdu_verdict::ERROR, code),
        };
        out.fpdus.push((verdict, code, at as u16));
        out.raw |= verdict == fpdu_verdict::ENGINE;
        stopped = verdict == fpdu_verdict::ERROR;
        if !stopped {
            at += cut.bytes;
        }
    }
    out.done = at as u16;
    // Behind its FIN.
    let fin = u32::from(!stopped && spec.flags & 1 != 0);
    flow.at.rcv_nxt = spec.seq.wrapping_add(at as u32 + fin);
    if let Some(value) = spec.ts_val.filter(|_| flow.timestamps) {
        flow.at.ts_recent = value;
        flow.at.attached |= 2;
    }
    stopped
}

/// An FPDU cut out of a stream.
struct Cut {
    bytes: usize,
    ulpdu: Vec<u8>,
    markers_good: bool,
    crc_good: bool,
}

impl Cut {
    /// `None`: it is not whole.
    fn of(stream: &[u8], seq: u32, markers: Option<u32>) -> Option<Self> {
        let mut plain = Vec::new();
        let (mut at, mut begin, mut markers_good) = (0, None, true);
        let mut wanted = 2;
        loop {
            // All is in words, markers too (RFC 5044 §4.3).
            if at % 4 == 0 && marker_due(seq.wrapping_add(at as u32), markers) {
                let field = stream.get(at..at + 4)?;
                let said = usize::from(u16::from_be_bytes([field[2], field[3]]) & !3);
                markers_good &= said == begin.map_or(0, |b| at - b);
                at += 4;
            }
            if plain.len() == wanted {
                break;
            }
            begin.get_or_insert(at);
            plain.push(*stream.get(at)?);
            at += 1;
            if plain.len() == 2 {
                let length = usize::from(u16::from_be_bytes([plain[0], plain[1]]));
                wanted = (2 + length).next_multiple_of(4);
            }
        }
        let length = usize::from(u16::from_be_bytes([plain[0], plain[1]]));
        let field = stream.get(at..at + 4)?;
        Some(Self {
            bytes: at + 4,
            ulpdu: plain[2..2 + length].to_vec(),
            markers_good,
            crc_good: crc32c(&stream[..at]).to_le_bytes() == field,
        })
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The table "Checks" of `docs/card.md`; places what is right.
fn check(flow: &mut Tracked, memories: &mut [Memory], cut: &Cut) -> Result<u8, u16> {
    let ulpdu = &cut.ulpdu[..];
    let no = |wrong: bool, code: u16| if wrong { Err(code) } else { Ok(()) };
    no(!cut.markers_good, 0x2003)?;
    no(flow.crc && !cut.crc_good, 0x2002)?;
    no(ulpdu.len() < 2, 0x1000)?;
    let is_tagged = ulpdu[0] & 0x80 != 0;
    no(ulpdu.len() < if is_tagged { 14 } else { 18 }, 0x1000)?;
    no(ulpdu[0] & 3 != 1, if is_tagged { 0x1104 } else { 0x1206 })?;
    no(ulpdu[1] >> 6 != 1, 0x0205)?;
    let opcode = ulpdu[1] & 15;
    if is_tagged {
        no(opcode != 0 && opcode != 2, 0x0206)?;
        let to = u64::from(word(ulpdu, 6)) << 32 | u64::from(word(ulpdu, 10));
        let right = if opcode == 0 {
            StagRow::REMOTE_WRITE
        } else {
            StagRow::READ_SINK
        };
        let data = &ulpdu[14..];
        if !data.is_empty() {
            let (number, at) = access(
                flow.pd,
                memories,
                word(ulpdu, 2),
                to,
                data.len() as u64,
                right,
            )?;
            memories[number].shadow[at..at + data.len()].copy_from_slice(data);
        }
        return Ok(fpdu_verdict::PLACED);
    }
    let (qn, msn, mo) = (word(ulpdu, 6), word(ulpdu, 10), word(ulpdu, 14));
    no(qn > 3, 0x1201)?;
    let known: &[u8] = [&[3, 4, 5, 6, 8, 9][..], &[1, 10], &[7], &[11]][qn as usize];
    no(!known.contains(&opcode), 0x0206)?;
    if qn != 0 {
        return Ok(fpdu_verdict::ENGINE);
    }
    no(msn != flow.at.msn, 0x1203)?;
    no(mo != flow.at.mo, 0x1204)?;
    no((flow.rq_tail.wrapping_sub(msn) as i32) < 0, 0x1202)?;
    let data = &ulpdu[18..];
    let room: u64 = PIECES.iter().map(|p| p.1).sum();
    no(u64::from(mo) + data.len() as u64 > room, 0x1205)?;
    let slot = u64::from(msn.wrapping_sub(1) % (1 << RQ_LOG2));
    let places = PIECES.iter().flat_map(|p| p.0..p.0 + p.1);
    let shadow = &mut memories[flow.elements].shadow;
    for (byte, place) in data.iter().zip(places.skip(mo as usize)) {
        shadow[(ELEMENTS + slot * APART + place) as usize] = *byte;
    }
    if ulpdu[0] & 0x40 != 0 {
        flow.at.msn = msn.wrapping_add(1);
        flow.at.mo = 0;
    } else {
        flow.at.mo = mo + data.len() as u32;
    }
    Ok(fpdu_verdict::PLACED)
}

/// The region of an access, and where in it.
fn access(
    pd: u32,
    memories: &[Memory],
    stag: u32,
    to: u64,
    len: u64,
    right: u8,
) -> Result<(usize, usize), u16> {
    let found = memories.iter().position(|m| m.stag >> 8 == stag >> 8);
    let number = found.ok_or(0x1100u16)?;
    let row = &memories[number].row;
    if row.valid & StagRow::VALID == 0 || row.key != stag as u8 {
        return Err(0x1100);
    }
    if u128::from(to) + u128::from(len) > 1 << 64 {
        return Err(0x1103);
    }
    if row.pd != pd {
        return Err(0x1102);
    }
    if row.access & right == 0 {
        return Err(0x0102);
    }
    let offset = to.checked_sub(row.base).ok_or(0x1101u16)?;
    if u128::from(offset) + u128::from(len) > u128::from(row.length) {
        return Err(0x1101);
    }
    Ok((number, offset as usize))
}

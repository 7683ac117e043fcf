//! Makes the payload of segments: FPDUs of all kinds, most of them right, and the regions and receive elements that they need.

use super::reference::{
    crc32c, Element, Reference, Region, Row, Sge, LOCAL_WRITE, READ_SINK, REMOTE_WRITE,
};
use fastrand::Rng;

pub const FLOWS: usize = 16;
pub const STAGS: usize = 32;
/// Elements that are posted beyond the next one at most.
const AHEAD: u32 = 12;

/// What a segment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Any,
    /// Mostly what is walked beyond a gap.
    Early,
    /// Mostly what leaves MSN and MO as they are.
    Tagged,
}

/// What a sender does next, if the walk takes all that is under way.
#[derive(Debug)]
pub struct Flow {
    pub row: Row,
    pub seq: u32,
    /// Of a flow that carries: what follows there, made already.
    pub rest: Vec<u8>,
    pub msn: u32,
    pub mo: u32,
    /// Where the walk is, by the last `done`.
    pub done_msn: u32,
    pub posted: u32,
    pub in_walk: usize,
    /// MSN and MO behind what is walked.
    pub position: (u32, u32),
    /// Nothing of it is started before this cycle.
    pub held: u64,
    /// Place of its youngest segment in the walk.
    pub place: u8,
    /// Its rings: the one in its row, and those before it that may still be read.
    pub rings: Vec<usize>,
}

pub fn any_region(rng: &mut Rng, index: usize) -> Region {
    let length = match rng.u8(0..8) {
        0 => rng.u64(0..64),
        1 => 1 << 33,
        _ => rng.u64(200..9000),
    };
    let base = match rng.u8(0..8) {
        0 => 0,
        1 => 0u64.wrapping_sub(length), // its end is 2^64
        _ => rng.u64(0..1 << 62),
    };
    Region {
        valid: rng.u8(0..16) != 0,
        key: rng.u8(..),
        access: match index % 4 {
            0 => LOCAL_WRITE,
            1 => REMOTE_WRITE | rng.u8(..) & 2,
            2 => READ_SINK | REMOTE_WRITE,
            _ => rng.u8(0..16),
        },
        pd: 7 + (index / 4 % 2) as u32,
        base,
        length,
        iova: rng.u64(..) >> rng.u8(0..12),
    }
}

/// A STag of a region of this PD with one of these rights, most of the time.
fn any_stag(rng: &mut Rng, r: &Reference, pd: u32, right: u8) -> (u32, Region) {
    let good = |n: usize| {
        let row = r.regions[n].now();
        row.valid && row.pd == pd && row.access & right != 0 && row.length > 100
    };
    let from = rng.usize(1..STAGS);
    let found = (0..STAGS)
        .map(|n| (from + n) % STAGS)
        .find(|n| *n != 0 && good(*n));
    let index = found.filter(|_| rng.u8(0..40) != 0).unwrap_or(from);
    let row = r.regions[index].now();
    ((index as u32) << 8 | u32::from(row.key), row)
}

fn any_element(rng: &mut Rng, r: &Reference, pd: u32) -> Element {
    let mut sges = [Sge::default(); 4];
    for sge in sges.iter_mut().take(rng.usize(0..=4)) {
        let (stag, row) = any_stag(rng, r, pd, LOCAL_WRITE);
        let length = rng.u64(0..row.length.clamp(1, 1500)) as u32;
        let into = rng.u64(0..=row.length.saturating_sub(length.into()));
        *sge = Sge {
            to: row.base.wrapping_add(into),
            length,
            stag,
        };
    }
    Element {
        sges,
        bad: rng.u8(0..40) == 0,
    }
}

impl Flow {
    /// Posts elements, if there is room in all rings. Whether the tail has to be told.
    pub fn post(&mut self, rng: &mut Rng, r: &mut Reference, most: u32) -> bool {
        let mut any = false;
        for _ in 0..most {
            let msn = self.posted.wrapping_add(1);
            let open = msn.wrapping_sub(self.done_msn);
            let fits = |ring: &usize| open < 1 << r.rings[*ring].log2;
            if !self.rings.iter().all(fits) || open > AHEAD {
                break;
            }
            for ring in &self.rings {
                let element = any_element(rng, r, self.row.pd);
                let ring = &mut r.rings[*ring];
                let slot = ring.slot(msn);
                ring.slots[slot] = Some(element);
            }
            self.posted = msn;
            any = true;
        }
        any
    }

    /// The next segment's payload.
    pub fn segment(&mut self, rng: &mut Rng, r: &Reference, what: What) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.rest);
        let begun = !bytes.is_empty();
        for _ in 0..[1, 1, 1, 2, 3, 6][rng.usize(0..6)] {
            if begun && rng.bool() {
                break;
            }
            let ulpdu = self.any_ulpdu(rng, r, what);
            self.put(rng, &mut bytes, &ulpdu);
        }
        match rng.u8(0..50) {
            0 => bytes.truncate(rng.usize(1..=bytes.len())),
            // Whole beats, and a few bytes that come behind them.
            3 => bytes.truncate(16 * rng.usize(..=bytes.len() / 16) + rng.usize(1..4)),
            1 => bytes.extend((0..rng.usize(1..40)).map(|_| rng.u8(..))),
            // One FPDU that is longer than it can be.
            2 => {
                bytes.extend(rng.u16(..).to_be_bytes());
                bytes.extend((0..rng.usize(0..20)).map(|_| rng.u8(..)));
            }
            4..20 if self.row.carries => self.rest = bytes.split_off(rng.usize(1..=bytes.len())),
            _ => {}
        }
        self.seq = self.seq.wrapping_add(bytes.len() as u32);
        bytes
    }

    fn any_ulpdu(&mut self, rng: &mut Rng, r: &Reference, what: What) -> Vec<u8> {
        let length = match rng.u8(0..10) {
            0 => 0,
            1 => rng.usize(1..4),
            2..6 => rng.usize(1..120),
            6..9 => rng.usize(100..1500),
            _ => rng.usize(0..5000),
        };
        let chosen = what != What::Any && rng.u8(0..8) != 0;
        let mut ulpdu = match rng.u8(0..12) {
            7.. if chosen && what == What::Early => self.receive(rng, r, length),
            _ if chosen => {
                let write = rng.u8(0..4) != 0;
                self.tagged(rng, r, length, write)
            }
            0..7 => {
                let write = rng.bool();
                self.tagged(rng, r, length, write)
            }
            7..11 => self.receive(rng, r, length),
            _ => {
                let (queue, opcode) = [(1, 1), (1, 10), (2, 7), (3, 11)][rng.usize(0..4)];
                let msn = rng.u32(..);
                untagged(rng, opcode, queue, msn, 0, length.min(200))
            }
        };
        // Spoilt in its header.
        match rng.u8(0..120) {
            0 => ulpdu.truncate(rng.usize(0..ulpdu.len().min(20))),
            1 => ulpdu[0] ^= 1 << rng.u8(0..2),
            2 => ulpdu[1] ^= 64 << rng.u8(0..2),
            3 => ulpdu[1] ^= 1 << rng.u8(0..4),
            4 => ulpdu[rng.usize(2..14)] ^= 1 << rng.u8(0..8),
            5 if ulpdu[0] & 0x80 == 0 => ulpdu[6..10].copy_from_slice(&rng.u32(4..).to_be_bytes()),
            6 if ulpdu[0] & 0x80 == 0 => ulpdu[rng.usize(10..18)] ^= 1 << rng.u8(0..8),
            // Bits that mean nothing.
            7..12 => ulpdu[0] ^= 4 << rng.u8(0..4),
            12..16 => ulpdu[1] ^= 16 << rng.u8(0..2),
            _ => {}
        }
        ulpdu
    }

    fn tagged(&self, rng: &mut Rng, r: &Reference, length: usize, write: bool) -> Vec<u8> {
        let right = if write { REMOTE_WRITE } else { READ_SINK };
        let (stag, row) = any_stag(rng, r, self.row.pd, right);
        let length = (length as u64).min(row.length) as usize;
        let room = row.length - length as u64;
        let into = match rng.u8(0..40) {
            0 => room.wrapping_add(1),
            1 => u64::MAX,
            2..10 => room,
            10..18 => 0,
            _ => rng.u64(0..=room),
        };
        let mut ulpdu = vec![
            0x81 | u8::from(rng.bool()) << 6,
            0x40 | if write { 0 } else { 2 },
        ];
        ulpdu.extend(stag.to_be_bytes());
        ulpdu.extend(row.base.wrapping_add(into).to_be_bytes());
        ulpdu.extend((0..length).map(|_| rng.u8(..)));
        ulpdu
    }

    fn receive(&mut self, rng: &mut Rng, r: &Reference, length: usize) -> Vec<u8> {
        let ring = &r.rings[self.row.ring];
        let posted = self.posted.wrapping_sub(self.msn) as i32 >= 0;
        let element = ring.slots[ring.slot(self.msn)].filter(|_| posted);
        let room = element
            .map_or(100, |e| e.room())
            .saturating_sub(self.mo.into()) as usize;
        let length = match rng.u8(0..30) {
            0 => room + 1,
            1..8 => room.min(5000),
            _ => length.min(room),
        };
        let last = length == room || rng.bool();
        let opcode = [3, 4, 5, 6, 8, 9][rng.usize(0..6)];
        let mut ulpdu = untagged(rng, opcode, 0, self.msn, self.mo, length);
        ulpdu[0] |= u8::from(last) << 6;
        (self.msn, self.mo) = match last {
            true => (self.msn.wrapping_add(1), 0),
            false => (self.msn, self.mo + length as u32),
        };
        ulpdu
    }

    /// RFC 5044 §4: length, ULPDU, pad, CRC, with markers in between; now and then something is wrong.
    fn put(&self, rng: &mut Rng, out: &mut Vec<u8>, ulpdu: &[u8]) {
        let spoil = rng.u8(0..60);
        let mut plain = (ulpdu.len() as u16).to_be_bytes().to_vec();
        plain.extend(ulpdu);
        let pad = if spoil < 6 { rng.u8(..) } else { 0 };
        plain.resize(plain.len().next_multiple_of(4), pad);
        plain.extend([0; 4]);
        let from = out.len();
        let marker = |at: usize| {
            let since = self
                .seq
                .wrapping_add(at as u32)
                .wrapping_sub(self.row.marker_base);
            self.row.markers && since % 512 == 0
        };
        let mut begin = from;
        for word in plain.chunks(4) {
            if marker(out.len()) {
                let back = out.len() - begin;
                if back == 0 {
                    begin += 4;
                }
                let mut pointer = back as u16;
                match rng.u8(0..50) {
                    0 => pointer ^= 4 << rng.u8(0..14),
                    1..10 => pointer |= rng.u16(0..4),
                    _ => {}
                }
                out.extend([rng.u8(0..2) * 0x55, 0]);
                out.extend(pointer.to_be_bytes());
            }
            out.extend(word);
        }
        let end = out.len() - 4;
        let mut crc = crc32c(&out[from..end]);
        match spoil {
            10 => crc ^= 1 << rng.u8(0..32),
            11 => out[rng.usize(from + 2..end)] ^= 1 << rng.u8(0..8),
            _ => {}
        }
        if !self.row.crc && rng.bool() {
            crc = 0;
        }
        out[end..].copy_from_slice(&crc.to_le_bytes());
    }
}

fn untagged(rng: &mut Rng, opcode: u8, queue: u32, msn: u32, mo: u32, length: usize) -> Vec<u8> {
    let mut ulpdu = vec![1, 0x40 | opcode];
    ulpdu.extend(rng.u32(..).to_be_bytes());
    ulpdu.extend(queue.to_be_bytes());
    ulpdu.extend(msn.to_be_bytes());
    ulpdu.extend(mo.to_be_bytes());
    ulpdu.extend((0..length).map(|_| rng.u8(..)));
    ulpdu
}

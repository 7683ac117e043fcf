//! A key-value store, as Pilaf has it (Mitchell et al., ATC 2013): a client looks a value up by a Read of the server's memory, in which the server's
//! program has no part. It changes one by a Send, which the server answers.
//!
//! An entry is its number of changes, the tag of the last one, the value, and the number once more: a Read that met a change has two different
//! numbers, and is made again.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::verbs::{Mr, SendWr, Wc, WcOpcode};

use super::bytes::{belong, make, number, numbers};
use super::lanes::Lanes;
use super::scene::{wrong, Scene};
use super::sizes::{etc_value, Zipf, LARGEST_VALUE};
use super::step::Step;
use super::Program;
use crate::partitions::PartitionsError;

const KEYS: usize = 10_000;
/// Numbers around a value, and before one in a message.
const AROUND: usize = 24;
const ROOM: usize = AROUND + LARGEST_VALUE;

pub(super) struct KeyValue {
    lanes: Lanes,
    rng: ChaCha8Rng,
    keys: Zipf,
    /// Weights of GETs, and of all requests.
    weights: [u32; 2],
    /// Each lane's key, and that key's changes when the lane asked.
    asked: Vec<(usize, u64)>,
    /// Where each lane reads to.
    read: Mr,
    store: Mr,
    /// Where each key's entry begins, and the bytes of its value.
    entries: Vec<(usize, usize)>,
    changes: Vec<u64>,
    tags: u64,
}

impl KeyValue {
    pub(super) fn new(scene: &mut Scene<'_>) -> Result<Self, PartitionsError> {
        let (load, lanes) = (scene.load, Lanes::new(scene, ROOM)?);
        let (mut rng, mut end, mut entries) = (scene.rng(), 0, Vec::new());
        for _ in 0..KEYS {
            let bytes = etc_value(&mut rng);
            entries.push((end, bytes));
            end += AROUND + bytes;
        }
        let store = scene.memory(1, end)?;
        for (key, (at, bytes)) in entries.iter().enumerate() {
            let value = make(key as u64, *bytes);
            store.write(*at, &[numbers(&[0, key as u64]), value].concat())?;
        }
        Ok(Self {
            rng,
            keys: Zipf::new(KEYS),
            weights: [load.read, load.read + load.write],
            asked: vec![(0, 0); lanes.count()],
            read: scene.memory(0, lanes.count() * ROOM)?,
            store,
            entries,
            changes: vec![0; KEYS],
            tags: KEYS as u64,
            lanes,
        })
    }

    fn get(&mut self, lane: usize, key: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        self.asked[lane] = (key, self.changes[key]);
        let (at, bytes) = self.entries[key];
        let into = self.read.sge((lane * ROOM) as u64, (AROUND + bytes) as u32);
        let read = SendWr::read(lane as u64, self.store.remote().offset(at as u64));
        step.send(self.lanes.qp(0, lane), read.sge(into).signaled())
    }

    fn set(&mut self, lane: usize, key: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        self.tags += 1;
        self.asked[lane] = (key, self.changes[key]);
        let value = make(self.tags, self.entries[key].1);
        let message = [numbers(&[lane as u64, key as u64, self.tags]), value].concat();
        self.lanes.tell(0, lane, &message, step)
    }

    /// The server makes a change, and says so.
    fn change(&mut self, wc: &Wc, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (lane, message) = self.lanes.heard(1, wc, step)?;
        let [key, tag] = [8, 16].map(|at| number(&message, at));
        let (at, bytes) = self.entries[self.asked[lane].0];
        let value = &message[AROUND.min(message.len())..];
        if key != self.asked[lane].0 as u64 || value.len() != bytes || !belong(value, tag) {
            return Err(wrong(format!("a SET of key {key} came with other bytes")));
        }
        let changes = &mut self.changes[key as usize];
        *changes += 1;
        let entry = [&numbers(&[*changes, tag]), value, &changes.to_le_bytes()].concat();
        self.store.write(at, &entry)?;
        step.copied(entry.len());
        let answer = numbers(&[lane as u64, *changes]);
        self.lanes.tell(1, lane, &answer, step)
    }

    /// A lane has what it asked for, but for a Read that met a change.
    fn take(&mut self, wc: &Wc, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (lane, answer) = match wc.opcode {
            WcOpcode::Recv => self.lanes.heard(0, wc, step)?,
            _ => (wc.wr_id as usize, Vec::new()),
        };
        let (key, before) = self.asked[lane];
        let (bytes, now) = (self.entries[key].1, self.changes[key]);
        let is_right = match wc.opcode {
            WcOpcode::Recv => (before + 1..=now).contains(&number(&answer, 8)),
            _ => {
                let entry = self.read.to_vec(lane * ROOM, AROUND + bytes)?;
                let [changes, tag, again] = [0, 8, 16 + bytes].map(|at| number(&entry, at));
                let is_whole = changes == again && belong(&entry[16..16 + bytes], tag);
                if !is_whole && now > before {
                    return self.get(lane, key, step);
                }
                is_whole && (before..=now).contains(&changes)
            }
        };
        if !is_right {
            return Err(wrong(format!(
                "what was asked of key {key} has another answer"
            )));
        }
        self.lanes.ended(lane, bytes, step);
        Ok(())
    }
}

impl Program for KeyValue {
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError> {
        if let Some(wc) = self.lanes.poll(host, step)? {
            match (host, wc.opcode) {
                (0, _) => self.take(&wc, step)?,
                _ => self.change(&wc, step)?,
            }
            return Ok(true);
        }
        let Some(lane) = (host == 0).then(|| self.lanes.next(step)).flatten() else {
            return Ok(false);
        };
        let key = self.keys.draw(&mut self.rng);
        match self.rng.random_range(0..self.weights[1]) < self.weights[0] {
            true => self.get(lane, key, step)?,
            false => self.set(lane, key, step)?,
        }
        Ok(true)
    }

    fn due(&self) -> Option<u64> {
        self.lanes.due()
    }
}

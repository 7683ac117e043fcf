//! A key-value store. A client looks a value up by a Read, in which the server's program has no part, as in Pilaf (Mitchell et al., ATC 2013); or
//! by a Send that the server answers. A change is a Send, and answered.
//!
//! An entry is its number of changes, the tag of the last one, the value, and the number once more: a Read that met a change has two different
//! numbers, and is made again.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::verbs::{Mr, Wc, WcOpcode};

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
    /// Weights of GETs by Read, GETs by Send, SETs.
    weights: [u32; 3],
    /// Each lane's key, that key's changes when the lane asked, and whether it asked for one.
    asked: Vec<(usize, u64, bool)>,
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
            weights: [load.read, load.send, load.write],
            asked: vec![(0, 0, false); lanes.count()],
            read: scene.memory(0, lanes.count() * ROOM)?,
            store,
            entries,
            changes: vec![0; KEYS],
            tags: KEYS as u64,
            lanes,
        })
    }

    fn ask(&mut self, lane: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let key = self.keys.draw(&mut self.rng);
        let [reads, sends, sets] = self.weights;
        let kind = self.rng.random_range(0..reads + sends + sets);
        let is_set = kind >= reads + sends;
        self.asked[lane] = (key, self.changes[key], is_set);
        let mut message = numbers(&[lane as u64, key as u64]);
        if kind < reads {
            return self.look(lane, step);
        } else if is_set {
            self.tags += 1;
            message.extend(numbers(&[self.tags]));
            message.extend(make(self.tags, self.entries[key].1));
        }
        self.lanes.tell(0, lane, &message, step)
    }

    /// A lane reads its entry.
    fn look(&self, lane: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (at, bytes) = self.entries[self.asked[lane].0];
        let places = [(&self.store, at), (&self.read, lane * ROOM)];
        self.lanes.read(lane, places, AROUND + bytes, step)
    }

    /// The server makes a change, or looks a value up; and answers.
    fn serve(&mut self, wc: &Wc, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (lane, message) = self.lanes.heard(1, wc, step)?;
        let (key, _, is_set) = self.asked[lane];
        let (at, bytes) = self.entries[key];
        let (tag, value) = (number(&message, 16), message.get(AROUND..));
        let value = value.filter(|value| value.len() == bytes && belong(value, tag));
        if number(&message, 8) != key as u64 || value.is_some() != is_set {
            return Err(wrong(format!("a request for key {key} has other bytes")));
        }
        let changes = &mut self.changes[key];
        let mut answer = numbers(&[lane as u64]);
        if let Some(value) = value {
            *changes += 1;
            let entry = [&numbers(&[*changes, tag]), value, &changes.to_le_bytes()].concat();
            self.store.write(at, &entry)?;
            step.copied(entry.len());
            answer.extend(numbers(&[*changes]));
        } else {
            answer.extend(self.store.to_vec(at, 16 + bytes)?);
        }
        self.lanes.tell(1, lane, &answer, step)
    }

    /// A lane has what it asked for, but for a Read that met a change.
    fn take(&mut self, wc: &Wc, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let mut lane = wc.wr_id as usize;
        let is_read = wc.opcode == WcOpcode::RdmaRead;
        let mut answer = Vec::new();
        if !is_read {
            (lane, answer) = self.lanes.heard(0, wc, step)?;
            answer.drain(..8);
        }
        let (key, before, is_set) = self.asked[lane];
        let (bytes, now) = (self.entries[key].1, self.changes[key]);
        if is_read {
            answer = self.read.to_vec(lane * ROOM, AROUND + bytes)?;
        }
        let [changes, tag, again] = [0, 8, 16 + bytes].map(|at| number(&answer, at));
        let value = answer.get(16..16 + bytes);
        let is_whole = value.is_some_and(|value| belong(value, tag));
        if is_read && now > before && !(is_whole && changes == again) {
            return self.look(lane, step);
        }
        let can_be = before + u64::from(is_set)..=now;
        if !(can_be.contains(&changes) && (is_set || is_whole)) || (is_read && changes != again) {
            return Err(wrong(format!("a request for key {key} has a wrong answer")));
        }
        self.lanes.ended(lane, bytes, step);
        Ok(())
    }
}

impl Program for KeyValue {
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError> {
        match (self.lanes.poll(host, step)?, host) {
            (Some(wc), 0) => self.take(&wc, step)?,
            (Some(wc), _) => self.serve(&wc, step)?,
            (None, 0) => match self.lanes.next(step) {
                Some(lane) => self.ask(lane, step)?,
                None => return Ok(false),
            },
            (None, _) => return Ok(false),
        }
        Ok(true)
    }

    fn due(&self) -> Option<u64> {
        self.lanes.due()
    }
}

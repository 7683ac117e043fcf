//! Remote calls, as RFP has them (Su et al., EuroSys 2017): a client sends a request, and looks for the answer in the server's memory by Reads
//! until it is there. The server posts nothing.
//!
//! An answer is its request's tag, the bytes, and the tag once more.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::verbs::Mr;

use super::bytes::{belong, make, number, numbers};
use super::lanes::Lanes;
use super::scene::{wrong, Scene};
use super::step::Step;
use super::Program;
use crate::partitions::PartitionsError;

/// Bytes of a request.
const REQUEST: usize = 24;
/// Numbers around an answer.
const AROUND: usize = 16;

pub(super) struct Rpc {
    lanes: Lanes,
    rng: ChaCha8Rng,
    sizes: Vec<usize>,
    /// Bytes of a lane's answer at most.
    room: usize,
    /// Where the server leaves answers, and where the client reads them to.
    answers: Mr,
    read: Mr,
    /// Each lane's tag, and the bytes that it asked for.
    asked: Vec<(u64, usize)>,
    tags: u64,
}

impl Rpc {
    pub(super) fn new(scene: &mut Scene<'_>) -> Result<Self, PartitionsError> {
        let (sizes, lanes) = (scene.load.sizes.clone(), Lanes::new(scene, REQUEST)?);
        let room = AROUND + sizes.iter().copied().max().unwrap_or(0);
        let memory = |host| scene.memory(host, lanes.count() * room);
        Ok(Self {
            rng: scene.rng(),
            sizes,
            room,
            answers: memory(1)?,
            read: memory(0)?,
            asked: vec![(0, 0); lanes.count()],
            tags: 0,
            lanes,
        })
    }

    /// A lane looks for its answer.
    fn look(&self, lane: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let at = lane * self.room;
        let places = [(&self.answers, at), (&self.read, at)];
        self.lanes
            .read(lane, places, AROUND + self.asked[lane].1, step)
    }

    /// What a look found: the answer, or that there is none yet.
    fn take(&mut self, lane: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (tag, bytes) = self.asked[lane];
        let answer = self.read.to_vec(lane * self.room, AROUND + bytes)?;
        let [first, last] = [0, 8 + bytes].map(|at| number(&answer, at));
        if first != tag || last != tag {
            return self.look(lane, step);
        }
        if !belong(&answer[8..8 + bytes], tag) {
            return Err(wrong(format!(
                "the answer to request {tag} has other bytes"
            )));
        }
        self.lanes.ended(lane, bytes, step);
        Ok(())
    }
}

impl Program for Rpc {
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError> {
        match (self.lanes.poll(host, step)?, host) {
            (Some(wc), 0) => self.take(wc.wr_id as usize, step)?,
            (Some(wc), _) => {
                let (lane, request) = self.lanes.heard(1, &wc, step)?;
                let [tag, bytes] = [8, 16].map(|at| number(&request, at));
                if (tag, bytes as usize) != self.asked[lane] {
                    return Err(wrong(format!("request {tag} came with other bytes")));
                }
                let value = make(tag, bytes as usize);
                let answer = [numbers(&[tag]), value, numbers(&[tag])].concat();
                self.answers.write(lane * self.room, &answer)?;
                step.copied(answer.len());
            }
            (None, 0) => {
                let Some(lane) = self.lanes.next(step) else {
                    return Ok(false);
                };
                self.tags += 1;
                let bytes = self.sizes[self.rng.random_range(0..self.sizes.len())];
                self.asked[lane] = (self.tags, bytes);
                let request = numbers(&[lane as u64, self.tags, bytes as u64]);
                self.lanes.tell(0, lane, &request, step)?;
                self.look(lane, step)?;
            }
            (None, _) => return Ok(false),
        }
        Ok(true)
    }

    fn due(&self) -> Option<u64> {
        self.lanes.due()
    }
}

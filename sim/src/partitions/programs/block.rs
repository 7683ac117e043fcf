//! Block I/O, as NVMe over Fabrics has it: the initiator sends a command; the target writes data into the initiator's memory, or reads it from there;
//! the target sends a completion. The disk is memory of the target, and takes no time.
//!
//! A command is lane, block, tag, and whether it writes; a completion is lane and tag.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::verbs::{Mr, SendWr, Wc, WcOpcode};

use super::bytes::{belong, make, number, numbers};
use super::lanes::Lanes;
use super::scene::{wrong, Scene};
use super::step::Step;
use super::Program;
use crate::partitions::PartitionsError;

const MESSAGE: usize = 32;

/// What a lane has asked for.
#[derive(Clone, Copy, Default)]
struct Command {
    block: usize,
    tag: u64,
    writes: bool,
}

pub(super) struct Block {
    lanes: Lanes,
    rng: ChaCha8Rng,
    /// Weights of reads, and of all commands.
    weights: [u32; 2],
    /// Blocks are as large as the largest; each has its size.
    sizes: Vec<usize>,
    room: usize,
    /// What each block has, and whether a command of it is under way: then no other is.
    blocks: Vec<(u64, bool)>,
    disk: Mr,
    buffers: Mr,
    commands: Vec<Command>,
    tags: u64,
}

impl Block {
    pub(super) fn new(scene: &mut Scene<'_>) -> Result<Self, PartitionsError> {
        let (load, lanes) = (scene.load, Lanes::new(scene, MESSAGE)?);
        let room = load.sizes.iter().copied().max().unwrap_or(0);
        let blocks = 2 * lanes.count();
        let block = Self {
            rng: scene.rng(),
            weights: [load.read, load.read + load.write],
            sizes: load.sizes.clone(),
            room,
            blocks: (0..blocks as u64).map(|tag| (tag, false)).collect(),
            disk: scene.memory(1, blocks * room)?,
            buffers: scene.memory(0, lanes.count() * room)?,
            commands: vec![Command::default(); lanes.count()],
            tags: blocks as u64,
            lanes,
        };
        for number in 0..blocks {
            let data = make(number as u64, block.size(number));
            block.disk.write(number * room, &data)?;
        }
        Ok(block)
    }

    fn size(&self, block: usize) -> usize {
        self.sizes[block % self.sizes.len()]
    }

    /// A command to a block that has none.
    fn command(&mut self, lane: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let mut block = self.rng.random_range(0..self.blocks.len());
        while self.blocks[block].1 {
            block = (block + 1) % self.blocks.len();
        }
        self.blocks[block].1 = true;
        self.tags += 1;
        let (tag, writes) = (
            self.tags,
            self.rng.random_range(0..self.weights[1]) >= self.weights[0],
        );
        self.commands[lane] = Command { block, tag, writes };
        // What a read is to fill has other bytes before.
        let data = make(tag, self.size(block));
        self.buffers.write(lane * self.room, &data)?;
        let command = numbers(&[lane as u64, block as u64, tag, writes.into()]);
        self.lanes.tell(0, lane, &command, step)
    }

    /// The target has a command: it moves the data.
    fn execute(&mut self, wc: &Wc, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (lane, command) = self.lanes.heard(1, wc, step)?;
        let Command { block, tag, writes } = self.commands[lane];
        if command != numbers(&[lane as u64, block as u64, tag, writes.into()]) {
            return Err(wrong(format!("command {tag} came with other bytes")));
        }
        let at = (block * self.room) as u64;
        let on_disk = self.disk.sge(at, self.size(block) as u32);
        let buffer = self.buffers.remote().offset((lane * self.room) as u64);
        let (qp, id) = (self.lanes.qp(1, lane), lane as u64);
        if writes {
            return step.send(qp, SendWr::read(id, buffer).sge(on_disk).signaled());
        }
        step.send(qp, SendWr::write(id, buffer).sge(on_disk))?;
        self.complete(lane, step)
    }

    fn complete(&self, lane: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let completion = numbers(&[lane as u64, self.commands[lane].tag]);
        self.lanes.tell(1, lane, &completion, step)
    }

    /// The data that a write brought to the disk.
    fn written(&mut self, lane: usize, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let Command { block, tag, .. } = self.commands[lane];
        let data = self.disk.to_vec(block * self.room, self.size(block))?;
        self.blocks[block].0 = tag;
        match belong(&data, tag) {
            true => self.complete(lane, step),
            false => Err(wrong(format!("block {block} was written with other bytes"))),
        }
    }

    /// The initiator has a completion.
    fn take(&mut self, wc: &Wc, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let (lane, completion) = self.lanes.heard(0, wc, step)?;
        let Command { block, tag, writes } = self.commands[lane];
        let data = self.buffers.to_vec(lane * self.room, self.size(block))?;
        let is_right = writes || belong(&data, self.blocks[block].0);
        if number(&completion, 8) != tag || !is_right {
            return Err(wrong(format!("block {block} was read with other bytes")));
        }
        self.blocks[block].1 = false;
        self.lanes.ended(lane, data.len(), step);
        Ok(())
    }
}

impl Program for Block {
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError> {
        match (self.lanes.poll(host, step)?, host) {
            (Some(wc), 0) => self.take(&wc, step)?,
            (Some(wc), _) if wc.opcode == WcOpcode::Recv => self.execute(&wc, step)?,
            (Some(wc), _) => self.written(wc.wr_id as usize, step)?,
            (None, 0) => match self.lanes.next(step) {
                Some(lane) => self.command(lane, step)?,
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

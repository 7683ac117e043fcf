//! Buffers from which raw frames are sent: the engine's frames are copied into one, and it is free
//! again when its job is done.

use std::collections::VecDeque;

use crate::error::DeviceError;
use crate::mmio::Mmio;
use weft_card_transport::dma::DmaBuffer;

/// More than this many frames at a time do not wait for the card.
const MAX_BUFFERS_LOG2: u8 = 6;

pub(super) struct FrameBuffers {
    memory: DmaBuffer,
    stride: usize,
    count: usize,
    next: usize,
    /// Job numbers of the buffers in use, oldest first; the newest one is the buffer before `next`.
    in_use: VecDeque<u32>,
}

impl FrameBuffers {
    pub(super) fn new(mmio: &Mmio, max_frame: u16, jobs_log2: u8) -> Result<Self, DeviceError> {
        let stride = usize::from(max_frame).next_multiple_of(64);
        let count = 1usize << jobs_log2.min(MAX_BUFFERS_LOG2);
        Ok(Self {
            memory: mmio.dma_alloc(count * stride)?,
            stride,
            count,
            next: 0,
            in_use: VecDeque::with_capacity(count),
        })
    }

    /// Bytes that a buffer holds.
    pub(super) fn capacity(&self) -> usize {
        self.stride
    }

    /// Frees the buffers whose jobs are done.
    pub(super) fn reclaim(&mut self, jobs_done: u32) {
        while let Some(job) = self.in_use.front() {
            if (jobs_done.wrapping_sub(*job) as i32) < 1 {
                break;
            }
            self.in_use.pop_front();
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.in_use.len() == self.count
    }

    /// Only as many buffers are left as the engine's own frames (ARP, SYN, RST) may need.
    pub(super) fn is_full_for_host(&self) -> bool {
        self.in_use.len() >= self.count - self.count / 4
    }

    /// Copies a frame into the next buffer, which is free, and returns its IOVA.
    pub(super) fn fill(&mut self, frame: &[u8]) -> Result<u64, DeviceError> {
        let offset = self.next * self.stride;
        self.memory.write(offset, frame)?;
        Ok(self.memory.iova() + offset as u64)
    }

    /// The buffer just filled belongs to this job.
    pub(super) fn assign(&mut self, job: u32) {
        self.in_use.push_back(job);
        self.next = (self.next + 1) % self.count;
    }
}

//! A queue pair of a card whose processor has the engine: its rung is `firmware`. The host writes WQEs and elements and reads CQEs, and the firmware works.

use std::fmt;
use std::sync::Arc;

use weft_engine::commands::{alloc_pd, create_qp, destroy_qp};
use weft_engine::{PdId, QpConfig, QpId};
use weft_layout::{Cqe, ProcCommand, ProcQueues};
use weft_queues::{Capacity, CompletionQueue, QueuePair, Sge, Wqe};

use super::served::CardEngine;
use super::{Processor, ProcessorError};
use crate::queue_memory::QueueMemory;
use crate::transport::{RegisterAccess, Transport};
use crate::verbs::{LentQp, Terms};

/// A queue pair, and its completion queue. It has no lock: one thread posts and polls.
pub struct CardQp {
    queues: LentQp,
    id: QpId,
    processor: Processor,
}

impl CardEngine {
    /// A new domain.
    pub fn alloc_pd(&mut self) -> Result<PdId, ProcessorError> {
        let answer = self.command(&alloc_pd(), &[])?;
        Ok(PdId::from_number(
            answer.map_err(ProcessorError::Refused)?.pd,
        ))
    }

    /// A new queue pair with a completion queue of its own, of at least so many CQEs.
    ///
    /// # Errors
    /// [`ProcessorError::Refused`]: the engine's reason; [`ProcessorError::NoRoom`]: the memory that both share is full.
    pub fn create_qp(
        &mut self,
        pd: PdId,
        capacity: Capacity,
        cqes: u32,
    ) -> Result<CardQp, ProcessorError> {
        let layout = QueuePair::new(capacity).zip(CompletionQueue::new(cqes as usize));
        let (layout, cq) = layout.ok_or(ProcessorError::NoRoom)?;
        let config = QpConfig {
            pd,
            send_depth: capacity.send,
            recv_depth: capacity.recv,
            max_sge: capacity.sges.min(4) as u8,
            rung: Some(weft_engine::Rung::Firmware),
        };
        let queues = self.room(layout.bytes()).ok_or(ProcessorError::NoRoom)?;
        let completions = self.room(cq.bytes()).ok_or(ProcessorError::NoRoom)?;
        let answer = self.command(&create_qp(&config), &[])?;
        let number = answer.map_err(ProcessorError::Refused)?.qp;
        let record = ProcQueues {
            qp: number,
            queues: queues as u32,
            completions: completions as u32,
            send: capacity.send,
            recv: capacity.recv,
            sges: capacity.sges as u16,
            inline_bytes: capacity.inline as u16,
            cqes: cq.capacity(),
        };
        let processor = self.processor().clone();
        let info = processor.info()?.filter(|info| info.queues_at != 0);
        let info = info.ok_or(ProcessorError::NoEngine)?;
        processor.write_memory(info.queues_at, &record.to_bytes())?;
        if processor.ask(ProcCommand::Queues, 0)? != 0 {
            return Err(ProcessorError::NoRoom);
        }
        let memory = |at, bytes| QueueMemory::of(self.memory(), at, bytes);
        let memories = memory(queues, layout.bytes()).zip(memory(completions, cq.bytes()));
        let terms = Terms {
            qp_num: number,
            max_send_wr: capacity.send,
            max_recv_wr: capacity.recv,
            max_sge: capacity.sges as u32,
            max_inline_data: capacity.inline as u32,
            cqe: cq.capacity(),
        };
        let queues = memories.and_then(|(queues, cq)| LentQp::over(queues, cq, terms).ok());
        Ok(CardQp {
            queues: queues.ok_or(ProcessorError::NoRoom)?,
            id: QpId::from_number(number),
            processor,
        })
    }

    /// Removes a queue pair. The memory of its queues is not used again.
    pub fn destroy_qp(&mut self, qp: CardQp) -> Result<(), ProcessorError> {
        let answer = self.command(&destroy_qp(qp.id), &[])?;
        answer.map_err(ProcessorError::Refused).map(|_| ())
    }
}

impl CardQp {
    /// As commands and events name it.
    pub fn id(&self) -> QpId {
        self.id
    }

    fn transport(&self) -> &Arc<dyn Transport> {
        &self.processor.transport
    }

    /// Posts a WQE and rings; its number, which its CQE has. `None`: the queue is full.
    pub fn post_send(&mut self, wqe: &Wqe<'_>) -> Result<Option<u32>, ProcessorError> {
        let number = self.queues.post_send(wqe);
        self.ring()?;
        Ok(number)
    }

    /// Posts a receive element and rings; its number. `None`: the queue is full.
    pub fn post_recv(&mut self, sges: &[Sge]) -> Result<Option<u32>, ProcessorError> {
        let number = self.queues.post_recv(sges);
        self.ring()?;
        Ok(number)
    }

    fn ring(&self) -> Result<(), ProcessorError> {
        crate::dma::publish();
        let bell = weft_layout::registers::PROC_BELL;
        Ok(self.transport().write(bell, 1)?)
    }

    /// The oldest CQE.
    pub fn poll(&mut self) -> Option<Cqe> {
        self.queues.poll()
    }

    /// Waits for a CQE, asleep.
    ///
    /// # Errors
    /// [`ProcessorError::Silent`] when none came until `deadline` of the transport's time.
    pub fn wait(&mut self, deadline: u64) -> Result<Cqe, ProcessorError> {
        loop {
            self.queues.arm();
            if let Some(cqe) = self.poll() {
                return Ok(cqe);
            }
            self.processor.sleep(deadline)?;
        }
    }
}

impl fmt::Debug for CardQp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardQp").field("id", &self.id).finish()
    }
}

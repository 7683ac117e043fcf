//! A device that another process lends: commands and events lie in rings that both have, the queues of each queue pair in memory that both map.
//!
//! A queue pair has a completion queue of its own there. What comes in it goes to those of the verbs here, which may be of several queue pairs and of any size.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use weft_engine::commands::{Answer, Command, Refusal};
use weft_engine::{Error, Event, QpId, SrqId};
use weft_layout::{CommandOpcode, Cqe};
use weft_queues::{Capacity, QueuePair, SharedReceive};

use super::control::Control;
use super::lent_completions::{no_such_queue, LentCompletions};
use super::lent_xrc::{LentXrc, XrcLender};
use crate::card::{Fence, MemoryMap};
use crate::error::DeviceError;
use weft_card_transport::queue_memory::QueueMemory;

/// A queue pair that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuePairAsked {
    /// Its domain.
    pub pd: u32,
    /// Work requests under way in the send queue, and receives.
    pub work: [u32; 2],
    /// SGEs of a send, and of a receive.
    pub sges: [usize; 2],
    /// Bytes inline.
    pub inline: usize,
    /// Entries of its completion queue.
    pub cqe: usize,
    /// The shared receive queue that it takes its receives from.
    pub srq: Option<u32>,
    /// It is an XRC initiator.
    pub initiator: bool,
}

/// A queue pair that was lent.
#[derive(Debug)]
pub struct QueuePairLent {
    /// What commands call it.
    pub number: u32,
    /// Its number, which no other one of the lender's has.
    pub qp_num: u32,
    /// Its queues' memory, and that of its completion queue.
    pub files: [OwnedFd; 2],
}

/// Who lends a device: what is asked for outside of the rings, and who is woken.
pub trait DeviceLender: XrcLender {
    /// A protection domain; its number in commands.
    fn alloc_pd(&self) -> io::Result<u32>;
    /// It is wanted no more. An error: something is in it.
    fn dealloc_pd(&self, pd: u32) -> io::Result<()>;
    /// A queue pair.
    fn queue_pair(&self, asked: &QueuePairAsked) -> io::Result<QueuePairLent>;
    /// It is wanted no more.
    fn leave_queue_pair(&self, number: u32) -> io::Result<()>;
    /// A shared receive queue of so many receives of so many SGEs, with this limit; its number in commands, and its memory.
    fn shared_receives(
        &self,
        pd: u32,
        max_wr: u32,
        max_sge: usize,
        limit: u32,
    ) -> io::Result<(u32, OwnedFd)>;
    /// It is wanted no more. An error: a queue pair has it.
    fn leave_shared_receives(&self, number: u32) -> io::Result<()>;
    /// Something was posted or commanded.
    fn posted(&self);
    /// What comes from now on is to wake this process.
    fn arm(&self);
    /// Sleeps until this is so. An error: nothing more will come.
    fn wait_until(&self, is_there: &mut dyn FnMut() -> bool) -> io::Result<()>;
    /// Why nothing comes from it any more; `None`: it is there.
    fn lost(&self) -> Option<String>;
}

/// What a lender says of its device.
#[derive(Clone, Copy, Debug)]
pub struct LentDevice {
    /// Its address.
    pub ip: Ipv4Addr,
    /// The mask of its network.
    pub netmask: Ipv4Addr,
    /// Who takes what is for other networks.
    pub gateway: Option<Ipv4Addr>,
    /// Its largest packet.
    pub mtu: u16,
    /// Queue pairs, and regions.
    pub most: [u32; 2],
}

/// The borrower's end.
pub(crate) struct Lent {
    pub(super) lender: Arc<dyn DeviceLender>,
    control: Control,
    pub(crate) memory: MemoryMap,
    pub(super) fence: Fence,
    served: BTreeMap<QpId, Served>,
    /// Of shared receive queues that were lent and nobody has fetched.
    pub(super) shared: BTreeMap<SrqId, OwnedFd>,
    pub(super) xrc: LentXrc,
}

/// What a queue pair has in memory that both map.
struct Served {
    qp_num: u32,
    queues: QueueMemory,
    completions: LentCompletions,
}

impl Lent {
    pub(super) fn new(lender: Arc<dyn DeviceLender>, control: Control) -> Self {
        Self {
            lender,
            control,
            memory: MemoryMap::default(),
            fence: Fence::default(),
            served: BTreeMap::new(),
            shared: BTreeMap::new(),
            xrc: LentXrc::default(),
        }
    }

    pub(super) fn failed(&self, error: &io::Error) -> DeviceError {
        match self.lender.lost() {
            Some(why) => self.gone(why),
            None => DeviceError::NotLent {
                reason: error.to_string(),
            },
        }
    }

    fn gone(&self, why: String) -> DeviceError {
        DeviceError::Lost {
            device: "a lent device".to_owned(),
            why,
        }
    }

    /// Fails if its lender is gone.
    pub(super) fn check_lender(&self) -> Result<(), DeviceError> {
        self.lender.lost().map_or(Ok(()), |why| Err(self.gone(why)))
    }

    /// Has a command done.
    pub(super) fn command(
        &mut self,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Result<Answer, Refusal>, DeviceError> {
        let refused = |error: io::Error, by: Error| {
            tracing::debug!(%error, "refused by the lender");
            self.check_lender().map(|()| Err(by.into()))
        };
        let lender = &self.lender;
        let nothing = Answer::default();
        match command.opcode() {
            Ok(CommandOpcode::AllocPd) => match lender.alloc_pd() {
                Ok(pd) => Ok(Ok(Answer { pd, ..nothing })),
                Err(error) => refused(error, Error::NoMemory),
            },
            Ok(CommandOpcode::DeallocPd) => match lender.dealloc_pd(command.pd) {
                Ok(()) => Ok(Ok(nothing)),
                Err(error) => refused(error, Error::InUse),
            },
            Ok(CommandOpcode::DeallocXrcd) => match lender.leave_xrcd(command.xrcd) {
                Ok(()) => Ok(Ok(nothing)),
                Err(error) => refused(error, Error::UnknownXrcd),
            },
            Ok(CommandOpcode::DestroyQp) if self.xrc.has_target(command.qp) => {
                match lender.leave_target(command.qp) {
                    Ok(()) => Ok(Ok(nothing)),
                    Err(error) => refused(error, Error::UnknownQp),
                }
            }
            Ok(CommandOpcode::DestroyQp) => match lender.leave_queue_pair(command.qp) {
                Ok(()) => Ok(Ok(nothing)),
                Err(error) => refused(error, Error::UnknownQp),
            },
            Ok(CommandOpcode::CreateSrq) if command.xrcd == 0 => self.shared_receives(command),
            Ok(CommandOpcode::CreateSrq) => self.xrc_receives(command),
            Ok(CommandOpcode::DestroySrq) => match lender.leave_shared_receives(command.srq) {
                Ok(()) => Ok(Ok(nothing)),
                Err(error) => refused(error, Error::InUse),
            },
            _ => self.by_ring(command, private_data),
        }
    }

    fn by_ring(
        &mut self,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Result<Answer, Refusal>, DeviceError> {
        let number = self.control.post(command, private_data);
        self.lender.posted();
        let control = &self.control;
        let is_there = &mut || control.is_answered(number);
        let waited = self.lender.wait_until(is_there);
        // Nothing more comes: nobody can say what became of it.
        waited.map_err(|error| self.gone(self.lender.lost().unwrap_or(error.to_string())))?;
        Ok(self.control.answer(number))
    }

    fn shared_receives(
        &mut self,
        command: &Command,
    ) -> Result<Result<Answer, Refusal>, DeviceError> {
        let (pd, max_wr, limit) = (command.pd, command.recv_depth, command.srq_limit);
        let max_sge = command.max_sge.into();
        let nothing = Answer::default();
        match self.lender.shared_receives(pd, max_wr, max_sge, limit) {
            Ok((srq, file)) => {
                self.shared.insert(SrqId::from_number(srq), file);
                Ok(Ok(Answer { srq, ..nothing }))
            }
            Err(error) => {
                tracing::debug!(%error, "refused by the lender");
                self.check_lender().map(|()| Err(Error::NoMemory.into()))
            }
        }
    }

    /// The memory of one of so many elements that was just made.
    pub(super) fn shared_memory(
        &mut self,
        srq: SrqId,
        elements: u32,
    ) -> Result<QueueMemory, DeviceError> {
        let file = self.shared.remove(&srq).ok_or(io::ErrorKind::NotFound);
        let memory = file.map_err(io::Error::from).and_then(|file| {
            let layout = SharedReceive::new(elements).ok_or_else(no_such_queue)?;
            let memory = QueueMemory::map(file)?;
            memory.check_room(layout.bytes())?;
            Ok(memory)
        });
        memory.map_err(|error| self.failed(&error))
    }

    /// A queue pair, with queues that this process posts to.
    pub(super) fn queue_pair(&mut self, asked: &QueuePairAsked) -> Result<QpId, DeviceError> {
        let made = self.lender.queue_pair(asked);
        let made = made.map_err(|error| self.failed(&error))?;
        let id = QpId::from_number(made.number);
        match Served::of(asked, made.qp_num, made.files) {
            Ok(served) => {
                self.served.insert(id, served);
                Ok(id)
            }
            Err(error) => {
                // It is there, and of no use here.
                let _ = self.lender.leave_queue_pair(made.number);
                Err(self.failed(&error))
            }
        }
    }

    /// Its queues' memory.
    pub(super) fn queues_of(&self, qp: QpId) -> Option<QueueMemory> {
        self.served.get(&qp).map(|served| served.queues.clone())
    }

    /// The number that its lender has given it.
    pub(super) fn qp_num(&self, qp: QpId) -> Option<u32> {
        let served = self.served.get(&qp).map(|served| served.qp_num);
        served.or_else(|| self.xrc.target(qp))
    }

    /// A queue pair that is destroyed.
    pub(super) fn forget(&mut self, qp: QpId) {
        self.served.remove(&qp);
        self.xrc.forget(qp);
    }

    /// Something was posted.
    pub(super) fn ring(&self) {
        self.lender.posted();
    }

    /// The oldest completion of any queue pair.
    pub(super) fn take_completion(&mut self) -> Option<(QpId, Cqe)> {
        let mut served = self.served.iter_mut();
        let own = served.find_map(|(qp, served)| Some((*qp, served.completions.take()?)));
        own.or_else(|| self.xrc.take_completion())
    }

    /// The oldest event.
    pub(super) fn take_event(&mut self) -> Option<Event> {
        self.control.take_event()
    }

    /// The next completion or event wakes this process. Look once more afterwards.
    pub(super) fn arm(&self) {
        self.control.arm();
        self.lender.arm();
    }

    /// Is there a completion or an event that was not taken?
    pub(super) fn has_news(&self) -> bool {
        let mut served = self.served.values();
        let has_completion = served.any(|served| served.completions.next().is_some());
        self.control.has_event() || has_completion || self.xrc.has_completion()
    }
}

impl Served {
    fn of(
        asked: &QueuePairAsked,
        qp_num: u32,
        [queues, completions]: [OwnedFd; 2],
    ) -> io::Result<Self> {
        let [send, recv] = asked.work;
        let layout = QueuePair::new(Capacity {
            send,
            recv,
            sges: asked.sges[0],
            inline: asked.inline,
        });
        let layout = layout.ok_or_else(no_such_queue)?;
        let queues = QueueMemory::map(queues)?;
        queues.check_room(layout.bytes())?;
        Ok(Self {
            qp_num,
            queues,
            completions: LentCompletions::of(asked.cqe, completions)?,
        })
    }
}

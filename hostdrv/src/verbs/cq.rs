//! Completion queues and completion channels.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use weft_engine::{Completion, Opcode, Status};

use super::VerbsError;
use crate::device::{Device, Events, Readiness};
use crate::error::DeviceError;

/// How work ended (`ibv_wc_status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WcStatus {
    /// Done.
    Success,
    /// The card could not use this work's memory: `IBV_WC_LOC_PROT_ERR`.
    LocalProtectionError,
    /// Not done, because the connection ended or failed before: `IBV_WC_WR_FLUSH_ERR`.
    WrFlushError,
    /// The peer refused the access: `IBV_WC_REM_ACCESS_ERR`.
    RemoteAccessError,
    /// The peer could not do it: `IBV_WC_REM_OP_ERR`.
    RemoteOperationError,
    /// Something else: `IBV_WC_GENERAL_ERR`.
    GeneralError,
}

/// What was done (`ibv_wc_opcode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WcOpcode {
    /// A Send of this side.
    Send,
    /// A Write of this side.
    RdmaWrite,
    /// A Read of this side.
    RdmaRead,
    /// A receive.
    Recv,
}

/// A work completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wc {
    /// Of the work request.
    pub wr_id: u64,
    /// How it ended.
    pub status: WcStatus,
    /// What it was.
    pub opcode: WcOpcode,
    /// Bytes moved; meaningful on success.
    pub byte_len: u32,
    /// The queue pair ([`Qp::qp_num`](super::Qp::qp_num)).
    pub qp_num: u32,
    /// A receive: the sender asked for an event.
    pub solicited: bool,
    /// A receive: this STag of ours was invalidated by it.
    pub invalidated_rkey: Option<u32>,
    /// A receive: it took Immediate Data, this (`IBV_WC_WITH_IMM`).
    pub imm_data: Option<u64>,
}

impl Wc {
    pub(super) fn new(qp_num: u32, wr_id: u64, completion: &Completion) -> Self {
        Self {
            wr_id,
            status: match completion.status {
                Status::Success => WcStatus::Success,
                Status::Flushed => WcStatus::WrFlushError,
                Status::LocalProtection => WcStatus::LocalProtectionError,
                Status::RemoteAccess => WcStatus::RemoteAccessError,
                Status::RemoteOperation => WcStatus::RemoteOperationError,
                _ => WcStatus::GeneralError,
            },
            opcode: match completion.opcode {
                Opcode::Send => WcOpcode::Send,
                Opcode::Write => WcOpcode::RdmaWrite,
                Opcode::Read => WcOpcode::RdmaRead,
                Opcode::Recv => WcOpcode::Recv,
            },
            byte_len: completion.byte_len,
            qp_num,
            solicited: completion.solicited,
            invalidated_rkey: completion.invalidated,
            imm_data: completion.immediate,
        }
    }
}

/// Which completions make an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notify {
    /// The next one.
    Any,
    /// The next one whose sender asked for it, or that failed.
    Solicited,
}

/// A completion queue. Clones are the same queue.
#[derive(Clone, Debug)]
pub struct Cq {
    device: Device,
    inner: Arc<CqInner>,
}

#[derive(Debug)]
pub(crate) struct CqInner {
    cqe: usize,
    channel: Option<Arc<ChannelInner>>,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    queue: VecDeque<Wc>,
    /// Work under way that may still complete into this queue.
    promised: usize,
    armed: Option<Notify>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CqInner {
    /// Keeps an entry for work that is being posted.
    pub(super) fn promise(&self) -> Result<(), VerbsError> {
        let mut entries = locked(&self.entries);
        if entries.queue.len() + entries.promised >= self.cqe {
            return Err(VerbsError::CqFull { cqe: self.cqe });
        }
        entries.promised += 1;
        Ok(())
    }

    /// Gives promised entries back.
    pub(super) fn forget(&self, count: usize) {
        locked(&self.entries).promised -= count;
    }

    /// Turns a promised entry into a completion.
    pub(super) fn push(self: &Arc<Self>, wc: Wc) {
        let mut entries = locked(&self.entries);
        entries.promised -= 1;
        entries.queue.push_back(wc);
        let tell = match entries.armed {
            None => false,
            Some(Notify::Any) => true,
            Some(Notify::Solicited) => wc.solicited || wc.status != WcStatus::Success,
        };
        if tell {
            entries.armed = None;
            if let Some(channel) = &self.channel {
                channel.events.push(Arc::downgrade(self));
            }
        }
    }

    /// Removes the completions of a queue pair that is destroyed.
    pub(super) fn remove_qp(&self, qp_num: u32) {
        locked(&self.entries).queue.retain(|wc| wc.qp_num != qp_num);
    }
}

impl Device {
    /// A completion queue of `cqe` entries. Work is accepted only while every completion it can make has a
    /// place, so the queue cannot overrun.
    #[tracing::instrument(name = "create_cq", level = "debug", skip_all, fields(device = self.name(), cqe = cqe))]
    pub fn create_cq(&self, cqe: usize, channel: Option<&CompChannel>) -> Result<Cq, VerbsError> {
        if cqe == 0 {
            return Err(VerbsError::InvalidSize {
                what: "the number of completion queue entries",
                given: 0,
                allowed: "at least 1",
            });
        }
        if channel.is_some_and(|channel| !channel.device.is(self)) {
            return Err(VerbsError::WrongDevice {
                what: "completion channel",
            });
        }
        Ok(Cq {
            device: self.clone(),
            inner: Arc::new(CqInner {
                cqe,
                channel: channel.map(|channel| channel.inner.clone()),
                entries: Mutex::default(),
            }),
        })
    }

    /// A completion channel: where queues that were asked to announce their next completion do so.
    #[tracing::instrument(name = "create_comp_channel", level = "debug", skip_all, fields(device = self.name()))]
    pub fn create_comp_channel(&self) -> CompChannel {
        CompChannel {
            device: self.clone(),
            inner: Arc::default(),
        }
    }
}

impl Cq {
    pub(super) fn inner(&self) -> &Arc<CqInner> {
        &self.inner
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its size.
    pub fn cqe(&self) -> usize {
        self.inner.cqe
    }

    /// Are the two the same queue?
    pub fn is(&self, other: &Cq) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    fn pop(&self) -> Option<Wc> {
        locked(&self.inner.entries).queue.pop_front()
    }

    /// The oldest completion, if there is one. Lets the device make progress when there is none.
    #[tracing::instrument(name = "poll_cq", level = "trace", skip_all, fields(device = self.device.name()))]
    pub fn poll_one(&self) -> Result<Option<Wc>, VerbsError> {
        if let Some(wc) = self.pop() {
            return Ok(Some(wc));
        }
        self.device.progress()?;
        Ok(self.pop())
    }

    /// Up to `max` completions, oldest first.
    pub fn poll(&self, max: usize) -> Result<Vec<Wc>, VerbsError> {
        let mut found = Vec::new();
        while found.len() < max {
            let next = if found.is_empty() {
                self.poll_one()?
            } else {
                self.pop()
            };
            match next {
                Some(wc) => found.push(wc),
                None => break,
            }
        }
        Ok(found)
    }

    /// Completions, oldest first, as many as there is room for without the vector growing (`ibv_poll_cq`): with one that is used again
    /// and again, polling allocates nothing. How many were added; lets the device make progress when there is none.
    pub fn poll_into(&self, found: &mut Vec<Wc>) -> Result<usize, VerbsError> {
        let before = found.len();
        while found.len() < found.capacity() {
            let next = if found.len() == before {
                self.poll_one()?
            } else {
                self.pop()
            };
            match next {
                Some(wc) => found.push(wc),
                None => break,
            }
        }
        Ok(found.len() - before)
    }

    /// The next completion, which has to be one of success: another one, or none in time, is an error. For programs that do one
    /// thing after the other.
    pub fn wait_success(&self, timeout: Option<Duration>) -> Result<Wc, VerbsError> {
        match self.wait_one(timeout)? {
            Some(wc) if wc.status == WcStatus::Success => Ok(wc),
            came => Err(VerbsError::NotDone {
                came: came.map(|wc| (wc.wr_id, wc.status)),
            }),
        }
    }

    /// The oldest completion; sleeps until there is one or the time is over.
    #[tracing::instrument(name = "wait_cq", level = "debug", skip_all, fields(device = self.device.name()))]
    pub fn wait_one(&self, timeout: Option<Duration>) -> Result<Option<Wc>, VerbsError> {
        let found = self
            .device
            .wait_for(deadline(&self.device, timeout), || self.pop())?;
        Ok(found)
    }

    /// Asks for one event in the completion channel at the next completion (`ibv_req_notify_cq`). Poll once
    /// more afterwards: a completion that was there already makes no event.
    #[tracing::instrument(name = "req_notify_cq", level = "debug", skip_all, fields(device = self.device.name(), ?which))]
    pub fn req_notify(&self, which: Notify) -> Result<(), VerbsError> {
        if self.inner.channel.is_none() {
            return Err(VerbsError::NoChannel);
        }
        let mut entries = locked(&self.inner.entries);
        // "Any" includes "solicited": the wider request stays.
        if entries.armed != Some(Notify::Any) {
            entries.armed = Some(which);
        }
        Ok(())
    }
}

/// A completion channel. Clones are the same channel.
#[derive(Clone, Debug)]
pub struct CompChannel {
    device: Device,
    inner: Arc<ChannelInner>,
}

#[derive(Debug, Default)]
struct ChannelInner {
    events: Arc<Events<Weak<CqInner>>>,
}

impl CompChannel {
    fn pop(&self) -> Option<Cq> {
        // A queue that is gone has nothing to say.
        let inner = self.inner.events.pop(|cq| cq.upgrade())?;
        Some(Cq {
            device: self.device.clone(),
            inner,
        })
    }

    /// A file that is readable while a queue has announced a completion, or the device has something to do: then call
    /// [`try_get_event`](Self::try_get_event). The order is that of `ibv_req_notify_cq` and a completion channel's `fd`: ask
    /// ([`Cq::req_notify`]), poll once more, wait for the file, take the event, ask again, poll until the queue is empty.
    pub fn readiness(&self) -> Result<Readiness, DeviceError> {
        self.device.readiness_of(&self.inner.events)
    }

    /// The queue that announced a completion, if one did. Never blocks.
    pub fn try_get_event(&self) -> Result<Option<Cq>, VerbsError> {
        if let Some(cq) = self.pop() {
            return Ok(Some(cq));
        }
        self.device.progress()?;
        Ok(self.pop())
    }

    /// The queue that announced a completion; sleeps until one does or the time is over.
    #[tracing::instrument(name = "get_cq_event", level = "debug", skip_all, fields(device = self.device.name()))]
    pub fn get_event(&self, timeout: Option<Duration>) -> Result<Option<Cq>, VerbsError> {
        let found = self
            .device
            .wait_for(deadline(&self.device, timeout), || self.pop())?;
        Ok(found)
    }
}

/// A point in the device's time.
pub(crate) fn deadline(device: &Device, timeout: Option<Duration>) -> Option<u64> {
    let nanos = |t: Duration| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX);
    timeout.map(|t| device.now().saturating_add(nanos(t)))
}

//! The calls for queue pairs.

use alloc::boxed::Box;

use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::Phase;
use crate::interface::cm::{ConnectFailure, DisconnectReason};
use crate::interface::error::Error;
use crate::interface::rung::{Rung, RungError};
use crate::interface::verbs::{Opcode, QpConfig, QpId, QpState, SrqId, MAX_SGE};
use crate::management::conn_info::ConnInfo;
use crate::queues::qp::{Qp, Receives};
use crate::queues::send_buffer::SendBuffer;
use crate::queues::send_queue::SendQueue;
use crate::queues::xrc::XrcdId;

/// Deepest work queue.
const MAX_DEPTH: u32 = 1 << 15;
/// How often JOB_DONE is read at most before a queue pair is destroyed in spite of jobs in flight.
const MAX_WAITS: u32 = 1000;

/// Work requests of the queues of such a queue pair.
fn work(config: &QpConfig) -> u64 {
    let [send, recv] = [config.send_depth, config.recv_depth];
    u64::from(send.next_power_of_two()) + u64::from(recv.next_power_of_two())
}

impl Engine {
    /// A new queue pair; it takes a flow of the card until it is destroyed.
    pub fn create_qp<P: Port>(&mut self, config: &QpConfig, port: &mut P) -> Result<QpId, Error> {
        self.make_qp(config, Receives::Own, port)
    }

    /// The same of one that takes its receives from a shared queue of its domain; `config.recv_depth` means nothing.
    pub fn create_qp_with_srq<P: Port>(
        &mut self,
        config: &QpConfig,
        srq: SrqId,
        port: &mut P,
    ) -> Result<QpId, Error> {
        self.make_qp(config, Receives::Shared(srq), port)
    }

    /// The same of an XRC initiator: it sends to shared queues of its peer that it names, and receives nothing; `config.recv_depth` means nothing.
    pub fn create_xrc_initiator<P: Port>(
        &mut self,
        config: &QpConfig,
        port: &mut P,
    ) -> Result<QpId, Error> {
        self.make_qp(config, Receives::Nowhere, port)
    }

    /// The same of an XRC target: it receives for the shared queues of a domain, and sends nothing. Its depths mean nothing.
    pub fn create_xrc_target<P: Port>(
        &mut self,
        config: &QpConfig,
        xrcd: XrcdId,
        port: &mut P,
    ) -> Result<QpId, Error> {
        let config = QpConfig {
            send_depth: 1,
            ..*config
        };
        self.make_qp(&config, Receives::Domain(xrcd, None), port)
    }

    fn make_qp<P: Port>(
        &mut self,
        config: &QpConfig,
        receives: Receives,
        port: &mut P,
    ) -> Result<QpId, Error> {
        let config = &QpConfig {
            recv_depth: match receives {
                Receives::Own => config.recv_depth,
                _ => 1,
            },
            ..*config
        };
        let depths = 1..=MAX_DEPTH;
        if !depths.contains(&config.send_depth)
            || !depths.contains(&config.recv_depth)
            || !(1..=MAX_SGE).contains(&usize::from(config.max_sge))
        {
            return Err(Error::InvalidQpConfig);
        }
        self.check_work(work(config))?;
        self.check_sends(config)?;
        self.check_each(self.qps.iter().flatten().count())?;
        let rung = config.rung.unwrap_or(self.shared.config.rung);
        rung.check(self.shared.config.on_card)
            .map_err(|why| Error::Rung(rung, why))?;
        let flow = self.next_flow(port).ok_or(Error::NoFlows)?;
        match receives {
            Receives::Shared(srq) if self.shared.queues.srqs.config(srq)?.pd != config.pd => {
                return Err(Error::InvalidSrq);
            }
            Receives::Domain(xrcd, _) if !self.shared.queues.xrcds.has(xrcd) => {
                return Err(Error::UnknownXrcd);
            }
            _ => {}
        }
        self.shared.regions.join(config.pd)?;
        let log2 = config.recv_depth.next_power_of_two().trailing_zeros() as u8;
        let Some(iova) = port.rq_memory(flow, log2) else {
            self.shared.regions.leave(config.pd);
            return Err(Error::NoMemory);
        };
        let mut software = None;
        if !rung.duties().places {
            let size = SendBuffer::size(self.shared.config.send_buffer);
            let Some(iova) = port.send_memory(flow, size) else {
                self.shared.regions.leave(config.pd);
                return Err(Error::Rung(rung, RungError::NoSendBuffer));
            };
            software = Some(SendBuffer { iova, size });
        }
        self.free_flows.pop_front();
        port.rq_tail(flow, 0);
        let index = usize::from(flow);
        self.generations[index] = self.generations[index].wrapping_add(1);
        let id = QpId {
            flow,
            generation: self.generations[index],
        };
        let mut qp = Box::new(Qp::new(id, *config, iova, rung, software));
        qp.receives = receives;
        match receives {
            Receives::Shared(srq) => self.shared.queues.srqs.join(srq)?,
            Receives::Domain(xrcd, _) => self.shared.queues.xrcds.join(xrcd)?,
            Receives::Own | Receives::Nowhere => {}
        }
        self.qps[index] = Some(qp);
        // Room for every completion there can be, so that none is allocated when data moves.
        if self.shared.config.max_work.is_some() {
            // There is, for all there may ever be.
            return Ok(id);
        }
        let room: usize = self
            .qps
            .iter()
            .flatten()
            .map(|qp| qp.rq.capacity() + qp.config.send_depth as usize)
            .sum();
        self.shared
            .queues
            .completions
            .reserve(room + self.shared.queues.srqs.room());
        Ok(id)
    }

    /// Is there memory for so many work requests more?
    pub(super) fn check_work(&self, more: u64) -> Result<(), Error> {
        let Some(most) = self.shared.config.max_work else {
            return Ok(());
        };
        let there = self.qps.iter().flatten().map(|qp| work(&qp.config));
        let there = there.sum::<u64>() + self.shared.queues.srqs.room() as u64;
        match there + more <= most.into() {
            true => Ok(()),
            false => Err(Error::NoMemory),
        }
    }

    /// And for so many sends?
    fn check_sends(&self, more: &QpConfig) -> Result<(), Error> {
        let memory = &self.shared.config.memory;
        let fits = |most: Option<u32>, of: &dyn Fn(&QpConfig) -> u64| {
            let there = self.qps.iter().flatten().map(|qp| of(&qp.config));
            most.is_none_or(|most| there.sum::<u64>() + of(more) <= most.into())
        };
        let sends = |config: &QpConfig| u64::from(config.send_depth.next_power_of_two());
        let words = |config: &QpConfig| SendQueue::words(config.send_depth, config.max_sge) as u64;
        match fits(memory.sends, &sends) && fits(memory.words, &words) {
            true => Ok(()),
            false => Err(Error::NoMemory),
        }
    }

    /// And for one more of a kind of which there are so many?
    pub(super) fn check_each(&self, there: usize) -> Result<(), Error> {
        match there < usize::from(self.shared.config.memory.each) {
            true => Ok(()),
            false => Err(Error::NoMemory),
        }
    }

    // ------------------------------------------------------------------ shared receive queues

    /// The flow that the next queue pair gets: the first of those that are free, and without replays to do.
    fn next_flow<P: Port>(&mut self, port: &mut P) -> Option<u16> {
        for _ in 0..MAX_WAITS {
            let flows = &mut self.shared.flows;
            flows.forget_done(port.jobs_done());
            let mut free = self.free_flows.iter();
            let at = free.position(|flow| flows.is_without_replays(*flow));
            if let Some(flow) = at.and_then(|at| self.free_flows.remove(at)) {
                self.free_flows.push_front(flow);
                return Some(flow);
            }
            if self.free_flows.is_empty() {
                return None;
            }
            port.refresh_jobs_done();
        }
        None
    }

    /// Removes a queue pair. A connection it has is aborted (RST), with its last event; work
    /// requests it holds are gone without completion, and so are completions not yet polled; but those of a shared receive queue's elements
    /// are still to be had, since that lives on.
    pub fn destroy_qp<P: Port>(&mut self, now: u64, qp: QpId, port: &mut P) -> Result<(), Error> {
        if let Some(slot) = self.qp(qp)?.conn {
            self.run(now, slot, port, |link| {
                link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
            });
            // The memory of the work requests is free for others only when the card has read it.
            for _ in 0..MAX_WAITS {
                if self.qp(qp)?.conn.is_none() {
                    break;
                }
                port.refresh_jobs_done();
                self.run(now, slot, port, |_| ());
            }
            self.run(now, slot, port, |link| link.conn.in_flight.clear());
        }
        self.abandon_loopback(qp);
        let index = usize::from(qp.flow);
        let shared = self.qp(qp)?.receives.are_shared();
        if let Some(mut gone) = self.qps[index].take() {
            gone.flush(
                None,
                &mut self.shared.regions,
                &mut self.shared.queues.completions,
            );
            self.shared.regions.unbind_all(qp, port);
            self.shared.regions.leave(gone.config.pd);
            match gone.receives {
                Receives::Shared(srq) => self.shared.queues.srqs.leave(srq),
                Receives::Domain(xrcd, _) => self.shared.queues.xrcds.leave(xrcd),
                Receives::Own | Receives::Nowhere => {}
            }
            self.free_flows.push_back(qp.flow);
        }
        self.shared.queues.completions.retain(|completion| {
            completion.qp != qp || shared && completion.opcode == Opcode::Recv
        });
        Ok(())
    }

    /// The rung of a queue pair.
    pub fn qp_rung(&self, qp: QpId) -> Result<Rung, Error> {
        Ok(self.qp(qp)?.rung)
    }

    /// The state of a queue pair.
    pub fn qp_state(&self, qp: QpId) -> Result<QpState, Error> {
        Ok(self.qp(qp)?.state)
    }

    /// How a queue pair's connection stands; `None`: it has none, or none any more.
    pub fn conn_info(&self, qp: QpId) -> Result<Option<ConnInfo>, Error> {
        let slot = self.qp(qp)?.conn;
        let conn = slot.and_then(|slot| self.conns.get(slot));
        Ok(conn
            .filter(|conn| conn.phase != Phase::Finished)
            .map(ConnInfo::of))
    }

    /// Moves a queue pair to the error state: its connection is aborted and everything in it is
    /// flushed.
    pub fn set_qp_error<P: Port>(&mut self, now: u64, qp: QpId, port: &mut P) -> Result<(), Error> {
        if self.abandon_loopback(qp) {
            return Ok(());
        }
        match self.qp(qp)?.conn {
            Some(slot) => {
                self.run(now, slot, port, |link| {
                    // Its work requests are flushed even if nothing was sent yet.
                    link.conn.committed = true;
                    link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
                });
            }
            None => {
                if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
                    let was_over = qp.state == QpState::Error;
                    qp.flush(
                        None,
                        &mut self.shared.regions,
                        &mut self.shared.queues.completions,
                    );
                    if !was_over {
                        self.shared.outbox.last_wqe(qp.receives, qp.id);
                    }
                }
            }
        }
        Ok(())
    }
}

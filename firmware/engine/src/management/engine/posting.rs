//! The calls for work requests.

use weft_layout::WqeOpcode;

use super::Engine;
use crate::card::port::Port;
use crate::interface::error::Error;
use crate::interface::verbs::{QpId, QpState, RecvWr, SendOp, SendWr, Status};
use crate::queues::qp::Receives;
use crate::queues::shared_receive::put_element;
use crate::queues::work_request as work;

impl Engine {
    /// Puts a work request into the send queue. Before the connection is established it waits
    /// there. After the queue pair failed it completes with `Status::Flushed`.
    pub fn post_send<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        wr: &SendWr<'_>,
        port: &mut P,
    ) -> Result<(), Error> {
        self.shared.stats.steps += 1;
        self.qp(qp)?;
        let shared = &mut self.shared;
        let Some(queue) = self.qps[usize::from(qp.flow)].as_mut() else {
            return Err(Error::UnknownQp);
        };
        if queue.sq.is_full() {
            return Err(Error::QueueFull);
        }
        let conn = queue.conn.and_then(|slot| self.conns.get(slot));
        let no_reads = conn.is_some_and(|conn| conn.reported && conn.agreed.ord == 0)
            || queue.loopback.is_some_and(|loopback| !loopback.reads);
        if no_reads && matches!(wr.op, SendOp::Read { .. } | SendOp::Atomic { .. }) {
            return Err(Error::NoReadsAllowed);
        }
        let new = work::new_work(queue, &shared.regions, wr)?;
        queue.sq.push(&new, queue.config.pd, &mut shared.regions)?;
        if queue.state == QpState::Error {
            queue.flush(None, &mut shared.regions, &mut shared.queues.completions);
        } else if let Some(slot) = queue.conn {
            self.run(now, slot, port, |_| ());
        } else if queue.loopback.is_some() {
            self.loopback_posted(qp);
        }
        Ok(())
    }

    /// Puts a work request into the receive queue; possible before the connection is made.
    pub fn post_recv<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        wr: &RecvWr<'_>,
        port: &mut P,
    ) -> Result<(), Error> {
        self.shared.stats.steps += 1;
        let _ = now;
        self.qp(qp)?;
        let shared = &mut self.shared;
        let Some(queue) = self.qps[usize::from(qp.flow)].as_mut() else {
            return Err(Error::UnknownQp);
        };
        if queue.receives != Receives::Own {
            return Err(Error::HasSrq);
        }
        if queue.rq.is_full() {
            return Err(Error::QueueFull);
        }
        let entry = work::recv_entry(queue.config.pd, queue.config.max_sge, &shared.regions, wr)?;
        entry.post(&mut shared.regions);
        if queue.state == QpState::Error {
            queue.rq.push(entry);
            queue.flush(None, &mut shared.regions, &mut shared.queues.completions);
        } else {
            put_element(queue, entry, port);
        }
        Ok(())
    }

    /// Puts work into the send queue that failed before it began: it completes with this status when it would be issued, and the queue
    /// pair fails.
    pub fn fail_send<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        (id, opcode): (u64, WqeOpcode),
        status: Status,
        port: &mut P,
    ) -> Result<(), Error> {
        self.qp(qp)?;
        let Some(queue) = self.qps[usize::from(qp.flow)].as_mut() else {
            return Err(Error::UnknownQp);
        };
        if queue.sq.is_full() {
            return Err(Error::QueueFull);
        }
        let new = work::failed_send(id, opcode, status);
        let regions = &mut self.shared.regions;
        queue.sq.push(&new, queue.config.pd, regions)?;
        self.set_qp_error(now, qp, port)
    }

    /// Puts work into the receive queue that failed before it began: it completes with this status when it would be issued, and the queue
    /// pair fails.
    pub fn fail_recv<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        id: u64,
        status: Status,
        port: &mut P,
    ) -> Result<(), Error> {
        self.qp(qp)?;
        let Some(queue) = self.qps[usize::from(qp.flow)].as_mut() else {
            return Err(Error::UnknownQp);
        };
        if queue.rq.is_full() {
            return Err(Error::QueueFull);
        }
        let entry = work::failed_recv(id, status);
        let number = queue.rq.push(entry);
        if queue.state != QpState::Error {
            port.write_element(qp.flow, queue.rq.slot(number), &work::element(&entry));
        }
        self.set_qp_error(now, qp, port)
    }
}

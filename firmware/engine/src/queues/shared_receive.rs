//! How a message takes an element of a shared receive queue: at its first segment.
//!
//! The card's receive queue of such a queue pair is empty between two messages. So the first segment of a Send finds no element there and comes
//! up raw, as any Send does that nobody waits for; whoever looks at it here takes the next element of the shared queue, puts it where the card finds it, and places
//! what has come. What follows of the message is the card's, as soon as it is attached again.

use crate::card::port::Port;
use crate::connection::link::Link;
use crate::connection::shared::Shared;
use crate::interface::cm::Event;
use crate::queues::qp::{Qp, Receives, RecvEntry};
use crate::queues::work_request as work;
use weft_wire::checks::Violation;

impl Shared {
    /// The peer's next Send begins: it takes an element of a shared queue, if this queue pair has one and no element waits; an XRC target's of the one
    /// that the Send names. What is to be told of it.
    pub(crate) fn take_shared<P: Port>(
        &mut self,
        qp: &mut Qp,
        named: u32,
        port: &mut P,
    ) -> Result<Option<Event>, Violation> {
        if qp.rq.posted != qp.rq.completed {
            return Ok(None);
        }
        let srq = match qp.receives {
            Receives::Own | Receives::Nowhere => return Ok(None),
            Receives::Shared(srq) => srq,
            Receives::Domain(xrcd, _) => {
                // It is as a queue number of DDP that there is none of (RFC 5041 §7.1).
                let srq = self
                    .queues
                    .srqs
                    .in_domain(xrcd, named)
                    .ok_or(Violation::Queue)?;
                qp.receives = Receives::Domain(xrcd, Some(srq));
                srq
            }
        };
        let (entry, event) = self.queues.srqs.take(srq);
        if let Some(entry) = entry {
            put_element(qp, entry, port);
            self.stats.shared_receives += 1;
        }
        Ok(event)
    }
}

impl<P: Port> Link<'_, P> {
    /// The first segment of the peer's next Send is here, with this in its RsvdULP.
    pub fn take_shared(&mut self, rsvd_ulp: u32) -> Result<(), Violation> {
        let Some(qp) = self.qp.as_mut() else {
            return Ok(());
        };
        if let Some(event) = self.shared.take_shared(qp, rsvd_ulp, self.port)? {
            self.tell(event);
        }
        Ok(())
    }

    /// The element in hand is of another protection domain than the queue pair: the card, which knows one of a flow, would refuse it. So what is left of
    /// its message is placed here.
    pub fn is_element_foreign(&mut self) -> bool {
        let Some(qp) = self.qp.as_ref() else {
            return false;
        };
        qp.rq.posted != qp.rq.completed && self.shared.queues.element_pd(qp) != Some(qp.config.pd)
    }
}

/// An element is a queue pair's, and the card's.
pub(crate) fn put_element<P: Port>(qp: &mut Qp, entry: RecvEntry, port: &mut P) {
    let number = qp.rq.push(entry);
    if qp.software.is_none() {
        let flow = qp.id.flow();
        port.write_element(flow, qp.rq.slot(number), &work::element(&entry));
        port.rq_tail(flow, qp.rq.tail());
    }
}

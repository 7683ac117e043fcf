//! How a message takes an element of a shared receive queue: at its first segment.
//!
//! The card's receive queue of such a queue pair is empty between two messages. So the first segment of a Send finds no element there and comes
//! up raw, as any Send does that nobody waits for; whoever looks at it here takes the next element of the shared queue, puts it where the card finds it, and places
//! what has come. What follows of the message is the card's, as soon as it is attached again.

use crate::cm::Event;
use crate::link::{Link, Shared};
use crate::port::Port;
use crate::qp::{Qp, RecvEntry};
use crate::verbs::{QpId, SrqId};
use crate::work;

impl Shared {
    /// A queue pair was flushed: it takes nothing more from its shared queue, if it has one.
    pub(crate) fn last_wqe(&mut self, srq: Option<SrqId>, qp: QpId) {
        if srq.is_some() {
            self.events.push_back(Event::LastWqe { qp });
        }
    }

    /// The peer's next Send begins: it takes an element of the shared queue, if this queue pair has one and no element waits. What is to be told of it.
    pub(crate) fn take_shared<P: Port>(&mut self, qp: &mut Qp, port: &mut P) -> Option<Event> {
        let srq = qp.srq.filter(|_| qp.rq.posted == qp.rq.completed)?;
        let (entry, event) = self.srqs.take(srq);
        if let Some(entry) = entry {
            put_element(qp, entry, port);
            self.stats.shared_receives += 1;
        }
        event
    }
}

impl<P: Port> Link<'_, P> {
    /// The first segment of the peer's next Send is here.
    pub fn take_shared(&mut self) {
        let Some(qp) = self.qp.as_mut() else {
            return;
        };
        if let Some(event) = self.shared.take_shared(qp, self.port) {
            self.tell(event);
        }
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

//! The calls for shared receive queues and XRC domains.

use super::Engine;
use crate::interface::error::Error;
use crate::interface::verbs::{RecvWr, SrqId, Status};
use crate::queues::srq::{SrqConfig, SrqState};
use crate::queues::work_request as work;
use crate::queues::xrc::XrcdId;

impl Engine {
    /// A new shared receive queue.
    pub fn create_srq(&mut self, config: &SrqConfig) -> Result<SrqId, Error> {
        self.make_srq(config, None)
    }

    /// The same in an XRC domain: targets of it take from the queue what names it. It may be of another protection domain than they.
    pub fn create_xrc_srq(&mut self, config: &SrqConfig, xrcd: XrcdId) -> Result<SrqId, Error> {
        self.make_srq(config, Some(xrcd))
    }

    fn make_srq(&mut self, config: &SrqConfig, xrcd: Option<XrcdId>) -> Result<SrqId, Error> {
        if xrcd.is_some_and(|xrcd| !self.shared.queues.xrcds.has(xrcd)) {
            return Err(Error::UnknownXrcd);
        }
        self.check_work(config.depth.into())?;
        self.check_each(self.shared.queues.srqs.count())?;
        self.shared.regions.join(config.pd)?;
        let made = self.shared.queues.srqs.create(config, xrcd);
        match (made, xrcd) {
            (Err(_), _) => self.shared.regions.leave(config.pd),
            (Ok(_), Some(xrcd)) => self.shared.queues.xrcds.join(xrcd)?,
            (Ok(_), None) => {}
        }
        made
    }

    /// A new XRC domain.
    pub fn alloc_xrcd(&mut self) -> XrcdId {
        self.shared.queues.xrcds.create()
    }

    /// Removes an XRC domain that no shared receive queue and no target is in.
    pub fn dealloc_xrcd(&mut self, xrcd: XrcdId) -> Result<(), Error> {
        self.shared.queues.xrcds.destroy(xrcd)
    }

    /// Removes a shared receive queue that no queue pair has (`Error::InUse`). The elements that wait in it are gone without completion. What names one of an
    /// XRC domain from now on ends its connection; so does a message that goes on.
    pub fn destroy_srq(&mut self, srq: SrqId) -> Result<(), Error> {
        let (pd, xrcd) = self
            .shared
            .queues
            .srqs
            .destroy(srq, &mut self.shared.regions)?;
        self.shared.regions.leave(pd);
        if let Some(xrcd) = xrcd {
            self.shared.queues.xrcds.leave(xrcd);
        }
        Ok(())
    }

    /// Asks for [`Event::SrqLimit`](crate::Event::SrqLimit) when fewer than `limit` elements wait, once; at once if that is so already. 0: never.
    pub fn set_srq_limit(&mut self, srq: SrqId, limit: u32) -> Result<(), Error> {
        let event = self.shared.queues.srqs.set_limit(srq, limit)?;
        self.shared.outbox.events.extend(event);
        Ok(())
    }

    /// How a shared receive queue stands.
    pub fn srq_state(&mut self, srq: SrqId) -> Result<SrqState, Error> {
        self.shared.queues.srqs.state(srq)
    }

    /// Puts a work request into a shared receive queue. Its completion names the queue pair whose message took it.
    pub fn post_srq_recv(&mut self, srq: SrqId, wr: &RecvWr<'_>) -> Result<(), Error> {
        self.shared.stats.steps += 1;
        let config = self.shared.queues.srqs.config(srq)?;
        let entry = work::recv_entry(config.pd, config.max_sge, &self.shared.regions, wr)?;
        self.shared
            .queues
            .srqs
            .push(srq, entry, &mut self.shared.regions)
    }

    /// Puts work into a shared receive queue that failed before it began: the queue pair whose message takes it fails, and it completes with
    /// this status.
    pub fn fail_srq_recv(&mut self, srq: SrqId, id: u64, status: Status) -> Result<(), Error> {
        let entry = work::failed_recv(id, status);
        self.shared
            .queues
            .srqs
            .push(srq, entry, &mut self.shared.regions)
    }
}

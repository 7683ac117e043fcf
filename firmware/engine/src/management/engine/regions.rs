//! The calls for domains and regions.

use super::Engine;
use crate::card::port::Port;
use crate::interface::error::Error;
use crate::interface::verbs::{Access, PdId, StagKind};
use crate::queues::qp::Qp;

impl Engine {
    /// A new protection domain.
    pub fn alloc_pd(&mut self) -> PdId {
        self.shared.regions.alloc_pd()
    }

    /// Removes a domain that no region and no queue pair belongs to.
    pub fn dealloc_pd(&mut self, pd: PdId) -> Result<(), Error> {
        self.shared.regions.dealloc_pd(pd)
    }

    /// Registers `length` bytes at `iova` (mapped for the card as long as the region exists) and
    /// returns their STag. The region's first byte has the tagged offset `base_to`.
    pub fn register<P: Port>(
        &mut self,
        pd: PdId,
        base_to: u64,
        iova: u64,
        length: u64,
        access: Access,
        port: &mut P,
    ) -> Result<u32, Error> {
        self.shared
            .regions
            .register(pd, base_to, iova, length, access, port)
    }

    /// An STag that names no memory yet. A bind gives it some.
    pub fn alloc_stag(&mut self, pd: PdId, kind: StagKind) -> Result<u32, Error> {
        self.shared.regions.alloc_stag(pd, kind)
    }

    /// Removes a region, a window, or an STag that names nothing: from now on the card refuses its STag, and no job reads it that is not posted yet.
    /// The caller gives its memory back when the jobs posted so far are done and the placements checked so
    /// far have ended. A stream whose Read Response would have come from it is terminated.
    /// `Error::InUse`: a work request that is not completed refers to it.
    pub fn deregister<P: Port>(&mut self, now: u64, stag: u32, port: &mut P) -> Result<(), Error> {
        if !self.shared.regions.deregister(stag, port)? {
            return Ok(());
        }
        for flow in 0..self.qps.len() {
            self.shared.stats.slots_looked_at += 1;
            let gone = |qp: &&Qp| {
                let mut asked = qp.responses.iter().filter_map(|response| response.region);
                asked.any(|region| !self.shared.regions.stands(region))
            };
            let slot = self.qps[flow]
                .as_deref()
                .filter(gone)
                .and_then(|qp| qp.conn);
            if let Some(slot) = slot {
                // It finds out.
                self.run(now, slot, port, |_| ());
            }
        }
        Ok(())
    }

    // ------------------------------------------------------------------ queue pairs
}

//! Writes of one size from the first end of a pair to the other, several under way.

use weft_hostdrv::verbs::SendWr;

use crate::fabric::Fabric;
use crate::pair::{Pair, PairError, LIMIT};

/// How many are under way.
pub(super) const DEPTH: usize = 32;

/// Messages of up to so many bytes are inline, as programs that care for time post them.
pub(super) const INLINE: usize = 64;

/// How many were posted, and how many are complete.
#[derive(Default)]
pub(super) struct Writes {
    posted: usize,
    pub(super) done: usize,
}

impl Writes {
    /// Posts what may be under way, `most` in all, and waits for one more to complete.
    pub(super) fn one_more(
        &mut self,
        fabric: &Fabric,
        pair: &Pair<'_>,
        bytes: usize,
        most: usize,
    ) -> Result<(), PairError> {
        let [a, b] = &pair.ends;
        while self.posted < most && self.posted - self.done < DEPTH {
            let wr = SendWr::write(self.posted as u64, b.target.remote()).signaled();
            if bytes <= INLINE {
                a.qp.post_send(wr.inline(&[0x57; INLINE][..bytes]))?;
            } else {
                let source = a.source.sge(0, bytes as u32);
                a.qp.post_send(wr.sge(source))?;
            }
            self.posted += 1;
        }
        fabric.run_asleep_until("a Write's completion", LIMIT, || {
            a.cq.poll_one().transpose()
        })??;
        self.done += 1;
        Ok(())
    }
}

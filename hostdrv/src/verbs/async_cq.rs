//! A completion queue to await.

use std::fmt;
use std::ops::Deref;

use super::comp_channel::CompChannel;
use super::cq::{Cq, Notify};
use super::wc::Wc;
use super::VerbsError;
use crate::device::{Awaited, Device};

/// A completion queue to await, in any runtime (feature `async`). It is a [`Cq`] to everything else.
pub struct AsyncCq {
    cq: Cq,
    channel: CompChannel,
    file: Awaited,
}

impl Deref for AsyncCq {
    type Target = Cq;
    fn deref(&self) -> &Cq {
        &self.cq
    }
}

impl fmt::Debug for AsyncCq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cq.fmt(f)
    }
}

impl Device {
    /// A completion queue of so many entries, to await.
    pub fn create_async_cq(&self, cqe: usize) -> Result<AsyncCq, VerbsError> {
        let channel = self.create_comp_channel();
        Ok(AsyncCq {
            cq: self.create_cq(cqe, Some(&channel))?,
            file: Awaited::new(channel.readiness()?)?,
            channel,
        })
    }
}

impl AsyncCq {
    /// The next completion. Several tasks may wait: each gets other ones. A future that is dropped has taken none.
    pub async fn completed(&self) -> Result<Wc, VerbsError> {
        loop {
            if let Some(wc) = self.cq.poll_one()? {
                return Ok(wc);
            }
            self.cq.req_notify(Notify::Any)?;
            // What came before the question makes no event.
            if let Some(wc) = self.cq.poll_one()? {
                return Ok(wc);
            }
            self.file.readable().await?;
            // An event says no more than the next look does.
            while self.channel.try_get_event()?.is_some() {}
        }
    }
}

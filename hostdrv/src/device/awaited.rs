//! Files of a device to await, in any runtime: the thread of `async-io` watches them (feature `async`).

use async_io::Async;

use super::files::{no_file, Readiness};
use crate::error::DeviceError;

/// A file that there are futures of.
pub(crate) struct Awaited(Async<Readiness>);

impl Awaited {
    /// A future that waits for this file never blocks its thread.
    pub(crate) fn new(readiness: Readiness) -> Result<Self, DeviceError> {
        // Nobody reads it: whether that would block is nothing to it.
        Async::new_nonblocking(readiness).map(Self).map_err(no_file)
    }

    /// Until there may be something to do.
    pub(crate) async fn readable(&self) -> Result<(), DeviceError> {
        self.0.readable().await.map_err(no_file)
    }
}

//! Where the second port's registers and doorbells lie.

use crate::{doorbell, reg};

/// A register of the second port's rings lies so far behind its like of the first port's.
pub const PORT_REGISTERS: u32 = reg::PORT1 - reg::JOB_BASE_LO;
/// A doorbell likewise.
pub const PORT_DOORBELLS: u32 = doorbell::PORT1 - doorbell::JOB_TAIL;

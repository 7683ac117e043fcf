//! How long a message's accesses take of a PCIe port.

use rtl_sim::axi::{COMPLETION_AROUND, REQUEST_AROUND};

use super::cost::End;
use crate::pcie::{Pcie, PAYLOAD, REQUEST};

/// A flow's rows, once they have to be fetched.
const ROW_BYTES: f64 = 128.0;

impl Pcie {
    /// Time of a message's accesses: towards the host, and from it.
    pub(super) fn times(self, end: &End, rows: f64) -> [f64; 2] {
        let tlps = |bytes: f64, accesses: f64, most: u32| (bytes / f64::from(most)).max(accesses);
        let row = rows * ROW_BYTES;
        let written = end.written_bytes
            + row
            + REQUEST_AROUND * (tlps(end.written_bytes, end.writes, PAYLOAD) + rows);
        let requests = REQUEST_AROUND * (tlps(end.read_bytes, end.reads, REQUEST) + rows);
        let read = end.read_bytes
            + row
            + COMPLETION_AROUND * (tlps(end.read_bytes, end.reads, PAYLOAD) + rows);
        let registers = end.mmio_writes * (REQUEST_AROUND + 4.0);
        [written + requests, read + registers].map(|bytes| bytes / self.bytes_a_ns())
    }
}

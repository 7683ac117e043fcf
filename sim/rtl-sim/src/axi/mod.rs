//! AXI4: a memory behind the design's master port, and a protocol checker.

mod checker;
mod memory;
mod pcie;
mod visible;

pub use checker::Checker;
pub use memory::{Fault, Memory, MemorySlave, Order, Ram, Timing, Totals};
pub use pcie::{PciePort, COMPLETION_AROUND, REQUEST_AROUND};
pub use visible::{Mark, Visible};

/// Values of AxBURST.
pub mod burst {
    /// The same address in every beat.
    pub const FIXED: u8 = 0;
    /// Ascending addresses.
    pub const INCR: u8 = 1;
    /// Ascending addresses that wrap at the burst's size.
    pub const WRAP: u8 = 2;
}

/// Values of BRESP and RRESP.
pub mod resp {
    /// Success.
    pub const OKAY: u8 = 0;
    /// Exclusive access succeeded.
    pub const EXOKAY: u8 = 1;
    /// The slave reports an error.
    pub const SLVERR: u8 = 2;
    /// Nobody is at this address.
    pub const DECERR: u8 = 3;
}

/// The AW or AR channel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// AxADDR.
    pub addr: u64,
    /// AxID.
    pub id: u32,
    /// AxUSER.
    pub user: u32,
    /// AxLEN: beats - 1.
    pub len: u8,
    /// AxSIZE: log2 of the bytes in a beat.
    pub size: u8,
    /// AxBURST.
    pub burst: u8,
    /// AxCACHE.
    pub cache: u8,
    /// AxPROT.
    pub prot: u8,
    /// AxQOS.
    pub qos: u8,
    /// AxLOCK.
    pub lock: bool,
    /// AxVALID.
    pub valid: bool,
}

impl Address {
    /// The number of beats.
    #[inline]
    pub fn beats(&self) -> u32 {
        u32::from(self.len) + 1
    }

    /// The address range of beat `beat` (AXI4 A3.4.1): first address and number of bytes, for `n` data bytes.
    #[inline]
    pub fn beat(&self, beat: u32, n: usize) -> (u64, usize) {
        let bytes = 1u64 << self.size.min(n.trailing_zeros() as u8);
        let aligned = self.addr & !(bytes - 1);
        let start = match self.burst {
            burst::FIXED => self.addr,
            burst::WRAP => {
                let whole = bytes * u64::from(self.beats());
                let base = self.addr / whole * whole;
                base + (aligned - base + u64::from(beat) * bytes) % whole
            }
            _ if beat == 0 => self.addr,
            _ => aligned.wrapping_add(u64::from(beat) * bytes),
        };
        (start, (bytes - start % bytes) as usize)
    }
}

/// The W channel of `N` data bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteData<const N: usize> {
    /// WDATA, lane 0 first.
    pub data: [u8; N],
    /// WSTRB.
    pub strb: u128,
    /// WLAST.
    pub last: bool,
    /// WVALID.
    pub valid: bool,
}

impl<const N: usize> Default for WriteData<N> {
    fn default() -> Self {
        WriteData {
            data: [0; N],
            strb: 0,
            last: false,
            valid: false,
        }
    }
}

/// The B channel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteResponse {
    /// BID.
    pub id: u32,
    /// BRESP.
    pub resp: u8,
    /// BVALID.
    pub valid: bool,
}

/// The R channel of `N` data bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadData<const N: usize> {
    /// RDATA, lane 0 first.
    pub data: [u8; N],
    /// RID.
    pub id: u32,
    /// RRESP.
    pub resp: u8,
    /// RLAST.
    pub last: bool,
    /// RVALID.
    pub valid: bool,
}

impl<const N: usize> Default for ReadData<N> {
    fn default() -> Self {
        ReadData {
            data: [0; N],
            id: 0,
            resp: 0,
            last: false,
            valid: false,
        }
    }
}

/// What the master drives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromMaster<const N: usize> {
    /// Write address.
    pub aw: Address,
    /// Write data.
    pub w: WriteData<N>,
    /// Read address.
    pub ar: Address,
    /// BREADY.
    pub b_ready: bool,
    /// RREADY.
    pub r_ready: bool,
}

/// What the slave drives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromSlave<const N: usize> {
    /// Write response.
    pub b: WriteResponse,
    /// Read data.
    pub r: ReadData<N>,
    /// AWREADY.
    pub aw_ready: bool,
    /// WREADY.
    pub w_ready: bool,
    /// ARREADY.
    pub ar_ready: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beat_addresses() {
        let at = |addr, len, size, burst, beat| {
            Address {
                addr,
                len,
                size,
                burst,
                ..Address::default()
            }
            .beat(beat, 16)
        };
        assert_eq!(at(0x1003, 3, 4, burst::INCR, 0), (0x1003, 13));
        assert_eq!(at(0x1003, 3, 4, burst::INCR, 2), (0x1020, 16));
        assert_eq!(at(0x1003, 3, 2, burst::INCR, 0), (0x1003, 1));
        assert_eq!(at(0x1003, 3, 2, burst::INCR, 1), (0x1004, 4));
        assert_eq!(at(0x1008, 3, 2, burst::FIXED, 3), (0x1008, 4));
        let wrapped: Vec<u64> = (0..4)
            .map(|beat| at(0x1028, 3, 3, burst::WRAP, beat).0)
            .collect();
        assert_eq!(wrapped, [0x1028, 0x1030, 0x1038, 0x1020]);
    }
}

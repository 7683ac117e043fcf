//! AXI4-Lite: a master for the design's register port, and a protocol checker.

mod checker;
mod master;

pub use checker::Checker;
pub use master::{Access, Done, Master};

/// What the master drives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromMaster {
    /// AWADDR.
    pub aw_addr: u64,
    /// ARADDR.
    pub ar_addr: u64,
    /// WDATA.
    pub w_data: u64,
    /// WSTRB.
    pub w_strb: u8,
    /// AWPROT.
    pub aw_prot: u8,
    /// ARPROT.
    pub ar_prot: u8,
    /// AWVALID.
    pub aw_valid: bool,
    /// WVALID.
    pub w_valid: bool,
    /// ARVALID.
    pub ar_valid: bool,
    /// BREADY.
    pub b_ready: bool,
    /// RREADY.
    pub r_ready: bool,
}

/// What the slave drives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromSlave {
    /// RDATA.
    pub r_data: u64,
    /// BRESP.
    pub b_resp: u8,
    /// RRESP.
    pub r_resp: u8,
    /// AWREADY.
    pub aw_ready: bool,
    /// WREADY.
    pub w_ready: bool,
    /// ARREADY.
    pub ar_ready: bool,
    /// BVALID.
    pub b_valid: bool,
    /// RVALID.
    pub r_valid: bool,
}

//! AXI-Stream: source, sink and protocol checker.

mod checker;
mod sink;
mod source;

pub use checker::Checker;
pub use sink::{Received, Sink};
pub use source::Source;

/// What the source of a stream of `N` bytes a beat drives.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forward<const N: usize> {
    /// TDATA, first byte in bits 7:0.
    pub data: [u8; N],
    /// TKEEP; all ones if the design has none.
    pub keep: u128,
    /// TUSER.
    pub user: u64,
    /// TID.
    pub id: u32,
    /// TDEST.
    pub dest: u32,
    /// TLAST; set if the design has none.
    pub last: bool,
    /// TVALID.
    pub valid: bool,
}

impl<const N: usize> Default for Forward<N> {
    fn default() -> Self {
        Forward {
            data: [0; N],
            keep: 0,
            user: 0,
            id: 0,
            dest: 0,
            last: false,
            valid: false,
        }
    }
}

/// What the sink of a stream drives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backward {
    /// TREADY; set if the design has none.
    pub ready: bool,
}

/// TKEEP with the first `count` bytes set.
#[inline]
pub fn keep(count: usize) -> u128 {
    match count {
        0..=127 => (1 << count) - 1,
        _ => u128::MAX,
    }
}

//! Sequence numbers (RFC 9293 §3.4): a comparison holds for distances below 2^31.

/// How far `a` is ahead of `b`; negative if behind.
pub fn diff(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
}

/// `a` is before `b`.
pub fn lt(a: u32, b: u32) -> bool {
    diff(a, b) < 0
}

/// `a` is `b` or before.
pub fn le(a: u32, b: u32) -> bool {
    diff(a, b) <= 0
}

/// The later one.
pub fn max(a: u32, b: u32) -> u32 {
    if lt(a, b) {
        b
    } else {
        a
    }
}

/// The earlier one.
pub fn min(a: u32, b: u32) -> u32 {
    if lt(a, b) {
        a
    } else {
        b
    }
}

//! Which planted fault is to show. Only the copy of the tree that `mutants` makes depends on it; its RTL asks for the same variable.

use std::sync::OnceLock;

/// The variable that has the number of the fault; 0 or nothing: none.
pub const VARIABLE: &str = "WEFT_FAULT";

/// Whether fault `number` is to show.
#[inline]
pub fn planted(number: u32) -> bool {
    static CHOSEN: OnceLock<u32> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let text = std::env::var(VARIABLE).unwrap_or_default();
        text.parse().unwrap_or(0)
    }) == number
}

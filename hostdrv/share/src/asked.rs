//! Numbers of a request, and what is counted for it.

use std::sync::Arc;

use weft_hostdrv::device::{Account, Charge, Resource};

/// For the answer.
pub(super) fn text(error: impl ToString) -> String {
    error.to_string()
}

/// A number of a request.
pub(super) fn size(asked: &[u64], at: usize) -> usize {
    let size = asked.get(at).map_or(0, |size| *size);
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// A number of a request that has 32 bits.
pub(super) fn half(asked: &[u64], at: usize) -> u32 {
    u32::try_from(size(asked, at)).unwrap_or(u32::MAX)
}

/// Counts all of this, or nothing.
pub(super) fn charge(
    account: &Arc<Account>,
    all: &[(Resource, u64)],
) -> Result<Vec<Charge>, String> {
    let all = all.iter();
    all.map(|(resource, amount)| account.charge(*resource, *amount).map_err(text))
        .collect()
}

//! How much is done, and how long it may take. With `WEFT_RUNG=firmware` the software of the card is simulated: a few do for many, and all take
//! longer.

use std::time::Duration;

use crate::steps::NoPass;

/// So many times as long.
const LONGER: u32 = 6;

/// Whether our tools are told that the engine is on the card's processor.
pub(super) fn is_on_card() -> bool {
    std::env::var("WEFT_RUNG").is_ok_and(|rung| rung == "firmware")
}

/// So many, or `few` of them there.
pub(super) fn fewer_on_card<T>(many: T, few: T) -> T {
    if is_on_card() {
        few
    } else {
        many
    }
}

/// A limit, or a moment.
pub(super) fn longer_on_card(usual: Duration) -> Duration {
    usual * fewer_on_card(1, LONGER)
}

/// The same in seconds, as tools are told.
pub(super) fn seconds(usual: u32) -> u32 {
    usual * fewer_on_card(1, LONGER)
}

/// # Errors
/// A scenario is left out there, and why.
pub(super) fn not_on_card(why: &str) -> Result<(), NoPass> {
    if is_on_card() {
        return Err(NoPass::Skip(format!("at firmware {why}")));
    }
    Ok(())
}

//! Congestion controllers by number: as records of the card tell them.

use alloc::boxed::Box;

use weft_layout::CongestionControl;
use weft_tcp::control::{Congestion, Custom, Reno};

/// A controller's number.
pub(crate) fn congestion_number(value: Congestion) -> u8 {
    let number = match value {
        Congestion::Reno => CongestionControl::Reno,
        Congestion::Cubic => CongestionControl::Cubic,
        Congestion::Dctcp => CongestionControl::Dctcp,
        Congestion::Delay => CongestionControl::Delay,
        Congestion::Custom(_) => CongestionControl::Custom,
    };
    number as u8
}

/// The controller of a number. [`CongestionControl::Custom`] says that the other side has one, and not which.
pub(crate) fn congestion(value: u8) -> Option<Congestion> {
    Some(match CongestionControl::try_from(value).ok()? {
        CongestionControl::Reno => Congestion::Reno,
        CongestionControl::Cubic => Congestion::Cubic,
        CongestionControl::Dctcp => Congestion::Dctcp,
        CongestionControl::Delay => Congestion::Delay,
        CongestionControl::Custom => Congestion::Custom(&NAMELESS),
    })
}

/// A controller that another process has brought.
static NAMELESS: Custom = Custom {
    name: "custom",
    paces: false,
    by_delay: false,
    exact_ecn: false,
    new: || Box::new(Reno::default()),
};

//! A controller that is none of these: a program brings it, and nothing here is rebuilt.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::Control;

/// A controller as connections have it: it is copied where a reduction may have to be taken back.
pub trait CustomControl: Control + Debug + Send + Sync {
    /// A copy, as it stands.
    fn copy(&self) -> Box<dyn CustomControl>;
}

impl<T: Control + Clone + Debug + Send + Sync + 'static> CustomControl for T {
    fn copy(&self) -> Box<dyn CustomControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomControl> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

/// What [`Congestion::Custom`](super::Congestion::Custom) names. Two of one name are taken for one.
#[derive(Clone, Copy, Debug)]
pub struct Custom {
    /// As tables and connections tell it.
    pub name: &'static str,
    /// It may have a pace ([`Control::pace`]).
    pub paces: bool,
    /// It goes by round-trip times: each one measured is told with the time at which the card saw what it ends with.
    pub by_delay: bool,
    /// It heeds each mark: connections ask for ECN, and echo marks one by one (RFC 8257 §3.2).
    pub exact_ecn: bool,
    /// One for a new connection, which sets its window first.
    pub new: fn() -> Box<dyn CustomControl>,
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Custom {}

//! Finding cards.

use super::host::{Function, Host};
use crate::open_error::OpenError;
use crate::spec::VfioOptions;

/// A Weft card on the PCI bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The function, with its driver and its IOMMU group.
    pub function: Function,
    /// What keeps it from being opened, as far as can be told without opening it; `None`: nothing.
    pub problem: Option<OpenError>,
}

impl Found {
    /// Its name for [`open`](crate::open).
    pub fn spec(&self) -> String {
        format!("vfio:{}", self.function.address)
    }
}

/// All Weft cards of this host, by address.
pub fn list() -> Vec<Found> {
    list_of(&Host::this())
}

/// The same of any host.
pub(super) fn list_of(host: &Host) -> Vec<Found> {
    host.weft_functions()
        .map(|function| Found {
            problem: host.check(function.address, VfioOptions::default()).err(),
            function,
        })
        .collect()
}

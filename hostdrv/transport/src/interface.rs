//! The kernel's two interfaces to VFIO.

use std::fmt;
use std::str::FromStr;

// Environment (programs): `WEFT_VFIO`: the kernel's interface for `vfio:` devices that name none: `legacy` or `iommufd`. Without it: iommufd where it
// may be opened.
/// Chooses the kernel's interface for every `vfio:` device that does not name one: `legacy` or `iommufd`.
pub const INTERFACE_VARIABLE: &str = "WEFT_VFIO";

/// The two ways into the kernel's VFIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// A container and the device's group: `/dev/vfio/vfio`, `/dev/vfio/GROUP`.
    Legacy,
    /// The device's own node and an I/O address space: `/dev/vfio/devices/vfioN`, `/dev/iommu` (Linux 6.6 and later).
    Iommufd,
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interface::Legacy => "legacy",
            Interface::Iommufd => "iommufd",
        })
    }
}

impl FromStr for Interface {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "legacy" => Ok(Interface::Legacy),
            "iommufd" => Ok(Interface::Iommufd),
            _ => Err("the kernel's interfaces are called `legacy` and `iommufd`"),
        }
    }
}

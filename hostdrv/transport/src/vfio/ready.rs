//! Is a function ready to be opened, and by which interface? All that can be told from sysfs and the device nodes,
//! without opening anything.

use std::path::{Path, PathBuf};

use rustix::fs::{access, Access};

use super::host::{is_vfio, Function, Host};
use crate::address::PciAddress;
use crate::interface::{Interface, INTERFACE_VARIABLE};
use crate::open_error::OpenError;
use crate::spec::VfioOptions;

/// A function that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The function.
    pub function: Function,
    /// Its IOMMU group.
    pub group: u32,
    /// The interface to open it by.
    pub interface: Interface,
    /// The node that stands for the device there.
    pub node: PathBuf,
}

const CONTAINER: &str = "/dev/vfio/vfio";
const IOMMU: &str = "/dev/iommu";

impl Host {
    /// IdlePolls for everything that is usually wrong.
    pub fn check(&self, address: PciAddress, options: VfioOptions) -> Result<Ready, OpenError> {
        let function = self
            .function(address)
            .ok_or_else(|| OpenError::NoFunction {
                address,
                cards: self.weft_functions().map(|f| f.address).collect(),
            })?;
        let group = function.group.ok_or_else(|| OpenError::IommuOff {
            address,
            groups: self.has_groups(),
            cmdline: self.cmdline(),
        })?;
        if self.is_no_iommu_group(group) {
            return Err(OpenError::NoIommuMode {
                address,
                group,
                cmdline: self.cmdline(),
            });
        }
        if !function.driver.as_deref().is_some_and(is_vfio) {
            return Err(OpenError::NotBound {
                address,
                driver: function.driver,
                module: self.path("/sys/bus/pci/drivers/vfio-pci").exists(),
            });
        }
        let others = self.in_the_way(group, address);
        if !others.is_empty() {
            return Err(OpenError::GroupNotViable {
                address,
                group,
                others,
            });
        }
        let (interface, node) = self.choose(address, group, options.interface)?;
        Ok(Ready {
            function,
            group,
            interface,
            node,
        })
    }

    /// The functions with a Weft card's ids.
    pub fn weft_functions(&self) -> impl Iterator<Item = Function> {
        self.functions().into_iter().filter(Function::is_weft)
    }

    fn choose(
        &self,
        address: PciAddress,
        group: u32,
        wanted: Option<Interface>,
    ) -> Result<(Interface, PathBuf), OpenError> {
        let missing = |interface, path: &Path| OpenError::NoInterface {
            address,
            interface,
            path: path.to_owned(),
        };
        let legacy = PathBuf::from(format!("/dev/vfio/{group}"));
        let own = self.own_node(address);
        let wanted = match wanted {
            Some(wanted) => Some(wanted),
            None => interface_from_environment()?,
        };
        match wanted {
            Some(Interface::Iommufd) => {
                let own = own.ok_or_else(|| {
                    missing(Interface::Iommufd, Path::new("/dev/vfio/devices/vfioN"))
                })?;
                for path in [Path::new(IOMMU), &own] {
                    self.usable(path, || missing(Interface::Iommufd, path))?;
                }
                Ok((Interface::Iommufd, own))
            }
            Some(Interface::Legacy) => {
                for path in [Path::new(CONTAINER), &legacy] {
                    self.usable(path, || missing(Interface::Legacy, path))?;
                }
                Ok((Interface::Legacy, legacy))
            }
            None => {
                // iommufd where all of it may be used; else what is said about the older way is said.
                let may = |path: &Path| self.usable(path, || missing(Interface::Iommufd, path));
                if let Some(own) = own.filter(|own| may(Path::new(IOMMU)).and(may(own)).is_ok()) {
                    return Ok((Interface::Iommufd, own));
                }
                for path in [Path::new(CONTAINER), &legacy] {
                    self.usable(path, || OpenError::NoVfio {
                        path: path.to_owned(),
                        hint: "if it is loaded, the container's nodes in /dev are missing (udev, or a container without them)",
                    })?;
                }
                Ok((Interface::Legacy, legacy))
            }
        }
    }

    /// May this program open a node?
    fn usable(&self, node: &Path, missing: impl Fn() -> OpenError) -> Result<(), OpenError> {
        let path = self.path(node);
        if !path.exists() {
            return Err(missing());
        }
        access(&path, Access::READ_OK | Access::WRITE_OK).map_err(|_| OpenError::NoPermission {
            path: node.to_owned(),
        })
    }
}

fn interface_from_environment() -> Result<Option<Interface>, OpenError> {
    let Ok(value) = std::env::var(INTERFACE_VARIABLE) else {
        return Ok(None);
    };
    let parsed = value.parse().map_err(|why: &str| OpenError::Spec {
        spec: format!("{INTERFACE_VARIABLE}={value}"),
        why: why.to_owned(),
    });
    parsed.map(Some)
}

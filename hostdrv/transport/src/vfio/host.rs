//! What the host's sysfs says about PCI functions, their drivers and their IOMMU groups.
//!
//! Nothing is opened and nothing changed here. Everything is below a root directory, so that tests can make hosts
//! with every usual trouble.

use std::fs;
use std::path::{Path, PathBuf};

use weft_layout::pci;

use crate::address::PciAddress;
use crate::open_error::Neighbour;

/// A host, known by its `/sys`, `/dev` and `/proc`.
#[derive(Clone, Debug)]
pub struct Host {
    root: PathBuf,
}

/// A PCI function as sysfs describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Where it is.
    pub address: PciAddress,
    /// Vendor id.
    pub vendor: u16,
    /// Device id.
    pub device: u16,
    /// Class, subclass and programming interface.
    pub class: u32,
    /// Its driver.
    pub driver: Option<String>,
    /// Its IOMMU group.
    pub group: Option<u32>,
    /// The NUMA node that it is at.
    pub node: Option<u32>,
}

impl Function {
    /// Has it the ids of a Weft card?
    pub fn is_weft(&self) -> bool {
        (self.vendor, self.device) == (pci::VENDOR, pci::DEVICE)
    }

    /// A bridge or a port: the kernel keeps those itself.
    fn is_bridge(&self) -> bool {
        self.class >> 16 == 0x06
    }

    /// May it be in the group of a function that VFIO gives away?
    fn leaves_group_viable(&self) -> bool {
        let harmless = |driver: &str| is_vfio(driver) || matches!(driver, "pci-stub" | "pcieport");
        self.is_bridge() || self.driver.as_deref().is_none_or(harmless)
    }
}

/// vfio-pci itself or a variant of it for one kind of device (mlx5_vfio_pci).
pub(super) fn is_vfio(driver: &str) -> bool {
    driver.replace('_', "-").ends_with("vfio-pci")
}

impl Host {
    /// The one this program runs on.
    pub fn this() -> Self {
        Self::under("/")
    }

    /// One whose `/sys`, `/dev` and `/proc` are in this directory.
    pub fn under(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// An absolute path on this host.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.root
            .join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// A function's directory in sysfs.
    pub fn function_path(&self, address: PciAddress) -> PathBuf {
        self.path(format!("/sys/bus/pci/devices/{address}"))
    }

    /// What sysfs says of a function; `None`: there is none.
    pub fn function(&self, address: PciAddress) -> Option<Function> {
        let folder = self.function_path(address);
        if !folder.exists() {
            return None;
        }
        let number = |name: &str| -> Option<u32> {
            let text = fs::read_to_string(folder.join(name)).ok()?;
            u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
        };
        let node = fs::read_to_string(folder.join("numa_node"));
        let link = |name: &str| -> Option<String> {
            let target = fs::read_link(folder.join(name)).ok()?;
            Some(target.file_name()?.to_string_lossy().into_owned())
        };
        Some(Function {
            address,
            vendor: number("vendor").unwrap_or(0xffff) as u16,
            device: number("device").unwrap_or(0xffff) as u16,
            class: number("class").unwrap_or(0),
            driver: link("driver"),
            group: link("iommu_group").and_then(|group| group.parse().ok()),
            // -1: the firmware does not say.
            node: node.ok().and_then(|node| node.trim().parse().ok()),
        })
    }

    /// All functions, by address.
    pub fn functions(&self) -> Vec<Function> {
        let mut all: Vec<_> = self
            .names("/sys/bus/pci/devices")
            .filter_map(|name| self.function(name.parse().ok()?))
            .collect();
        all.sort_by_key(|f| f.address);
        all
    }

    /// The functions of an IOMMU group that keep it from being given away, apart from `wanted`.
    pub fn in_the_way(&self, group: u32, wanted: PciAddress) -> Vec<Neighbour> {
        let mut others: Vec<_> = self
            .names(format!("/sys/kernel/iommu_groups/{group}/devices"))
            .filter_map(|name| self.function(name.parse().ok()?))
            .filter(|f| f.address != wanted && !f.leaves_group_viable())
            .map(|f| Neighbour {
                address: f.address,
                driver: f.driver.unwrap_or_default(),
            })
            .collect();
        others.sort_by_key(|n| n.address);
        others
    }

    /// A group that VFIO made up for a function without IOMMU.
    pub fn is_no_iommu_group(&self, group: u32) -> bool {
        self.text(format!("/sys/kernel/iommu_groups/{group}/name"))
            .starts_with("vfio-noiommu")
    }

    /// Is any function in a group?
    pub fn has_groups(&self) -> bool {
        self.names("/sys/kernel/iommu_groups").next().is_some()
    }

    /// The kernel's parameters.
    pub fn cmdline(&self) -> String {
        self.text("/proc/cmdline")
    }

    /// The device's own node (`/dev/vfio/devices/vfioN`), if this kernel makes one.
    pub fn own_node(&self, address: PciAddress) -> Option<PathBuf> {
        let folder = format!("/sys/bus/pci/devices/{address}/vfio-dev");
        let name = self.names(folder).next()?;
        Some(Path::new("/dev/vfio/devices").join(name))
    }

    /// Who has a node open, as far as this user may see.
    pub fn holders(&self, node: &Path) -> Vec<(u32, String)> {
        let opened = |pid: u32| {
            let fds = fs::read_dir(self.path(format!("/proc/{pid}/fd"))).ok()?;
            fds.flatten()
                .any(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == node))
                .then_some(())
        };
        let mut holders: Vec<_> = self
            .names("/proc")
            .filter_map(|name| name.parse::<u32>().ok())
            .filter(|pid| opened(*pid).is_some())
            .map(|pid| {
                let name = self.text(format!("/proc/{pid}/comm"));
                (pid, name.trim().to_owned())
            })
            .collect();
        holders.sort_unstable();
        holders
    }

    /// The names in a directory that can be read.
    fn names(&self, absolute: impl AsRef<Path>) -> impl Iterator<Item = String> {
        let entries = fs::read_dir(self.path(absolute)).into_iter().flatten();
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
    }

    fn text(&self, absolute: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path(absolute)).unwrap_or_default()
    }
}

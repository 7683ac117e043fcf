//! Everything that can be wrong with a device before it is open.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::address::PciAddress;
use super::interface::Interface;

/// A function that shares an IOMMU group with the one wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Where it is.
    pub address: PciAddress,
    /// Its driver.
    pub driver: String,
}

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (driver {})", self.address, self.driver)
    }
}

/// Why a device cannot be opened: what was asked, what was found, what to try.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The name is no name of a device.
    #[error(
        "`{spec}` does not name a device: {why}; use vfio:0000:3b:00.0, vfio-user:/path/to.sock or serial:/dev/ttyUSB1"
    )]
    Spec {
        /// What was given.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
    /// No PCI function has this address.
    #[error(
        "there is no PCI function {address}{}; `lspci -D` lists all. A card that was just configured shows up after \
         `echo 1 > /sys/bus/pci/rescan` or a reboot",
        found(cards)
    )]
    NoFunction {
        /// The address.
        address: PciAddress,
        /// Where there are Weft cards.
        cards: Vec<PciAddress>,
    },
    /// The IOMMU is off, or there is none.
    #[error(
        "{address} is in no IOMMU group: the IOMMU is off{}; turn it on in the firmware (VT-d, AMD-Vi or SMMU) and boot with {}",
        if *.groups { " for it" } else { " (/sys/kernel/iommu_groups is empty)" },
        parameter(cmdline)
    )]
    IommuOff {
        /// The function.
        address: PciAddress,
        /// Are there groups of other functions?
        groups: bool,
        /// The kernel's parameters.
        cmdline: String,
    },
    /// The only VFIO there is has no IOMMU.
    #[error(
        "{address} is bound in VFIO's no-IOMMU mode (group {group}): the card could reach all of memory, and nothing would stop a wrong \
         address. Weft refuses that. Turn the IOMMU on (kernel parameter {}) and no-IOMMU mode off: \
         `echo N > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode`, then bind again",
        parameter(cmdline)
    )]
    NoIommuMode {
        /// The function.
        address: PciAddress,
        /// Its group.
        group: u32,
        /// The kernel's parameters.
        cmdline: String,
    },
    /// The function has another driver or none.
    #[error(
        "{address} is {}, not to vfio-pci{}; as root:\n{}",
        match driver { Some(d) => format!("bound to the driver `{d}`"), None => "bound to no driver".into() },
        if *.module { "" } else { " (which is not loaded)" },
        binding(*address, driver.as_deref())
    )]
    NotBound {
        /// The function.
        address: PciAddress,
        /// Its driver.
        driver: Option<String>,
        /// Is vfio-pci loaded?
        module: bool,
    },
    /// The VFIO modules are not loaded.
    #[error(
        "{path} is missing: the kernel's VFIO is not loaded; as root: `modprobe vfio-pci`{}",
        also(hint)
    )]
    NoVfio {
        /// The node looked for.
        path: PathBuf,
        /// What more there is to do.
        hint: &'static str,
    },
    /// Another function of the group belongs to the host.
    #[error(
        "IOMMU group {group} of {address} is not viable: it also holds {}; all functions of a group go to vfio-pci together (or to no \
         driver). Bind them too, or move the card to a slot behind ports with ACS",
        neighbours(others)
    )]
    GroupNotViable {
        /// The function.
        address: PciAddress,
        /// Its group.
        group: u32,
        /// The functions that are in the way, with their drivers.
        others: Vec<Neighbour>,
    },
    /// A device node may not be opened.
    #[error(
        "no permission to open {path}; give it to your group by a udev rule (docs/vfio.md, \"Permissions\") or for now: \
         `sudo chown $USER {path}`",
        path = path.display()
    )]
    NoPermission {
        /// The node.
        path: PathBuf,
    },
    /// Somebody else has the device.
    #[error("{path} is in use{}; one program at a time has a card", by(holders), path = path.display())]
    Busy {
        /// The node.
        path: PathBuf,
        /// Process ids and names, as far as they can be seen.
        holders: Vec<(u32, String)>,
    },
    /// The asked-for kernel interface is not there.
    #[error(
        "{address}: this kernel does not offer {interface} ({path} is missing); {hint}",
        path = path.display(),
        hint = match interface {
            Interface::Iommufd => "it needs Linux 6.6 with CONFIG_IOMMUFD and CONFIG_VFIO_DEVICE_CDEV; try `?legacy`",
            Interface::Legacy => "it needs CONFIG_VFIO_GROUP and CONFIG_VFIO_CONTAINER (or CONFIG_IOMMUFD_VFIO_CONTAINER); try `?iommufd`",
        }
    )]
    NoInterface {
        /// The function.
        address: PciAddress,
        /// What was asked for.
        interface: Interface,
        /// The node that is missing.
        path: PathBuf,
    },
    /// Interrupts could be forged.
    #[error(
        "the kernel refuses {address}: its IOMMU does not remap interrupts; turn interrupt remapping (x2APIC) on in the firmware. \
         The module parameter vfio_iommu_type1.allow_unsafe_interrupts=1 lets it through where all software is trusted"
    )]
    UnsafeInterrupts {
        /// The function.
        address: PciAddress,
    },
    /// Configuration space reads as all ones.
    #[error(
        "{device} does not answer: its configuration space reads as all ones; it lost power, its link is down or its bitstream is gone. \
         Reload the bitstream, then `echo 1 > /sys/bus/pci/devices/ADDRESS/remove; echo 1 > /sys/bus/pci/rescan`"
    )]
    AllOnes {
        /// Where.
        device: String,
    },
    /// There is no interrupt to be had.
    #[error("{device} has no interrupts that VFIO could pass on: {why}; the card needs MSI-X (a bitstream without it, or `pci=nomsi`?)")]
    NoInterrupts {
        /// Where.
        device: String,
        /// What was found.
        why: String,
    },
    /// A call of the kernel failed for a reason that is not one of the usual.
    #[error("{device}: {what} failed: {reason}; `dmesg | tail` may say more")]
    Kernel {
        /// Where.
        device: String,
        /// The call.
        what: &'static str,
        /// What the kernel said.
        reason: String,
    },
    /// Nobody serves this socket.
    #[error("cannot connect to {socket}: {reason}", socket = socket.display())]
    NoServer {
        /// The socket.
        socket: PathBuf,
        /// What the system said, and what to do.
        reason: String,
    },
    /// The serial line cannot be used.
    #[error("the serial line {path}: {reason}", path = path.display())]
    Serial {
        /// The tty.
        path: PathBuf,
        /// What the system said, or the card.
        reason: String,
    },
    /// Nobody answers at the serial line.
    #[error(
        "no card answers on {path} at {baud} baud: another port (a board's FTDI has two, the second one is the card's), another speed than the \
         bitstream's (`?baud=N`), or no bitstream in the board",
        path = path.display()
    )]
    SerialSilent {
        /// The tty.
        path: PathBuf,
        /// The speed that was set.
        baud: u32,
    },
    /// The server does not speak vfio-user as it should.
    #[error("the vfio-user server at {socket} {reason}; it must speak protocol 0.1 and serve one client at a time", socket = socket.display())]
    BadServer {
        /// The socket.
        socket: PathBuf,
        /// What it did.
        reason: String,
    },
}

fn found(cards: &[PciAddress]) -> String {
    match cards {
        [] => String::new(),
        cards => format!(
            " (Weft cards: {})",
            cards
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}

/// The kernel parameter that turns the IOMMU on.
fn parameter(cmdline: &str) -> String {
    let wanted = if cfg!(target_arch = "aarch64") {
        "iommu.passthrough=0"
    } else {
        "intel_iommu=on (Intel; AMD's is on unless `amd_iommu=off`)"
    };
    let off = ["intel_iommu=off", "amd_iommu=off", "iommu=off"];
    match cmdline.split_whitespace().find(|word| off.contains(word)) {
        Some(word) => format!("{wanted}, and without `{word}`, which the kernel was booted with"),
        None => wanted.to_owned(),
    }
}

/// The commands that bind a function to vfio-pci.
fn binding(address: PciAddress, driver: Option<&str>) -> String {
    let device = format!("/sys/bus/pci/devices/{address}");
    let mut lines = vec![
        "  modprobe vfio-pci".to_owned(),
        format!("  echo vfio-pci > {device}/driver_override"),
    ];
    if driver.is_some() {
        lines.push(format!("  echo {address} > {device}/driver/unbind"));
    }
    lines.push(format!("  echo {address} > /sys/bus/pci/drivers_probe"));
    lines.join("\n")
}

fn also(hint: &str) -> String {
    match hint {
        "" => String::new(),
        hint => format!("; {hint}"),
    }
}

fn neighbours(others: &[Neighbour]) -> String {
    let each = others.iter().map(ToString::to_string);
    each.collect::<Vec<_>>().join(", ")
}

fn by(holders: &[(u32, String)]) -> String {
    if holders.is_empty() {
        return " by another program (`fuser -v` as root tells which)".to_owned();
    }
    let each = holders.iter().map(|(pid, name)| format!("{name} ({pid})"));
    format!(" by {}", each.collect::<Vec<_>>().join(", "))
}

//! Configuration space.

use serde::Serialize;
use weft_layout::pci;

use super::{Finding, Severity};
use weft_card_transport::{Transport, TransportError};

const ALL_ONES: u32 = u32::MAX;
/// Command and status.
const COMMAND: u16 = 0x04;
const REVISION_CLASS: u16 = 0x08;
/// The first capability.
const CAPABILITIES: u16 = 0x34;
/// Capability ids.
const POWER: u8 = 0x01;
const EXPRESS: u8 = 0x10;
const MSIX: u8 = 0x11;

/// What configuration space says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PciReport {
    /// Vendor id.
    pub vendor: u16,
    /// Device id.
    pub device: u16,
    /// Class, subclass, programming interface.
    pub class: u32,
    /// Revision id.
    pub revision: u8,
    /// The command register.
    pub command: u16,
    /// Vectors of the MSI-X table, if the function has one.
    pub msix_vectors: Option<u16>,
    /// The PCIe link: generation and lanes now, and the most the card can.
    pub link: Option<Link>,
}

/// A PCIe link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Generation now (3 is 8 GT/s).
    pub speed: u8,
    /// Lanes now.
    pub width: u8,
    /// The card's fastest generation.
    pub max_speed: u8,
    /// The card's lanes.
    pub max_width: u8,
}

pub(super) fn read(
    transport: &dyn Transport,
    findings: &mut Vec<Finding>,
) -> Result<Option<PciReport>, TransportError> {
    let ids = transport.config_read32(0)?;
    if ids == ALL_ONES {
        findings.push(Finding::new(
            Severity::Error,
            "configuration space reads as all ones",
            "the function is gone from the bus: check power, the seat of the card, and that the bitstream is loaded, then rescan: echo 1 > /sys/bus/pci/rescan",
        ));
        return Ok(None);
    }
    let command = transport.config_read32(COMMAND)?;
    let class = transport.config_read32(REVISION_CLASS)?;
    let mut report = PciReport {
        vendor: ids as u16,
        device: (ids >> 16) as u16,
        class: class >> 8,
        revision: class as u8,
        command: command as u16,
        msix_vectors: None,
        link: None,
    };
    if (report.vendor, report.device) != (pci::VENDOR, pci::DEVICE) {
        findings.push(Finding::new(
            Severity::Error,
            format!(
                "this is PCI device {:04x}:{:04x}, a Weft card is {:04x}:{:04x}",
                report.vendor,
                report.device,
                pci::VENDOR,
                pci::DEVICE
            ),
            "look at the address (lspci -nn), or load the bitstream of a Weft card",
        ));
    }
    // Status bit 4: there is a list of capabilities.
    if command >> 16 & 0x10 != 0 {
        capabilities(transport, &mut report, findings)?;
    }
    // A transport without a bus behind it has no command register.
    if report.command & 2 != 0 && report.command & 4 == 0 {
        findings.push(Finding::new(
            Severity::Warning,
            "bus mastering is off (PCI command bit 2): the card cannot reach memory",
            "the transport should have turned it on; setpci -s ADDRESS COMMAND=6:6 does it by hand",
        ));
    }
    Ok(Some(report))
}

fn capabilities(
    transport: &dyn Transport,
    report: &mut PciReport,
    findings: &mut Vec<Finding>,
) -> Result<(), TransportError> {
    let mut at = (transport.config_read32(CAPABILITIES)? & 0xfc) as u16;
    // A list has at most so many; one that is longer is a circle.
    for _ in 0..48 {
        if at < 0x40 {
            return Ok(());
        }
        let head = transport.config_read32(at)?;
        match head as u8 {
            POWER => {
                let state = transport.config_read32(at + 4)? & 3;
                if state != 0 {
                    findings.push(Finding::new(
                        Severity::Error,
                        format!("the function sleeps in power state D{state}"),
                        "wake it: echo on > /sys/bus/pci/devices/ADDRESS/power/control",
                    ));
                }
            }
            EXPRESS => {
                let (most, now) = (
                    transport.config_read32(at + 12)?,
                    transport.config_read32(at + 16)? >> 16,
                );
                let link = Link {
                    speed: (now & 15) as u8,
                    width: (now >> 4 & 63) as u8,
                    max_speed: (most & 15) as u8,
                    max_width: (most >> 4 & 63) as u8,
                };
                if (link.speed, link.width) != (link.max_speed, link.max_width) {
                    findings.push(Finding::new(
                        Severity::Warning,
                        format!("the PCIe link is generation {} with {} lanes, the card can generation {} with {}", link.speed, link.width, link.max_speed, link.max_width),
                        "look at the slot: its lanes, its generation in the firmware's settings, the seat of the card, a riser",
                    ));
                }
                report.link = Some(link);
            }
            MSIX => report.msix_vectors = Some((head >> 16 & 0x7ff) as u16 + 1),
            _ => {}
        }
        at = (head >> 8 & 0xfc) as u16;
    }
    findings.push(Finding::new(
        Severity::Error,
        "the list of capabilities in configuration space has no end",
        "the PCIe hard IP of this bitstream is wrongly configured",
    ));
    Ok(())
}

//! What the card's own registers say.

use serde::Serialize;
use weft_layout::{reg, registers, Counter, INTERFACE_VERSION};

use super::{pci, Finding, PciReport, Severity};
use weft_card_transport::{RegisterAccess, Transport, TransportError};
use weft_hostdrv::device::Capabilities;

const ALL_ONES: u32 = u32::MAX;
/// STATUS: at rest, DMA read error, DMA write error.
/// How long a card may take to come to rest.
const QUIESCE_STEPS: u64 = 64;
const QUIESCE_STEP_NS: u64 = 2_000_000;
const SCRATCH_PATTERNS: [u32; 4] = [0x5a5a_a5a5, 0xa5a5_5a5a, 0, ALL_ONES];

/// A card.
#[derive(Clone, Debug, Serialize)]
pub struct CardReport {
    /// Where it is.
    pub name: String,
    /// Configuration space, if it could be read.
    pub pci: Option<PciReport>,
    /// ID.
    pub id: Option<u32>,
    /// VERSION.
    pub version: Option<u32>,
    /// CAPS.
    pub caps: Option<u32>,
    /// CAPS in words.
    pub capabilities: Option<String>,
    /// STATUS.
    pub status: Option<u32>,
    /// CTRL.
    pub control: Option<u32>,
    /// What is wrong, in the order of the checks.
    pub findings: Vec<Finding>,
}

impl CardReport {
    /// Nothing is so wrong that the card cannot be used.
    pub fn usable(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity < Severity::Error)
    }

    /// Is it a Weft card of this interface?
    pub(crate) fn identified(&self) -> bool {
        self.id == Some(reg::ID_RESET) && self.version == Some(INTERFACE_VERSION)
    }

    fn error(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.findings
            .push(Finding::new(Severity::Error, what, advice));
    }
}

/// Asks the card. What cannot be read is a finding.
pub fn examine(transport: &dyn Transport) -> CardReport {
    let mut report = CardReport {
        name: transport.name(),
        pci: None,
        id: None,
        version: None,
        caps: None,
        capabilities: None,
        status: None,
        control: None,
        findings: Vec::new(),
    };
    if let Err(error) = ask(transport, &mut report) {
        report.error(
            error.to_string(),
            "read what the system's log says of the device; open it again",
        );
    }
    report
}

fn ask(transport: &dyn Transport, report: &mut CardReport) -> Result<(), TransportError> {
    report.pci = pci::read(transport, &mut report.findings)?;
    let id = transport.read(registers::ID)?;
    report.id = Some(id);
    if id != reg::ID_RESET {
        let (what, advice) = of_id(id);
        report.error(what, advice);
        // Everything else would be noise.
        return Ok(());
    }
    let version = transport.read(registers::VERSION)?;
    report.version = Some(version);
    if version != INTERFACE_VERSION {
        report.error(
            format!(
                "the card has interface version {version}, this program has {INTERFACE_VERSION}"
            ),
            "load a bitstream and install a driver of the same release",
        );
    }
    let revision = report.pci.as_ref().map(|pci| u32::from(pci.revision));
    if revision.is_some_and(|revision| revision != version) {
        report.findings.push(Finding::new(
            Severity::Warning,
            format!(
                "the PCI revision is {}, the interface version {version}: they are the same number",
                revision.unwrap_or_default()
            ),
            "the PCIe hard IP of this bitstream was configured for another version",
        ));
    }
    let caps = transport.read(registers::CAPS)?;
    report.caps = Some(caps.0);
    match Capabilities::decode(&transport.name(), caps) {
        Ok(caps) => {
            report.capabilities = Some(format!(
                "{} bits wide, {} flows, {} STags, {} interrupt vectors",
                u32::from(caps.data_bytes) * 8,
                caps.flows,
                caps.stags,
                caps.vectors
            ));
            let table = report.pci.as_ref().and_then(|pci| pci.msix_vectors);
            if table.is_some_and(|table| table < u16::from(caps.vectors)) {
                report.findings.push(Finding::new(
                    Severity::Warning,
                    format!("the card has {} interrupt vectors, its MSI-X table {}", caps.vectors, table.unwrap_or_default()),
                    "configure the PCIe hard IP's table for as many vectors as the card has",
                ));
            }
        }
        Err(error) => report.error(error.to_string(), "the register block of this bitstream is broken: check its clock and the address decoder"),
    }
    scratch(transport, report)?;
    status(transport, report)
}

fn of_id(id: u32) -> (String, &'static str) {
    let what = format!(
        "register ID reads {id:#010x}, a Weft card has {:#010x} ('WEFT')",
        reg::ID_RESET
    );
    let advice = match id {
        ALL_ONES => "nobody answers at BAR0: check that the user clock runs and the reset is released, that memory space is enabled (PCI command bit 1) and that the link is up",
        0 => "BAR0 answers with zeros: the register block is in reset, or the BAR is mapped to something else",
        id if id == reg::ID_RESET.swap_bytes() => "the bytes are in the wrong order: the bridge to the register block swaps them",
        _ => "BAR0 belongs to something else: check the BAR numbers of the PCIe hard IP, and the bitstream",
    };
    (what, advice)
}

fn scratch(transport: &dyn Transport, report: &mut CardReport) -> Result<(), TransportError> {
    let before = transport.read(registers::SCRATCH)?;
    for wrote in SCRATCH_PATTERNS {
        transport.write(registers::SCRATCH, wrote)?;
        let read = transport.read(registers::SCRATCH)?;
        if read != wrote {
            report.error(
                format!("register SCRATCH was written {wrote:#010x} and reads {read:#010x} (bits {:#010x} differ)", wrote ^ read),
                "writes do not reach the card, or data lines are stuck: check the BAR mapping, byte enables and the clock of the register block; `weft selftest` tells which bits",
            );
            break;
        }
    }
    transport.write(registers::SCRATCH, before)
}

fn status(transport: &dyn Transport, report: &mut CardReport) -> Result<(), TransportError> {
    let control = transport.read(registers::CTRL)?;
    let off = !(control.jobs() || control.receive());
    let mut status = transport.read(registers::STATUS)?;
    // A card that was just reset clears its tables first.
    for _ in 0..QUIESCE_STEPS {
        if !off || status.quiescent() {
            break;
        }
        let until = transport.now() + QUIESCE_STEP_NS;
        transport.wait(0, Some(until))?;
        status = transport.read(registers::STATUS)?;
    }
    report.status = Some(status.0);
    report.control = Some(control.0);
    if off && !status.quiescent() {
        report.error(
            format!("the card is busy (STATUS {:#x}) for {} ms although job fetch and receive are off", status.0, QUIESCE_STEPS * QUIESCE_STEP_NS / 1_000_000),
            "its DMA engine or its clock is stuck: reset it, and look at the counters dma_read_requests and dma_write_requests",
        );
    }
    for (failed, what, counter) in [
        (status.read_error(), "read", Counter::DmaReadErrors),
        (status.write_error(), "write", Counter::DmaWriteErrors),
    ] {
        if failed {
            let count = transport.read(registers::COUNTERS.word(counter as u32))?;
            report.findings.push(Finding::new(
                Severity::Warning,
                format!("a DMA {what} was answered with an error since CTRL was last written ({} is {count})", counter.name()),
                "dmesg has the address that the IOMMU refused; a reset clears the bit",
            ));
        }
    }
    Ok(())
}

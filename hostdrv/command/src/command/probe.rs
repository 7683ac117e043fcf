//! `weft probe`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use weft_layout::pci;
use weft_tools::probe::{in_folder, on_the_bus, Probed, Severity};

use super::reach::Reached;
use super::Failure;
use crate::output;

/// Which cards to ask.
#[derive(Args)]
pub struct Probe {
    /// Cards to ask: vfio:0000:3b:00.0, vfio-user:/path/to.sock, serial:/dev/ttyUSB1, or sim with the simulator. Without any: all on the PCI bus.
    devices: Vec<String>,
    /// Also asks the card behind each socket of this folder.
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    sockets: Option<PathBuf>,
    /// Prints a JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    cards: Vec<Probed>,
}

fn print(probed: &Probed, out: &mut impl Write) -> io::Result<()> {
    let verdict = match probed.usable() {
        true => "usable",
        false => "NOT usable",
    };
    writeln!(out, "{}: {verdict}", probed.device)?;
    if let Some(bound) = &probed.bound {
        writeln!(out, "  {bound}")?;
    }
    if let Some(unreachable) = &probed.unreachable {
        writeln!(out, "  cannot be reached: {unreachable}")?;
    }
    let Some(card) = &probed.card else {
        return Ok(());
    };
    if let Some(pci) = &card.pci {
        write!(
            out,
            "  PCI {:04x}:{:04x}, class {:06x}, revision {}",
            pci.vendor, pci.device, pci.class, pci.revision
        )?;
        if let Some(vectors) = pci.msix_vectors {
            write!(out, ", {vectors} MSI-X vectors")?;
        }
        if let Some(link) = pci.link {
            write!(
                out,
                ", link generation {} with {} lanes",
                link.speed, link.width
            )?;
        }
        writeln!(out)?;
    }
    let registers = [
        ("ID", card.id),
        ("VERSION", card.version),
        ("CAPS", card.caps),
        ("CTRL", card.control),
        ("STATUS", card.status),
    ];
    let shown = registers
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {:#x}", (*value)?)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    if !shown.is_empty() {
        writeln!(out, "  {shown}")?;
    }
    if let Some(capabilities) = &card.capabilities {
        writeln!(out, "  {capabilities}")?;
    }
    for finding in &card.findings {
        let severity = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "ERROR",
        };
        writeln!(
            out,
            "  {severity}: {}\n    → {}",
            finding.what, finding.advice
        )?;
    }
    Ok(())
}

fn ask(device: &str) -> Probed {
    let reached = Reached::by(device);
    let transport = reached.as_ref().map(|reached| reached.transport.as_ref());
    Probed::of(device, transport.map_err(ToString::to_string))
}

/// Asks and prints.
pub fn run(args: &Probe) -> Result<(), Failure> {
    let mut cards: Vec<_> = args.devices.iter().map(|device| ask(device)).collect();
    if let Some(folder) = &args.sockets {
        let found = in_folder(folder);
        cards.extend(found.map_err(|e| format!("cannot read {}: {e}", folder.display()))?);
    }
    if args.devices.is_empty() && args.sockets.is_none() {
        cards = on_the_bus();
    }
    let mut out = output::stdout();
    if args.json {
        let report = Report {
            cards: cards.clone(),
        };
        output::json(&mut out, &report)?;
    } else {
        for probed in &cards {
            print(probed, &mut out)?;
        }
    }
    let unusable = cards.iter().filter(|probed| !probed.usable()).count();
    match (cards.len(), unusable) {
        (0, _) => Err(format!(
            "no Weft card found: no PCI function is {:04x}:{:04x} (lspci -d {:04x}:{:04x}). A card that was just configured shows up after \
             `echo 1 > /sys/bus/pci/rescan`; a simulated one is asked by its socket: weft probe vfio-user:/path/to.sock",
            pci::VENDOR, pci::DEVICE, pci::VENDOR, pci::DEVICE
        )
        .into()),
        (_, 0) => Ok(()),
        (all, unusable) => Err(format!("{unusable} of {all} cards cannot be used").into()),
    }
}

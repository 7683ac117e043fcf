//! Finds cards, and says of each what is wrong with it and what to do.
//!
//! Nothing is brought up: a few reads, and one register that has no effect is written and restored.

mod card;
mod pci;

use std::path::Path;

use serde::Serialize;

pub use card::{examine, CardReport};
pub use pci::PciReport;

use weft_card_transport::Transport;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The card works, and not as it could.
    Warning,
    /// The card cannot be used.
    Error,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What is the case.
    pub what: String,
    /// What to do.
    pub advice: String,
}

impl Finding {
    fn new(severity: Severity, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            severity,
            what: what.into(),
            advice: advice.into(),
        }
    }
}

/// A place where a card is or should be.
#[derive(Clone, Debug, Serialize)]
pub struct Probed {
    /// Its name for `--device`.
    pub device: String,
    /// Driver and IOMMU group, of a card on the PCI bus.
    pub bound: Option<String>,
    /// Why it could not be reached.
    pub unreachable: Option<String>,
    /// What it said, if it could.
    pub card: Option<CardReport>,
}

impl Probed {
    /// Can it be used?
    pub fn usable(&self) -> bool {
        self.card.as_ref().is_some_and(CardReport::usable)
    }

    /// Reaches a device and asks it.
    pub fn ask(device: &str) -> Self {
        let opened = weft_card_transport::open(device);
        Self::of(device, opened.as_deref().map_err(ToString::to_string))
    }

    /// Asks a device that was reached, or not.
    pub fn of(device: &str, reached: Result<&dyn Transport, String>) -> Self {
        let (unreachable, card) = match reached {
            Ok(transport) => (None, Some(examine(transport))),
            Err(error) => (Some(error), None),
        };
        Self {
            device: device.to_owned(),
            bound: None,
            unreachable,
            card,
        }
    }
}

/// All cards on the PCI bus.
pub fn on_the_bus() -> Vec<Probed> {
    let asked = weft_card_transport::list().into_iter().map(|found| {
        let driver = found.function.driver.as_deref().unwrap_or("no driver");
        let group = found
            .function
            .group
            .map_or("none".into(), |group| group.to_string());
        let bound = Some(format!("driver {driver}, IOMMU group {group}"));
        match &found.problem {
            Some(problem) => Probed {
                device: found.spec(),
                bound,
                unreachable: Some(problem.to_string()),
                card: None,
            },
            None => Probed {
                bound,
                ..Probed::ask(&found.spec())
            },
        }
    });
    asked.collect()
}

/// The cards behind the sockets of a folder, by name.
pub fn in_folder(folder: &Path) -> std::io::Result<Vec<Probed>> {
    use std::os::unix::fs::FileTypeExt;
    let mut sockets = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_socket() {
            sockets.push(format!("vfio-user:{}", entry.path().display()));
        }
    }
    sockets.sort();
    Ok(sockets.iter().map(|socket| Probed::ask(socket)).collect())
}

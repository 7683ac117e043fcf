//! Instructions of the hosts, by layer: the same load once more under callgrind.

use std::ffi::OsString;
use std::process::Command;

use serde::Serialize;

use super::callgrind;
use super::layers::Layer;
use super::{Figures, Load};
use weft_hostdrv::Rung;

/// Within the first function, and what it calls, instructions are counted; but not within the second one.
const COUNTED: [&str; 2] = ["*weft_partitions_counted*", "*weft_idle_look*"];

/// Instructions of a layer, of both ends together.
#[derive(Clone, Debug, Serialize)]
pub struct OfLayer {
    /// What it is called.
    pub layer: &'static str,
    /// All of them.
    pub instructions: u64,
    /// For each message.
    pub per_message: f64,
    /// For each byte of a message; `None`: there are none.
    pub per_byte: Option<f64>,
}

/// Instructions of the hosts while a load ran.
#[derive(Clone, Debug, Serialize)]
pub struct Instructions {
    /// By the sources of lines; if not, by functions, so that what is compiled into another one counts as that one's.
    pub by_lines: bool,
    /// Of a build that checks itself, which costs instructions.
    pub with_checks: bool,
    /// The layers, from the top, and all of them at the end.
    pub layers: Vec<OfLayer>,
}

/// What of a profile is of a host's software; the profile is callgrind's, without compressed names and positions.
pub fn of_hosts(profile: &str) -> u64 {
    let folded = callgrind::fold(profile);
    Layer::HOST.iter().map(|layer| folded.of(*layer)).sum()
}

/// What counts: this program, started again under callgrind.
#[derive(Clone, Debug)]
pub struct Counter {
    /// The program, and what makes it run loads of this workload and print JSON. `--to-be-counted`, `--load NAME` and `--rung NAME` are
    /// put behind.
    pub command: Vec<OsString>,
}

impl Counter {
    /// Counts a load at a rung, which has these figures. It has to have the same ones under callgrind, or it was not the same load.
    pub(super) fn count(
        &self,
        load: &Load,
        rung: Rung,
        figures: &Figures,
    ) -> Result<Instructions, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let profile = folder.path().join("callgrind");
        let mut file = OsString::from("--callgrind-out-file=");
        file.push(&profile);
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--collect-atstart=no"])
            .args(["--compress-strings=no", "--compress-pos=no"])
            .args(COUNTED.map(|name| format!("--toggle-collect={name}")))
            .arg(file)
            .args(&self.command)
            .args(["--to-be-counted", "--load", &load.name])
            .args(["--rung", rung.name()])
            .output()
            .map_err(|error| format!("valgrind cannot be started: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or_default().to_owned();
            return Err(format!("valgrind ended with {}: {last}", output.status));
        }
        same(figures, &output.stdout)?;
        let profile = std::fs::read_to_string(&profile).map_err(|error| error.to_string())?;
        Instructions::new(&callgrind::fold(&profile), figures)
    }
}

/// The load under callgrind was this one.
fn same(figures: &Figures, printed: &[u8]) -> Result<(), String> {
    let again: serde_json::Value =
        serde_json::from_slice(printed).map_err(|error| error.to_string())?;
    let again = again.pointer("/loads/0/rungs/0/figures");
    let figures = serde_json::to_vec(figures).map_err(|error| error.to_string())?;
    let figures: serde_json::Value =
        serde_json::from_slice(&figures).map_err(|error| error.to_string())?;
    match again == Some(&figures) {
        true => Ok(()),
        false => Err("under callgrind the load has other figures".into()),
    }
}

impl Instructions {
    fn new(folded: &callgrind::Folded, figures: &Figures) -> Result<Self, String> {
        let mut counts: Vec<_> = Layer::HOST.map(|l| (l.name(), folded.of(l))).into();
        let all: u64 = counts.iter().map(|(_, count)| count).sum();
        if all == 0 {
            return Err("nothing was counted".into());
        }
        counts.push(("all", all));
        let of = |(layer, instructions): (_, u64)| OfLayer {
            layer,
            instructions,
            per_message: instructions as f64 / figures.messages as f64,
            per_byte: (figures.bytes > 0).then(|| instructions as f64 / figures.bytes as f64),
        };
        Ok(Self {
            by_lines: folded.by_lines,
            with_checks: cfg!(debug_assertions),
            layers: counts.into_iter().map(of).collect(),
        })
    }
}

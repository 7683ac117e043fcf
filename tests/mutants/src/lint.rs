//! Whether the card with all faults in it is still SystemVerilog.

use std::path::Path;
use std::process::Command;

/// Parses and elaborates the card in this folder. Warnings are the faults' own affair.
pub fn rtl(folder: &Path) -> Result<(), String> {
    let verilator = std::env::var_os("VERILATOR").unwrap_or("verilator".into());
    let done = Command::new(verilator)
        .args(["--lint-only", "--assert", "-sv", "-Wno-fatal", "-Wno-lint"])
        .args(["-Iprim", "--top-module", "weft_card", "-f", "weft_card.f"])
        .current_dir(folder)
        .output()
        .map_err(|error| format!("verilator: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&done.stderr);
    let errors: Vec<_> = told
        .lines()
        .filter(|line| line.starts_with("%Error"))
        .collect();
    Err(format!(
        "the RTL with the faults in it: {}",
        errors.join("\n")
    ))
}

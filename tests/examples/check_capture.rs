//! Judges captures: `cargo run -p weft-tests --example check_capture -- [--ours ADDRESS] FILE ..`

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use weft_tests::markers::{check, Rules};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut rules = Rules::default();
    let mut broken = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--ours" {
            let address = arguments.next().ok_or("--ours: which address?")?;
            rules.ours.push(address.parse()?);
            continue;
        }
        let report = check(Path::new(&argument), &rules)?;
        print!("{argument}: {report}");
        for direction in report.directions() {
            println!(
                "  {} to {}: {} FPDUs, {} markers, {} segments sent again, {:?}",
                direction.from,
                direction.to,
                direction.fpdus,
                direction.markers,
                direction.retransmissions,
                direction.messages
            );
        }
        broken |= !report.violations().is_empty();
    }
    Ok(if broken {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

//! Judges captures: `cargo run -p weft-tests --example check_capture -- [--ours ADDRESS] [--frames] FILE ..`
//!
//! `--frames` shows the first frames of the first connection octet by octet: the start-up, and the first FPDU each way.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use weft_tests::markers::{annotate, check, read_segments, Report, Rules};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut rules = Rules::default();
    let (mut broken, mut frames) = (false, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--ours" {
            let address = arguments.next().ok_or("--ours: which address?")?;
            rules.ours.push(address.parse()?);
            continue;
        }
        if argument == "--frames" {
            frames = true;
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
        if frames {
            show_frames(Path::new(&argument), &report)?;
        }
        broken |= !report.violations().is_empty();
    }
    Ok(if broken {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn show_frames(capture: &Path, report: &Report) -> Result<(), Box<dyn Error>> {
    let Some(connection) = report.connections.first() else {
        return Ok(());
    };
    println!("\n{}", annotate::start_up(&connection.start_up));
    let (_, _, segments) = read_segments(capture)?;
    for (direction, name) in connection.directions.iter().zip(["initiator", "responder"]) {
        let first = segments.iter().find(|s| {
            let here = s.from == direction.from && s.to == direction.to;
            here && !s.payload.is_empty() && !s.payload.starts_with(b"MPA ID ")
        });
        if let (Some(segment), false) = (first, direction.with_markers) {
            println!("first FPDU of the {name}, frame {}", segment.frame);
            println!("{}", annotate::fpdu(&segment.payload).unwrap_or_default());
        }
    }
    Ok(())
}

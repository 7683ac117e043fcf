//! `explore`: every order of events of a hand-over, and what was found.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use weft_explore::suite::{explore, parts, place_of, Found};
use weft_explore::Fault;

/// Explores the hand-over of a flow between card and engine in every order of events (docs/handover.md).
#[derive(Parser)]
struct Args {
    /// Larger worlds: hours and tens of GiB.
    #[arg(long)]
    larger: bool,
    /// Nothing but these, by a piece of their name.
    #[arg(long)]
    only: Option<String>,
    /// No faults are planted.
    #[arg(long)]
    no_faults: bool,
}

/// What has to be printed of it: the shortest run that breaks a property.
fn show(found: &Found) {
    if let Some((property, actions)) = found.broken.first() {
        println!("  does not hold: {property}");
        for action in actions {
            println!("    {action:?}");
        }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only));
    let begin = Instant::now();
    let (mut states, mut transitions, mut wrong) = (0, 0, 0);
    for part in parts(args.larger) {
        if !wanted(part.name) {
            continue;
        }
        let found = explore(&part.sizes);
        println!(
            "{:>9} states, {:>9} transitions: {}",
            found.states, found.transitions, part.name
        );
        show(&found);
        wrong += usize::from(!found.broken.is_empty());
        (states, transitions) = (states + found.states, transitions + found.transitions);
    }
    let faults = Fault::all()
        .iter()
        .filter(|_| !args.no_faults && args.only.is_none());
    let mut planted = 0;
    for fault in faults {
        planted += 1;
        let found = explore(&place_of(*fault));
        match found.broken.first() {
            Some((property, actions)) => {
                println!(
                    "planted {fault:?}: {} events break: {property}",
                    actions.len()
                );
            }
            None => {
                println!("planted {fault:?}: NOT FOUND in {} states", found.states);
                wrong += 1;
            }
        }
    }
    let verdict = if wrong == 0 {
        "all properties hold"
    } else {
        "FAILED"
    };
    println!(
        "{states} states, {transitions} transitions, {planted} planted faults, {:.0} s: {verdict}",
        begin.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(wrong > 0))
}

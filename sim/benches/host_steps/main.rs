//! Instructions of each step of a host's software, counted by callgrind on the real code, beside those that simulated hosts are charged.
//!
//! `cargo bench -p weft-sim --bench host_steps` prints the table; with `-- --gate` a step that is off by more than a tenth fails. Each step
//! has a scene in which it outweighs the others. What the others cost by the table is taken off; the rest is the step's.

mod scenes;

use std::process::{Command, ExitCode};

use scenes::{Scene, SCENES};
use weft_sim::host::{Done, Step, STEPS};

/// A step may be off by so much.
const OFF: f64 = 0.1;

/// What callgrind counted in a scene, and how often each step was done.
fn count(scene: &Scene) -> Result<(f64, Vec<u64>), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg("--toggle-collect=*weft_step_counted*")
        .arg("--callgrind-out-file=/dev/null")
        .arg(own)
        .args(["--scene", scene.step])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let failed = || String::from_utf8_lossy(&output.stderr).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    let (_, rest) = errors.split_once("Collected : ").ok_or_else(failed)?;
    let instructions = rest.split_whitespace().next().and_then(|n| n.parse().ok());
    let printed = String::from_utf8_lossy(&output.stdout);
    let counts: Result<Vec<u64>, _> = printed.split_whitespace().map(str::parse).collect();
    let counts = counts.map_err(|_| failed())?;
    match instructions {
        Some(instructions) if counts.len() == STEPS.len() => Ok((instructions, counts)),
        _ => Err(failed()),
    }
}

fn of(done: &Done) -> String {
    let counts = STEPS.iter().map(|step| (step.count)(done).to_string());
    counts.collect::<Vec<_>>().join(" ")
}

/// A step's own instructions in its scene: what the others take by the table is taken off.
fn own(step: &Step, counted: f64, counts: &[u64]) -> f64 {
    let all: f64 = STEPS
        .iter()
        .zip(counts)
        .filter(|(other, _)| other.name != step.name)
        .map(|(other, count)| other.instructions * *count as f64)
        .sum();
    let at = STEPS.iter().position(|other| other.name == step.name);
    let count = at.and_then(|at| counts.get(at)).copied().unwrap_or(0);
    (counted - all) / count as f64
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name, ..] = &args[..] {
        if flag == "--scene" {
            let Some(scene) = SCENES.iter().find(|scene| scene.step == name) else {
                return ExitCode::FAILURE;
            };
            return match scenes::run(scene) {
                Ok(done) => {
                    println!("{}", of(&done));
                    ExitCode::SUCCESS
                }
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            };
        }
    }
    let gate = args.iter().any(|arg| arg == "--gate");
    let raw = args.iter().any(|arg| arg == "--raw");
    let mut off = false;
    println!(
        "{:<32} {:>9} {:>9} {:>7}",
        "instructions of a", "counted", "charged", "off"
    );
    for step in &STEPS {
        let Some(scene) = SCENES.iter().find(|scene| scene.step == step.name) else {
            eprintln!("no scene: {}", step.name);
            return ExitCode::FAILURE;
        };
        let (counted, counts) = match count(scene) {
            Ok(counted) => counted,
            Err(error) => {
                eprintln!("{}: {error}", step.name);
                return ExitCode::FAILURE;
            }
        };
        let own = own(step, counted, &counts);
        let by = step.instructions / own - 1.0;
        let is_off = !(by.abs() <= OFF);
        off |= is_off;
        let mark = if is_off { " (!)" } else { "" };
        let (name, charged, by) = (step.name, step.instructions, 100.0 * by);
        println!("{name:<32} {own:>9.2} {charged:>9.2} {by:>6.1}%{mark}");
        if raw {
            println!("  {counted} {counts:?}");
        }
    }
    ExitCode::from(u8::from(gate && off))
}

//! Runs a program of sixteen blocking threads again and again, with threads beside it that load the machine, and counts the captures that differ.
//! `cargo run -p weft-tests --example same_capture -- [--runs N] [--seed N] [--load THREADS] [--driven] [--polled]`

use std::collections::BTreeMap;
use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weft_tests::same_capture::Program;

/// Says how far it is.
const EVERY: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (mut runs, mut load) = (1000, 4);
    let mut program = Program::of_sixteen(1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || -> Result<u64, Box<dyn Error + Send + Sync>> {
            let value = arguments.next().ok_or("a number is missing")?;
            Ok(value.parse()?)
        };
        match argument.as_str() {
            "--runs" => runs = number()?,
            "--seed" => program.seed = number()?,
            "--load" => load = number()?,
            "--driven" => program.driven = true,
            "--polled" => program.polled = true,
            other => return Err(format!("what is {other}?").into()),
        }
    }
    let done = AtomicBool::new(false);
    let captures = std::thread::scope(|scope| {
        for _ in 0..load {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let captures = captures(&program, runs);
        done.store(true, Ordering::Relaxed);
        captures
    })?;
    println!(
        "{runs} runs, {} threads in each, {load} beside them: {} different captures",
        2 * program.connections,
        captures.len()
    );
    for ((hash, bytes), times) in &captures {
        println!("  {hash:016x}, {bytes} bytes: {times}");
    }
    match captures.len() {
        1 => Ok(()),
        _ => Err("a seed has one capture".into()),
    }
}

/// How often there was which.
fn captures(
    program: &Program,
    runs: u64,
) -> Result<BTreeMap<(u64, usize), u64>, Box<dyn Error + Send + Sync>> {
    let mut captures = BTreeMap::new();
    let mut told = Instant::now();
    for run in 0..runs {
        let capture = program.capture()?;
        let mut hasher = DefaultHasher::new();
        capture.hash(&mut hasher);
        *captures
            .entry((hasher.finish(), capture.len()))
            .or_default() += 1;
        if told.elapsed() > EVERY {
            told = Instant::now();
            eprintln!("{} runs, {} captures", run + 1, captures.len());
        }
    }
    Ok(captures)
}

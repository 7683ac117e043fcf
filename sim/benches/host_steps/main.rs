//! Instructions of a host's steps, counted by callgrind on the real code, beside those that simulated hosts are charged.
//!
//! `cargo bench -p weft-sim --bench host_steps` prints two tables: a scene for each step, and whole loads. With `-- --gate` a scene that is charged more
//! than a tenth too much or too little fails, and so does such a load. `-- --steps` leaves the loads out.

mod calls;
mod scenes;
mod whole;

use std::process::{Command, ExitCode};

use calls::CALLS;
use scenes::SCENES;
use weft_sim::host::{Done, STEPS};
use weft_sim::partitions::of_hosts;

/// What a scene is charged may be off by so much.
const OFF: f64 = 0.1;

/// The instructions of hosts in a scene, and what was done.
fn count(step: &str) -> Result<(f64, Done), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let profile = folder.path().join("callgrind");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .args(["--compress-strings=no", "--compress-pos=no"])
        .args(["--toggle-collect=*weft_step_counted*"])
        .args(["--toggle-collect=*weft_idle_look*"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(own)
        .args(["--scene", step])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let failed = || String::from_utf8_lossy(&output.stderr).into_owned();
    let profile = std::fs::read_to_string(&profile).map_err(|_| failed())?;
    let done = serde_json::from_slice(&output.stdout).map_err(|_| failed())?;
    Ok((of_hosts(&profile) as f64, done))
}

/// Runs the scene of a step; what was done in it.
fn scene(step: &str) -> Result<Done, Box<dyn std::error::Error>> {
    if let Some(scene) = SCENES.iter().find(|scene| scene.step == step) {
        return scenes::run(scene);
    }
    let calls = CALLS.iter().find(|calls| calls.step == step);
    calls::run(calls.ok_or("the step has no scene")?)
}

/// A row of a table; whether it is off by more than it may be.
fn row(name: &str, share: &str, [counted, charged]: [f64; 2], most: f64) -> bool {
    let by = charged / counted - 1.0;
    // A ratio that is no number is off as well.
    let is_off = by.is_nan() || by.abs() > most;
    let mark = if is_off { " (!)" } else { "" };
    let by = 100.0 * by;
    println!("{name:<40} {share:>8} {counted:>12.0} {charged:>12.0} {by:>6.1}%{mark}");
    is_off
}

fn steps() -> Result<bool, String> {
    let mut any = false;
    println!(
        "{:<40} {:>8} {:>12} {:>12} {:>7}",
        "scene of", "share", "counted", "charged", "off"
    );
    for step in &STEPS {
        let (counted, done) = count(step.name).map_err(|why| format!("{}: {why}", step.name))?;
        let charged = done.instructions();
        let share = format!("{:.0} %", 100.0 * step.of(&done) / charged);
        any |= row(step.name, &share, [counted, charged], OFF);
    }
    Ok(any)
}

/// Does what it is started for; whether something is off.
fn run(args: &[String]) -> Result<bool, String> {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if let [flag, name, ..] = args {
        if flag == "--scene" {
            let done = scene(name).map_err(|error| error.to_string())?;
            println!("{}", serde_json::json!(done));
            return Ok(false);
        }
    }
    if has("--to-be-counted") {
        return whole::counted(args).map(|()| false);
    }
    let mut off = steps()?;
    if !has("--steps") {
        off |= whole::loads()?;
    }
    Ok(off && has("--gate"))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(off) => ExitCode::from(u8::from(off)),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

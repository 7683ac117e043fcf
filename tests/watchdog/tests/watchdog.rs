//! A test that hangs, in a process of its own.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use weft_watchdog::{Watchdog, VARIABLE};

/// Only run by the others.
#[test]
#[ignore]
fn hangs() {
    let _limit = Watchdog::usual("seed 4711");
    std::thread::sleep(Duration::from_secs(60));
}

/// Only run by the others.
#[test]
#[ignore]
fn is_over_in_time() {
    for seed in 0..3 {
        drop(Watchdog::after(
            Duration::from_millis(50),
            format_args!("seed {seed}"),
        ));
    }
    let _none = Watchdog::if_asked("nothing");
    std::thread::sleep(Duration::from_millis(200));
}

fn run(test: &str, limit: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--ignored", "--exact", test]);
    command.env_remove(VARIABLE);
    if let Some(limit) = limit {
        command.env(VARIABLE, limit);
    }
    command.output().expect("it starts")
}

#[test]
fn a_test_that_hangs_ends_with_its_name_and_seed() {
    let start = Instant::now();
    let output = run("hangs", Some("1"));
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("test hangs, seed 4711: not over after 1s"),
        "{said}"
    );
}

#[test]
fn a_test_in_time_is_left_alone() {
    let output = run("is_over_in_time", None);
    assert!(output.status.success(), "{output:?}");
}

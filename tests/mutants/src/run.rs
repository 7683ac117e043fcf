//! Runs a test program with one fault showing.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::programs::{Catch, Program};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The tests passed.
    Passed,
    /// A test failed, or the program died.
    Failed,
    /// It was stopped at the limit.
    Hung,
    /// The filter fits no test.
    Empty,
}

/// Runs the tests of `catch` with fault `number` (0: none), for at most `limit`.
pub fn run(
    program: &Program,
    catch: &Catch,
    number: u32,
    limit: Duration,
) -> Result<(End, Duration), String> {
    let output = tempfile::tempfile().map_err(|error| error.to_string())?;
    let mut read_back = output.try_clone().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let mut child = Command::new(&program.path)
        .args(&catch.filter)
        .current_dir(&program.folder)
        .env(weft_planted::VARIABLE, number.to_string())
        .env("CARGO_MANIFEST_DIR", &program.folder)
        // Faults of the RTL are for the card's own tests; the full stack runs on the quick card.
        .env("WEFT_TEST_CARD", "model")
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.path.display()))?;
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if begun.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok((End::Hung, begun.elapsed()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let took = begun.elapsed();
    if !status.success() {
        return Ok((End::Failed, took));
    }
    let mut text = String::new();
    use std::io::{Read, Seek};
    read_back.rewind().map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    read_back
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    text.push_str(&String::from_utf8_lossy(&bytes));
    let end = if text.contains("running 0 tests") {
        End::Empty
    } else {
        End::Passed
    };
    Ok((end, took))
}

//! Debian's programs, as they are, on two simulated cards, and on one that a broker shares: `make c-programs`, which unpacks them to target/c-programs.
//!
//! What is judged is how a program ends and what it says; no time is. One that does not end within a minute is ended.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{kill_process_group, Pid, Signal};
use serde::Deserialize;

/// A row of programs.json.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    program: String,
    #[allow(dead_code)] // For the page.
    package: String,
    server: Option<String>,
    client: String,
    /// What the client has to say.
    says: String,
    /// Frames lost, per million.
    #[serde(default)]
    loss: u32,
    #[serde(default)]
    end_server: bool,
    #[allow(dead_code)] // For the page.
    what: String,
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the project's folder")
}

/// A command line whose program is one of those that were unpacked.
fn unpacked(line: &str, bin: &Path) -> String {
    format!("{}/{line}", bin.display())
}

/// A program that never ends is a fault, and has to be seen as one.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a command to its end, or until the limit; then it and all that it has started are killed.
fn ended(mut command: Command) -> std::io::Result<Output> {
    let child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let group = Pid::from_child(&child);
    let (over, wait) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if wait.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    });
    let output = child.wait_with_output();
    drop(over);
    watch.join().expect("it only waits");
    output
}

/// perftest's server takes one connection to exchange parameters, and listens anew for the others: a client that is quicker is refused, with any card.
const TOO_QUICK: &str = "RDMA_CM_EVENT_REJECTED; error: -111";
/// How often such a row is run.
const TRIES: usize = 5;

fn run_again(row: &Row, cards: Cards, root: &Path) -> Result<(), String> {
    let mut tries = (0..TRIES).map(|_| run(row, cards, root));
    let counts = |done: &Result<(), String>| {
        done.as_ref()
            .err()
            .is_none_or(|why| !why.contains(TOO_QUICK))
    };
    tries
        .find(counts)
        .unwrap_or_else(|| Err(format!("{TOO_QUICK}, each time")))
}

/// What the two programs have.
#[derive(Clone, Copy)]
enum Cards {
    OneEach,
    OneShared,
}

/// `weft run` with this row's programs; what is wrong with how it went.
fn run(row: &Row, cards: Cards, root: &Path) -> Result<(), String> {
    let (weft, unpacked_to) = (
        root.join("target/debug/weft"),
        root.join("target/c-programs"),
    );
    let bin = unpacked_to.join("usr/bin");
    let libraries = [
        "usr/lib/x86_64-linux-gnu",
        "usr/lib/x86_64-linux-gnu/ceph",
        "lib/x86_64-linux-gnu",
        "usr/lib/libpsm1",
    ];
    let libraries = libraries.map(|folder| unpacked_to.join(folder).display().to_string());
    let mut command = Command::new(weft);
    command
        .arg("run")
        .env("LD_LIBRARY_PATH", libraries.join(":"))
        .env("WEFT_C_LOG", "calls");
    let loss = row.loss.to_string();
    match cards {
        Cards::OneEach => command.args(["--loss", &loss]),
        Cards::OneShared => command.arg("--shared"),
    };
    // Environment (tests): `WEFT_C_SEED`: `make c-programs`: seed of the frames that are lost. Without it: 0.
    let seed = std::env::var("WEFT_C_SEED").unwrap_or_else(|_| "0".into());
    match &row.server {
        Some(server) => {
            let server = unpacked(server, &bin);
            command.args(["--seed", &seed, "--pair", &server]);
            if row.end_server {
                command.arg("--end-server");
            }
        }
        // It sends nothing: any peer will do.
        None => {
            command.args(["--pair", "true"]);
        }
    }
    command.args(unpacked(&row.client, &bin).split_whitespace());
    let output = ended(command).map_err(|error| error.to_string())?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    let says = |what: &str| out.contains(what) || err.contains(what);
    if output.status.success() && says(&row.says) {
        return Ok(());
    }
    Err(format!("{}\n{out}\n{err}", output.status))
}

fn programs_run(cards: Cards) {
    let (root, folder) = (root(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let rows = fs::read_to_string(folder.join("programs.json")).expect("the table");
    let rows: Vec<Row> = serde_json::from_str(&rows).expect("the table");
    // Environment (tests): `WEFT_C_PROGRAM`: `make c-programs`: this program alone. Without it: all.
    let only = std::env::var("WEFT_C_PROGRAM").ok();
    let mut failed = Vec::new();
    let mut ran = 0;
    for row in &rows {
        if only.as_ref().is_some_and(|only| *only != row.program) {
            continue;
        }
        ran += 1;
        match run_again(row, cards, &root) {
            Ok(()) => println!("{}: as it should", row.program),
            Err(why) => {
                println!("{}: {why}", row.program);
                failed.push(&row.program);
            }
        }
    }
    assert!(failed.is_empty(), "of {ran}: {failed:?}");
    assert!(ran > 0, "no such program");
}

#[test]
#[ignore = "wants Debian's programs: make c-programs"]
fn programs_run_as_they_are() {
    programs_run(Cards::OneEach);
}

/// Two programs are clients of one broker at once, and reach each other there.
#[test]
#[ignore = "wants Debian's programs: make c-programs"]
fn programs_share_a_card() {
    programs_run(Cards::OneShared);
}

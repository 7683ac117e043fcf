//! Every subcommand, misused: outputs that are closed or full, files of the wrong kind, signals and servers that go at any moment. It ends, it does
//! not panic, it says that it failed, and no file is destroyed.
//!
//! `WEFT_MISUSE_SEEDS=1000` tries as many; `WEFT_MISUSE_SEED=7` tries one, and says what it is.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::{kill_process, Pid, Signal};

use crate::weft;

use weft::{ends, folder, text, weft};

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// The commands; `FILE` is a path to be read or replaced, `OUT` one to be written, `CARD` a card.
const COMMANDS: [&str; 26] = [
    "probe CARD --json",
    "probe --sockets FILE",
    "regs --device CARD",
    "regs --device CARD --watch=0.01 --json",
    "trace --device CARD",
    "trace --device CARD --follow",
    "selftest --device CARD --report OUT",
    "firmware --device CARD --load FILE",
    "firmware --device CARD --json",
    "capture --device CARD --ip 10.0.0.1/24 -w OUT --seconds 0.2",
    "rping -s --device CARD --ip 10.0.0.1/24",
    "rping -c -a 10.0.0.2 -C 1 --timeout 0.3 --device CARD --ip 10.0.0.1/24 --trace OUT",
    "rping -c -a 10.0.0.2 -C 1 --timeout 0.3 --device CARD --ip 10.0.0.1/24 --capture OUT --json",
    "rping -c -a 10.0.0.2 --record FILE --device CARD --ip 10.0.0.1/24 --timeout 0.3",
    "ucmatose -s 10.0.0.2 --timeout 0.3 --device CARD --ip 10.0.0.1/24 -c 3",
    "ucmatose --device CARD --ip 10.0.0.1/24 --json",
    "share --socket FILE --device CARD --ip 10.0.0.1/24",
    "stream --device CARD --ip 10.0.0.1/24 --json",
    "tap --device CARD --ip 10.0.0.1/24 --seconds 0.1 --tap nothing-of-such-a-name",
    "resolver --socket FILE",
    "resolver --table FILE --socket OUT",
    "serve --card model --socket FILE",
    "serve --card model --socket OUT --port pcap:FILE --capture OUT2",
    "demo FILE --card model --out OUT",
    "man --out FILE",
    "completions zsh",
];

/// What stands in a file that nobody is to touch.
const MINE: &[u8] = b"mine";

/// One misuse; what is wrong with how it went.
fn misuse(seed: u64) -> Result<(), String> {
    let mut rng = Rng(seed);
    let folder = folder(&format!("misuse-{seed}"));
    let mine = folder.join("mine");
    fs::write(&mine, MINE).expect("written");
    let deep = folder.join("no/such/folder/x");
    let fresh = folder.join("fresh");
    let path = |path: &PathBuf| path.display().to_string();
    let (mine_at, folder_at, deep_at) = (path(&mine), path(&folder), path(&deep));

    // A card of its own, one that goes, or none.
    let card = rng
        .one(&[
            "vfio-user:/nowhere",
            "serial:/dev/null",
            "sum:x",
            "vfio:0000:ff:1f.7",
        ])
        .to_owned();
    #[cfg(feature = "sim")]
    let mut served = (rng.below(3) > 0).then(|| weft::Served::start(&folder));
    #[cfg(feature = "sim")]
    let card = served.as_ref().map_or(card, weft::Served::device);

    let file = rng
        .one(&[&mine_at, &folder_at, &deep_at, "/dev/full", "/dev/null", ""])
        .to_owned();
    let out = match rng.below(3) {
        0 => path(&fresh),
        1 => rng.one(&[&folder_at, &deep_at]).to_owned(),
        _ => "/dev/full".to_owned(),
    };
    let line = COMMANDS[rng.below(COMMANDS.len())];
    let words: Vec<String> = line
        .split(' ')
        .map(|word| {
            word.replace("CARD", &card)
                .replace("OUT2", "/dev/full")
                .replace("OUT", &out)
                .replace("FILE", &file)
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();

    let said = folder.join("said");
    let mut command = weft(&words);
    command.stderr(File::create(&said).expect("made"));
    let outputs = ["read", "closed", "full"];
    let output = outputs[rng.below(outputs.len())];
    match output {
        "read" => command.stdout(Stdio::piped()),
        "closed" => {
            let (ours, its) = UnixStream::pair().expect("a pair");
            drop(ours);
            command.stdout(OwnedFd::from(its))
        }
        _ => command.stdout(
            File::options()
                .write(true)
                .open("/dev/full")
                .expect("there"),
        ),
    };
    let child = command.spawn().expect("weft starts");
    let pid = Pid::from_child(&child);

    // Some go on for ever: each hears a signal in the end, some early, and the server of some goes.
    let signal = [Signal::INT, Signal::TERM][rng.below(2)];
    let early = Duration::from_millis(rng.below(300) as u64);
    let server_goes = rng.below(3) == 0;
    let signals = rng.below(2) == 0;
    let (over, ended) = std::sync::mpsc::channel::<()>();
    let disturber = thread::spawn(move || {
        thread::sleep(early);
        #[cfg(feature = "sim")]
        if let (true, Some(served)) = (server_goes, &mut served) {
            served.kill();
        }
        #[cfg(not(feature = "sim"))]
        let _ = server_goes;
        let patience = Duration::from_secs(if signals { 0 } else { 4 });
        while ended.recv_timeout(patience) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = kill_process(pid, signal);
            if ended.recv_timeout(Duration::from_secs(3)).is_ok() {
                break;
            }
        }
    });
    let what = format!("seed {seed}: weft {} (output {output})", words.join(" "));
    let result = ends(child, &what);
    drop(over);
    disturber.join().expect("it ends");

    let told = fs::read_to_string(&said).unwrap_or_default();
    let wrong = |why: &str| {
        let status = result.status;
        Err(format!(
            "{what}: {why}; {status}\n{}\n{told}",
            text(&result.stdout)
        ))
    };
    if told.contains("panicked") {
        return wrong("it panics");
    }
    let by = result.status.signal();
    if by.is_some_and(|by| by != Signal::INT.as_raw() && by != Signal::TERM.as_raw()) {
        return wrong("it is ended by a signal that nobody sent");
    }
    if fs::read(&mine).ok().as_deref() != Some(MINE) {
        return wrong("a file is destroyed");
    }
    if deep.parent().is_some_and(|parent| parent.exists()) && !line.contains("--out") {
        return wrong("a folder is made that nobody asked for");
    }
    if result.status.success() {
        // Nothing can be written there, so who has something to say fails.
        let silent = line.ends_with("--follow") || line.starts_with("man");
        let speaks = ["probe", "regs", "completions", "trace"];
        if output == "full" && !silent && speaks.iter().any(|start| line.starts_with(start)) {
            return wrong("what it says is lost, and it succeeds");
        }
        if told.lines().any(|said| said.starts_with("weft: cannot")) {
            return wrong("it says that it failed, and succeeds");
        }
    } else if by.is_none() && told.is_empty() && result.status.code() != Some(141) {
        return wrong("it fails without a word");
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(())
}

#[test]
fn misuse_ends_well() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    // Environment (tests): `WEFT_MISUSE_SEED`: `hostile`: this seed alone. Without it: all.
    if let Some(seed) = number("WEFT_MISUSE_SEED") {
        return misuse(seed).unwrap_or_else(|why| panic!("{why}"));
    }
    // Environment (tests): `WEFT_MISUSE_SEEDS`: misuse of every subcommand (`hostile`): how many seeds. Without it: 48.
    let seeds = number("WEFT_MISUSE_SEEDS").unwrap_or(48);
    let wrong: Vec<_> = (0..seeds).filter_map(|seed| misuse(seed).err()).collect();
    assert!(
        wrong.is_empty(),
        "{} of {seeds}:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

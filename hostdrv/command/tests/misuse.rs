//! What a user does wrong: the command says so and what to do, ends with a status that is not 0, and destroys nothing.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

mod weft;

use weft::{run, text};

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// It refuses, and says this.
fn refused(output: &Output, says: &[&str]) {
    let said = text(&output.stderr);
    assert!(!output.status.success(), "it succeeds: {said}");
    for word in says {
        assert!(said.contains(word), "no `{word}` in: {said}");
    }
}

#[test]
fn a_resolver_leaves_alone_what_is_no_socket() {
    let folder = folder("resolver-path");
    let file = folder.join("notes.txt");
    fs::write(&file, "mine").expect("written");
    let path = file.display().to_string();
    refused(
        &run(&["resolver", "--socket", &path]),
        &[&path, "is not a socket"],
    );
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine");

    let deep = folder.join("no/such/folder/sock");
    let path = deep.display().to_string();
    refused(&run(&["resolver", "--socket", &path]), &[&path]);
    assert!(!folder.join("no").exists(), "a folder nobody asked for");
}

#[cfg(not(feature = "sim"))]
#[test]
fn what_needs_the_simulator_says_how_to_get_it() {
    for command in ["demo", "perf", "partitions", "project", "replay", "serve"] {
        let output = run(&[command, "--card", "model", "anything"]);
        refused(&output, &[command, "--features sim"]);
    }
}

#[cfg(feature = "sim")]
mod simulated {
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Stdio};

    use rustix::process::{kill_process, Pid, Signal};

    use super::weft::weft;
    use super::*;

    const STATION: [&str; 4] = ["--device", "sim:card=model", "--ip", "10.0.0.1/24"];

    #[test]
    fn a_socket_takes_no_file_s_place() {
        let folder = folder("socket-path");
        let file = folder.join("notes.txt");
        fs::write(&file, "mine").expect("written");
        let path = file.display().to_string();
        let port = format!("dgram:{path}");
        let sock = folder.join("sock").display().to_string();
        let share = [&["share", "--socket", &path], &STATION[..]].concat();
        for command in [
            &["serve", "--card", "model", "--socket", &path][..],
            &[
                "serve", "--card", "model", "--socket", &sock, "--port", &port,
            ],
            &share,
        ] {
            refused(&run(command), &[&path, "is not a socket"]);
            assert_eq!(fs::read_to_string(&file).expect("still there"), "mine");
        }
    }

    #[test]
    fn a_socket_that_answers_is_not_taken_over() {
        let folder = folder("socket-in-use");
        let path = folder.join("sock").display().to_string();
        let _listener = std::os::unix::net::UnixListener::bind(&path).expect("bound");
        let share = [&["share", "--socket", &path], &STATION[..]].concat();
        for command in [
            &["serve", "--card", "model", "--socket", &path][..],
            &["resolver", "--socket", &path],
            &share,
        ] {
            refused(&run(command), &[&path]);
            assert!(UnixStream::connect(&path).is_ok());
        }
    }

    #[test]
    fn a_capture_that_would_be_empty_is_refused() {
        let folder = folder("captures");
        let at = |name: &str| folder.join(name).display().to_string();
        let (a, b, file) = (at("a"), at("b"), at("x.pcapng"));
        // No port: nothing to capture.
        let alone = [
            "serve",
            "--card",
            "model",
            "--socket",
            &a,
            "--capture",
            &file,
        ];
        refused(&run(&alone), &["card 0", "--port"]);
        // One link has one capture.
        let pair = [
            "serve", "--card", "model", "--socket", &a, "--port", "card:1",
        ];
        let pair = [&pair[..], &["--socket", &b, "--port", "card:0"]].concat();
        let second = [&pair[..], &["--capture", "-", "--capture", &file]].concat();
        refused(&run(&second), &["card 1", "card 0"]);
    }

    #[test]
    fn a_capture_that_cannot_be_written_is_an_error() {
        let capture = ["capture", "-w", "/dev/full", "--seconds", "0.1"];
        refused(&run(&[&capture[..], &STATION].concat()), &["No space left"]);
    }

    #[test]
    fn a_file_without_an_end_is_not_read() {
        refused(
            &run(&["demo", "/dev/zero", "--card", "model"]),
            &["/dev/zero", "at most"],
        );
        let folder = folder("large");
        let large = folder.join("large");
        let file = fs::File::create(&large).expect("made");
        file.set_len(1 << 40).expect("as long as that");
        let path = large.display().to_string();
        refused(
            &run(&["demo", &path, "--card", "model"]),
            &[&path, "at most"],
        );
    }

    #[test]
    fn shares_of_frames_are_shares() {
        let serve = ["serve", "--card", "model", "--socket", "/nowhere/sock"];
        for option in [
            "--loss",
            "--duplicate",
            "--reorder",
            "--corrupt",
            "--resegment",
        ] {
            for (value, says) in [
                ("1%", "per million"),
                ("2000000", "1000000"),
                ("-1", option),
            ] {
                let given = format!("{option}={value}");
                let output = run(&[&serve[..], &[&given]].concat());
                refused(&output, &[option, says]);
                assert_eq!(output.status.code(), Some(2));
            }
        }
    }

    #[test]
    fn a_peer_that_cannot_be_reached_is_told_from_a_mistake() {
        let client =
            |peer: &str| run(&[&["rping", "-c", "-C", "1", "-a", peer], &STATION[..]].concat());
        refused(
            &client("10.0.1.2"),
            &["10.0.1.2", "10.0.0.1/24", "--gateway"],
        );
        refused(&client("10.0.0.1"), &["10.0.0.1", "own address"]);
        refused(&client("10.0.0.255"), &["10.0.0.255", "broadcast"]);
    }

    #[test]
    fn a_load_that_is_none_is_told_with_those_that_are() {
        refused(
            &run(&["partitions", "--card", "model", "--load", "foo"]),
            &["foo", "64 B"],
        );
    }

    /// A command that runs, when it has said this.
    fn running(arguments: &[&str], says: &str) -> (Child, String) {
        let mut child = weft(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("weft starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut said = String::new();
        for line in lines.by_ref().map_while(Result::ok) {
            said += &line;
            if line.contains(says) {
                break;
            }
        }
        assert!(said.contains(says), "{said}");
        std::thread::spawn(move || lines.for_each(drop));
        (child, said)
    }

    #[test]
    fn an_interrupted_ping_that_never_was_has_not_passed() {
        let client = ["rping", "-c", "-d", "-a", "10.0.0.2"];
        let client = [&client[..], &STATION].concat();
        for count in ["0", "3"] {
            let (child, _) = running(&[&client[..], &["-C", count]].concat(), "connecting");
            kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
            let output = child.wait_with_output().expect("it ends");
            let said = text(&output.stdout);
            assert!(!output.status.success(), "{said}");
            assert!(!said.contains("passed"), "{said}");
        }
    }

    #[test]
    fn a_card_in_use_is_refused_at_once() {
        let folder = folder("in-use");
        let socket = folder.join("card").display().to_string();
        let mut served = weft(&["serve", "--card", "model", "--socket", &socket])
            .stdout(Stdio::piped())
            .spawn()
            .expect("weft starts");
        let out = BufReader::new(served.stdout.take().expect("piped"));
        assert!(out.lines().next().is_some(), "it says where it listens");
        let device = format!("vfio-user:{socket}");
        let card = ["--device", &device, "--ip", "10.0.0.1/24"];
        let (mut first, _) = running(&[&["rping", "-s"], &card[..]].concat(), "listening");
        for command in [
            &["regs", "--device", &device][..],
            &["probe", &device],
            &[&["rping", "-s"], &card[..]].concat(),
        ] {
            let output = run(command);
            let said = text(&output.stderr) + &text(&output.stdout);
            assert!(!output.status.success(), "{said}");
            assert!(said.contains("in use"), "{said}");
        }
        first.kill().expect("there");
        first.wait().expect("ended");
        // The server hears that it is gone.
        let free = (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            run(&["regs", "--device", &device]).status.success()
        });
        assert!(free, "nobody has it, and it is in use");
        served.kill().expect("there");
        served.wait().expect("ended");
    }
}

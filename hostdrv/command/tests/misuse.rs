//! What a user does wrong: the command says so and what to do, ends with a status that is not 0, and destroys nothing.

use std::fs;
use std::process::Output;

use crate::weft;

use weft::{folder, run, text};

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
    use std::process::Stdio;

    use rustix::process::{kill_process, Pid, Signal};

    use super::weft::{ends, running, weft, Served};
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
        let socket = folder("endless").join("sock").display().to_string();
        let ping = ["rping", "-c", "-a", "10.0.0.2", "--record", "/dev/zero"];
        for command in [
            &["resolver", "--table", "/dev/zero", "--socket", &socket][..],
            &[
                "firmware",
                "--load",
                "/dev/zero",
                "--device",
                "sim:card=model",
            ],
            &["partitions", "/dev/zero", "--card", "model"],
            &[&ping[..], &STATION].concat(),
        ] {
            refused(&run(command), &["/dev/zero", "at most"]);
        }
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

    /// What it says on standard error until it ends, when its card's server goes.
    fn said_of_a_server_that_goes(arguments: &[&str]) -> (Output, String) {
        let folder = folder("server-gone");
        let mut card = Served::start(&folder);
        let device = card.device();
        let file = folder.join("said");
        let child = weft(&[arguments, &["--device", &device]].concat())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&file).expect("made"))
            .spawn()
            .expect("weft starts");
        // Once the server has let it in, it opens the card, which takes moments.
        let path = folder.join("card").display().to_string();
        let is_let_in = |line: &str| line.ends_with(&path) && line.contains(" 03 ");
        for _ in 0..1000 {
            let sockets = fs::read_to_string("/proc/net/unix").expect("the system has it");
            if sockets.lines().any(is_let_in) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        std::thread::sleep(std::time::Duration::from_millis(700));
        card.kill();
        let output = ends(child, &format!("{arguments:?}"));
        (output, fs::read_to_string(&file).expect("written"))
    }

    #[test]
    fn a_server_that_goes_is_told_of_once() {
        let capture = folder("server-gone-capture").join("x.pcapng");
        let capture = capture.display().to_string();
        for command in [
            &["rping", "-s", "-P", "--ip", "10.0.0.1/24"][..],
            &["ucmatose", "-c", "100", "--ip", "10.0.0.1/24"],
            &["stream", "--ip", "10.0.0.1/24"],
            &["capture", "-w", &capture, "--ip", "10.0.0.1/24"],
            &["trace", "--follow"],
            &["regs", "--watch=0.05"],
        ] {
            let (output, said) = said_of_a_server_that_goes(command);
            assert!(!output.status.success(), "{command:?}: {said}");
            let lines: Vec<_> = said.lines().filter(|line| line.contains("lost")).collect();
            assert!(lines.len() <= 2, "{command:?}: {said}");
            let all: Vec<_> = said.lines().filter(|l| !l.contains("listening")).collect();
            assert!(all.len() <= 3, "{command:?}: {said}");
            assert!(
                said.contains("closed the connection"),
                "{command:?}: {said}"
            );
        }
    }

    #[test]
    fn a_rung_that_cannot_be_had_is_refused_before_anybody_comes() {
        let server = [&["rping", "-s", "--rung", "full"], &STATION[..]].concat();
        refused(&run(&server), &["rung full", "no control in RTL"]);
    }

    #[test]
    fn a_path_that_is_too_long_is_told_with_how_long_it_may_be() {
        let long = format!("/tmp/{}", "a".repeat(120));
        let device = format!("vfio-user:{long}");
        for command in [
            &["serve", "--card", "model", "--socket", &long][..],
            &["resolver", "--socket", &long],
            &["regs", "--device", &device],
        ] {
            refused(&run(command), &[&long, "at most 107 bytes"]);
        }
    }

    #[test]
    fn who_may_not_have_a_card_hears_that() {
        if rustix::process::geteuid().is_root() {
            eprintln!("left out: root may have everything");
            return;
        }
        let folder = folder("no-permission");
        let card = Served::start(&folder);
        let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o000);
        fs::set_permissions(folder.join("card"), mode).expect("its owner");
        let output = run(&["regs", "--device", &card.device()]);
        refused(&output, &["Permission denied", "owner"]);
        assert!(!text(&output.stderr).contains("start the card first"));
    }

    #[test]
    fn one_reason_is_told_once() {
        let nobody = |client: &[&str]| {
            let output = run(&[client, &["--timeout", "0.3"], &STATION].concat());
            assert!(!output.status.success());
            let said = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(said.matches("nothing happened").count(), 1, "{said}");
            assert!(!said.contains("WARN"), "{said}");
        };
        nobody(&["rping", "-c", "-C", "1", "-a", "10.0.0.9"]);
        nobody(&["ucmatose", "-s", "10.0.0.9"]);
        let many = ["ucmatose", "-s", "10.0.0.9", "-c", "5"];
        let output = run(&[&many[..], &["--timeout", "0.3"], &STATION].concat());
        let said = text(&output.stdout);
        assert!(said.matches("nothing happened").count() < 5, "{said}");
    }

    #[test]
    fn who_asks_for_quiet_has_it() {
        let folder = folder("quiet");
        let socket = folder.join("card").display().to_string();
        for more in [&[][..], &["--json"]] {
            let serve = ["serve", "--quiet", "--card", "model", "--socket", &socket];
            let child = weft(&[&serve[..], more].concat())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("weft starts");
            while UnixStream::connect(&socket).is_err() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            kill_process(Pid::from_child(&child), Signal::TERM).expect("it is there");
            let output = ends(child, "serve");
            assert!(output.status.success());
            assert_eq!(text(&output.stderr), "");
            match more.is_empty() {
                true => assert_eq!(text(&output.stdout), ""),
                false => assert!(text(&output.stdout).contains("\"cards\"")),
            }
        }
    }

    #[test]
    fn waves_are_offered_only_where_there_are_some() {
        let folder = folder("replay");
        let out = folder.display().to_string();
        let replay = ["replay", "1", "--card", "model", "--out", &out];
        let output = run(&replay);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("no waves"), "{said}");
    }

    #[test]
    fn halves_of_an_address_are_told_as_halves() {
        let output = run(&["regs", "--device", "sim:card=model", "--filter", "mac_"]);
        let said = text(&output.stdout);
        assert!(said.contains("00:00:00:00, the first four bytes"), "{said}");
        assert!(said.contains("00:00, the last two bytes"), "{said}");
    }

    #[test]
    fn a_projection_for_a_rung_that_is_not_there_says_so() {
        if !text(&run(&["--version"]).stdout).contains("rtl128") {
            eprintln!("left out: no RTL in this build");
            return;
        }
        let project = ["project", "--card", "rtl128", "--rung", "full"];
        refused(&run(&project), &["--rung full", "no control in RTL"]);
    }
}

//! The command as a user has it, without any card: what it says of itself, and how it ends.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use rustix::process::{kill_process, Pid, Signal};

use crate::weft;

use weft::{run, text, weft};

/// Runs it with an output that nobody reads.
fn with_a_reader_gone(mut command: Command) -> Output {
    let (ours, its) = UnixStream::pair().expect("a pair");
    drop(ours);
    let child = command
        .stdout(OwnedFd::from(its))
        .stderr(Stdio::piped())
        .spawn();
    let output = child.and_then(std::process::Child::wait_with_output);
    output.expect("weft starts and ends")
}

/// Its subcommands, from its own help.
fn subcommands() -> Vec<String> {
    let help = text(&run(&["--help"]).stdout);
    let listed = help.lines().take_while(|line| *line != "Options:");
    listed
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

#[test]
fn the_help_is_sorted_by_what_a_person_wants() {
    let help = text(&run(&["--help"]).stdout);
    let mut at = 0;
    for wish in [
        "See it run",
        "Bring a card up",
        "Use it",
        "Measure",
        "Serve",
    ] {
        let next = help
            .find(&format!("\n{wish}"))
            .unwrap_or_else(|| panic!("{wish}: {help}"));
        assert!(next > at, "{wish}: {help}");
        at = next;
    }
    assert!(help.contains("--log"), "{help}");
}

#[test]
fn completions_know_values() {
    for (shell, values) in [
        ("bash", &["crc-send", "frame-dropped", "illegal"][..]),
        ("zsh", &["crc-send", "frame-dropped", "illegal", "_files"]),
        ("fish", &["crc-send", "frame-dropped", "illegal"]),
    ] {
        let script = text(&run(&["completions", shell]).stdout);
        for value in values {
            assert!(script.contains(value), "{shell}: {value}");
        }
        #[cfg(feature = "sim")]
        assert!(script.contains("rtl256"), "{shell}");
    }
}

#[test]
fn the_version_says_what_is_in_the_build() {
    let version = text(&run(&["--version"]).stdout);
    assert!(version.starts_with("weft "), "{version}");
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let interface = format!("card interface: {}\n", weft_layout::INTERFACE_VERSION);
    assert!(version.contains(&interface), "{version}");
    let simulated = match cfg!(feature = "sim") {
        true => "cards: vfio, vfio-user, serial, sim\nsimulator: model",
        false => "cards: vfio, vfio-user, serial\nsimulator: none",
    };
    assert!(version.contains(simulated), "{version}");
    let head = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    if let Ok(Output { status, stdout, .. }) = head {
        if status.success() {
            assert!(version.contains(text(&stdout).trim()), "{version}");
        }
    }
}

#[test]
fn every_subcommand_has_completions_and_a_manual_page() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man");
    let _ = std::fs::remove_dir_all(&folder);
    let out = folder.to_str().expect("a name of letters");
    let made = run(&["man", "--out", out]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let commands = subcommands();
    assert!(commands.len() >= 11, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&run(&["completions", shell]).stdout);
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
    }
    for command in commands.iter().filter(|command| *command != "help") {
        let page = folder.join(format!("weft-{command}.1"));
        let page = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{command}: {e}"));
        for section in [".TH", ".SH EXAMPLES", ".SH \"EXIT STATUS\""] {
            assert!(page.contains(section), "{command}: {section}");
        }
        let help = text(&run(&[command, "--help"]).stdout);
        if !help.is_empty() {
            assert!(
                help.contains("Examples:") && help.contains("Exit status:"),
                "{help}"
            );
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error_to_complain_about() {
    let output = with_a_reader_gone(weft(&["completions", "bash"]));
    assert_eq!(
        (text(&output.stderr).as_str(), output.status.code()),
        ("", Some(141))
    );
}

#[test]
fn a_filter_that_is_none_is_refused_wherever_it_comes_from() {
    let probe = ["probe", "vfio-user:/nowhere.sock"];
    for command in [
        weft(&["--log", "weft=loud", probe[0], probe[1]]),
        weft(&[probe[0], probe[1], "--log", "weft=loud"]),
        {
            let mut command = weft(&probe);
            command.env("RUST_LOG", "weft=loud");
            command
        },
    ] {
        let mut command = command;
        let output = command.output().expect("weft starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("weft=loud"), "{said}");
    }
}

#[cfg(not(feature = "sim"))]
#[test]
fn without_the_simulator_its_cards_are_refused_with_a_word_on_how_to_get_it() {
    for spec in ["sim", "sim:card=rtl128"] {
        let output = run(&["regs", "--device", spec]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(said.contains("--features sim"), "{said}");
    }
    assert!(subcommands().iter().any(|command| command == "demo"));
    let help = text(&run(&["regs", "--help"]).stdout);
    assert!(!help.contains("sim"), "{help}");
}

#[test]
fn counters_are_not_watched_without_a_pause() {
    for interval in ["0", "-1", "0.0001", "nan", "inf", "1e30", "x"] {
        let watch = format!("--watch={interval}");
        let output = run(&["regs", "--device", "vfio-user:/nowhere.sock", &watch]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{interval}: {said}");
        assert!(said.contains("--watch"), "{said}");
    }
}

#[test]
fn registers_as_json_are_json_even_if_there_are_none() {
    let output = run(&["regs", "--device", "vfio-user:/nowhere.sock", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(object["error"]
        .as_str()
        .is_some_and(|e| e.contains("/nowhere.sock")));
}

#[cfg(feature = "sim")]
mod on_a_simulated_card {
    use super::*;

    fn regs(arguments: &[&str]) -> Output {
        run(&[&["regs", "--device", "sim:card=model"], arguments].concat())
    }

    #[test]
    fn a_filter_that_nothing_passes_is_an_error() {
        let output = regs(&["--filter", "nonsuch"]);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(said.contains("--filter nonsuch"), "{said}");

        let output = regs(&["--filter", "nonsuch", "--json"]);
        assert_eq!(output.status.code(), Some(1));
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(object["error"].is_string());

        // A name there is, and nothing to show of it: as asked.
        let output = regs(&["--filter", "rx_drop", "--nonzero"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

        let output = regs(&["--filter", "status"]);
        assert!(text(&output.stdout).contains("STATUS"));
    }

    #[test]
    fn the_page_of_figures_stands_alone() {
        let page = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("perf.html");
        let path = page.to_str().expect("a name of letters");
        let output = run(&["perf", "--card", "model", "--json", "--html", path]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let html = std::fs::read_to_string(&page).expect("the page");
        for load in figures["data_path"].as_array().expect("a list") {
            let what = load["what"].as_str().expect("a name");
            assert!(html.contains(what), "{what}");
        }
        assert!(html.len() < 100_000, "{}", html.len());
        assert!(html.matches("<svg").count() >= 3 && html.contains("weft perf --card model"));
        for other in ["http", "<script", "src="] {
            assert!(!html.contains(other), "{other}");
        }
    }

    /// `--queue` and `--scale` have a page as well, with a row for each run.
    #[test]
    fn each_table_of_figures_has_a_page() {
        let short = &["--milliseconds", "1"][..];
        let modes = [
            ("--queue", short, "runs", 9),
            ("--scale", short, "sharing", 7),
            ("--mixed", &[], "rows", 7),
        ];
        for (mode, options, runs, columns) in modes {
            let page = format!("{}/perf{mode}.html", env!("CARGO_TARGET_TMPDIR"));
            let table = perf(&[&[mode, "--html", &page], options].concat());
            let html = std::fs::read_to_string(&page).expect("the page");
            for run in table[runs].as_array().expect("a list") {
                let name = run["congestion"].as_str().or(run["name"].as_str());
                let name = name.expect("a name");
                assert!(html.contains(&format!("<tr><td>{name}")), "{mode}: {name}");
            }
            let rows = table[runs].as_array().map_or(0, Vec::len);
            assert_eq!(html.matches("<tr><td>").count(), rows, "{mode}");
            assert!(html.contains("<svg"), "{mode}");
            assert!(html.matches("<td").count() >= columns * rows, "{mode}");
            for other in ["http", "<script", "src="] {
                assert!(!html.contains(other), "{other}");
            }
        }
    }

    #[test]
    fn every_rung_has_its_price() {
        let page = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("partitions.html");
        let path = page.to_str().expect("a name of letters");
        let model = ["--card", "model", "--seed", "7"];
        let output = run(&[&["partitions", "--json", "--html", path][..], &model].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let html = std::fs::read_to_string(&page).expect("the page");
        let list = |of: &serde_json::Value| of.as_array().expect("a list").clone();
        assert_eq!(list(&figures["loads"]).len(), 6);
        for measured in list(&figures["loads"]) {
            let name = measured["load"]["name"].as_str().expect("a name");
            assert!(html.contains(name), "{name}");
            let rungs = list(&measured["rungs"]);
            let names: Vec<_> = rungs.iter().map(|at| at["rung"].as_str()).collect();
            assert_eq!(names, ["host", "crc-send", "crc", "placement"].map(Some));
            let figure = |n: usize, of: &str, name: &str| {
                rungs[n]["figures"][of][name].as_f64().expect("a number")
            };
            for name in ["bytes_copied", "bytes_checked"] {
                let [host, send, crc, card] = [0, 1, 2, 3].map(|n| figure(n, "per_byte", name));
                assert!(host > 2.0 && card < 0.7 * host, "{name}: {host}, {card}");
                // What the card checks is copied as before; what is sent is half of it.
                let (of_host, half) = if name == "bytes_copied" {
                    (0.9..1.1, 0.9..1.1)
                } else {
                    (0.0..0.7, 0.45..0.55)
                };
                assert!(of_host.contains(&(crc / host)), "{name}: {host}, {crc}");
                assert!(half.contains(&(send / host)), "{name}: {host}, {send}");
            }
            for n in [0, 1, 2, 3] {
                assert!(figure(n, "per_byte", "dma_written_bytes") > 1.0);
                let latency = list(&rungs[n]["figures"]["latency_ns"]);
                // Where there are too few messages for a percentile there is none.
                let latency: Vec<_> = latency.iter().filter_map(|ns| ns.as_u64()).collect();
                assert!(latency[0] > 1_000 && latency.is_sorted());
            }
        }
        let missing: Vec<_> = list(&figures["missing"])
            .iter()
            .map(|missing| missing["rung"].as_str().expect("a name").to_owned())
            .collect();
        assert_eq!(missing, ["firmware", "full"]);
        for said in [
            "seed 7",
            "weft partitions default --card model --seed 7",
            "<svg",
        ] {
            assert!(html.contains(said), "{said}");
        }
        for other in ["http", "<script", "src="] {
            assert!(!html.contains(other), "{other}");
        }
        // The same seed, the same figures.
        let again = run(&[&["partitions", "--json"][..], &model].concat());
        assert_eq!(output.stdout, again.stdout);
    }

    #[test]
    fn instructions_are_counted_by_layer_or_it_is_said_why_not() {
        let load = ["--load", "64 B Writes", "--rung", "host,placement"];
        let how = ["--card", "model", "--instructions", "--json"];
        let output = run(&[&["partitions", "book"][..], &load, &how].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(figures["loads"].as_array().map(Vec::len), Some(1));
        if let Some(why) = figures["not_counted"].as_str() {
            assert!(why.contains("valgrind cannot be started"), "{why}");
            return;
        }
        let of = |rung: usize, layer: &str| {
            let layers = &figures["loads"][0]["rungs"][rung]["instructions"]["layers"];
            let mut layers = layers.as_array().expect("a list").iter();
            let found = layers.find(|one| one["layer"] == layer).expect("a layer");
            found["per_message"].as_f64().expect("a number")
        };
        // A post, its poll, a segment and what answers it, at each end: no less, and not ten times as much.
        for rung in [0, 1] {
            let layers = [
                "verbs", "queues", "driver", "engine", "TCP", "formats", "CRC", "copies",
            ];
            let sum: f64 = layers.iter().map(|layer| of(rung, layer)).sum();
            assert!((sum - of(rung, "all")).abs() < 1.0, "{figures:#}");
            assert!((2_000.0..200_000.0).contains(&sum), "{sum}");
            assert!(of(rung, "verbs") > 50.0 && of(rung, "engine") > 500.0);
        }
        // Who frames computes CRCs, who does not computes none.
        assert!(of(0, "CRC") > 100.0 && of(1, "CRC") == 0.0, "{figures:#}");
        assert!(of(0, "engine") > of(1, "engine"));
        let set_ups = figures["set_ups"].as_array().expect("a list");
        assert_eq!(set_ups.len(), 2);
        for at in set_ups {
            assert!(at["set_ups"]["per_second"].as_f64() > Some(10_000.0));
        }
        assert!(figures["area"]["luts"].as_f64() > Some(10_000.0));
    }

    #[test]
    fn a_workload_that_is_none_is_refused() {
        let output = run(&["partitions", "no-such-workload"]);
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stderr);
        assert!(said.contains("ready ones are default, echo"), "{said}");
        let output = run(&["partitions", "book", "--load", "attic"]);
        assert!(text(&output.stderr).contains("book has no load `attic`"));
    }

    #[test]
    fn a_rung_that_cannot_be_had_is_refused_with_the_reason() {
        let client = "rping --device sim:card=model --ip 10.0.0.1/24 -c -a 10.0.0.2 -C 1 --rung";
        for (rung, why) in [
            (
                "full",
                "no queue pair of rung full: the card has no control in RTL",
            ),
            ("firmware", "this card has no control processor"),
            (
                "attic",
                "[possible values: host, crc-send, crc, placement, firmware, full]",
            ),
        ] {
            let arguments: Vec<_> = client.split(' ').chain([rung]).collect();
            let output = run(&arguments);
            assert!(!output.status.success());
            let said = text(&output.stderr);
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_controller_is_one_of_those_that_there_are() {
        let client =
            "rping --device sim:card=model --ip 10.0.0.1/24 -c -a 10.0.0.2 -C 1 --congestion bbr";
        let output = run(&client.split(' ').collect::<Vec<_>>());
        assert!(!output.status.success());
        let said = text(&output.stderr);
        assert!(
            said.contains("[possible values: reno, cubic, dctcp, delay]"),
            "{said}"
        );
    }

    #[test]
    fn what_cannot_be_predicted_is_refused() {
        let said = |arguments: &[&str]| {
            let output = run(&[&["project"][..], arguments].concat());
            assert!(!output.status.success());
            text(&output.stderr)
        };
        assert!(said(&["--card", "model"]).contains("no cycles to measure"));
        assert!(said(&["book"]).contains("`64 B Writes, 1 % lost` has loss"));
        assert!(
            said(&["--pcie", "4x3"]).contains("generation 3 to 6, x, and 1, 2, 4, 8 or 16 lanes")
        );
        assert!(said(&["--line", "0"]).contains("no number above 0"));
    }

    /// One run of `weft perf`, short, of the functional model: simulated time, so that the figures are the same everywhere.
    fn perf(arguments: &[&str]) -> serde_json::Value {
        let model = ["--card", "model", "--json"];
        let output = run(&[&["perf"][..], arguments, &model].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Shares are those of three milliseconds: the first eight messages of all flows alone take 0.7, and say who began first.
    #[test]
    fn every_flow_is_connected_and_the_line_is_shared() {
        let table = perf(&["--scale", "--milliseconds", "3"]);
        assert_eq!(table["connections"], 256);
        let rate = table["connections_per_second"].as_f64();
        assert!(rate.expect("a number") > 10_000.0, "{table:#}");
        let runs = table["sharing"].as_array().expect("a list");
        assert_eq!(runs.len(), 7);
        for run in runs {
            let of = |name: &str| run[name].as_f64().expect("a number");
            assert!(of("gbps") > 80.0 && of("jain") > 0.9, "{run:#}");
            assert!(of("min_gbps") > 0.0 && of("max_gbps") < 10.0, "{run:#}");
        }
    }

    #[test]
    fn each_controller_is_measured_under_loss() {
        let page = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("loss.html");
        let table = perf(&[
            "--loss",
            "--milliseconds",
            "1",
            "--html",
            page.to_str().expect("a name of letters"),
        ]);
        let runs = table["runs"].as_array().expect("a list");
        assert_eq!(runs.len(), 2 * 3 * 9);
        for run in runs {
            let of = |name: &str| run[name].as_f64().expect("a number");
            let clean = of("loss") == 0.0 && of("reorder") == 0.0;
            assert!(!clean || of("retransmits") == 0.0, "{run:#}");
            let cut = of("resegment") > 0.0;
            // What is cut is carried.
            assert!(!cut || of("attached_again") == 0.0, "{run:#}");
            let whole = clean && !cut;
            assert!(!whole || of("copied_per_byte") == 0.0, "{run:#}");
            // Of 0.03 % a run as short as this may lose nothing.
            let some = of("loss") >= 1000.0 || of("reorder") > 0.0;
            assert!(!some || of("retransmits") > 0.0, "{run:#}");
            assert!(of("gbps") > if clean { 80.0 } else { 0.5 }, "{run:#}");
            assert!(of("round_trip_ns") > 2.0 * of("delay_ns"), "{run:#}");
            if of("loss") > 0.0 {
                // What TCP measures is longer than the path, and the formula's goodput no larger.
                assert!(of("formula_gbps") <= of("formula_path_gbps"), "{run:#}");
            }
        }
        let html = std::fs::read_to_string(&page).expect("the page");
        // A figure for each of two delays, with both lines of the formula.
        assert_eq!(html.matches("<svg").count(), 2);
        for part in ["delay", "formula, path", "formula, SRTT", "--seed 1"] {
            assert!(html.contains(part), "{part}");
        }
        for other in ["http", "<script", "src="] {
            assert!(!html.contains(other), "{other}");
        }
    }

    #[test]
    fn half_a_list_is_read_without_a_complaint() {
        let output = with_a_reader_gone(weft(&["regs", "--device", "sim:card=model"]));
        assert_eq!(
            (text(&output.stderr).as_str(), output.status.code()),
            ("", Some(141))
        );
    }

    #[test]
    fn spans_are_shown_when_asked_for() {
        let rping = ["selftest", "--device", "sim:card=model", "--log", "trace"];
        let said = text(&run(&rping).stderr);
        assert!(said.contains("close"), "no end of a span in:\n{said}");
    }
}

#[test]
fn a_resolver_that_is_interrupted_says_what_it_did() {
    let folder = std::env::temp_dir().join(format!("weft-resolver-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (table, socket) = (folder.join("cluster.toml"), folder.join("sock"));
    let arguments = [&table, &socket].map(|path| path.display().to_string());
    let run = [
        "resolver",
        "--table",
        &arguments[0],
        "--socket",
        &arguments[1],
    ];
    let none = weft(&run).output().expect("weft starts");
    assert!(!none.status.success());
    assert!(
        text(&none.stderr).contains("cannot read the table"),
        "{none:?}"
    );

    let host = "[[host]]\nname = \"a\"\nip = \"10.0.0.1\"\nmac = \"02:00:00:00:00:01\"\n";
    std::fs::write(&table, host).expect("written");
    let child = weft(&run)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("weft starts");
    for _ in 0..1000 {
        if UnixStream::connect(&socket).is_ok() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stderr).contains("hosts: 1, at "), "{output:?}");
    assert!(
        text(&output.stdout).starts_with("0 questions answered, 0 not known"),
        "{output:?}"
    );
    let sources =
        "0 announcements by devices, 0 not believed; 0 answers by peers, 0 for peers, 0 strangers";
    assert!(text(&output.stdout).contains(sources), "{output:?}");
    assert!(!socket.exists());
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let at = taken.local_addr().expect("bound").to_string();
    let refused = weft(&["resolver", "--socket", &arguments[1], "--peers-at", &at]).output();
    let said = text(&refused.expect("weft starts").stderr);
    assert!(
        said.contains(&format!("cannot be asked by peers at {at}")),
        "{said}"
    );
    let _ = std::fs::remove_dir_all(&folder);
}

//! What the commands say as JSON is what `docs/json.md` says that it is.
//!
//! `WEFT_WRITE_PAGE=1` writes the schemas of the commands that run here into the page anew, of what they say; what is between the schemas stays.
#![cfg(feature = "sim")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use rustix::process::{kill_process, Pid, Signal};
use serde_json::Value;

use crate::schema;
use crate::weft;

use weft::{ends, folder, run, running, text, weft, Served};

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md")
}

fn writes() -> bool {
    // Environment (tests): `WEFT_WRITE_PAGE`: the test `json` writes the schemas of docs/json.md anew, `make tutorials` what the commands of the
    // book's pages print. Without it: they are compared.
    std::env::var_os("WEFT_WRITE_PAGE").is_some()
}

/// The schemas of the page, by the headings that they are under.
fn schemas(page: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for part in page.split("\n## ").skip(1) {
        let heading = part.lines().next().unwrap_or_default();
        let schema = part
            .split_once("```json\n")
            .and_then(|(_, rest)| rest.split_once("```"));
        if let Some((schema, _)) = schema {
            all.insert(heading.to_owned(), schema.to_owned());
        }
    }
    all
}

/// Of each command, under its heading.
#[derive(Default)]
struct Said(BTreeMap<&'static str, Vec<Value>>);

impl Said {
    /// An object, or one a line.
    fn hear(&mut self, heading: &'static str, output: &Output) {
        let said = text(&output.stdout);
        let several = serde_json::Deserializer::from_str(&said).into_iter::<Value>();
        let several: Result<Vec<_>, _> = several.collect();
        let several = several.unwrap_or_else(|error| panic!("{heading}: {error}: {said}"));
        assert!(
            !several.is_empty(),
            "{heading}: nothing; {}",
            text(&output.stderr)
        );
        self.0.entry(heading).or_default().extend(several);
    }

    fn run(&mut self, heading: &'static str, arguments: &[&str]) {
        self.hear(heading, &run(&[arguments, &["--json"]].concat()));
    }

    /// One that goes on until it is interrupted, when it has said this and `meanwhile` is done.
    fn until(
        &mut self,
        heading: &'static str,
        arguments: &[&str],
        says: &str,
        meanwhile: impl FnOnce(),
    ) {
        let (child, _) = running(&[arguments, &["--json"]].concat(), says);
        meanwhile();
        kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
        self.hear(heading, &ends(child, heading));
    }
}

/// One of each.
fn said() -> Said {
    let folder = folder("json");
    let at = |name: &str| folder.join(name).display().to_string();
    let cards = Served::pair(&folder);
    let devices = cards.devices();
    let [a, b] = [
        ["--device", &devices[0], "--ip", "10.0.0.1/24"],
        ["--device", &devices[1], "--ip", "10.0.0.2/24"],
    ];
    let mut said = Said::default();
    let client = ["rping", "-c", "-C", "2", "-a", "10.0.0.2", "-p", "7180"];
    let ping = [&client[..], &a].concat();
    let server = [&["rping", "-s", "-P", "-p", "7180"], &b[..]].concat();
    let mut pinged = Output {
        status: Default::default(),
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    said.until("rping -s", &server, "listening", || {
        pinged = run(&[&ping[..], &["--json"]].concat());
    });
    said.hear("rping -c", &pinged);
    let nobody = ["rping", "-c", "-a", "10.0.0.9", "--timeout", "0.3"];
    said.run("rping -c", &[&nobody[..], &a].concat());
    let client = [&["ucmatose", "-s", "10.0.0.2"], &a[..]].concat();
    let server = [&["ucmatose", "--storm", "0"], &b[..]].concat();
    said.until("ucmatose", &server, "listening", || {
        pinged = run(&[&client[..], &["--json"]].concat());
    });
    said.hear("ucmatose", &pinged);
    let nobody = ["ucmatose", "-s", "10.0.0.9", "--timeout", "0.3"];
    said.run("ucmatose", &[&nobody[..], &a].concat());
    let device = ["--device", &devices[0]];
    said.run("trace", &[&["trace"], &device[..]].concat());
    said.run("regs", &[&["regs"], &device[..]].concat());
    said.run("selftest", &[&["selftest"], &device[..]].concat());
    said.run("probe", &["probe", &devices[0], "vfio-user:/nowhere"]);
    let file = at("x.pcapng");
    let capture = ["capture", "--seconds", "0.1", "-w", &file];
    said.run("capture", &[&capture[..], &a].concat());
    let share = at("share");
    let share = [&["share", "--socket", &share], &a[..]].concat();
    said.until("share", &share, "shared at", || {});
    said.until("stream", &[&["stream"], &a[..]].concat(), "echo", || {});
    let socket = at("resolver");
    let resolver = ["resolver", "--socket", &socket];
    said.until("resolver", &resolver, "hosts", || {});
    drop(cards);

    let socket = at("card");
    let serve = ["serve", "--quiet", "--card", "model", "--socket", &socket];
    let child = weft(&[&serve[..], &["--json"]].concat())
        .stdout(Stdio::piped())
        .spawn()
        .expect("weft starts");
    while !Path::new(&socket).exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it is there");
    said.hear("serve", &ends(child, "serve"));
    let out = at("out");
    let model = ["--card", "model"];
    said.run("demo", &[&["demo", "--out", &out], &model[..]].concat());
    said.run("perf", &[&["perf"], &model[..]].concat());
    said.run("perf --mixed", &[&["perf", "--mixed"], &model[..]].concat());
    let short = ["perf", "--milliseconds", "1", "--queue"];
    said.run("perf --queue", &[&short[..], &model].concat());
    if writes() {
        // Other tests run these, and look at what they say.
        said.run("perf --scale", &["perf", "--scale", "--card", "model"]);
        said.run("perf --pcie", &["perf", "--pcie=3x16", "--card", "rtl128"]);
        let loss = ["perf", "--loss", "--milliseconds", "1"];
        said.run("perf --loss", &[&loss[..], &model].concat());
    }
    let one = ["partitions", "--rung", "host,placement,full"];
    said.run("partitions", &[&one[..], &model].concat());
    let seeds = ["--load", "4 KiB Writes", "--seeds", "6"];
    said.run(
        "partitions",
        &[&["partitions", "book"], &seeds[..], &model].concat(),
    );
    said
}

#[test]
fn the_page_says_what_is_said() {
    let said = said();
    let mut page_now = fs::read_to_string(page()).expect("docs/json.md");
    if writes() {
        for (heading, values) in &said.0 {
            let schema = schema::of(&values.iter().collect::<Vec<_>>(), "");
            let text = schema::on_the_page(&schema);
            match schemas(&page_now).get(*heading) {
                Some(before) => page_now = page_now.replacen(before, &text, 1),
                None => page_now += &format!("\n## {heading}\n```json\n{text}```\n"),
            }
        }
        fs::write(page(), &page_now).expect("written");
    }
    let schemas = schemas(&page_now);
    let mut wrong = Vec::new();
    for (heading, values) in &said.0 {
        let Some(schema) = schemas.get(*heading) else {
            wrong.push(format!("docs/json.md has no schema of {heading}"));
            continue;
        };
        let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
        for value in values {
            assert!(value["version"].is_string(), "{heading}: {value}");
            schema::complaints(value, &schema, heading, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_with_json_is_on_the_page() {
    let help = text(&run(&["--help"]).stdout);
    let headings = schemas(&fs::read_to_string(page()).expect("docs/json.md"));
    let mut found = 0;
    for line in help.lines().take_while(|line| *line != "Options:") {
        let Some(name) = line.strip_prefix("  ").and_then(|l| l.split(' ').next()) else {
            continue;
        };
        if text(&run(&[name, "--help"]).stdout).contains("--json") {
            let of = |heading: &String| heading.split(' ').next() == Some(name);
            assert!(headings.keys().any(of), "{name} is not in docs/json.md");
            found += 1;
        }
    }
    assert!(found > 15, "{found}");
}

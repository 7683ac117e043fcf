//! Goodput over loss, and how evenly many flows share the line: `docs/tcp.md`, its picture and `docs/performance.md` quote what is measured
//! here in simulated time, the same everywhere (`UPDATE_MEASURED=1` renews them).

use std::fmt::Write;
use std::path::PathBuf;

use weft_sim::figures::Draws;
use weft_sim::kind::CardKind;
use weft_sim::perf::loss::{self, LossTable, Traffic, CONTROLLERS, DELAYS};
use weft_sim::perf::scale;

#[path = "../examples/own_controller.rs"]
mod own_controller;

const MTU: u16 = 1500;
/// What draws the pictures again.
const SOURCE: &str = "weft perf --loss --card model --seed 1 --milliseconds 3";

/// Compares the page between these marks, or renews it.
fn quote(page: &str, mark: &str, table: &str) {
    let path = docs(page);
    let text = std::fs::read_to_string(&path).expect("the page");
    let marks = [
        format!("<!-- {mark} -->\n"),
        format!("<!-- end of {mark} -->"),
    ];
    let from = text.find(&marks[0]).expect("the mark") + marks[0].len();
    let to = text.find(&marks[1]).expect("the other mark");
    if renews() {
        let renewed = [&text[..from], table, &text[to..]].concat();
        std::fs::write(&path, renewed).expect("writable");
        return;
    }
    assert!(
        text[from..to] == *table,
        "docs/{page} is stale: {RENEW}\n{table}"
    );
}

const RENEW: &str = "UPDATE_MEASURED=1 cargo test -p weft-tests --test stack measured";

fn renews() -> bool {
    // Environment (tests): `UPDATE_MEASURED`: `measured`: `1` writes goodput over loss, its picture and the shares of many flows into `docs`. Without
    // it: the pages are compared.
    std::env::var_os("UPDATE_MEASURED").is_some()
}

fn docs(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(name)
}

fn row(out: &mut String, name: &str, cells: impl Iterator<Item = Option<f64>>) {
    write!(out, "| {name} |").expect("a string");
    for cell in cells {
        let text = cell.map_or(String::new(), |gbps| format!("{gbps:.1} "));
        write!(out, " {text}|").expect("a string");
    }
    out.push('\n');
}

fn goodput_of(seeds: [&LossTable; 2]) -> String {
    let mut out = String::new();
    for delay in DELAYS {
        write!(out, "| {} µs each way |", delay as f64 / 1000.0).expect("a string");
        let columns = loss::columns();
        for (name, _) in &columns {
            write!(out, " {name} |").expect("a string");
        }
        writeln!(out, "\n|---|{}", "---|".repeat(columns.len())).expect("a string");
        for table in seeds {
            for congestion in CONTROLLERS {
                let name = congestion.name();
                let title = match table.seed {
                    1 => format!("`{name}`"),
                    seed => format!("`{name}`, seed {seed}"),
                };
                row(
                    &mut out,
                    &title,
                    table.row(delay, name).map(|run| Some(run.gbps)),
                );
            }
        }
        let reno = || seeds[0].row(delay, "reno");
        row(
            &mut out,
            "formula, the path's RTT",
            reno().map(|run| run.formula_path_gbps),
        );
        row(
            &mut out,
            "formula, SRTT",
            reno().map(|run| run.formula_gbps),
        );
        out.push('\n');
    }
    out
}

#[test]
fn goodput_over_loss_is_as_the_page_says() {
    let [first, second] = [1, 2].map(|seed| {
        let traffic = Traffic::default();
        loss::run(CardKind::Model, seed, MTU, 3, &CONTROLLERS, traffic, || ())
            .expect("all Writes complete")
    });
    quote("tcp.md", "goodput", &goodput_of([&first, &second]));
    for figure in first.figures(SOURCE) {
        let drawn = figure.svg().expect("it can be drawn");
        let picture = docs(&format!("pictures/{}.svg", figure.name));
        if renews() {
            std::fs::write(&picture, drawn).expect("writable");
            continue;
        }
        let kept = std::fs::read_to_string(&picture).expect("the picture");
        assert!(kept == drawn, "{} is stale: {RENEW}", picture.display());
    }
}

#[test]
fn a_target_that_computes_is_as_the_page_says() {
    quote(
        "partitions.md",
        "one-sided",
        &weft_tests::one_sided::table(),
    );
}

#[test]
fn flows_share_as_the_page_says() {
    let mut rows = Vec::new();
    const TIMES: [u64; 4] = [1, 2, 3, 6];
    for time in TIMES {
        let table = scale::run(CardKind::Model, 1, MTU, time, || ()).expect("all Writes complete");
        for (n, run) in table.sharing.iter().filter(|run| run.idle == 0).enumerate() {
            if n == rows.len() {
                let loss = f64::from(run.loss) / 10_000.0;
                rows.push(format!("| `{}` | {loss} % |", run.congestion));
            }
            write!(
                rows[n],
                " {:.3} ({:.2} to {:.2}) |",
                run.jain, run.min_gbps, run.max_gbps
            )
            .expect("a string");
        }
    }
    let times = TIMES.map(|time| format!(" {time} ms |")).concat();
    let table = format!(
        "| | lost |{times}\n|---|---|---|---|---|---|\n{}\n",
        rows.join("\n")
    );
    quote("performance.md", "shares of flows", &table);
}

#[test]
fn a_controller_of_ones_own_does_as_the_page_says() {
    let table = own_controller::table().expect("all Writes complete");
    quote("add-a-controller.md", "own controller", &table);
}

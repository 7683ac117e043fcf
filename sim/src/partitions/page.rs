//! The figures as a page: those of all loads together, then each load with its own and its table.

use super::plots::{of_all, of_load, source};
use super::print::{
    about_area, about_card, about_hosts, about_instructions, about_seeds, about_timeouts, by_layer,
    describe, PER_SET_UP,
};
use super::rows::rows;
use super::{Measured, Partitions};
use crate::figures::{Page, Table};

/// The page.
///
/// # Errors
/// A figure that could not be drawn.
pub fn page(p: &Partitions) -> Result<String, String> {
    let mut page = Page::new("Weft: the price of each rung", &source(p));
    page.paragraph(&format!(
        "Card {}, MTU {}, link {} Gb/s, {}. Simulated, not measured on a board.",
        about_card(p),
        p.mtu,
        p.link_gbps,
        about_seeds(p)
    ));
    page.paragraph(&format!(
        "Both ends have the same rung unless a load says otherwise, and counts are of both ends together. {}",
        about_hosts(p)
    ));
    page.paragraph(about_instructions(p).trim());
    page.figures(&of_all(p))?;
    for measured in &p.loads {
        page.heading(&measured.load.name);
        page.paragraph(&describe(&measured.load));
        page.figures(&of_load(p, measured))?;
        page.table(&table(p, measured));
        for at in &measured.rungs {
            if let Some(said) = about_timeouts(at) {
                page.paragraph(&format!("{}: {said}.", at.rung));
            }
        }
    }
    set_ups(p, &mut page);
    if let Some(area) = about_area(p) {
        page.heading("On a chip");
        page.paragraph(&area);
    }
    if !p.missing.is_empty() {
        let mut table = Table::new("Rungs that are not there", &["rung", "why"]);
        let rows = p.missing.iter();
        let rows = rows.map(|missing| vec![missing.rung.to_owned(), missing.reason.clone()]);
        table.rows = rows.collect();
        page.table(&table);
    }
    Ok(page.html())
}

/// A column for each rung.
fn columns<'a>(caption: String, rungs: impl Iterator<Item = &'a str>) -> Table {
    let names: Vec<&str> = std::iter::once("").chain(rungs).collect();
    Table::new(caption, &names)
}

fn table(p: &Partitions, measured: &Measured) -> Table {
    let mut table = columns(String::new(), measured.rungs.iter().map(|at| at.rung));
    for (layer, counts) in by_layer(measured) {
        let mut row = vec![format!("instructions of the hosts, {layer}, per message")];
        row.extend(
            counts
                .into_iter()
                .map(|count| count.map_or("-".to_owned(), |(each, _)| format!("{each:.1}"))),
        );
        table.rows.push(row);
    }
    let mut head = "";
    for row in rows(p) {
        head = if row.head.is_empty() { head } else { row.head };
        let mut cells = vec![format!("{head} {}", row.name)];
        for at in &measured.rungs {
            let found = row.over_all(at);
            let median = row.median(found);
            cells.push(match found.is_some_and(|interval| !interval.is_point()) {
                true => format!("{median} ({})", row.ends(found)),
                false => median,
            });
        }
        table.rows.push(cells);
    }
    table
}

/// Connections made at once.
fn set_ups(p: &Partitions, page: &mut Page) {
    let Some(first) = p.set_ups.first() else {
        return;
    };
    let caption = format!(
        "{} connections asked for at once",
        first.set_ups.connections
    );
    let mut table = columns(caption, p.set_ups.iter().map(|at| at.rung));
    for (name, figure) in PER_SET_UP {
        let mut row = vec![name.to_owned()];
        row.extend(
            p.set_ups
                .iter()
                .map(|at| format!("{:.2}", figure(&at.set_ups))),
        );
        table.rows.push(row);
    }
    page.table(&table);
}

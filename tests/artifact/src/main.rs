//! `make artifact`: see the library.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use weft_artifact::list;
use weft_artifact::run::Place;
use weft_artifact::shard::{steps, Shard};
use weft_artifact::summary;
use weft_artifact::verdict::judge;

/// Every figure and table of the book's results that is simulated, each with a verdict. What was done by the same program is not done again.
#[derive(Parser)]
#[command(name = "weft-artifact")]
struct Options {
    /// All, or a sample: minutes on the functional model.
    #[arg(default_value = "all")]
    which: Which,
    /// Does a part of the steps, and gives no verdict: job 3 of 8 is 3/8.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Does nothing, and gives the verdict on what there is.
    #[arg(long, conflicts_with_all = ["shard", "again"])]
    verdict: bool,
    /// Does again what was done.
    #[arg(long)]
    again: bool,
    /// Names the results, and does nothing.
    #[arg(long)]
    list: bool,
    /// Only results with these names.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    only: Vec<String>,
    /// Where results go.
    #[arg(long, value_name = "DIR", default_value = "target/artifact")]
    out: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    All,
    Sample,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// Whether all is as it is expected.
fn run(options: &Options) -> Result<bool, String> {
    let sample = options.which == Which::Sample;
    let mut entries = list::book()?;
    if let Some(name) = options
        .only
        .iter()
        .find(|name| !entries.iter().any(|entry| entry.name == **name))
    {
        return Err(format!("there is no result `{name}`"));
    }
    entries.retain(|entry| options.only.is_empty() || options.only.contains(&entry.name));
    entries.retain(|entry| !entry.chosen(sample).is_empty());
    if options.list {
        for entry in &entries {
            let (name, page, parts) = (&entry.name, &entry.page, entry.chosen(sample).len());
            println!("  {name:<22} {page:<18} {parts:>2} steps  {}", entry.what);
        }
        return Ok(true);
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let place = Place {
        programs: own.parent().unwrap_or(Path::new(".")).to_owned(),
        out: options.out.clone(),
    };
    let mut good = true;
    if !options.verdict {
        let all = steps(&entries, sample);
        let mine = options.shard.map_or(all.clone(), |shard| shard.take(&all));
        good = place.run_all(&mine, options.again, |said| eprintln!("{said}"))?;
    }
    if options.shard.is_some() {
        return Ok(good);
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let all = entries
        .iter()
        .map(|entry| judge(&place, &docs, entry, sample));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    summary::write(&place.out, &entries, &all)?;
    print!("{}", summary::text(&all));
    println!("{}", place.out.join("index.html").display());
    Ok(all.iter().all(|judged| judged.verdict.is_good()))
}

//! Goodput over a link that loses and cuts segments, with replays and without: Writes of 1 MiB between two functional models, each controller, fifteen
//! seeds; and what certain framing brings. `cargo run -p weft-tests --example replay_cost` (ten minutes). Its arguments: the number of seeds, with 0 only what
//! is copied where segments are cut, and of certain framing; the controllers to measure, if not all; `--write` renews `docs/handover.md`.

use std::error::Error;
use std::path::Path;

use weft_hostdrv::Congestion;
use weft_tests::goodput::HARM;
use weft_tests::replay_cost::{
    row, row_of_cuts, row_of_framing, HEAD, HEAD_OF_CUTS, HEAD_OF_FRAMING, LEAST, MOST_COPIED,
    SEEDS,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let write = arguments.last().is_some_and(|last| last == "--write");
    if write {
        arguments.pop();
    }
    let seeds = arguments.first().map_or(Ok(SEEDS), |n| n.parse())?;
    let chosen = |kind: &Congestion| {
        let mut names = arguments.iter().skip(1).peekable();
        names.peek().is_none() || names.any(|name| name == kind.name())
    };
    if write && arguments.len() > 1 {
        return Err("the page has all controllers".into());
    }
    let (mut cuts, mut matrix, mut bad) = (HEAD_OF_CUTS.to_owned(), HEAD.to_owned(), 0);
    for harm in HARM.into_iter().filter(|harm| harm.1.resegment > 0) {
        let row = row_of_cuts(harm)?;
        cuts += &row.text;
        bad += u32::from(!row.good);
    }
    println!("{cuts}");
    let mut framing = HEAD_OF_FRAMING.to_owned();
    for delay_ns in [500, 10_000] {
        for congestion in [Congestion::Cubic, Congestion::Delay] {
            for harm in HARM.into_iter().filter(|harm| harm.1.loss > 0) {
                let row = row_of_framing(delay_ns, congestion, harm)?;
                framing += &row.text;
                bad += u32::from(!row.good);
            }
        }
    }
    println!("{framing}");
    if seeds > 0 {
        print!("{HEAD}");
        for delay_ns in [500, 10_000] {
            let all = [Congestion::Reno, Congestion::Cubic, Congestion::Delay];
            for congestion in all.into_iter().filter(chosen) {
                for harm in HARM {
                    let row = row(delay_ns, congestion, harm, seeds)?;
                    print!("{}", row.text);
                    matrix += &row.text;
                    bad += u32::from(!row.good);
                }
            }
        }
    }
    if write {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/handover.md");
        let mut text = std::fs::read_to_string(&page)?;
        let tables = [
            ("replay cost", &matrix),
            ("copied where cut", &cuts),
            ("framing", &framing),
        ];
        for (mark, table) in tables
            .into_iter()
            .filter(|(_, table)| table.lines().count() > 2)
        {
            let first = format!("<!-- {mark} -->\n");
            let from = text.find(&first).ok_or("docs/handover.md: no mark")? + first.len();
            let to = text
                .find(&format!("<!-- end of {mark} -->"))
                .ok_or("docs/handover.md: no end")?;
            text.replace_range(from..to, table);
        }
        std::fs::write(&page, text)?;
    }
    match bad {
        0 => Ok(()),
        _ => Err(format!(
            "{bad} rows: less than {LEAST}, a wait for a timer, over {MOST_COPIED} times the bytes copied, or as many more of them with markers or aligned"
        )
        .into()),
    }
}

//! The blocks of a page that its reader types.

use super::compare::Tolerance;

pub enum Block {
    /// A file that the reader makes.
    File { name: String, text: String },
    /// Commands of the console.
    Run {
        tolerance: Tolerance,
        /// The last of them ends with another status than 0.
        fails: bool,
        steps: Vec<Step>,
    },
}

/// A command, and the lines that the page shows below it.
pub struct Step {
    pub command: String,
    pub shown: String,
}

/// What is between `<!-- ` and ` -->`.
fn mark(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- ")?.strip_suffix(" -->")
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut lines = page.lines();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        let Some(mark) = mark(line) else { continue };
        let (word, rest) = mark
            .split_once([' ', ':'])
            .map_or((mark, ""), |(word, rest)| (word, rest.trim()));
        if !["file", "run"].contains(&word) {
            continue;
        }
        let fence = lines.next().unwrap_or_default();
        assert!(fence.starts_with("```"), "{line}: {fence} is no block");
        let inside: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        let text: String = inside.iter().map(|line| format!("{line}\n")).collect();
        blocks.push(match word {
            "file" => Block::File {
                name: rest.to_owned(),
                text,
            },
            _ => run(rest, &inside),
        });
    }
    blocks
}

/// The first card that a command of the page names and that is not among these.
pub fn missing(page: &str, cards: &[String]) -> Option<String> {
    for block in blocks(page) {
        let Block::Run { steps, .. } = block else {
            continue;
        };
        for Step { command, .. } in steps {
            let named = command.split("--card ").skip(1);
            let named = named.filter_map(|rest| rest.split_whitespace().next());
            if let Some(card) = named.map(str::to_owned).find(|card| !cards.contains(card)) {
                return Some(card);
            }
        }
    }
    None
}

#[test]
fn a_card_that_is_not_there_is_found() {
    let page = "<!-- run -->\n```console\n$ weft perf --card rtl128\n```\n";
    let both = ["model", "rtl128"].map(str::to_owned);
    assert_eq!(missing(page, &both), None);
    assert_eq!(missing(page, &both[..1]).as_deref(), Some("rtl128"));
}

fn run(options: &str, lines: &[&str]) -> Block {
    let (mut tolerance, mut fails) = (Tolerance::Exact, false);
    for option in options.split(',').map(str::trim).filter(|o| !o.is_empty()) {
        match option.strip_prefix("numbers within ") {
            Some(percent) => {
                let percent = percent.trim_end_matches('%').trim().parse();
                tolerance = Tolerance::Within(percent.expect("per cent"));
            }
            None if option == "numbers differ" => tolerance = Tolerance::Any,
            None if option == "fails" => fails = true,
            None => panic!("{option} is no option of a block"),
        }
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        if goes_on {
            let step = steps.last_mut().expect("begun");
            step.command += &format!("\n{line}");
            goes_on = line.ends_with('\\');
        } else if let Some(command) = line.strip_prefix("$ ") {
            goes_on = command.ends_with('\\');
            steps.push(Step {
                command: command.to_owned(),
                shown: String::new(),
            });
        } else {
            let step = steps.last_mut();
            let step = step.unwrap_or_else(|| panic!("{line} comes before any command"));
            step.shown += &format!("{line}\n");
        }
    }
    Block::Run {
        tolerance,
        fails,
        steps,
    }
}

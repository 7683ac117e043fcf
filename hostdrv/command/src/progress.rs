//! How far a long work is, on standard error: a bar on a terminal, elsewhere a line now and then.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Between two lines, at least.
const PAUSE: Duration = Duration::from_secs(5);

/// Steps of a work.
pub struct Progress {
    shown: Shown,
    all: u64,
    done: u64,
}

enum Shown {
    Bar(ProgressBar),
    Lines { next: Instant },
    Nothing,
}

impl Progress {
    /// Of so many steps; without anything to be seen unless it is wanted.
    pub fn new(all: u64, wanted: bool) -> Self {
        let shown = match (wanted, io::stderr().is_terminal()) {
            (false, _) => Shown::Nothing,
            (true, true) => Shown::Bar(bar(all)),
            (true, false) => Shown::Lines {
                next: Instant::now() + PAUSE,
            },
        };
        Self {
            shown,
            all,
            done: 0,
        }
    }

    /// So many are done, and this is next.
    pub fn at(&mut self, done: u64, next: &str) {
        self.done = done;
        match &mut self.shown {
            Shown::Bar(bar) => {
                bar.set_length(self.all);
                bar.set_position(done);
                bar.set_message(next.to_owned());
            }
            Shown::Lines { next: due } if Instant::now() >= *due => {
                eprintln!("weft: {done} of {}: {next}", self.all);
                *due = Instant::now() + PAUSE;
            }
            _ => {}
        }
    }

    /// One more is done, and this is next.
    #[cfg_attr(not(feature = "sim"), expect(dead_code))]
    pub fn step(&mut self, next: &str) {
        self.at(self.done + 1, next);
    }

    /// There are so many steps.
    pub fn set_length(&mut self, all: u64) {
        self.all = all;
    }

    /// It is over; no trace is left on a terminal.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

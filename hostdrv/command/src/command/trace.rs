//! `weft trace`, and the trace that other tools write beside their work.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::Args;
use weft_debug::trace::TraceReader;
use weft_hostdrv::transport::Transport;
use weft_tools::trace::{Filter, Timeline, KINDS};

use super::device::{stop_on_interrupt, Card};
use super::Failure;
use crate::output;

/// Between two looks at the ring.
const PAUSE: Duration = Duration::from_millis(5);
/// The card's clock unless told otherwise.
pub const CLOCK_MHZ: f64 = 250.0;

/// What to show.
#[derive(Args)]
pub struct TraceArgs {
    #[command(flatten)]
    card: Card,
    /// Only events of these kinds, with commas between: frame-in, frame-dropped, verdict, report, job-begin, job-done, frame-out,
    /// interrupt, doorbell, table, register, dma-error, lost.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = PossibleValuesParser::new(KINDS), hide_possible_values = true)]
    kind: Vec<String>,
    /// Only events of this flow, and those that have none.
    #[arg(long)]
    flow: Option<u16>,
    /// Goes on until interrupted.
    #[arg(long)]
    follow: bool,
    /// The card's clock, which its events are counted in.
    #[arg(long, value_name = "MHZ", default_value_t = CLOCK_MHZ)]
    clock: f64,
}

/// Reads and prints.
pub fn run(args: &TraceArgs) -> Result<(), Failure> {
    if args.clock <= 0.0 {
        return Err(format!("--clock {}: a clock has more than 0 MHz", args.clock).into());
    }
    let reached = args.card.reach()?;
    let mut reader = TraceReader::open(Arc::clone(&reached.transport))?;
    let filter = Filter {
        kinds: args.kind.clone(),
        flow: args.flow,
    };
    let mut timeline = Timeline::new(filter, args.clock);
    let mut out = output::stdout();
    if !args.follow {
        let trace = reader.snapshot()?;
        let lines = timeline.lines(&trace);
        if args.card.json {
            let report = serde_json::json!({
                "ring_events": reader.size(), "events": lines, "lost": trace.lost, "now_cycle": trace.now,
            });
            output::json(&mut out, &report)?;
            return Ok(());
        }
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        writeln!(
            out,
            "{} of {} events in a ring of {}, {} lost",
            lines.len(),
            trace.events.len(),
            reader.size(),
            trace.lost
        )?;
        return Ok(());
    }
    let stop = stop_on_interrupt()?;
    follow(&mut reader, &mut timeline, args.card.json, &stop, &mut out)
}

/// Prints what is new, until told to stop; then once more.
fn follow(
    reader: &mut TraceReader,
    timeline: &mut Timeline,
    json: bool,
    stop: &AtomicBool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    loop {
        let last = stop.load(Ordering::Relaxed);
        let trace = reader.poll()?;
        if trace.missed > 0 && !json {
            writeln!(
                out,
                "--- {} events were overwritten before they were read",
                trace.missed
            )?;
        }
        for line in timeline.lines(&trace) {
            match json {
                true => output::json_line(out, &line)?,
                false => writeln!(out, "{line}")?,
            }
        }
        out.flush()?;
        if last {
            return Ok(());
        }
        if trace.events.is_empty() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Writes a card's trace to a file while something else uses the card.
pub struct Recorder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Recorder {
    /// Begins with what comes from now on: before a device is opened, so that its first steps are told.
    pub fn start(transport: &Arc<dyn Transport>, path: &Path) -> Result<Self, Failure> {
        let mut reader = TraceReader::open(Arc::clone(transport))?;
        reader.skip()?;
        let failed = |e: io::Error| format!("cannot write {}: {e}", path.display());
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut timeline = Timeline::new(Filter::default(), CLOCK_MHZ);
            follow(&mut reader, &mut timeline, false, &stopped, &mut file)
                .map_err(|e| e.to_string())
        });
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Ends, with what happened last.
    pub fn stop(mut self) -> Result<(), Failure> {
        self.end().map_err(|e| format!("the trace: {e}").into())
    }

    fn end(&mut self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            Some(thread) => thread
                .join()
                .map_err(|_| "its thread panicked".to_owned())?,
            None => Ok(()),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("weft: the trace: {error}");
        }
    }
}

//! `weft regs`.

use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use weft_hostdrv::transport::Transport;
use weft_tools::regs::{counters, difference, CounterValue, Snapshot};

use super::device::{stop_on_interrupt, Card};
use super::Failure;
use crate::output;

/// What to show.
#[derive(Args)]
pub struct Regs {
    #[command(flatten)]
    card: Card,
    /// Leaves out registers and counters that are zero.
    #[arg(long)]
    nonzero: bool,
    /// Only those whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Leaves out what each one means.
    #[arg(long)]
    brief: bool,
    /// Shows again and again what the counters counted meanwhile, every second or as often as given.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1.0", value_parser = interval)]
    watch: Option<Duration>,
}

/// Shorter than this, the reading of the counters itself takes the time.
const SHORTEST: f64 = 0.001;

fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|e| e.to_string())?;
    if seconds < SHORTEST {
        return Err(format!("{SHORTEST} seconds is the shortest"));
    }
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

impl Regs {
    fn named(&self, name: &str) -> bool {
        let wanted = name.to_ascii_lowercase();
        wanted.contains(&self.filter.to_ascii_lowercase())
    }

    /// A filter that nothing can pass is a slip of the pen.
    fn check(&self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), Failure> {
        if names.into_iter().any(|name| self.named(name.as_ref())) {
            return Ok(());
        }
        Err(format!(
            "--filter {}: nothing has this in its name; `weft regs --brief` shows all names",
            self.filter
        )
        .into())
    }

    fn shows(&self, name: &str, value: u32) -> bool {
        self.named(name) && (value != 0 || !self.nonzero)
    }

    fn print_counters(&self, list: &[CounterValue], out: &mut impl Write) -> io::Result<()> {
        let mut group = "";
        for counter in list.iter().filter(|c| self.shows(c.name, c.value)) {
            if counter.group != group {
                group = counter.group;
                writeln!(out, "\n{group}")?;
            }
            self.line(
                out,
                format_args!("  {:<24} {:>10}", counter.name, counter.value),
                counter.meaning,
            )?;
        }
        Ok(())
    }

    fn line(
        &self,
        out: &mut impl Write,
        text: std::fmt::Arguments<'_>,
        meaning: &str,
    ) -> io::Result<()> {
        match self.brief {
            true => writeln!(out, "{text}"),
            false => writeln!(out, "{text}  {meaning}"),
        }
    }

    fn print(&self, snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}\n\nregisters", snapshot.name)?;
        for register in snapshot
            .registers
            .iter()
            .filter(|r| self.shows(&r.name, r.value))
        {
            let decoded = register
                .decoded
                .as_ref()
                .map_or(String::new(), |d| format!(" = {d}"));
            let access = if register.writable { "rw" } else { "ro" };
            let (name, offset, value) = (&register.name, register.offset, register.value);
            writeln!(
                out,
                "  {offset:04x} {access} {name:<14} {value:08x}{decoded}"
            )?;
            // Of several words of one register, the first says it.
            if !self.brief && (!name.contains('[') || name.ends_with("[0]")) {
                writeln!(out, "          {}", register.meaning)?;
            }
        }
        self.print_counters(&snapshot.counters, out)
    }

    fn watch(&self, transport: &dyn Transport, every: Duration) -> Result<(), Failure> {
        let stop = stop_on_interrupt()?;
        let mut out = output::stdout();
        let mut before = counters(transport)?;
        self.check(before.iter().map(|counter| counter.name))?;
        let mut then = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(every.saturating_sub(then.elapsed()));
            let after = counters(transport)?;
            let seconds = then.elapsed().as_secs_f64();
            then = Instant::now();
            let moved = difference(&before, &after);
            before = after;
            if self.card.json {
                let line: serde_json::Map<_, _> = moved
                    .iter()
                    .filter(|c| self.shows(c.name, c.value))
                    .map(|c| (c.name.to_owned(), c.value.into()))
                    .collect();
                let report = serde_json::json!({"seconds": seconds, "counted": line});
                output::json_line(&mut out, &report)?;
                continue;
            }
            let moving: Vec<_> = moved
                .iter()
                .filter(|c| c.value != 0 && self.shows(c.name, c.value))
                .collect();
            writeln!(out, "--- {seconds:.3} s: {} counters moved", moving.len())?;
            for counter in moving {
                let rate = f64::from(counter.value) / seconds;
                self.line(
                    &mut out,
                    format_args!(
                        "  {:<24} {:>+10} {rate:>12.0}/s",
                        counter.name, counter.value
                    ),
                    counter.meaning,
                )?;
            }
        }
        Ok(())
    }
}

/// Reads and prints. Who wants JSON gets an object whatever happens.
pub fn run(args: &Regs) -> Result<(), Failure> {
    let result = show(args);
    match &result {
        Err(error) if args.card.json && !output::is_closed(error.as_ref()) => {
            let error = serde_json::json!({"error": error.to_string()});
            output::json_line(&mut output::stdout(), &error)?;
        }
        _ => {}
    }
    result
}

fn show(args: &Regs) -> Result<(), Failure> {
    let reached = args.card.reach()?;
    let transport = &reached.transport;
    if let Some(every) = args.watch {
        return args.watch(transport.as_ref(), every);
    }
    let mut snapshot = Snapshot::read(transport.as_ref())?;
    let registers = snapshot.registers.iter().map(|r| r.name.as_str());
    args.check(registers.chain(snapshot.counters.iter().map(|c| c.name)))?;
    let mut out = output::stdout();
    if args.card.json {
        snapshot.registers.retain(|r| args.shows(&r.name, r.value));
        snapshot.counters.retain(|c| args.shows(c.name, c.value));
        output::json(&mut out, &snapshot)?;
    } else {
        args.print(&snapshot, &mut out)?;
    }
    Ok(())
}

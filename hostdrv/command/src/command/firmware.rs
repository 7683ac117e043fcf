//! `weft firmware`.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{json, Value};
use weft_debug::{gdb, Symbols};
use weft_hostdrv::bounded;
use weft_hostdrv::processor::{Image, Processor, ProcessorError, State};
use weft_layout::{proc_crash, ProcCommand, ProcDump, ProcInfo};

use super::device::Card;
use super::Failure;
use crate::output;

/// What to do with the control processor. Without anything: how it is, and what is left of it after a crash.
#[derive(Args)]
pub struct Firmware {
    #[command(flatten)]
    card: Card,
    /// Loads this firmware and starts it; what ran before is stopped.
    #[arg(long, value_name = "FILE", conflicts_with = "stop")]
    load: Option<PathBuf>,
    /// The firmware that is loaded, for the names of its functions.
    #[arg(long, value_name = "FILE", conflicts_with = "load")]
    symbols: Option<PathBuf>,
    /// With --load: cycles that the firmware may be awake without a beat; 0: any.
    #[arg(long, value_name = "CYCLES", default_value_t = 1_000_000)]
    watchdog: u32,
    /// Stops it.
    #[arg(long)]
    stop: bool,
    /// Lets the firmware end, to see what is told of it. The card's data path and the host are not touched.
    #[arg(long, value_name = "HOW", conflicts_with = "stop")]
    crash: Option<Crash>,
    /// Waits on this port of the local host for a debugger, which halts, steps and examines the firmware until it leaves: `gdb-multiarch FILE -ex 'target remote
    /// :PORT'`. What --crash asks for is done meanwhile.
    #[arg(long, value_name = "PORT", conflicts_with = "stop")]
    gdb: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Crash {
    Assert,
    Illegal,
    Fault,
    Stack,
    Spin,
    Deaf,
}

impl Crash {
    fn number(self) -> u8 {
        match self {
            Crash::Assert => proc_crash::ASSERT,
            Crash::Illegal => proc_crash::ILLEGAL,
            Crash::Fault => proc_crash::FAULT,
            Crash::Stack => proc_crash::STACK,
            Crash::Spin => proc_crash::SPIN,
            Crash::Deaf => proc_crash::DEAF,
        }
    }
}

/// The registers of a dump, in their order.
const NAMES: [&str; 31] = [
    "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

fn registers(dump: &ProcDump) -> impl Iterator<Item = (&'static str, u32)> {
    let bytes = dump.to_bytes();
    NAMES.into_iter().enumerate().map(move |(number, name)| {
        let at = ProcDump::RA_AT + 4 * number;
        let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        (name, u32::from_le_bytes(word))
    })
}

/// Everything that there is to say.
struct Report {
    name: String,
    memory: u32,
    clock_khz: u32,
    state: State,
    info: Option<ProcInfo>,
    stack: Option<(u32, u32)>,
    dump: Option<ProcDump>,
    log: String,
}

fn text(field: &[u8; 16]) -> String {
    let end = field.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&field[..end.unwrap_or(field.len())]).into_owned()
}

/// Where an address is: with its function, if that is known.
fn place(address: u32, symbols: Option<&Symbols>) -> String {
    match symbols.and_then(|symbols| symbols.function_at(address)) {
        Some((name, into)) => format!("{address:#010x} {name} + {into:#x}"),
        None => format!("{address:#010x}"),
    }
}

impl Report {
    fn of(name: String, processor: &Processor) -> Result<Self, Failure> {
        let state = processor.state()?;
        let ended = state.end.is_some();
        Ok(Self {
            name,
            memory: processor.memory(),
            clock_khz: processor.clock_khz(),
            state,
            info: processor.info()?,
            stack: processor.stack()?,
            dump: if ended { processor.dump()? } else { None },
            log: processor.log()?,
        })
    }

    fn print(&self, symbols: Option<&Symbols>, out: &mut impl Write) -> io::Result<()> {
        let status = self.state.status;
        let how = match self.state.end {
            None if status.asleep() => "running, asleep".to_owned(),
            None => "running".to_owned(),
            Some(end) => end.to_string(),
        };
        writeln!(
            out,
            "{}: control processor with {} KiB, {} MHz: {how}",
            self.name,
            self.memory / 1024,
            f64::from(self.clock_khz) / 1e3
        )?;
        let Some(info) = &self.info else {
            return writeln!(out, "  no firmware is loaded");
        };
        writeln!(
            out,
            "  firmware {}, build {}",
            text(&info.version),
            text(&info.build)
        )?;
        writeln!(
            out,
            "  {} cycles awake, beat {}, at {}",
            self.state.awake,
            self.state.beat,
            place(self.state.pc, symbols)
        )?;
        if let Some((used, size)) = self.stack {
            writeln!(out, "  stack: {used} of {size} bytes used at most")?;
        }
        let ProcInfo {
            commands,
            copies,
            alarms,
            copied,
            checked,
            again,
            ..
        } = info;
        writeln!(
            out,
            "  commands {commands}, copies {copies}, alarms {alarms}"
        )?;
        if info.engine_at != 0 {
            writeln!(
                out,
                "  engine: {copied} bytes copied, CRC of {checked}, {again} segments sent again"
            )?;
        }
        if status.dma_error() {
            writeln!(out, "  host memory answered it in error")?;
        }
        if let Some(dump) = &self.dump {
            writeln!(out, "dump, cycle {}", dump.cycle)?;
            writeln!(out, "  at {}", place(dump.pc, symbols))?;
            writeln!(out, "  from {}", place(dump.ra, symbols))?;
            writeln!(
                out,
                "  cause {:#x}, value {:#010x}, last command {:#010x}",
                dump.cause, dump.value, dump.command
            )?;
            let words: Vec<_> = registers(dump)
                .map(|(name, value)| format!("{name:>4} {value:08x}"))
                .collect();
            for line in words.chunks(8) {
                writeln!(out, "  {}", line.join(" "))?;
            }
        }
        writeln!(out, "log")?;
        self.log
            .lines()
            .try_for_each(|line| writeln!(out, "  {line}"))
    }

    fn json(&self, symbols: Option<&Symbols>) -> Value {
        let dump = self.dump.as_ref().map(|dump| {
            let registers: serde_json::Map<_, _> = registers(dump).map(|(name, value)| (name.to_owned(), value.into())).collect();
            json!({"cause": dump.cause, "pc": dump.pc, "at": place(dump.pc, symbols), "value": dump.value, "cycle": dump.cycle,
                   "command": dump.command, "registers": registers})
        });
        let info = self.info.as_ref().map(|info| {
            json!({"version": text(&info.version), "build": text(&info.build), "commands": info.commands, "copies": info.copies,
                   "alarms": info.alarms, "bytes_copied": info.copied, "bytes_checked": info.checked, "sent_again": info.again})
        });
        let stack = self
            .stack
            .map(|(used, size)| json!({"used_bytes": used, "size_bytes": size}));
        json!({"card": self.name, "memory_bytes": self.memory, "clock_khz": self.clock_khz, "running": self.state.status.running(), "asleep": self.state.status.asleep(),
               "end": self.state.end.map(|end| end.to_string()), "awake_cycles": self.state.awake, "beat": self.state.beat,
               "pc": self.state.pc, "firmware": info, "stack": stack, "dump": dump,
               "log": self.log.lines().collect::<Vec<_>>()})
    }
}

/// A firmware, and its functions.
fn read(path: &Path) -> Result<(Image, Symbols), Failure> {
    let file = bounded::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let image = Image::parse(&file).and_then(|image| Ok((image, Symbols::parse(&file)?)));
    Ok(image.map_err(|error| format!("{}: {error}", path.display()))?)
}

/// A debugger's session, and the firmware's end in it, if one is asked for. When the debugger has left, the firmware comes to rest or to its end.
fn debug(processor: &Processor, port: u16, crash: Option<Crash>) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        format!("--gdb {port}: cannot wait there: {error}; 0 takes any free port")
    })?;
    let address = listener.local_addr()?;
    eprintln!(
        "waiting for a debugger at {address}: gdb-multiarch FILE -ex 'target remote :{}'",
        address.port()
    );
    let (stream, _) = listener.accept()?;
    let session = gdb::Session::attach(processor, stream)?;
    if let Some(how) = crash {
        // It is taken when the debugger lets the firmware go on.
        processor.command(ProcCommand::Crash, how.number().into())?;
    }
    session.run()?;
    match processor.rest() {
        // As busy as it is.
        Ok(_) | Err(ProcessorError::Silent) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Does it and prints. Who wants JSON gets an object whatever happens.
pub fn run(args: &Firmware) -> Result<(), Failure> {
    let result = act(args);
    match &result {
        Err(error) if args.card.json && !output::is_closed(error.as_ref()) => {
            output::json_line(&mut output::stdout(), &json!({"error": error.to_string()}))?;
        }
        _ => {}
    }
    result
}

fn act(args: &Firmware) -> Result<(), Failure> {
    let image = args.load.as_ref().or(args.symbols.as_ref());
    let (image, symbols) = image.map(|path| read(path)).transpose()?.unzip();
    let reached = args.card.reach()?;
    let processor = Processor::of(Arc::clone(&reached.transport))?;
    if let (Some(image), Some(_)) = (&image, &args.load) {
        processor.load(image)?;
        processor.start(args.watchdog)?;
        // Its first words.
        processor.ask(ProcCommand::Ping, 0)?;
    }
    if args.stop {
        processor.stop()?;
    }
    if let Some(port) = args.gdb {
        debug(&processor, port, args.crash)?;
    } else if let Some(how) = args.crash {
        processor.crash(how.number())?;
    }
    let report = Report::of(reached.transport.name(), &processor)?;
    let mut out = output::stdout();
    if args.card.json {
        output::json(&mut out, &report.json(symbols.as_ref()))?;
    } else {
        report.print(symbols.as_ref(), &mut out)?;
    }
    Ok(())
}

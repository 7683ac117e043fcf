//! GDB's remote protocol for the processor: `gdb-multiarch FIRMWARE -ex 'target remote :PORT'`.
//!
//! What it has: registers, memory, breakpoints, steps, going on, halting by Ctrl-C, detaching. Symbols are the debugger's, from the firmware's file.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use thiserror::Error;

use weft_hostdrv::processor::{Processor, ProcessorError};

use super::Debugger;

/// Bytes of a packet.
const PACKET: usize = 4096;
/// So long the debugger's word is waited for between two looks at a processor that runs.
const LOOK: Duration = Duration::from_millis(1);
/// Registers: x0 to x31, pc.
const PC: usize = 32;
/// The byte by which a debugger halts.
const HALT: u8 = 3;
/// Signals, as the protocol has them: interrupted, a breakpoint or a step.
const INTERRUPTED: u8 = 2;
const TRAPPED: u8 = 5;
/// Names of x0 to x31.
const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// Why a session ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GdbError {
    /// The connection with the debugger.
    #[error("the debugger's connection: {0}")]
    Io(#[from] io::Error),
    /// The processor.
    #[error(transparent)]
    Processor(#[from] ProcessorError),
}

/// One session: halts the processor, does what the debugger says, and lets it go when the debugger leaves.
///
/// # Errors
/// The connection was broken, or the card could not be reached.
pub fn serve(processor: &Processor, stream: TcpStream) -> Result<(), GdbError> {
    Session::attach(processor, stream)?.run()
}

/// A debugger at a processor that was halted for it.
pub struct Session {
    debugger: Debugger,
    stream: TcpStream,
    /// Bytes that came, and were not looked at.
    before: Vec<u8>,
    /// Why it is halted.
    signal: u8,
}

/// Two numbers with `,` between, in hexadecimal.
fn range(text: &str) -> Option<(u32, usize)> {
    let (at, count) = text.split_once(',')?;
    let count = usize::from_str_radix(count, 16).ok()?;
    Some((u32::from_str_radix(at, 16).ok()?, count.min(PACKET / 2)))
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn word_of(text: &str) -> Option<u32> {
    Some(u32::from_le_bytes(bytes_of(text)?.try_into().ok()?))
}

/// What the processor is, in the protocol's words.
fn description() -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>riscv:rv32</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
    );
    for name in NAMES.iter().chain(&["pc"]) {
        let kind = if *name == "pc" { "code_ptr" } else { "int" };
        let _ = write!(
            text,
            "<reg name=\"{name}\" bitsize=\"32\" type=\"{kind}\"/>"
        );
    }
    text + "</feature></target>"
}

impl Session {
    /// Halts the processor.
    ///
    /// # Errors
    /// It does not run, or cannot be halted.
    pub fn attach(processor: &Processor, stream: TcpStream) -> Result<Self, GdbError> {
        stream.set_nodelay(true)?;
        Ok(Self {
            debugger: Debugger::attach(processor)?,
            stream,
            before: Vec::new(),
            signal: TRAPPED,
        })
    }

    /// Does what the debugger says until it leaves; then the processor goes on.
    ///
    /// # Errors
    /// The connection was broken, or the card could not be reached.
    pub fn run(mut self) -> Result<(), GdbError> {
        while let Some(packet) = self.packet()? {
            if !self.answer(&packet)? {
                break;
            }
        }
        Ok(())
    }

    /// The next byte; `None`: the debugger is gone. `wait`: for ever, else a moment (then `Some(None)`).
    fn byte(&mut self, wait: bool) -> Result<Option<Option<u8>>, GdbError> {
        if self.before.is_empty() {
            self.stream.set_read_timeout((!wait).then_some(LOOK))?;
            let mut bytes = [0; PACKET];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(count) => self.before.extend(bytes[..count].iter().rev()),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut if !wait => {
                        return Ok(Some(None))
                    }
                    io::ErrorKind::Interrupted => return Ok(Some(None)),
                    _ => return Err(error.into()),
                },
            }
        }
        Ok(Some(self.before.pop()))
    }

    /// The next byte, however long it takes.
    fn next(&mut self) -> Result<Option<u8>, GdbError> {
        loop {
            match self.byte(true)? {
                None => return Ok(None),
                Some(Some(byte)) => return Ok(Some(byte)),
                Some(None) => {}
            }
        }
    }

    /// The next packet that came whole; `None`: the debugger is gone.
    fn packet(&mut self) -> Result<Option<String>, GdbError> {
        loop {
            match self.next()? {
                None => return Ok(None),
                Some(b'$') => {}
                Some(_) => continue,
            }
            let (mut text, mut sum) = (Vec::new(), 0_u8);
            loop {
                match self.next()? {
                    None => return Ok(None),
                    Some(b'#') => break,
                    Some(byte) if text.len() < PACKET => {
                        text.push(byte);
                        sum = sum.wrapping_add(byte);
                    }
                    Some(_) => {}
                }
            }
            let mut told = String::new();
            for _ in 0..2 {
                match self.next()? {
                    None => return Ok(None),
                    Some(byte) => told.push(byte.into()),
                }
            }
            let good = u8::from_str_radix(&told, 16) == Ok(sum);
            self.stream.write_all(if good { b"+" } else { b"-" })?;
            if let (true, Ok(text)) = (good, String::from_utf8(text)) {
                return Ok(Some(text));
            }
        }
    }

    fn say(&mut self, text: &str) -> Result<(), GdbError> {
        let sum = text.bytes().fold(0_u8, u8::wrapping_add);
        Ok(write!(self.stream, "${text}#{sum:02x}")?)
    }

    /// Does what the debugger asks for; false: it leaves.
    fn answer(&mut self, packet: &str) -> Result<bool, GdbError> {
        let (kind, rest) = packet.split_at(packet.chars().next().map_or(0, char::len_utf8));
        let answer = match kind {
            "?" => format!("S{:02x}", self.signal),
            "g" => {
                let registers = self.debugger.registers()?;
                registers
                    .iter()
                    .map(|word| hex(&word.to_le_bytes()))
                    .collect()
            }
            "G" => self.set_registers(rest)?,
            "p" => match usize::from_str_radix(rest, 16) {
                Ok(number) if number <= PC => {
                    hex(&self.debugger.registers()?[number].to_le_bytes())
                }
                _ => "E01".into(),
            },
            "P" => match rest.split_once('=') {
                Some((number, value)) => self.set_register(number, value)?,
                None => "E01".into(),
            },
            "m" => self.read(rest)?,
            "M" => self.write(rest)?,
            "Z" | "z" => self.breakpoint(kind == "Z", rest)?,
            "s" => self.go(true)?,
            "c" => self.go(false)?,
            "D" => {
                self.say("OK")?;
                return Ok(false);
            }
            "k" => return Ok(false),
            "H" => "OK".into(),
            "q" => query(rest),
            // What it does not know it answers with nothing, as the protocol wants it.
            _ => String::new(),
        };
        self.say(&answer)?;
        Ok(true)
    }

    fn set_registers(&mut self, text: &str) -> Result<String, GdbError> {
        let Some(bytes) = bytes_of(text) else {
            return Ok("E01".into());
        };
        for (number, word) in bytes.chunks_exact(4).enumerate() {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            self.debugger.set_register(number, word)?;
        }
        Ok("OK".into())
    }

    fn set_register(&mut self, number: &str, value: &str) -> Result<String, GdbError> {
        let Some((number, value)) = usize::from_str_radix(number, 16).ok().zip(word_of(value))
        else {
            return Ok("E01".into());
        };
        self.debugger.set_register(number, value)?;
        Ok("OK".into())
    }

    fn read(&mut self, text: &str) -> Result<String, GdbError> {
        let Some((at, count)) = range(text) else {
            return Ok("E01".into());
        };
        let mut bytes = vec![0; count];
        match self.debugger.read(at, &mut bytes)? {
            0 if count > 0 => Ok("E02".into()),
            count => Ok(hex(&bytes[..count])),
        }
    }

    fn write(&mut self, text: &str) -> Result<String, GdbError> {
        let parts = text.split_once(':');
        let parts = parts.and_then(|(place, bytes)| range(place).zip(bytes_of(bytes)));
        Ok(match parts {
            Some(((at, _), bytes)) if self.debugger.write(at, &bytes)? => "OK".into(),
            _ => "E01".into(),
        })
    }

    /// Breakpoints in software, of any instruction's length.
    fn breakpoint(&mut self, set: bool, text: &str) -> Result<String, GdbError> {
        let mut parts = text.split(',');
        let (kind, at) = (parts.next(), parts.next());
        let Some(at) = at.and_then(|at| u32::from_str_radix(at, 16).ok()) else {
            return Ok("E01".into());
        };
        if kind != Some("0") {
            return Ok(String::new());
        }
        let done = match set {
            true => self.debugger.break_at(at)?,
            false => self.debugger.clear(at)?,
        };
        Ok(if done { "OK" } else { "E01" }.into())
    }

    /// Lets it go, and waits until it is halted again, or has ended.
    fn go(&mut self, step: bool) -> Result<String, GdbError> {
        self.signal = TRAPPED;
        let go = self.debugger.go(step);
        let mut ended = go.map(|()| false);
        while let Ok(false) = ended {
            ended = self.debugger.is_halted();
            if let (Ok(false), false) = (&ended, step) {
                match self.byte(false)? {
                    None => return Ok(String::new()),
                    Some(Some(HALT)) => {
                        self.signal = INTERRUPTED;
                        ended = self.debugger.halt().map(|()| true);
                    }
                    Some(_) => {}
                }
            }
        }
        match ended {
            Ok(_) => Ok(format!("S{:02x}", self.signal)),
            // The firmware ended: as a process does that is killed.
            Err(ProcessorError::Stopped(_)) => Ok("X06".into()),
            Err(error) => Err(error.into()),
        }
    }
}

/// What the debugger asks about the stub.
fn query(text: &str) -> String {
    if let Some(place) = text.strip_prefix("Xfer:features:read:target.xml:") {
        let Some((at, count)) = range(place) else {
            return "E01".into();
        };
        let all = description();
        let (at, end) = (
            (at as usize).min(all.len()),
            (at as usize + count).min(all.len()),
        );
        let more = if end == all.len() { 'l' } else { 'm' };
        return format!("{more}{}", &all[at..end]);
    }
    match text.split(':').next() {
        Some("Supported") => format!("PacketSize={PACKET:x};qXfer:features:read+"),
        Some("Attached") => "1".into(),
        Some("C") => "QC1".into(),
        Some("fThreadInfo") => "m1".into(),
        Some("sThreadInfo") => "l".into(),
        _ => String::new(),
    }
}

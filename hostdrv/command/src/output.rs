//! Standard output, whose reader may go away: `weft regs | head`.

use std::error::Error;
use std::io::{self, Write};

use serde::Serialize;

use crate::about;

/// The exit status then: what the shell says of a program that SIGPIPE ended.
pub const CLOSED: u8 = 128 + 13;

/// The reader of the output is gone.
#[derive(Debug)]
struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody reads the output any more")
    }
}

impl Error for Closed {}

/// Standard output. SIGPIPE stays ignored, as Rust has it: sockets to cards and peers may break, too, and that is to be reported.
pub fn stdout() -> Stdout {
    Stdout(io::stdout())
}

/// See [`stdout`].
pub struct Stdout(io::Stdout);

/// A report with the version of what wrote it, as every command's JSON has it.
#[derive(Serialize)]
struct Versioned<'a, T> {
    version: &'static str,
    #[serde(flatten)]
    report: &'a T,
}

impl<'a, T: Serialize> Versioned<'a, T> {
    fn of(report: &'a T) -> Self {
        let version = about::VERSION;
        Self { version, report }
    }
}

/// Writes a report as one JSON object. docs/json.md says what is in each command's.
pub fn json(out: &mut impl Write, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Versioned::of(report))?;
    writeln!(out)
}

/// The same of a report that has its version already.
pub fn whole_json(out: &mut impl Write, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// The same as [`json`] on one line, where several come one behind the other.
pub fn json_line(out: &mut impl Write, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Versioned::of(report))?;
    writeln!(out)
}

fn told(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => io::Error::other(Closed),
        kind => io::Error::new(kind, format!("cannot write the output: {error}")),
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(told)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(told)
    }
}

/// Did something end because nobody reads the output any more?
pub fn is_closed(error: &(dyn Error + 'static)) -> bool {
    let mut error = Some(error);
    while let Some(e) = error {
        let inner = e.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if e.is::<Closed>() || inner.is_some_and(|inner| inner.is::<Closed>() || is_closed(inner)) {
            return true;
        }
        error = e.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_pipe_of_the_output_is_told_from_others() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_closed(&told(pipe())));
        let json = serde_json::Error::io(told(pipe()));
        assert!(is_closed(&json) || is_closed(&io::Error::from(json)));
        assert!(!is_closed(&pipe()));
    }
}

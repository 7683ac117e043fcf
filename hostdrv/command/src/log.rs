//! What the driver and its engine tell of their work, on standard error.

use std::io::{self, IsTerminal};

use clap::Args;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::EnvFilter;

use crate::command::Failure;

/// What to tell.
#[derive(Args)]
pub struct Log {
    // Environment (programs): `RUST_LOG`: what is told of the work, as `--log`: `debug`, `warn,weft_engine=trace`. Without it: `warn`; `weft serve`:
    // `info`.
    /// What to tell of the work on standard error: error, warn, info, debug or trace, or by part: warn,weft_engine=debug
    /// (tracing-subscriber's filters). With debug and trace the end of each span is told with its time.
    #[arg(long, global = true, env = "RUST_LOG", value_name = "FILTER")]
    log: Option<String>,
}

impl Log {
    /// Tells from now on what the filter lets through, or without one what the command usually tells.
    pub fn start(&self, usual: &str) -> Result<(), Failure> {
        let asked = self.log.as_deref().filter(|filter| !filter.is_empty());
        let filter = asked.unwrap_or(usual);
        let filter = EnvFilter::try_new(filter).map_err(|e| format!("--log {filter}: {e}"))?;
        let spans = match asked {
            Some(_) => FmtSpan::CLOSE,
            None => FmtSpan::NONE,
        };
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_span_events(spans)
            .with_target(asked.is_some())
            .with_ansi(io::stderr().is_terminal())
            .with_writer(io::stderr)
            .init();
        Ok(())
    }
}

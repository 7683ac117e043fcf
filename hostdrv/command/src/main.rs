//! The `weft` command. The subcommands that work on any card are in `command`; those of the simulator, and the cards that it
//! simulates, are in `simulator` and only built with the feature `sim`.

use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

mod about;
mod command;
mod help;
mod log;
mod output;
mod progress;
#[cfg(feature = "sim")]
mod simulator;
#[cfg(not(feature = "sim"))]
mod without_simulator;

use command::Failure;

/// Weft: an open iWARP RNIC.
#[derive(Parser)]
#[command(name = "weft", version = about::VERSION, long_version = about::LONG.as_str())]
struct Weft {
    #[command(flatten)]
    log: log::Log,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Card(command::Command),
    #[cfg(feature = "sim")]
    #[command(flatten)]
    Simulator(Box<simulator::Command>),
    #[cfg(not(feature = "sim"))]
    #[command(flatten)]
    Simulator(without_simulator::Command),
    /// Prints what makes a shell complete this command: `weft completions bash > /etc/bash_completion.d/weft`.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Writes a manual page for each subcommand
    Man(Man),
}

#[derive(Args)]
struct Man {
    /// The folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: std::path::PathBuf,
}

impl Command {
    /// Does it; `name` is what it was called by.
    #[cfg_attr(feature = "sim", expect(unused_variables))]
    fn run(&self, name: &str) -> Result<(), Failure> {
        match self {
            Self::Card(command) => command.run(),
            #[cfg(feature = "sim")]
            Self::Simulator(command) => command.run(),
            #[cfg(not(feature = "sim"))]
            Self::Simulator(_) => Err(without_simulator::refusal(name)),
            Self::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(*shell, &mut Weft::command(), "weft", &mut script);
                Ok(std::io::Write::write_all(&mut output::stdout(), &script)?)
            }
            Self::Man(man) => {
                help::write_pages(Weft::command(), &man.out)
                    .map_err(|e| format!("cannot write to {}: {e}", man.out.display()))?;
                Ok(())
            }
        }
    }

    /// What is told of the work unless a filter is given.
    fn level(&self) -> &'static str {
        match self {
            #[cfg(feature = "sim")]
            Self::Simulator(command) => command.level(),
            _ => "warn",
        }
    }
}

fn main() -> ExitCode {
    let matches = help::with_help(Weft::command()).get_matches();
    let weft = match Weft::from_arg_matches(&matches) {
        Ok(weft) => weft,
        Err(error) => error.exit(),
    };
    let result = weft.log.start(weft.command.level()).and_then(|()| {
        weft.command
            .run(matches.subcommand_name().unwrap_or_default())
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough: nothing to complain about, but what was asked for was not done to its end.
        Err(error) if output::is_closed(error.as_ref()) => ExitCode::from(output::CLOSED),
        Err(error) => {
            eprintln!("weft: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Weft::command().debug_assert();
    }
}

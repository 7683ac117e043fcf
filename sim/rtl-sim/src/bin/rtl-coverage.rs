//! Prints the line coverage that models left in a folder.

use rtl_sim::coverage::Coverage;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: rtl-coverage FOLDER   (the RTL_SIM_COVERAGE_DIR of a test run)");
        return ExitCode::from(2);
    };
    let mut coverage = Coverage::default();
    if let Err(error) = coverage.read_folder(&folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    print!("{coverage}");
    ExitCode::SUCCESS
}

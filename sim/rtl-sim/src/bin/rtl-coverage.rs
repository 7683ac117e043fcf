//! Prints the coverage that models left in a folder: lines of all of them, and the points of one design.

use rtl_sim::coverage::Coverage;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: rtl-coverage FOLDER [TOP [MODULE=INSTANCE...]]");
        eprintln!("  FOLDER            the RTL_SIM_COVERAGE_DIR of a test run");
        eprintln!("  TOP               the design whose points are listed");
        eprintln!("  MODULE=INSTANCE   a module that is simulated by itself as well, and its place in TOP: dma_read=u_dma_read");
        return ExitCode::from(2);
    };
    let mut coverage = Coverage::default();
    if let Err(error) = coverage.read_folder(&folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    print!("{coverage}");
    if let Some(top) = arguments.next() {
        let top = top.to_string_lossy();
        let points: Vec<_> = coverage.points(&top).collect();
        let met = points.iter().filter(|(_, count)| *count > 0).count();
        println!("points of {top}: {met} of {} met", points.len());
        let alone: Vec<_> = arguments
            .map(|pair| pair.to_string_lossy().into_owned())
            .collect();
        for (place, _) in points.iter().filter(|(_, count)| *count == 0) {
            let by_itself = alone
                .iter()
                .filter_map(|pair| pair.split_once('='))
                .find(|(module, instance)| coverage.met_alone(module, instance, place) > 0)
                .map(|(module, _)| format!(" (met in {module} by itself)"));
            println!(
                "          not met: {place}{}",
                by_itself.unwrap_or_default()
            );
        }
    }
    ExitCode::SUCCESS
}

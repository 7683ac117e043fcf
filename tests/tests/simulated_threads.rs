//! Blocking threads in a simulated world: the seed decides what they do.

use weft_tests::same_capture::Program;

/// Runs of one program.
const RUNS: usize = 20;

#[test]
fn sixteen_threads_have_one_capture() {
    let program = Program::of_sixteen(1);
    let first = program.capture().expect("it runs");
    for run in 1..RUNS {
        let again = program.capture().expect("it runs");
        assert!(again == first, "run {run} differs from the first");
    }
}

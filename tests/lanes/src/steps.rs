//! The report of a lane: a line for each step as it ends, a summary, a JSON file, the exit status.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// As it must be.
    Pass,
    /// Not as it must be.
    Fail,
    /// Not tried; the note says why.
    Skip,
}

/// A step that ended.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// What was tried.
    pub name: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Seconds.
    pub seconds: f64,
    /// What was seen; why it failed or was skipped.
    pub note: String,
}

/// Why a step has no PASS.
#[derive(Debug)]
pub enum NoPass {
    /// It failed.
    Fail(String),
    /// It was not tried.
    Skip(String),
}

/// Any error fails the step.
impl<E: std::error::Error> From<E> for NoPass {
    fn from(error: E) -> Self {
        NoPass::Fail(error.to_string())
    }
}

/// What a step says: a note for its PASS, or why there is none.
pub type Told = Result<String, NoPass>;

/// Fails a step unless this holds.
pub fn ensure(holds: bool, why: impl Into<String>) -> Result<(), NoPass> {
    if holds {
        Ok(())
    } else {
        Err(NoPass::Fail(why.into()))
    }
}

/// The steps of a lane.
#[derive(Debug, Serialize)]
pub struct Lane {
    name: String,
    #[serde(skip)]
    start: Instant,
    #[serde(skip)]
    only: Vec<String>,
    steps: Vec<Step>,
}

impl Lane {
    /// A lane; `only`: words, steps whose name has none of them are not run (empty: all are).
    pub fn new(name: &str, only: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            start: Instant::now(),
            only,
            steps: Vec::new(),
        }
    }

    /// Whether a step of this name is to run.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.contains(word.as_str()))
    }

    /// Runs a step and tells of it. `None`: it has no result, because it failed, was skipped or is not wanted.
    pub fn step<T>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<(T, String), NoPass>,
    ) -> Option<T> {
        if !self.wants(name) {
            return None;
        }
        self.always(name, work)
    }

    /// The same, whatever words were given: for what the others stand on.
    pub fn always<T>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<(T, String), NoPass>,
    ) -> Option<T> {
        let start = Instant::now();
        let (result, verdict, note) = match work() {
            Ok((result, note)) => (Some(result), Verdict::Pass, note),
            Err(NoPass::Fail(why)) => (None, Verdict::Fail, why),
            Err(NoPass::Skip(why)) => (None, Verdict::Skip, why),
        };
        let step = Step {
            name: name.to_owned(),
            verdict,
            seconds: start.elapsed().as_secs_f64(),
            note,
        };
        tell(&step);
        self.steps.push(step);
        result
    }

    /// Runs a step without a result; says whether it passed.
    pub fn check(&mut self, name: &str, work: impl FnOnce() -> Told) -> bool {
        self.step(name, || work().map(|note| ((), note))).is_some()
    }

    /// Notes a step that is not tried.
    pub fn skip(&mut self, name: &str, why: &str) {
        self.check(name, || Err(NoPass::Skip(why.to_owned())));
    }

    /// Prints the summary, writes the JSON file, and says how the program must end: a failure fails it, a skipped step
    /// does not.
    pub fn finish(self, file: &Path) -> ExitCode {
        let count = |verdict| {
            self.steps
                .iter()
                .filter(|step| step.verdict == verdict)
                .count()
        };
        let (passed, failed, skipped) = (
            count(Verdict::Pass),
            count(Verdict::Fail),
            count(Verdict::Skip),
        );
        println!(
            "---- {}: {passed} passed, {failed} failed, {skipped} skipped in {:.1} s",
            self.name,
            self.start.elapsed().as_secs_f64()
        );
        for (verdict, word) in [(Verdict::Fail, "FAILED"), (Verdict::Skip, "SKIPPED")] {
            for step in self.steps.iter().filter(|step| step.verdict == verdict) {
                println!(
                    "     {word}: {}: {}",
                    step.name,
                    step.note.lines().next().unwrap_or_default()
                );
            }
        }
        if let Err(error) = self.write(file) {
            eprintln!("{}: {error}", file.display());
            return ExitCode::FAILURE;
        }
        if failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn write(&self, file: &Path) -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, serde_json::to_vec_pretty(self)?)
    }
}

fn tell(step: &Step) {
    let verdict = match step.verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Skip => "SKIP",
    };
    let mut lines = step.note.lines();
    println!(
        "{verdict} {:7.2} s  {:<44} {}",
        step.seconds,
        step.name,
        lines.next().unwrap_or_default()
    );
    for line in lines {
        println!("     | {line}");
    }
    // The lines are read as they come; a closed pipe is noticed at the next one.
    let _ = std::io::stdout().flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_fails_the_lane_and_a_skip_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut lane = Lane::new("test", Vec::new());
        assert!(lane.check("good", || Ok("seen".to_owned())));
        lane.skip("absent", "no device");
        let file = folder.path().join("deep/report.json");
        assert_eq!(
            format!("{:?}", lane.finish(&file)),
            format!("{:?}", ExitCode::SUCCESS)
        );
        assert!(std::fs::read_to_string(&file).unwrap().contains("\"SKIP\""));

        let mut lane = Lane::new("test", vec!["ba".to_owned()]);
        assert!(!lane.check("good", || panic!("not wanted")));
        assert!(!lane.check("bad", || ensure(1 == 2, "no").map(|()| String::new())));
        assert_eq!(
            format!("{:?}", lane.finish(&file)),
            format!("{:?}", ExitCode::FAILURE)
        );
    }
}

//! What a self-test says.

use std::fmt;

use serde::Serialize;

use super::super::probe::CardReport;
use super::super::regs::CounterValue;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As it should.
    Passed,
    /// Not as it should.
    Failed,
    /// It was not run.
    Skipped,
}

/// The first thing that was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What was done and looked at.
    pub what: String,
    /// What should have been.
    pub expected: Option<String>,
    /// What was.
    pub got: Option<String>,
}

impl Failure {
    pub(super) fn because(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            expected: None,
            got: None,
        }
    }

    pub(super) fn differs(
        what: impl Into<String>,
        expected: impl fmt::Display,
        got: impl fmt::Display,
    ) -> Self {
        Self {
            what: what.into(),
            expected: Some(expected.to_string()),
            got: Some(got.to_string()),
        }
    }

    /// Bytes that differ: the first one, and those around it.
    pub(super) fn bytes(what: String, expected: &[u8], got: &[u8]) -> Self {
        if expected.len() != got.len() {
            let (expected, got) = (expected.len(), got.len());
            return Self::differs(what, format!("{expected} bytes"), format!("{got} bytes"));
        }
        let pairs = || expected.iter().zip(got);
        let first = pairs().position(|(e, g)| e != g).unwrap_or(0);
        let wrong = pairs().filter(|(e, g)| e != g).count();
        let near = first.saturating_sub(4)..(first + 12).min(got.len());
        let hex = |bytes: &[u8]| {
            let each: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            each.join(" ")
        };
        Self::differs(
            format!(
                "{what}: byte {first} ({wrong} of {} bytes are wrong; bytes {} to {} shown)",
                got.len(),
                near.start,
                near.end - 1
            ),
            hex(&expected[near.clone()]),
            hex(&got[near]),
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(expected) = &self.expected {
            write!(f, "\n      expected {expected}")?;
        }
        if let Some(got) = &self.got {
            write!(f, "\n      got      {got}")?;
        }
        Ok(())
    }
}

/// One test.
#[derive(Clone, Debug, Serialize)]
pub struct TestResult {
    /// Its name.
    pub name: &'static str,
    /// What it tests.
    pub what: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// Comparisons made.
    pub checks: u64,
    /// How long it took, in the transport's time.
    pub duration_ns: u64,
    /// What was measured on the way; of a test that was left out, why.
    pub notes: Vec<String>,
    /// What the card counted since the test's last reset, without zeros.
    pub counted: Vec<CounterValue>,
    /// The first thing that was wrong.
    pub failure: Option<Failure>,
}

pub(super) fn left_out(name: &'static str, what: &'static str, why: &str) -> TestResult {
    TestResult {
        name,
        what,
        outcome: Outcome::Skipped,
        checks: 0,
        duration_ns: 0,
        notes: vec![why.to_owned()],
        counted: Vec::new(),
        failure: None,
    }
}

/// A self-test.
#[derive(Clone, Debug, Serialize)]
pub struct SelftestReport {
    /// Of this program.
    pub version: &'static str,
    /// The interface that it speaks.
    pub interface_version: u32,
    /// What the card says of itself.
    pub card: CardReport,
    /// The tests, in order.
    pub tests: Vec<TestResult>,
    /// Counters before the first test, without zeros.
    pub counters_before: Vec<CounterValue>,
}

impl SelftestReport {
    /// Was every test run, and did all pass?
    pub fn passed(&self) -> bool {
        self.card.usable() && self.tests.iter().all(|t| t.outcome == Outcome::Passed)
    }

    /// Names of the tests that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        let failed = self.tests.iter().filter(|t| t.outcome == Outcome::Failed);
        failed.map(|t| t.name).collect()
    }
}

impl fmt::Display for SelftestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |value: Option<u32>| value.map_or("?".into(), |v| format!("{v:#x}"));
        writeln!(
            f,
            "weft {}, interface version {}; card: {}, ID {}, VERSION {}, CAPS {}",
            self.version,
            self.interface_version,
            self.card.name,
            hex(self.card.id),
            hex(self.card.version),
            hex(self.card.caps)
        )?;
        if let Some(capabilities) = &self.card.capabilities {
            writeln!(f, "{capabilities}")?;
        }
        for finding in &self.card.findings {
            writeln!(
                f,
                "  {:?}: {}\n    → {}",
                finding.severity, finding.what, finding.advice
            )?;
        }
        for test in &self.tests {
            let outcome = match test.outcome {
                Outcome::Passed => "ok     ",
                Outcome::Failed => "FAILED ",
                Outcome::Skipped => "skipped",
            };
            write!(f, "{outcome} {:<16}", test.name)?;
            if test.outcome != Outcome::Skipped {
                let ms = test.duration_ns as f64 / 1e6;
                write!(f, " {:>6} checks {ms:>10.3} ms", test.checks)?;
            }
            writeln!(
                f,
                "{}",
                if test.notes.is_empty() {
                    String::new()
                } else {
                    format!("  {}", test.notes.join("; "))
                }
            )?;
            if let Some(failure) = &test.failure {
                writeln!(f, "    {}\n    {failure}", test.what)?;
                let counted: Vec<_> = test
                    .counted
                    .iter()
                    .map(|counter| format!("{} {}", counter.name, counter.value))
                    .collect();
                if !counted.is_empty() {
                    writeln!(f, "      counted  {}", counted.join(", "))?;
                }
            }
        }
        let count = |outcome| self.tests.iter().filter(|t| t.outcome == outcome).count();
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            count(Outcome::Passed),
            count(Outcome::Failed),
            count(Outcome::Skipped)
        )
    }
}

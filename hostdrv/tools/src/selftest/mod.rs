//! Does the card do what it should? Every part that a test can reach from the host, from register bits to messages that
//! go through the whole data path and back (MAC loopback: no cable is needed, and nothing leaves the card).
//!
//! It takes the card for itself and resets it, before, between the tests and after. Each test that fails says what it
//! did, what it expected and what it got; tests that need what failed are left out. The report can be attached to a
//! question about the card: it has the versions, every result, and the counters before and after.

mod bench;
mod checksums;
mod crc;
mod errors;
mod frames;
mod interrupts;
mod placement;
mod registers;
mod report;
mod stream;
mod tables;

use std::sync::{Arc, Mutex, PoisonError};

use weft_layout::INTERFACE_VERSION;

use super::probe::examine;
use super::regs;
use weft_card_transport::{Transport, TransportError};
use weft_hostdrv::device::Capabilities;
use weft_hostdrv::DeviceError;

pub use report::{Failure, Outcome, SelftestReport, TestResult};

/// What a test works with.
struct Context {
    transport: Arc<dyn Transport>,
    caps: Capabilities,
    /// Comparisons so far.
    checks: u64,
    /// What is worth saying of a test that passed.
    notes: Vec<String>,
    random: Random,
    /// What the card counted while a bench stood.
    counted: Counted,
}

/// Counters as a bench leaves them when it goes.
type Counted = Arc<Mutex<Vec<regs::CounterValue>>>;

impl Context {
    /// Compares. `what` says what was compared.
    fn equal<T: PartialEq + std::fmt::LowerHex>(
        &mut self,
        expected: T,
        got: T,
        what: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        self.checks += 1;
        if expected == got {
            return Ok(());
        }
        Err(Failure {
            what: what(),
            expected: Some(format!("{expected:#x}")),
            got: Some(format!("{got:#x}")),
        })
    }

    /// Compares bytes; names the first that differs.
    fn same_bytes(
        &mut self,
        expected: &[u8],
        got: &[u8],
        what: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        self.checks += 1;
        if expected == got {
            return Ok(());
        }
        Err(Failure::bytes(what(), expected, got))
    }
}

/// A test.
struct Test {
    name: &'static str,
    what: &'static str,
    /// Left out if one of these did not pass.
    needs: &'static [&'static str],
    run: fn(&mut Context) -> Result<(), Failure>,
}

const TESTS: &[Test] = &[
    Test {
        name: "scratch",
        what: "every bit of the data bus, by walking ones and zeros through SCRATCH",
        needs: &[],
        run: registers::scratch,
    },
    Test {
        name: "registers",
        what: "each writable register holds its own value: no two share an address",
        needs: &["scratch"],
        run: registers::independence,
    },
    Test {
        name: "read-only",
        what: "read-only registers and counters stay as they are when written, reserved addresses read zero",
        needs: &["scratch"],
        run: registers::read_only,
    },
    Test {
        name: "doorbell-region",
        what: "the doorbells are a region of their own: writing them changes no register",
        needs: &["scratch"],
        run: registers::doorbells,
    },
    Test {
        name: "tables",
        what: "rows of every table hold what was written, many rows at a time; rows that do not exist are refused",
        needs: &["scratch", "registers"],
        run: tables::rows,
    },
    Test {
        name: "job-ring",
        what: "jobs are fetched and done, in order, over many passes through the rings",
        needs: &["scratch", "registers"],
        run: frames::job_ring,
    },
    Test {
        name: "interrupts",
        what: "an interrupt comes when asked for, once, and not otherwise",
        needs: &["job-ring"],
        run: interrupts::on_request,
    },
    Test {
        name: "loopback",
        what: "one frame goes through transmit, MAC loopback and receive",
        needs: &["job-ring"],
        run: frames::loopback,
    },
    Test {
        name: "dma-read",
        what: "frames read from memory at every alignment, lengths around word edges; written to the raw ring",
        needs: &["loopback"],
        run: frames::alignments,
    },
    Test {
        name: "page-edges",
        what: "frames that cross page edges, and frames gathered from up to four pieces",
        needs: &["loopback"],
        run: frames::page_edges,
    },
    Test {
        name: "dma-write",
        what: "Writes placed into memory at every alignment, lengths around word edges, bytes beside them untouched",
        needs: &["loopback", "tables"],
        run: placement::tagged,
    },
    Test {
        name: "receive-queue",
        what: "Sends placed by receive elements at every alignment, scattered over up to four pieces",
        needs: &["loopback", "tables"],
        run: placement::untagged,
    },
    Test {
        name: "fpdu",
        what: "FPDUs as software makes them: headers, pad and CRC32C for every tail, with and without markers",
        needs: &["loopback", "tables"],
        run: crc::transmit,
    },
    Test {
        name: "crc-check",
        what: "an FPDU with a wrong CRC is found, wherever the wrong bit is, and nothing of it is placed",
        needs: &["loopback", "tables"],
        run: crc::receive,
    },
    Test {
        name: "checksums",
        what: "IPv4 and TCP checksums as software makes them, for every tail",
        needs: &["loopback", "tables"],
        run: checksums::transmit,
    },
    Test {
        name: "checksum-check",
        what: "frames with a wrong IPv4 or TCP checksum are dropped and counted",
        needs: &["loopback", "tables"],
        run: checksums::receive,
    },
    Test {
        name: "dma-read-error",
        what: "a read of memory that is not mapped is reported, and nothing else is lost",
        needs: &["loopback"],
        run: errors::unmapped,
    },
    Test {
        name: "malformed-job",
        what: "malformed jobs are refused with a report, and the ring goes on",
        needs: &["loopback"],
        run: errors::malformed,
    },
];

/// Where the run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The test that begins, from 0.
    pub number: usize,
    /// Of so many.
    pub of: usize,
    /// Its name.
    pub name: &'static str,
}

/// Names of the tests, with what they test.
pub fn tests() -> impl Iterator<Item = (&'static str, &'static str)> {
    TESTS.iter().map(|test| (test.name, test.what))
}

/// Runs all tests, or those in `only` and what they need. The card is reset.
pub fn run(
    transport: &Arc<dyn Transport>,
    only: &[String],
    mut progress: impl FnMut(Progress),
) -> SelftestReport {
    let card = examine(transport.as_ref());
    let mut report = SelftestReport {
        version: env!("CARGO_PKG_VERSION"),
        interface_version: INTERFACE_VERSION,
        counters_before: nonzero(transport.as_ref()),
        tests: Vec::new(),
        card,
    };
    let caps = report
        .card
        .caps
        .filter(|_| report.card.identified())
        .and_then(|caps| Capabilities::decode(&report.card.name, caps.into()).ok());
    let chosen = chosen(only);
    for (number, test) in chosen.iter().enumerate() {
        progress(Progress {
            number,
            of: chosen.len(),
            name: test.name,
        });
        let result = match caps {
            None => report::left_out(test.name, test.what, "the card was not identified"),
            Some(caps) => one(transport, caps, test, &report),
        };
        report.tests.push(result);
    }
    if caps.is_some() {
        let reset = transport.reset();
        tracing::debug!(?reset, "after the self-test");
    }
    report
}

fn one(
    transport: &Arc<dyn Transport>,
    caps: Capabilities,
    test: &Test,
    so_far: &SelftestReport,
) -> TestResult {
    for need in test.needs {
        let passed = |t: &TestResult| t.name == *need && t.outcome == Outcome::Passed;
        if !so_far.tests.iter().any(passed) {
            return report::left_out(test.name, test.what, &format!("it needs {need}"));
        }
    }
    let mut context = Context {
        transport: Arc::clone(transport),
        caps,
        checks: 0,
        notes: Vec::new(),
        random: Random(0x5745_4654),
        counted: Counted::default(),
    };
    let started = transport.now();
    let result = (test.run)(&mut context);
    let failure = result.err();
    let counted = std::mem::take(
        &mut *context
            .counted
            .lock()
            .unwrap_or_else(PoisonError::into_inner),
    );
    TestResult {
        name: test.name,
        what: test.what,
        outcome: if failure.is_some() {
            Outcome::Failed
        } else {
            Outcome::Passed
        },
        checks: context.checks,
        duration_ns: transport.now().saturating_sub(started),
        notes: context.notes,
        counted,
        failure,
    }
}

/// The tests asked for, and what they need.
fn chosen(only: &[String]) -> Vec<&'static Test> {
    if only.is_empty() {
        return TESTS.iter().collect();
    }
    let mut wanted: Vec<&str> = only.iter().map(String::as_str).collect();
    // What a test needs stands before it: from the last one to the first.
    for test in TESTS.iter().rev() {
        if wanted.contains(&test.name) {
            wanted.extend(test.needs);
        }
    }
    TESTS
        .iter()
        .filter(|test| wanted.contains(&test.name))
        .collect()
}

/// The counters that are not zero; none if they cannot be read.
fn nonzero(transport: &dyn Transport) -> Vec<regs::CounterValue> {
    let mut all = regs::counters(transport).unwrap_or_default();
    all.retain(|counter| counter.value != 0);
    all
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        Failure::because(error.to_string())
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        Failure::because(error.to_string())
    }
}

impl From<weft_card_transport::dma::OutOfBounds> for Failure {
    fn from(error: weft_card_transport::dma::OutOfBounds) -> Self {
        Failure::because(error.to_string())
    }
}

/// Numbers that look random and are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 7);
        while bytes.len() < count {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

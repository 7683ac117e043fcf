#![doc = include_str!("../README.md")]

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

// Environment (tests): `WEFT_TEST_LIMIT`: seconds after which a simulated world, or another bench of a test, ends the process with the test's name
// and seed; 0: never. Without it: 600 by `make test`.
/// Seconds that a test may take, asked for from outside; 0: as long as it likes.
pub const VARIABLE: &str = "WEFT_TEST_LIMIT";
/// What a test may take when nothing is asked.
pub const USUAL: Duration = Duration::from_secs(600);

/// Until it is dropped, time runs.
#[derive(Debug)]
#[must_use = "the limit ends when this is dropped"]
pub struct Watchdog {
    key: Key,
}

/// When, and a number to tell two of one moment apart.
type Key = (Instant, u64);

struct Watched {
    limit: Duration,
    what: String,
}

#[derive(Default)]
struct Watch {
    running: BTreeMap<Key, Watched>,
    next: u64,
    started: bool,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch {
    running: BTreeMap::new(),
    next: 0,
    started: false,
});
static CHANGED: Condvar = Condvar::new();

fn watch() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The variable's value; `None`: not set, or not a number.
fn asked() -> Option<Duration> {
    static ASKED: OnceLock<Option<Duration>> = OnceLock::new();
    *ASKED.get_or_init(|| {
        let text = std::env::var(VARIABLE).ok()?;
        text.trim().parse().ok().map(Duration::from_secs)
    })
}

impl Watchdog {
    /// For tests: as long as is asked for, else the usual time. `None`: no limit is wanted.
    pub fn usual(what: impl fmt::Display) -> Option<Self> {
        let limit = asked().unwrap_or(USUAL);
        (!limit.is_zero()).then(|| Self::after(limit, what))
    }

    /// For what tests share with programs: none unless it is asked for.
    pub fn if_asked(what: impl fmt::Display) -> Option<Self> {
        let limit = asked().filter(|limit| !limit.is_zero())?;
        Some(Self::after(limit, what))
    }

    /// Ends the process after this time, with the name of the thread that calls now, which is the test's, and `what`: the seed.
    pub fn after(limit: Duration, what: impl fmt::Display) -> Self {
        let thread = std::thread::current();
        let what = format!("test {}, {what}", thread.name().unwrap_or("without a name"));
        let mut watch = watch();
        watch.next += 1;
        let key = (Instant::now() + limit, watch.next);
        watch.running.insert(key, Watched { limit, what });
        if !watch.started {
            watch.started = true;
            // Without a thread nobody watches; tests go on as if there were no limit.
            let _ = std::thread::Builder::new()
                .name("limits".into())
                .spawn(look);
        }
        CHANGED.notify_all();
        Self { key }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        watch().running.remove(&self.key);
    }
}

fn look() {
    let mut guard = watch();
    loop {
        let now = Instant::now();
        let wait = match guard.running.first_key_value() {
            Some(((at, _), watched)) if *at <= now => {
                let text = format!(
                    "\n{}: not over after {:?} ({VARIABLE} sets another limit)\n",
                    watched.what, watched.limit
                );
                // Not by `eprintln`, which the harness keeps until the test is over.
                let _ = std::io::stderr().write_all(text.as_bytes());
                std::process::abort();
            }
            Some(((at, _), _)) => *at - now,
            None => USUAL,
        };
        guard = CHANGED
            .wait_timeout(guard, wait)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
}

//! A congestion controller of one's own, beside two of Weft's: `cargo run -p weft-tests --example own_controller` (half a minute).

use weft_hostdrv::unstable::congestion::{Control, Custom, Event, Progress, Window};
use weft_hostdrv::Congestion;
use weft_sim::fabric::FabricConfig;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::pair::PairError;
use weft_sim::perf::loss::{self, Traffic};

/// Segments that are to stand in queues: alpha and beta, for 100 Gb/s.
const LEAST: u64 = 8;
const MOST: u64 = 16;

/// TCP Vegas (Brakmo and Peterson, 1995): the window less what fits the path is what stands in queues; some segments of it are to stand there.
#[derive(Clone, Debug, Default)]
struct Vegas {
    window: Window,
}

impl Control for Vegas {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn acknowledged(&mut self, progress: &Progress) {
        let (Some(rtt), true) = (progress.rtt, progress.round) else {
            return;
        };
        let Window { cwnd, mss, .. } = self.window;
        let fits = u64::from(cwnd) * progress.min_rtt / rtt.max(1);
        let queued = u64::from(cwnd).saturating_sub(fits) / u64::from(mss);
        if self.window.in_slow_start() {
            match queued {
                0..=MOST => self.window.set(2 * cwnd),
                _ => self.window.ssthresh = cwnd,
            }
        } else if queued < LEAST && progress.limited {
            self.window.set(cwnd + mss);
        } else if queued > MOST {
            self.window.set(cwnd - mss);
        }
    }

    fn congestion(&mut self, event: Event, _now: u64, flight: u32) {
        self.window.reduce(flight / 4 * 3, event);
    }
}

static VEGAS: Custom = Custom {
    name: "vegas",
    paces: false,
    by_delay: true,
    exact_ecn: false,
    new: || Box::new(Vegas::default()),
};

/// Frames of a million that are lost.
const LOSSES: [u32; 4] = [0, 1_000, 10_000, 30_000];

/// Gb/s of Writes of 64 KiB between two functional models, 10 µs each way.
pub fn table() -> Result<String, PairError> {
    let mut out = String::from("| lost |");
    for loss in LOSSES {
        out += &format!(" {} % |", f64::from(loss) / 10_000.0);
    }
    out += "\n|---|---|---|---|---|\n";
    for congestion in [
        Congestion::Cubic,
        Congestion::Delay,
        Congestion::Custom(&VEGAS),
    ] {
        out += &format!("| `{}` |", congestion.name());
        for loss in LOSSES {
            let link = LinkConfig {
                delay_ns: 10_000,
                ..LinkConfig::default()
            };
            let config = FabricConfig {
                link,
                congestion,
                ..FabricConfig::default()
            };
            let faults = Faults {
                loss,
                ..Faults::default()
            };
            let run = loss::goodput(&config, faults, 3_000_000, Traffic::default())?;
            out += &format!(" {:.1} |", run.gbps);
        }
        out.push('\n');
    }
    Ok(out)
}

#[allow(dead_code, reason = "a test takes the table alone")]
fn main() -> Result<(), PairError> {
    print!("{}", table()?);
    Ok(())
}

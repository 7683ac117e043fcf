//! Reno: a segment more for each round-trip time, half of it for each loss (RFC 5681 §3.1, §3.2; RFC 6582).

use super::{Control, Event, Progress, Window};

/// The controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno {
    window: Window,
}

impl Control for Reno {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn acknowledged(&mut self, progress: &Progress) {
        if progress.recovering || !progress.limited {
            return;
        }
        if self.window.in_slow_start() {
            self.window.slow_start(progress.acked);
        } else {
            self.window.add(progress.acked, 1, 1);
        }
    }

    fn congestion(&mut self, event: Event, _now: u64, flight: u32) {
        self.window.reduce(flight / 2, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn reno(cwnd: u32, ssthresh: u32) -> Reno {
        let mut reno = Reno::default();
        reno.window = Window {
            cwnd,
            ssthresh,
            mss: MSS,
            ..reno.window
        };
        reno
    }

    fn acked(acked: u32) -> Progress {
        Progress {
            acked,
            limited: true,
            ..Progress::default()
        }
    }

    #[test]
    fn a_segment_for_each_window() {
        let mut reno = reno(10 * MSS, 5 * MSS);
        for _ in 0..10 {
            reno.acknowledged(&acked(MSS));
        }
        let cwnd = reno.window().cwnd;
        assert!((10_950..=11_000).contains(&cwnd), "{cwnd}");
    }

    #[test]
    fn doubles_in_slow_start_and_halves_on_loss() {
        let mut reno = reno(10 * MSS, u32::MAX);
        for _ in 0..5 {
            reno.acknowledged(&acked(2 * MSS));
        }
        assert_eq!(reno.window().cwnd, 20 * MSS);
        reno.acknowledged(&acked(8 * MSS));
        assert_eq!(reno.window().cwnd, 22 * MSS, "two segments at most");
        reno.congestion(Event::Loss, 0, 20 * MSS);
        assert_eq!(
            (reno.window().cwnd, reno.window().ssthresh),
            (10_000, 10_000)
        );
        reno.congestion(Event::Timeout, 0, 3 * MSS);
        assert_eq!((reno.window().cwnd, reno.window().ssthresh), (1000, 2000));
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut reno = reno(10 * MSS, u32::MAX);
        let idle = Progress {
            limited: false,
            ..acked(MSS)
        };
        reno.acknowledged(&idle);
        assert_eq!(reno.window().cwnd, 10 * MSS);
    }
}

//! DCTCP (RFC 8257): the window is reduced by how much of it met congestion. It needs switches that mark and a peer that echoes
//! each mark; without them it is Reno.

use super::{Control, Event, Progress, Reno, Window};

/// Alpha's one (§3.3).
const ONE: u32 = 1 << 16;
/// g = 1/16 (§4.2).
const SHIFT: u32 = 4;

/// The controller.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// How much of what is sent meets congestion.
    alpha: u32,
    acked: u64,
    marked: u64,
}

impl Default for Dctcp {
    fn default() -> Self {
        Dctcp {
            reno: Reno::default(),
            // §4.2: the worst, so that the first mark is heeded.
            alpha: ONE,
            acked: 0,
            marked: 0,
        }
    }
}

impl Control for Dctcp {
    fn window(&self) -> &Window {
        self.reno.window()
    }

    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    fn acknowledged(&mut self, progress: &Progress) {
        self.acked += u64::from(progress.delivered);
        if progress.echo {
            self.marked += u64::from(progress.delivered);
        }
        if progress.round && self.acked > 0 {
            // §3.3 step 6: alpha = alpha (1 - g) + g M
            let fraction = (self.marked * u64::from(ONE) / self.acked) as u32;
            self.alpha = self.alpha - (self.alpha >> SHIFT) + (fraction >> SHIFT);
            (self.acked, self.marked) = (0, 0);
        }
        self.reno.acknowledged(progress);
    }

    fn congestion(&mut self, event: Event, now: u64, flight: u32) {
        if event != Event::Echo {
            // §3.4, §3.5: loss is loss.
            self.reno.congestion(event, now, flight);
            return;
        }
        let window = self.reno.window_mut();
        // §3.3: cwnd (1 - alpha / 2)
        let less = u64::from(window.cwnd) * u64::from(self.alpha) / u64::from(2 * ONE);
        window.reduce(window.cwnd - less as u32, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn round(dctcp: &mut Dctcp, marked: u32, of: u32) {
        for n in 1..=of {
            dctcp.acknowledged(&Progress {
                delivered: MSS,
                acked: MSS,
                echo: n <= marked,
                round: n == of,
                ..Progress::default()
            });
        }
    }

    fn dctcp() -> Dctcp {
        let mut dctcp = Dctcp::default();
        *dctcp.window_mut() = Window {
            cwnd: 100 * MSS,
            ssthresh: 100 * MSS,
            mss: MSS,
            ..Window::default()
        };
        dctcp
    }

    #[test]
    fn alpha_follows_the_fraction_of_marks() {
        let mut dctcp = dctcp();
        round(&mut dctcp, 0, 16);
        // One round: 15/16 of it is left.
        assert_eq!(dctcp.alpha, ONE / 16 * 15);
        for _ in 0..200 {
            round(&mut dctcp, 4, 16);
        }
        let share = f64::from(dctcp.alpha) / f64::from(ONE);
        assert!((0.24..=0.26).contains(&share), "{share}");
    }

    #[test]
    fn few_marks_take_little_and_a_loss_takes_half() {
        let mut dctcp = dctcp();
        for _ in 0..200 {
            round(&mut dctcp, 2, 20);
        }
        dctcp.congestion(Event::Echo, 0, 100 * MSS);
        let cwnd = dctcp.window().cwnd;
        assert!((94_500..=95_500).contains(&cwnd), "{cwnd}");
        dctcp.congestion(Event::Loss, 0, 100 * MSS);
        assert_eq!(dctcp.window().cwnd, 50 * MSS);
    }

    #[test]
    fn the_first_mark_takes_half() {
        let mut dctcp = dctcp();
        dctcp.congestion(Event::Echo, 0, 100 * MSS);
        assert_eq!(dctcp.window().cwnd, 50 * MSS);
    }
}

//! Congestion control: how much may be under way. One trait, and the controllers behind it.

pub mod cubic;
pub mod custom;
pub mod dctcp;
pub mod delay;
pub mod reno;

use alloc::boxed::Box;

pub use cubic::Cubic;
pub use custom::{Custom, CustomControl};
pub use dctcp::Dctcp;
pub use delay::Delay;
pub use reno::Reno;

/// Windows grow no further.
const LIMIT: u32 = 1 << 30;

/// What a controller decides, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow start ends here.
    pub ssthresh: u32,
    /// Largest segment.
    pub mss: u32,
    /// What an acknowledgment adds and is less than a byte, times `cwnd`.
    credit: u64,
}

impl Default for Window {
    fn default() -> Self {
        Window {
            cwnd: 536,
            ssthresh: u32::MAX,
            mss: 536,
            credit: 0,
        }
    }
}

/// Adds `part / whole` of a byte; what is less than one stays as credit.
#[inline]
fn whole_bytes(credit: &mut u64, part: u64, whole: u64) -> u32 {
    *credit = credit.saturating_add(part);
    let bytes = (*credit / whole).min(u64::from(LIMIT));
    *credit %= whole;
    bytes as u32
}

impl Window {
    /// Below ssthresh.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start by bytes (RFC 5681 §3.1, RFC 3465 with L = 2).
    pub fn slow_start(&mut self, acked: u32) {
        self.set(self.cwnd.saturating_add(acked.min(2 * self.mss)));
    }

    /// Grows by `numerator / denominator` segments for each window of bytes.
    pub fn add(&mut self, acked: u32, numerator: u64, denominator: u64) {
        let whole = u64::from(self.cwnd.max(1)) * denominator;
        let part = u64::from(self.mss) * u64::from(acked) * numerator;
        let bytes = whole_bytes(&mut self.credit, part, whole);
        self.set(self.cwnd.saturating_add(bytes));
    }

    /// Sets it, between a segment and the limit.
    pub fn set(&mut self, cwnd: u32) {
        self.cwnd = cwnd.clamp(self.mss, LIMIT);
    }

    /// Reduces: ssthresh to this, two segments at least, and the window to it; to one segment after the timer.
    pub fn reduce(&mut self, ssthresh: u32, event: Event) {
        self.ssthresh = ssthresh.max(2 * self.mss);
        self.cwnd = match event {
            Event::Timeout => self.mss,
            Event::Loss | Event::Echo => self.ssthresh.min(LIMIT),
        };
        self.credit = 0;
    }
}

/// What an acknowledgment says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The time.
    pub now: u64,
    /// Bytes acknowledged by the number.
    pub acked: u32,
    /// Bytes of which it was not known that they had arrived.
    pub delivered: u32,
    /// Bytes found lost.
    pub lost: u32,
    /// Round-trip time of the newest of them, if it was sent once.
    pub rtt: Option<u64>,
    /// When it came, if that is known; it may be handled later.
    pub arrived: Option<u64>,
    /// The least of late.
    pub min_rtt: u64,
    /// SRTT.
    pub smoothed: u64,
    /// The congestion window was in use: that it is not too small is shown.
    pub limited: bool,
    /// Fast recovery is under way.
    pub recovering: bool,
    /// The peer echoes a mark of congestion (ECE).
    pub echo: bool,
    /// What was sent before the last round ended has arrived: a round-trip time is over.
    pub round: bool,
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something was lost: once for a window.
    Loss,
    /// The network has marked a packet (RFC 3168): once for a window.
    Echo,
    /// The retransmission timer expired.
    Timeout,
}

/// How fast new data may go: so many bytes in so many nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes.
    pub bytes: u32,
    /// Nanoseconds.
    pub time: u64,
}

impl Rate {
    /// How long so many bytes take.
    pub fn time_of(&self, bytes: u32) -> u64 {
        self.time.saturating_mul(bytes.into()) / u64::from(self.bytes.max(1))
    }

    /// How many bytes so much time is enough for.
    pub fn bytes_in(&self, time: u64) -> u32 {
        let bytes = time.saturating_mul(self.bytes.into()) / self.time.max(1);
        bytes.min(LIMIT.into()) as u32
    }
}

/// A controller.
pub trait Control {
    /// Its window.
    fn window(&self) -> &Window;

    /// Its window.
    fn window_mut(&mut self) -> &mut Window;

    /// An acknowledgment came.
    fn acknowledged(&mut self, progress: &Progress);

    /// Congestion, with `flight` bytes not acknowledged.
    fn congestion(&mut self, event: Event, now: u64, flight: u32);

    /// How fast new data may go, whatever the window allows; `None`: as the acknowledgments come.
    fn pace(&self) -> Option<Rate> {
        None
    }
}

/// Which controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// RFC 5681, RFC 6582.
    Reno,
    /// RFC 9438.
    #[default]
    Cubic,
    /// RFC 8257: for a network that marks.
    Dctcp,
    /// By delay: for a network that is the host's own.
    Delay,
    /// A program's own.
    Custom(&'static Custom),
}

impl Congestion {
    /// All that have a name of their own here.
    pub const ALL: [Congestion; 4] = [
        Congestion::Reno,
        Congestion::Cubic,
        Congestion::Dctcp,
        Congestion::Delay,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Congestion::Reno => "reno",
            Congestion::Cubic => "cubic",
            Congestion::Dctcp => "dctcp",
            Congestion::Delay => "delay",
            Congestion::Custom(custom) => custom.name,
        }
    }

    /// It may have a pace ([`Control::pace`]).
    pub fn paces(self) -> bool {
        match self {
            Congestion::Delay => true,
            Congestion::Custom(custom) => custom.paces,
            Congestion::Reno | Congestion::Cubic | Congestion::Dctcp => false,
        }
    }

    /// Round-trip times decide how much goes.
    #[inline]
    pub fn goes_by_delay(self) -> bool {
        match self {
            Congestion::Delay => true,
            Congestion::Custom(custom) => custom.by_delay,
            Congestion::Reno | Congestion::Cubic | Congestion::Dctcp => false,
        }
    }

    /// Each mark counts (RFC 8257).
    pub fn has_exact_ecn(self) -> bool {
        match self {
            Congestion::Dctcp => true,
            Congestion::Custom(custom) => custom.exact_ecn,
            Congestion::Reno | Congestion::Cubic | Congestion::Delay => false,
        }
    }

    /// Of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The controller of a connection. A copy of it is all that has to be kept to take back what a congestion did that was none.
#[derive(Clone, Debug)]
pub enum Controller {
    /// Reno.
    Reno(Reno),
    /// CUBIC.
    Cubic(Cubic),
    /// DCTCP.
    Dctcp(Dctcp),
    /// By delay.
    Delay(Delay),
    /// A program's own.
    Custom(Box<dyn CustomControl>),
}

impl Controller {
    /// A new one.
    pub fn new(kind: Congestion) -> Self {
        match kind {
            Congestion::Reno => Controller::Reno(Reno::default()),
            Congestion::Cubic => Controller::Cubic(Cubic::default()),
            Congestion::Dctcp => Controller::Dctcp(Dctcp::default()),
            Congestion::Delay => Controller::Delay(Delay::default()),
            Congestion::Custom(custom) => Controller::Custom((custom.new)()),
        }
    }

    /// Its window is no smaller than that of another.
    pub fn raise_to(&mut self, other: &Controller) {
        let other = *other.window();
        let window = self.window_mut();
        window.cwnd = window.cwnd.max(other.cwnd);
        window.ssthresh = window.ssthresh.max(other.ssthresh);
    }

    fn inner(&mut self) -> &mut dyn Control {
        match self {
            Controller::Reno(control) => control,
            Controller::Cubic(control) => control,
            Controller::Dctcp(control) => control,
            Controller::Delay(control) => control,
            Controller::Custom(control) => &mut **control,
        }
    }
}

impl Control for Controller {
    #[inline]
    fn window(&self) -> &Window {
        match self {
            Controller::Reno(control) => control.window(),
            Controller::Cubic(control) => control.window(),
            Controller::Dctcp(control) => control.window(),
            Controller::Delay(control) => control.window(),
            Controller::Custom(control) => (**control).window(),
        }
    }

    fn window_mut(&mut self) -> &mut Window {
        self.inner().window_mut()
    }

    #[inline]
    fn acknowledged(&mut self, progress: &Progress) {
        match self {
            Controller::Reno(control) => control.acknowledged(progress),
            Controller::Cubic(control) => control.acknowledged(progress),
            Controller::Dctcp(control) => control.acknowledged(progress),
            Controller::Delay(control) => control.acknowledged(progress),
            Controller::Custom(control) => (**control).acknowledged(progress),
        }
    }

    fn congestion(&mut self, event: Event, now: u64, flight: u32) {
        self.inner().congestion(event, now, flight);
    }

    fn pace(&self) -> Option<Rate> {
        match self {
            Controller::Reno(control) => control.pace(),
            Controller::Cubic(control) => control.pace(),
            Controller::Dctcp(control) => control.pace(),
            Controller::Delay(control) => control.pace(),
            Controller::Custom(control) => (**control).pace(),
        }
    }
}

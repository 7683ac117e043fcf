//! Goodput of Writes between two simulated devices over a link with faults, whose hosts look at their cards as often as is asked for.

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::SendWr;
use weft_hostdrv::{Congestion, DeviceError, EngineStats};
use weft_sim::fabric::{Fabric, FabricConfig, FabricError};
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::pair::{Pair, PairError};
use weft_sim::transport::lock;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Decides everything.
    pub seed: u64,
    /// The controller of both ends.
    pub congestion: Congestion,
    /// One-way delay of the link, in nanoseconds.
    pub delay_ns: u64,
    /// What the link does to frames.
    pub faults: Faults,
    /// Whether payload of a detached flow is walked over again by the card.
    pub replay: bool,
    /// The receiver asks for markers.
    pub markers: bool,
    /// Both ends agree that segments begin with FPDUs.
    pub aligned: bool,
    /// Bytes of a Write.
    pub bytes: usize,
    /// Writes in all.
    pub writes: usize,
    /// Writes that are posted and not complete, at most.
    pub depth: usize,
    /// Sender and receiver look at their cards so often, in nanoseconds, from when they are connected on; `None`: all hosts when they are woken.
    pub look_ns: Option<[u64; 2]>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            seed: 1,
            congestion: Congestion::default(),
            delay_ns: 500,
            faults: Faults::default(),
            replay: true,
            markers: false,
            aligned: false,
            bytes: 1 << 20,
            writes: 32,
            depth: 8,
            look_ns: None,
        }
    }
}

impl Run {
    /// With hosts that look so often: Writes of 64 KiB.
    pub fn late(congestion: Congestion, look_ns: [u64; 2]) -> Self {
        Self {
            congestion,
            bytes: 1 << 16,
            writes: 400,
            depth: 32,
            look_ns: Some(look_ns),
            ..Self::default()
        }
    }
}

/// How often sender and receiver look, in nanoseconds: one of them seldom, or both.
pub fn late_hosts() -> impl Iterator<Item = [u64; 2]> {
    const SOON: u64 = 1_000;
    let late = [20_000, 28_000, 100_000, 3_000_000];
    late.into_iter()
        .flat_map(|late| [[late, SOON], [SOON, late], [late; 2]])
}

/// What came out.
#[derive(Clone, Copy, Debug)]
pub struct Goodput {
    /// Gb/s of what the Writes carried.
    pub gbps: f64,
    /// The longest time without a completion, in nanoseconds.
    pub longest_ns: u64,
    /// The same, while there was more to post: what waits then is no tail, of which a timer is all that can repair the loss.
    pub longest_inside_ns: u64,
    /// What the sender's engine counted.
    pub sender: EngineStats,
    /// What the receiver's engine counted.
    pub receiver: EngineStats,
}

/// The controllers.
pub const CONTROLLERS: [Congestion; 4] = [
    Congestion::Reno,
    Congestion::Cubic,
    Congestion::Dctcp,
    Congestion::Delay,
];

/// What a link may do to frames, with a name.
pub const HARM: [(&str, Faults); 5] = [
    ("0.1 % lost", lost(1_000)),
    ("1 % lost", lost(10_000)),
    ("3 % lost", lost(30_000)),
    ("1 % cut", cut(10_000)),
    ("10 % cut", cut(100_000)),
];

const NONE: Faults = Faults {
    loss: 0,
    duplicate: 0,
    reorder: 0,
    corrupt: 0,
    resegment: 0,
};

const fn lost(loss: u32) -> Faults {
    Faults { loss, ..NONE }
}

const fn cut(resegment: u32) -> Faults {
    Faults { resegment, ..NONE }
}

/// Nothing completes for so long: something hangs.
const LIMIT: u64 = 60_000_000_000;

/// Measures one run.
pub fn measure(run: &Run) -> Result<Goodput, PairError> {
    let link = LinkConfig {
        delay_ns: run.delay_ns,
        ..LinkConfig::default()
    };
    let fabric = Fabric::new(&FabricConfig {
        seed: run.seed,
        link,
        congestion: run.congestion,
        replay: run.replay,
        ..FabricConfig::default()
    })?;
    let way = ConnParam {
        markers: run.markers,
        aligned: run.aligned,
        ..ConnParam::default()
    };
    let source = vec![0x57; run.bytes];
    let mut pair = Pair::connect(&fabric, 4000, &way, &way, &source, run.bytes)?;
    pair.established()?;
    lock(fabric.world()).link(0).set_config(LinkConfig {
        faults: run.faults,
        ..link
    });
    let [a, b] = &pair.ends;
    let start = fabric.now();
    let (mut posted, mut done, mut last, mut longest_ns, mut longest_inside_ns) =
        (0, 0, start, 0, 0);
    while done < run.writes {
        while posted < run.writes && posted - done < run.depth {
            let wr = SendWr::write(posted as u64, b.target.remote()).signaled();
            a.qp.post_send(wr.sge(a.source.sge(0, run.bytes as u32)))?;
            posted += 1;
        }
        let poll = || a.cq.poll_one().transpose();
        let wc = match run.look_ns {
            None => fabric.run_asleep_until("a Write's completion", LIMIT, poll)?,
            Some(every) => run_looking_until(&fabric, every, poll)?,
        };
        wc?;
        done += 1;
        let waited = fabric.now() - last;
        longest_ns = longest_ns.max(waited);
        if posted < run.writes {
            longest_inside_ns = longest_inside_ns.max(waited);
        }
        last = fabric.now();
    }
    let took = fabric.now() - start;
    let [sender, receiver] = [0, 1].map(|n| fabric.device(n).engine_stats());
    Ok(Goodput {
        gbps: (run.writes * run.bytes) as f64 * 8.0 / took.max(1) as f64,
        longest_ns,
        longest_inside_ns,
        sender,
        receiver,
    })
}

/// Runs the cards until `condition` gives something, which the first host looks for; each looks at its own card once in so many nanoseconds, whatever
/// happens meanwhile.
pub fn run_looking_until<T>(
    fabric: &Fabric,
    every: [u64; 2],
    mut condition: impl FnMut() -> Option<T>,
) -> Result<T, FabricError> {
    let end = fabric.now().saturating_add(LIMIT);
    loop {
        let now = fabric.now();
        if now >= end {
            break;
        }
        for (device, every) in fabric.devices().iter().zip(every) {
            if now % every == 0 {
                look(device)?;
            }
        }
        if now % every[0] == 0 {
            if let Some(found) = condition() {
                return Ok(found);
            }
        }
        let next = every.map(|every| (now + 1).next_multiple_of(every));
        run_alone(fabric, next[0].min(next[1]) - now)?;
    }
    Err(FabricError::TimedOut {
        what: "the condition".to_owned(),
        limit: LIMIT,
        now: fabric.now(),
    })
}

/// A host comes by: it handles what is there.
fn look(device: &weft_hostdrv::Device) -> Result<(), DeviceError> {
    while device.progress()? > 0 {}
    Ok(())
}

/// Runs the cards for `ns` nanoseconds while no host looks.
pub fn run_alone(fabric: &Fabric, ns: u64) -> Result<(), FabricError> {
    let end = fabric.now().saturating_add(ns);
    while fabric.now() < end {
        lock(fabric.world()).run(Some(end))?;
    }
    Ok(())
}

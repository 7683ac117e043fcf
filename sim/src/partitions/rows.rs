//! The rows of a load's table: a name, a figure, its digits.

use super::spread::Interval;
use super::{AtRung, Figures, HostFigures, Partitions, Steady, PARTS};

/// A count of the data path.
#[derive(Clone, Copy)]
pub(super) struct Count {
    pub(super) name: &'static str,
    /// There is a figure of it as well.
    pub(super) drawn: bool,
    pub(super) of: fn(&Figures) -> f64,
}

const fn drawn(name: &'static str, of: fn(&Figures) -> f64) -> Count {
    let drawn = true;
    Count { name, drawn, of }
}

const fn printed(name: &'static str, of: fn(&Figures) -> f64) -> Count {
    let drawn = false;
    Count { name, drawn, of }
}

/// For each message.
pub(super) const PER_MESSAGE: [Count; 10] = [
    drawn("MMIO reads", |f| f.per_message.mmio_reads),
    drawn("MMIO writes", |f| f.per_message.mmio_writes),
    drawn("DMA reads", |f| f.per_message.dma_reads),
    printed("DMA bytes read", |f| f.per_message.dma_read_bytes),
    drawn("DMA writes", |f| f.per_message.dma_writes),
    printed("DMA bytes written", |f| f.per_message.dma_written_bytes),
    drawn("interrupts", |f| f.per_message.interrupts),
    printed("engine calls", |f| f.per_message.engine_steps),
    printed("firmware instructions", |f| {
        f.per_message.firmware_instructions
    }),
    printed("firmware cycles", |f| f.per_message.firmware_cycles),
];

/// For each byte of a message.
pub(super) const PER_BYTE: [Count; 6] = [
    drawn("bytes copied by hosts", |f| {
        f.per_byte.map_or(0.0, |each| each.bytes_copied)
    }),
    drawn("bytes of CRC by hosts", |f| {
        f.per_byte.map_or(0.0, |each| each.bytes_checked)
    }),
    drawn("copied by firmware", |f| {
        f.per_byte.map_or(0.0, |each| each.firmware_bytes_copied)
    }),
    drawn("CRC by firmware", |f| {
        f.per_byte.map_or(0.0, |each| each.firmware_bytes_checked)
    }),
    drawn("DMA bytes read", |f| {
        f.per_byte.map_or(0.0, |each| each.dma_read_bytes)
    }),
    drawn("DMA bytes written", |f| {
        f.per_byte.map_or(0.0, |each| each.dma_written_bytes)
    }),
];

/// A line of the hosts: who it is of, its name, and the figure.
type OfHost = (usize, &'static str, fn(&HostFigures) -> f64);

/// What each host was charged.
const OF_HOSTS: [OfHost; 6] = [
    (0, "instr., who posts", |h| h.instructions_per_message),
    (1, "instr., the other", |h| h.instructions_per_message),
    (0, "cores, who posts", |h| h.cores),
    (1, "cores, the other", |h| h.cores),
    (0, "at line, who posts", |h| h.cores_at_line),
    (1, "at line, the other", |h| h.cores_at_line),
];

/// A figure, where a run has it.
type Figure = Box<dyn Fn(&Figures) -> Option<f64>>;

/// A row.
pub(super) struct Row {
    /// What it is of, in the first row of a group.
    pub(super) head: &'static str,
    pub(super) name: &'static str,
    digits: usize,
    figure: Figure,
}

impl Row {
    /// The figure over all seeds.
    pub(super) fn over_all(&self, at: &AtRung) -> Option<Interval> {
        at.over_all(&*self.figure)
    }

    pub(super) fn median(&self, of: Option<Interval>) -> String {
        let digits = self.digits;
        of.map_or("-".into(), |of| format!("{:.digits$}", of.median))
    }

    /// The ends of the interval.
    pub(super) fn ends(&self, of: Option<Interval>) -> String {
        let digits = self.digits;
        of.map_or("-".into(), |of| {
            format!("{:.digits$}..{:.digits$}", of.low, of.high)
        })
    }
}

/// A group: the first row of it has its head.
fn group(
    all: &mut Vec<Row>,
    head: &'static str,
    rows: impl IntoIterator<Item = (&'static str, usize, Figure)>,
) {
    for (n, (name, digits, figure)) in rows.into_iter().enumerate() {
        all.push(Row {
            head: if n == 0 { head } else { "" },
            name,
            digits,
            figure,
        });
    }
}

/// Of the steady state: its name, its digits, and the figure.
type OfSteady = (&'static str, usize, fn(&Steady) -> Option<f64>);

/// What is told of it.
const STEADY: [OfSteady; 4] = [
    ("Gb/s", 2, |s| Some(s.gbps)),
    ("messages/s", 0, |s| Some(s.messages_per_second)),
    ("p50, ns", 0, |s| s.latency_ns[0].map(|ns| ns as f64)),
    ("p99, ns", 0, |s| s.latency_ns[2].map(|ns| ns as f64)),
];

/// All rows.
pub(super) fn rows(p: &Partitions) -> Vec<Row> {
    let mut all = Vec::new();
    let line = |digits: usize| {
        move |count: Count| -> (_, _, Figure) {
            let of = count.of;
            (count.name, digits, Box::new(move |f| Some(of(f))))
        }
    };
    let alone = |digits, of| [line(digits)(printed("", of))];
    group(&mut all, "per message", PER_MESSAGE.map(line(2)));
    group(&mut all, "per byte", PER_BYTE.map(line(3)));
    let mut measured = p.loads.iter().flat_map(|load| &load.rungs);
    if measured.any(|at| at.figures.hosts.is_some()) {
        let of_host = OF_HOSTS
            .into_iter()
            .enumerate()
            .map(|(n, (end, name, of))| {
                let figure = move |f: &Figures| f.hosts.as_ref().map(|hosts| of(&hosts[end]));
                let figure: Figure = Box::new(figure);
                (name, if n < 2 { 0 } else { 2 }, figure)
            });
        group(&mut all, "charged", of_host);
    }
    let parts = PARTS.iter().enumerate().map(|(n, (_, name))| {
        let figure = move |f: &Figures| f.latency_ns[n].map(|ns| ns as f64);
        let figure: Figure = Box::new(figure);
        (*name, 0, figure)
    });
    group(&mut all, "latency, ns", parts);
    group(&mut all, "Gb/s", alone(2, |f| f.gbps));
    let rate = alone(0, |f| f.messages_per_second);
    group(&mut all, "messages/s", rate);
    let steady = STEADY.map(|(name, digits, of)| {
        let figure = move |f: &Figures| f.steady.as_ref().and_then(of);
        let figure: Figure = Box::new(figure);
        (name, digits, figure)
    });
    group(&mut all, "steady", steady);
    let lost = alone(0, |f| f.lost.iter().sum::<u64>() as f64);
    group(&mut all, "frames lost", lost);
    let again = alone(0, |f| {
        f.ends.iter().map(|end| end.retransmits).sum::<u64>() as f64
    });
    group(&mut all, "sent again", again);
    all
}

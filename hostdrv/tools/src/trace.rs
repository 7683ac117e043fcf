//! The card's own event ring as a timeline, with filters. What the events are is in [`weft_debug::trace`].

use std::fmt;

use serde::Serialize;

use weft_debug::trace::{Trace, TraceEvent, TraceKind};

/// Kinds of events by name, as filters and JSON have them.
pub const KINDS: [&str; 13] = [
    "frame-in",
    "frame-dropped",
    "verdict",
    "report",
    "job-begin",
    "job-done",
    "frame-out",
    "interrupt",
    "doorbell",
    "table",
    "register",
    "dma-error",
    "lost",
];

/// The name of an event's kind, and its flow.
fn describe(kind: &TraceKind) -> (&'static str, Option<u16>) {
    match *kind {
        TraceKind::FrameIn { .. } => ("frame-in", None),
        TraceKind::FrameDropped { flow, .. } => ("frame-dropped", flow),
        TraceKind::Verdict { flow, .. } => ("verdict", flow),
        TraceKind::Report { flow, .. } => ("report", flow),
        TraceKind::JobBegin { flow, .. } => ("job-begin", flow),
        TraceKind::JobDone { flow, .. } => ("job-done", flow),
        TraceKind::FrameOut { .. } => ("frame-out", None),
        TraceKind::Interrupt { .. } => ("interrupt", None),
        TraceKind::Doorbell { flow, .. } => ("doorbell", flow),
        TraceKind::Table { .. } => ("table", None),
        TraceKind::Register { .. } => ("register", None),
        TraceKind::DmaError { .. } => ("dma-error", None),
        TraceKind::Lost { .. } => ("lost", None),
        _ => ("unknown", None),
    }
}

/// Which events are wanted; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of these kinds ([`KINDS`]); none: of every kind.
    pub kinds: Vec<String>,
    /// Of this flow, and those that have none.
    pub flow: Option<u16>,
}

impl Filter {
    fn wants(&self, kind: &str, flow: Option<u16>) -> bool {
        let this_kind = self.kinds.is_empty() || self.kinds.iter().any(|wanted| wanted == kind);
        let this_flow = match (self.flow, flow) {
            (Some(wanted), Some(flow)) => wanted == flow,
            _ => true,
        };
        this_kind && this_flow
    }
}

/// An event on the timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its number since the ring was emptied.
    pub number: u32,
    /// The card's clock, in cycles.
    pub cycle: u64,
    /// Since the first event of the timeline.
    pub ns: f64,
    /// Since the line before.
    pub since_ns: f64,
    /// Its kind, of [`KINDS`].
    pub kind: &'static str,
    /// Its flow.
    pub flow: Option<u16>,
    /// The whole of it in words.
    pub text: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ns,
            since_ns,
            kind,
            text,
            ..
        } = self;
        write!(f, "{ns:>14.0} ns  {since_ns:>+12.0}  {kind:<13}  {text}")
    }
}

/// Makes lines of events, over any number of readings.
#[derive(Clone, Debug)]
pub struct Timeline {
    filter: Filter,
    cycle_ns: f64,
    first: Option<u64>,
    before: u64,
}

impl Timeline {
    /// For a card with a clock of so many MHz.
    pub fn new(filter: Filter, clock_mhz: f64) -> Self {
        Self {
            filter,
            cycle_ns: 1000.0 / clock_mhz,
            first: None,
            before: 0,
        }
    }

    /// The lines of a reading.
    pub fn lines(&mut self, trace: &Trace) -> Vec<Line> {
        trace
            .events
            .iter()
            .filter_map(|event| self.line(event))
            .collect()
    }

    fn line(&mut self, event: &TraceEvent) -> Option<Line> {
        let (kind, flow) = describe(&event.kind);
        if !self.filter.wants(kind, flow) {
            return None;
        }
        let first = *self.first.get_or_insert(event.time);
        let before = std::mem::replace(&mut self.before, event.time);
        let since = if first == event.time {
            event.time
        } else {
            before
        };
        let ns = |from: u64| (event.time as f64 - from as f64) * self.cycle_ns;
        Some(Line {
            number: event.number,
            cycle: event.time,
            ns: ns(first),
            since_ns: ns(since),
            kind,
            flow,
            text: event.kind.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_begins_at_its_first_line_and_filters() {
        let event = |number, time, kind| TraceEvent { number, time, kind };
        let doorbell = |flow| TraceKind::Doorbell {
            offset: 0,
            value: 1,
            flow,
        };
        let trace = Trace {
            events: vec![
                event(
                    0,
                    1000,
                    TraceKind::Interrupt {
                        vector: 0,
                        reports: 1,
                    },
                ),
                event(1, 1010, doorbell(Some(3))),
                event(2, 1020, doorbell(Some(4))),
                event(3, 1040, doorbell(None)),
            ],
            ..Trace::default()
        };
        let all = Timeline::new(Filter::default(), 250.0).lines(&trace);
        assert_eq!(
            all.iter().map(|l| l.ns).collect::<Vec<_>>(),
            [0.0, 40.0, 80.0, 160.0]
        );
        assert_eq!(
            all.iter().map(|l| l.since_ns).collect::<Vec<_>>(),
            [0.0, 40.0, 40.0, 80.0]
        );
        let filter = Filter {
            kinds: vec!["doorbell".into()],
            flow: Some(4),
        };
        let some = Timeline::new(filter, 250.0).lines(&trace);
        assert_eq!(
            some.iter().map(|l| (l.number, l.ns)).collect::<Vec<_>>(),
            [(2, 0.0), (3, 80.0)]
        );
    }
}

//! The Write, from the verbs call to its completion.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::SendWr;
use weft_hostdrv::Device;
use weft_layout::{doorbell, reg, table, Job};
use weft_sim::card::{CYCLE_NS, DOORBELLS};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::ladder::Ladder;
use weft_sim::pair::Pair;
use weft_sim::transport::lock;

use crate::diagram::{draw, Lane, Step};
use crate::page::Section;
use crate::record::{Entry, Observed, Record, What};
use crate::show;
use crate::waves::{self, Waves};

/// Decides addresses, ports and sequence numbers.
const SEED: u64 = 1;
/// Bytes to write: they leave a pad of 3 in the FPDU.
const LENGTH: usize = 101;
/// Where they lie in the source region, and where they go in the target region.
const FROM: usize = 29;
const TO: usize = 51;
/// Bytes of each region.
const REGION: usize = 4096;
/// Time after which the connection is at rest.
const REST: u64 = 200_000;
/// Cycles of waves: more than the Write takes.
const WAVES: u64 = 100_000;

/// Runs it.
pub fn live() -> Result<Vec<Section>, Box<dyn Error>> {
    if !CardKind::available().contains(&CardKind::Rtl512) {
        return Err("this build has no RTL (WEFT_NO_RTL)".into());
    }
    let folder = std::env::temp_dir().join(format!("weft-life-of-a-write-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let sections = run(&folder).and_then(|(mut sections, times)| {
        sections.extend(inside(&folder, &times)?);
        Ok(sections)
    });
    std::fs::remove_dir_all(&folder)?;
    sections
}

/// The cycles that the waves are read by.
struct Times {
    /// The doorbell.
    start: u64,
    /// The frame comes to the far card.
    arrival: u64,
}

/// What happened inside the cards; their waves are whole when the cards are gone.
fn inside(folder: &Path, times: &Times) -> Result<Vec<Section>, Box<dyn Error>> {
    let stages = |card: usize, stages, from| -> Result<String, Box<dyn Error>> {
        let mut waves = Waves::read(&folder.join(format!("card{card}.0.fst")))?;
        waves.stages(stages, from, times.start)
    };
    Ok(vec![
        Section {
            name: "inside A",
            text: stages(0, waves::SEND, times.start)?,
        },
        Section {
            name: "inside B",
            text: stages(1, waves::RECEIVE, times.arrival)?,
        },
    ])
}

fn run(folder: &Path) -> Result<(Vec<Section>, Times), Box<dyn Error>> {
    let config = FabricConfig {
        seed: SEED,
        captures: Some(folder.to_owned()),
        ..FabricConfig::default()
    };
    let record = Record::default();
    let card = |number: usize| {
        let card = CardKind::Rtl512.build(SEED, number as u32);
        Box::new(Observed::new(card, number, &record)) as Box<dyn weft_sim::card::Card>
    };
    let fabric = Fabric::with_cards(&config, vec![card(0), card(1)])?;
    lock(fabric.world()).link(0).watch();

    let source: Vec<u8> = (0..REGION).map(|at| at as u8).collect();
    let param = ConnParam::default();
    let mut pair = Pair::connect(&fabric, 4791, &param, &param, &source, REGION)?;
    pair.established()?;
    fabric.run_for(REST)?;

    let devices = fabric.devices();
    let before = engine(devices);
    let counters = [devices[0].counters()?, devices[1].counters()?];
    fabric.run_for(1_000)?;

    for card in 0..2 {
        let path = folder.join(format!("card{card}"));
        if !lock(fabric.world()).card(card).record_waves(&path, WAVES) {
            return Err("this build has no waves (RTL_SIM_TRACE)".into());
        }
    }

    // The verbs call.
    let (a, b) = (&pair.ends[0], &pair.ends[1]);
    let start = fabric.now() / CYCLE_NS;
    let to = b.target.remote().offset(TO as u64);
    let write = SendWr::write(7, to)
        .sge(a.source.sge(FROM as u64, LENGTH as u32))
        .signaled();
    a.qp.post_send(write)?;
    let completion = pair.completion(0, "the Write's completion")?;
    let end = fabric.now() / CYCLE_NS;

    let placed = b.target.to_vec(TO, LENGTH)?;
    if placed != source[FROM..FROM + LENGTH] {
        return Err("the bytes in the target region are not those of the source".into());
    }
    let all = record.since(0);
    let life: Vec<Entry> = all
        .iter()
        .filter(|e| e.cycle >= start && e.cycle <= end)
        .cloned()
        .collect();
    fabric.run_for(1_000)?;
    let after = engine(devices);
    let counted = [
        devices[0].counters()?.since(&counters[0]),
        devices[1].counters()?.since(&counters[1]),
    ];
    fabric.flush()?;
    let seen = lock(fabric.world()).link(0).take_seen();
    let number = seen
        .iter()
        .position(|s| s.time >= start * CYCLE_NS)
        .ok_or("no frame was sent")?;

    let rings = [Rings::of(&all, 0), Rings::of(&all, 1)];
    let told = Told {
        entries: &life,
        rings: &rings,
        start,
    };
    let jobs = [told.job(0)?, told.job(1)?];
    let reports = told.reports(1);
    let [placed] = reports.as_slice() else {
        return Err(format!("{} reports at the far card instead of 1", reports.len()).into());
    };
    let ack = told.reports(0);
    let [ack] = ack.as_slice() else {
        return Err("not one report of the ACK".into());
    };
    let frames: Vec<&Vec<u8>> = life.iter().filter_map(sent).collect();
    let [frame, ack_frame] = frames.as_slice() else {
        return Err("not two frames".into());
    };

    let mut verbs = String::new();
    let (lkey, rkey) = (a.source.lkey(), b.target.rkey());
    let _ = writeln!(
        verbs,
        "source region A: address {:#x}, lkey {lkey:#010x}",
        a.source.addr()
    );
    let _ = writeln!(
        verbs,
        "target region B: address {:#x}, rkey {rkey:#010x}",
        b.target.addr()
    );
    let _ = writeln!(
        verbs,
        "wr_id 7, RDMA Write, {LENGTH} bytes from lkey {lkey:#010x}:{:#x} to rkey {:#010x}:{:#x}",
        a.source.addr() + FROM as u64,
        to.rkey,
        to.addr
    );

    let mut tables = String::new();
    for (row, show) in [
        (table::STAG, show::stag_row as fn(u32, &[u8; 64]) -> String),
        (table::FLOW_RX, show::flow_rx_row),
    ] {
        let index = if row == table::STAG {
            rkey >> 8
        } else {
            u32::from(b.qp.flow())
        };
        tables += &show(index, &last_row(&all, 1, row, index).ok_or("no such row")?);
    }

    let finished = format!("{completion:#?}");
    let times = Times {
        start,
        arrival: told.cycle_of_arrival(1),
    };
    let sections = vec![
        Section {
            name: "connection",
            text: Ladder::lines(&seen[..number]).join("\n"),
        },
        Section {
            name: "verbs",
            text: verbs,
        },
        Section {
            name: "diagram",
            text: told.diagram(end),
        },
        Section {
            name: "job",
            text: show::job(&jobs[0]),
        },
        Section {
            name: "bus A",
            text: told.bus(0, 0, told.cycle_of_arrival(0)),
        },
        Section {
            name: "frame",
            text: show::frame(frame, LENGTH),
        },
        Section {
            name: "tshark",
            text: tshark(&folder.join("link0.pcapng"), number + 1)?,
        },
        Section {
            name: "tables",
            text: tables,
        },
        Section {
            name: "bus B",
            text: told.bus(1, 0, told.cycle_of_interrupt(1)),
        },
        Section {
            name: "placed report",
            text: show::placed_report(placed),
        },
        Section {
            name: "ack bus B",
            text: told.bus(1, told.cycle_of_interrupt(1), u64::MAX),
        },
        Section {
            name: "ack job",
            text: show::job(&jobs[1]),
        },
        Section {
            name: "ack frame",
            text: show::hex(ack_frame, 0),
        },
        Section {
            name: "ack bus A",
            text: told.bus(0, told.cycle_of_arrival(0), u64::MAX),
        },
        Section {
            name: "ack report",
            text: show::segment_report(ack),
        },
        Section {
            name: "completion",
            text: finished,
        },
        Section {
            name: "engine",
            text: changes(&before, &after),
        },
        Section {
            name: "counters",
            text: counts(&counted),
        },
    ];
    Ok((sections, times))
}

fn sent(entry: &Entry) -> Option<&Vec<u8>> {
    match &entry.what {
        What::Sent(frame) => Some(frame),
        _ => None,
    }
}

/// The engines' counters as text, one a line.
fn engine(devices: &[Device]) -> [Vec<String>; 2] {
    [0, 1].map(|n| {
        let text = format!("{:#?}", devices[n].engine_stats());
        text.lines()
            .map(|line| line.trim().trim_end_matches(',').to_owned())
            .collect()
    })
}

/// What changed in the engines.
fn changes(before: &[Vec<String>; 2], after: &[Vec<String>; 2]) -> String {
    let value = |line: &str| {
        line.split_once(": ")
            .and_then(|(_, v)| v.parse::<u64>().ok())
    };
    let mut text = String::new();
    for end in 0..2 {
        for (was, is) in before[end].iter().zip(&after[end]) {
            if let (Some(was), Some(now)) = (value(was), value(is)) {
                let name = is.split(':').next().unwrap_or_default();
                if now > was {
                    let _ = writeln!(
                        text,
                        "engine {}  {name:<12} +{}",
                        ["A", "B"][end],
                        now - was
                    );
                }
            }
        }
    }
    text
}

/// What the cards counted.
fn counts(counted: &[weft_hostdrv::CardCounters; 2]) -> String {
    let mut text = String::new();
    for (name, a) in counted[0].iter() {
        let b = counted[1].get(name).unwrap_or(0);
        if a > 0 || b > 0 {
            let _ = writeln!(text, "{name:<24} A {a:>4}   B {b:>4}");
        }
    }
    text
}

/// Where a card's rings are, as its driver told it.
struct Rings {
    jobs: u64,
    job_bytes: u64,
    reports: u64,
    report_bytes: u64,
}

impl Rings {
    fn of(entries: &[Entry], card: usize) -> Self {
        let last = |register: u32| {
            let value = |e: &Entry| match e.what {
                What::Write { address, value } if e.card == card && address == register => {
                    Some(value)
                }
                _ => None,
            };
            entries.iter().rev().find_map(value).unwrap_or(0)
        };
        let wide = |low, high| u64::from(last(high)) << 32 | u64::from(last(low));
        Self {
            jobs: wide(reg::JOB_BASE_LO, reg::JOB_BASE_HI),
            job_bytes: 128 << last(reg::JOB_LOG2),
            reports: wide(reg::REPORT_BASE_LO, reg::REPORT_BASE_HI),
            report_bytes: 64 << last(reg::REPORT_LOG2),
        }
    }

    fn is_report(&self, iova: u64) -> bool {
        (self.reports..self.reports + self.report_bytes).contains(&iova)
    }
}

/// The row that a card's driver wrote last.
fn last_row(entries: &[Entry], card: usize, table: u8, index: u32) -> Option<[u8; 64]> {
    let (mut window, mut found) = ([0; 64], None);
    for entry in entries.iter().filter(|e| e.card == card) {
        let What::Write { address, value } = entry.what else {
            continue;
        };
        match address {
            at @ 0x200..=0x23f => {
                window[(at - reg::TABLE_DATA) as usize..][..4].copy_from_slice(&value.to_le_bytes())
            }
            reg::TABLE_CMD if value == 1 << 28 | u32::from(table) << 24 | index => {
                found = Some(window)
            }
            _ => {}
        }
    }
    found
}

/// What happened during the Write.
struct Told<'a> {
    entries: &'a [Entry],
    rings: &'a [Rings; 2],
    start: u64,
}

impl Told<'_> {
    fn of(&self, card: usize) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |e| e.card == card)
    }

    fn cycle_of_arrival(&self, card: usize) -> u64 {
        let arrival = self.of(card).find(|e| matches!(e.what, What::Arrives(_)));
        arrival.map_or(0, |e| e.cycle)
    }

    fn cycle_of_interrupt(&self, card: usize) -> u64 {
        let interrupt = self.of(card).find(|e| matches!(e.what, What::Interrupt));
        interrupt.map_or(0, |e| e.cycle)
    }

    fn is_job(&self, card: usize, iova: u64) -> bool {
        let rings = &self.rings[card];
        (rings.jobs..rings.jobs + rings.job_bytes).contains(&iova)
    }

    /// The first job that a card got.
    fn job(&self, card: usize) -> Result<[u8; Job::SIZE], Box<dyn Error>> {
        let mut slot = Vec::new();
        for entry in self.of(card) {
            match &entry.what {
                What::Push(bytes) if slot.len() < Job::SIZE => slot.extend_from_slice(bytes),
                What::Read { iova, bytes }
                    if self.is_job(card, *iova) && slot.len() < Job::SIZE =>
                {
                    slot.extend_from_slice(bytes);
                }
                _ => {}
            }
        }
        slot.try_into()
            .map_err(|_| "the job did not come whole".into())
    }

    /// The reports a card wrote.
    fn reports(&self, card: usize) -> Vec<[u8; 64]> {
        let report = |e: &Entry| match &e.what {
            What::Place { iova, bytes } if self.rings[card].is_report(*iova) => {
                bytes.as_slice().try_into().ok()
            }
            _ => None,
        };
        self.of(card).filter_map(report).collect()
    }

    /// What a card did, line by line.
    fn bus(&self, card: usize, from: u64, to: u64) -> String {
        let mut text = String::new();
        for entry in self.of(card).filter(|e| e.cycle >= from && e.cycle <= to) {
            let what = match &entry.what {
                What::Write { address, value } => format!("write   {} = {value}", name(*address)),
                What::Push(bytes) => format!("push    {:>3} bytes  job", bytes.len()),
                What::Read { iova, bytes } => {
                    format!(
                        "read    {iova:#014x}  {:>3} bytes  {}",
                        bytes.len(),
                        if self.is_job(card, *iova) {
                            "job"
                        } else {
                            "payload"
                        }
                    )
                }
                What::Place { iova, bytes } => {
                    let kind = match (self.rings[card].is_report(*iova), bytes[0]) {
                        (true, 1) => "segment report",
                        (true, 5) => "placed report",
                        (true, _) => "report",
                        _ => "payload",
                    };
                    format!("place   {iova:#014x}  {:>3} bytes  {kind}", bytes.len())
                }
                What::Arrives(frame) => format!(
                    "frame   comes in: {} bytes, {} beats",
                    frame.len(),
                    frame.len().div_ceil(64)
                ),
                What::Sent(frame) => format!(
                    "frame   is out: {} bytes, {} beats",
                    frame.len(),
                    frame.len().div_ceil(64)
                ),
                What::Interrupt => "MSI-X   vector 0".to_owned(),
            };
            let _ = writeln!(text, "{:>6}  {what}", entry.cycle - self.start);
        }
        text
    }

    /// The whole as a sequence diagram.
    fn diagram(&self, end: u64) -> String {
        let mut steps: Vec<Step> = Vec::new();
        let lanes = [
            (Lane::HostA, Lane::MemoryA, Lane::CardA),
            (Lane::HostB, Lane::MemoryB, Lane::CardB),
        ];
        let mut step = |cycle: u64, from: Lane, to: Lane, what: String| {
            // The beats of one transfer are one arrow.
            let beat = |s: &Step| s.from == from && s.to == to && s.what == what;
            if !steps.last().is_some_and(beat) {
                steps.push(Step {
                    cycle: cycle - self.start,
                    from,
                    to,
                    what,
                });
            }
        };
        for entry in self.entries {
            let (host, memory, card) = lanes[entry.card];
            let here = entry.card;
            match &entry.what {
                What::Write { address, value } => {
                    if *address == DOORBELLS | doorbell::JOB_TAIL {
                        step(entry.cycle, host, card, format!("JOB_TAIL {value}"));
                    }
                }
                What::Push(_) => step(entry.cycle, host, card, "push".into()),
                What::Read { iova, .. } if self.is_job(here, *iova) => {
                    step(entry.cycle, memory, card, "job".into())
                }
                What::Read { .. } => step(entry.cycle, memory, card, "payload".into()),
                What::Place { iova, bytes } => {
                    let what = match (self.rings[here].is_report(*iova), bytes[0]) {
                        (true, 1) => "segment rep.",
                        (true, 5) => "placed report",
                        (true, _) => "report",
                        _ => "payload",
                    };
                    step(entry.cycle, card, memory, what.into());
                }
                What::Sent(frame) => step(
                    entry.cycle,
                    card,
                    lanes[1 - here].2,
                    format!("{} bytes", frame.len()),
                ),
                What::Arrives(_) => step(entry.cycle, card, card, "arrives".into()),
                What::Interrupt => step(entry.cycle, card, host, "interrupt".into()),
            }
        }
        step(end, Lane::HostA, Lane::HostA, "completion".into());
        draw(&steps)
    }
}

/// A register's or a doorbell's name.
fn name(address: u32) -> String {
    let doorbells = [
        ("JOB_TAIL", doorbell::JOB_TAIL),
        ("REPORT_HEAD", doorbell::REPORT_HEAD),
        ("RAW_HEAD", doorbell::RAW_HEAD),
        ("REPORT_ARM", doorbell::REPORT_ARM),
    ];
    let found = doorbells
        .iter()
        .find(|(_, at)| DOORBELLS | at == address)
        .map(|(name, _)| (*name).to_owned());
    found.unwrap_or_else(|| format!("{address:#07x}"))
}

/// What Wireshark's command makes of a frame.
fn tshark(capture: &Path, number: usize) -> Result<String, Box<dyn Error>> {
    let output = Command::new("tshark")
        .args(["-r".as_ref(), capture.as_os_str()])
        .args([
            "-Y",
            &format!("frame.number=={number}"),
            "-O",
            "iwarp_mpa,iwarp_ddp_rdmap",
        ])
        .args(["--disable-protocol", "rpcordma"])
        .output()
        .map_err(|e| format!("tshark: {e}"))?;
    if !output.status.success() {
        return Err(format!("tshark: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).replace("\n\n", "\n"))
}

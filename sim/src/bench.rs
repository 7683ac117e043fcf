//! A card on the bench: driven by hand, without driver and engine. The data-path benchmarks and the
//! tests of the card itself use it.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_card_transport::dma::{OutOfBounds, Pages};
use weft_layout::{
    doorbell,
    reg::{self, TableCmd, TableCmdRead},
    table, AttachRow, Counter, FlowKeyRow, FlowRxRow, FlowTxRow, Job, PlacedReport, ReportKind,
    SegmentReport, StagRow, TableOperation, PORT_DOORBELLS, PORT_REGISTERS,
};

use crate::card::{Card, DOORBELLS};
use crate::link::{LinkConfig, Seen};
use crate::model::tables::key_places;
use crate::model::transmit::PUSH_SLOTS;
use crate::world::{Stop, World, WorldError};

/// Memory of the bench that the card can reach.
pub struct Region {
    pages: Arc<Pages>,
    /// Where the card sees it.
    pub iova: u64,
}

impl Region {
    /// Bytes.
    pub fn len(&self) -> usize {
        self.pages.memory().len()
    }

    /// Has it no byte?
    pub fn is_empty(&self) -> bool {
        self.pages.memory().is_empty()
    }

    /// Copies bytes in.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), OutOfBounds> {
        self.pages.memory().write(offset, bytes)
    }

    /// Copies bytes out.
    pub fn read(&self, offset: usize, count: usize) -> Result<Vec<u8>, OutOfBounds> {
        self.pages.memory().to_vec(offset, count)
    }
}

/// log2 of the ring sizes of a bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rings {
    /// Jobs.
    pub job: u8,
    /// Reports.
    pub report: u8,
    /// Raw slots.
    pub raw: u8,
    /// Bytes of a raw slot.
    pub raw_slot: u8,
}

impl Default for Rings {
    fn default() -> Self {
        Self {
            job: 8,
            report: 10,
            raw: 6,
            raw_slot: 14,
        }
    }
}

/// The 4-tuple of a flow as the card sees it, and its Ethernet addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The card's address.
    pub local_mac: [u8; 6],
    /// The peer's.
    pub remote_mac: [u8; 6],
    /// The card's.
    pub local_ip: [u8; 4],
    /// The peer's.
    pub remote_ip: [u8; 4],
    /// The card's.
    pub local_port: u16,
    /// The peer's.
    pub remote_port: u16,
}

impl Ends {
    /// Addresses for flow number `flow`.
    pub fn of(flow: u16) -> Self {
        Self {
            local_mac: STATION,
            remote_mac: [0x02, 0, 0, 0, 0, 2],
            local_ip: [10, 0, 0, 1],
            remote_ip: [10, 0, 0, 2],
            local_port: 4000 + flow,
            remote_port: 50000 + flow,
        }
    }

    /// The row with which the peer would send to this end.
    pub fn peer_tx(&self, flags: u8, marker_base: u32) -> FlowTxRow {
        Self {
            local_mac: self.remote_mac,
            remote_mac: self.local_mac,
            local_ip: self.remote_ip,
            remote_ip: self.local_ip,
            local_port: self.remote_port,
            remote_port: self.local_port,
        }
        .tx(flags, marker_base)
    }

    /// The row with which this end sends.
    pub fn tx(&self, flags: u8, marker_base: u32) -> FlowTxRow {
        FlowTxRow {
            flags,
            ttl: 64,
            tos: 0,
            remote_mac: self.remote_mac,
            local_mac: self.local_mac,
            local_ip: self.local_ip,
            remote_ip: self.remote_ip,
            local_port: self.local_port.to_be_bytes(),
            remote_port: self.remote_port.to_be_bytes(),
            marker_base,
            pack: 0,
        }
    }
}

/// The station address of the card on the bench.
pub const STATION: [u8; 6] = [0x02, 0, 0, 0, 0, 1];

/// The bench.
pub struct Bench {
    /// The world with the card as number 0; its link 0 ends at the bench.
    pub world: World,
    flows: u32,
    /// Places of FLOW_KEY, and whose each is.
    keys: BTreeMap<u32, [u8; 12]>,
    rings: Rings,
    /// Of the card's ports, those that are used.
    ports: Vec<Port>,
    /// The one that jobs go to.
    port: usize,
    hold_raw: bool,
    portion: u32,
}

/// The rings of a port, and how far the bench is with them.
struct Port {
    jobs: Region,
    report: Region,
    raw: Region,
    job_tail: u32,
    /// Jobs that the card was told of.
    job_told: u32,
    report_head: u32,
    raw_head: u32,
    raw_told: u32,
    report_told: u32,
    /// The rings before these, in which may be what was on its way when these were set up.
    before: Option<Before>,
}

/// Rings that were given up, and how far the bench is with them.
struct Before {
    report: Region,
    raw: Region,
    report_head: u32,
    raw_head: u32,
}

/// The next report of a ring, if it is there.
fn next_report(ring: &Region, log2: u8, head: &mut u32) -> Option<[u8; 64]> {
    let slot = (*head & ((1 << log2) - 1)) as usize * 64;
    let phase = !(*head >> log2) as u8 & SegmentReport::PHASE;
    let report = <[u8; 64]>::try_from(ring.read(slot, 64).ok()?).ok()?;
    let is_there = report[SegmentReport::PHASE_AT] & SegmentReport::PHASE == phase;
    is_there.then(|| *head = head.wrapping_add(1))?;
    Some(report)
}

impl Port {
    /// The next report, of the rings before these first.
    fn next_report(&mut self, log2: u8) -> Option<[u8; 64]> {
        let before = self.before.as_mut();
        before
            .and_then(|b| next_report(&b.report, log2, &mut b.report_head))
            .or_else(|| next_report(&self.report, log2, &mut self.report_head))
    }

    /// The frame of a raw slot. Slots are taken in order, from 0 on where a ring begins.
    fn raw_frame(&mut self, slot: u16, len: usize, rings: &Rings) -> Vec<u8> {
        let at = usize::from(slot) << rings.raw_slot;
        let mask = (1u32 << rings.raw) - 1;
        if let Some(before) = self.before.as_mut().filter(|_| self.raw_head == 0) {
            let frame = before.raw.read(at, len).unwrap_or_default();
            // In new memory nobody has been yet.
            if u32::from(slot) == before.raw_head & mask && frame.iter().any(|byte| *byte != 0) {
                before.raw_head = before.raw_head.wrapping_add(1);
                return frame;
            }
        }
        assert_eq!(
            u32::from(slot),
            self.raw_head & mask,
            "slots are taken in order"
        );
        self.raw_head = self.raw_head.wrapping_add(1);
        self.raw.read(at, len).unwrap_or_default()
    }
}

impl Bench {
    /// Brings a card up: rings, station address, job fetch and receive on.
    pub fn new(
        card: Box<dyn Card>,
        seed: u64,
        link: LinkConfig,
        rings: Rings,
    ) -> Result<Self, WorldError> {
        Self::with_ports(card, seed, link, rings, 1)
    }

    /// The same, with rings for so many of the card's ports.
    pub fn with_ports(
        card: Box<dyn Card>,
        seed: u64,
        link: LinkConfig,
        rings: Rings,
        ports: usize,
    ) -> Result<Self, WorldError> {
        let mut world = World::new(seed);
        let number = world.add_card(card);
        world.open_link(number, link);
        let mut region = |len: usize| region(&mut world, len);
        let mut port = || Port {
            jobs: region(Job::SIZE << rings.job),
            report: region(64 << rings.report),
            raw: region(1 << (rings.raw + rings.raw_slot)),
            job_tail: 0,
            job_told: 0,
            report_head: 0,
            raw_head: 0,
            raw_told: 0,
            report_told: 0,
            before: None,
        };
        let ports = (0..ports).map(|_| port()).collect();
        let mut bench = Self {
            world,
            flows: 0,
            keys: BTreeMap::new(),
            rings,
            ports,
            port: 0,
            hold_raw: false,
            portion: 1 << rings.report >> 2,
        };
        bench.set_up()?;
        Ok(bench)
    }

    fn set_up(&mut self) -> Result<(), WorldError> {
        for port in 0..self.ports.len() {
            self.write_rings(port);
            let behind = port as u32 * PORT_REGISTERS;
            let jobs = self.ports[port].jobs.iova;
            self.write(behind + reg::JOB_BASE_LO, jobs as u32);
            self.write(behind + reg::JOB_BASE_HI, (jobs >> 32) as u32);
            self.write(behind + reg::JOB_LOG2, self.rings.job.into());
        }
        self.write(
            reg::MAC_LO,
            u32::from_le_bytes([STATION[0], STATION[1], STATION[2], STATION[3]]),
        );
        self.write(
            reg::MAC_HI,
            u16::from_le_bytes([STATION[4], STATION[5]]).into(),
        );
        self.write(reg::CTRL, reg::Ctrl::JOBS | reg::Ctrl::RECEIVE);
        self.flows = 1 << reg::Caps(self.read(reg::CAPS)?).flows_log2();
        Ok(())
    }

    /// The registers of a port's rings for reports and raw frames.
    fn write_rings(&mut self, port: usize) {
        let behind = port as u32 * PORT_REGISTERS;
        let Port { report, raw, .. } = &self.ports[port];
        let shape = reg::RawLog2::default()
            .with_slot(self.rings.raw_slot)
            .with_count(self.rings.raw);
        for (low, base, log2, shape) in [
            (
                reg::REPORT_BASE_LO,
                report.iova,
                reg::REPORT_LOG2,
                self.rings.report.into(),
            ),
            (reg::RAW_BASE_LO, raw.iova, reg::RAW_LOG2, shape.0),
        ] {
            self.write(behind + low, base as u32);
            self.write(behind + low + 4, (base >> 32) as u32);
            self.write(behind + log2, shape);
        }
    }

    /// New rings for the reports and raw frames of a port, in new memory, whatever is on its way. Reports are read from both.
    pub fn renew_rings(&mut self, number: usize) {
        let rings = self.rings;
        let report = self.region(64 << rings.report);
        let raw = self.region(1 << (rings.raw + rings.raw_slot));
        let port = &mut self.ports[number];
        port.before = Some(Before {
            report: std::mem::replace(&mut port.report, report),
            raw: std::mem::replace(&mut port.raw, raw),
            report_head: port.report_head,
            raw_head: port.raw_head,
        });
        (port.report_head, port.report_told) = (0, 0);
        (port.raw_head, port.raw_told) = (0, 0);
        self.write_rings(number);
    }

    /// Reports and raw frames of a port that were taken out of its present rings.
    pub fn heads(&self, port: usize) -> (u32, u32) {
        (self.ports[port].report_head, self.ports[port].raw_head)
    }

    /// After a reset: empty rings, set up anew.
    pub fn start_again(&mut self) -> Result<(), WorldError> {
        for port in &mut self.ports {
            for region in [&port.jobs, &port.report, &port.raw] {
                let cleared = region.write(0, &vec![0; region.len()]);
                assert!(cleared.is_ok(), "a region has its length");
            }
            (port.job_tail, port.job_told) = (0, 0);
            (port.report_head, port.report_told) = (0, 0);
            (port.raw_head, port.raw_told) = (0, 0);
            port.before = None;
        }
        self.keys.clear();
        self.set_up()
    }

    /// Jobs go to this port from now on.
    pub fn use_port(&mut self, port: usize) {
        assert!(port < self.ports.len(), "it has rings");
        self.port = port;
    }

    /// What is in the first port's memory: reports, raw frames.
    pub fn rings(&self) -> [Vec<u8>; 2] {
        [&self.ports[0].report, &self.ports[0].raw].map(|r| r.read(0, r.len()).unwrap_or_default())
    }

    /// Flows that the card has.
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// New memory for the card to reach.
    pub fn region(&mut self, len: usize) -> Region {
        region(&mut self.world, len)
    }

    /// Writes a register.
    pub fn write(&mut self, register: u32, value: u32) {
        self.world.write(0, register, value);
    }

    /// Reads a register.
    pub fn read(&mut self, register: u32) -> Result<u32, WorldError> {
        self.world.read(0, register)
    }

    /// Rings a doorbell.
    pub fn ring(&mut self, doorbell: u32, value: u32) {
        self.world.write(0, DOORBELLS + doorbell, value);
    }

    /// A counter.
    pub fn counter(&mut self, counter: Counter) -> Result<u32, WorldError> {
        self.read(reg::COUNTERS + 4 * counter as u32)
    }

    /// Writes a table row; `false` if refused or not applied.
    pub fn write_table(
        &mut self,
        table: u8,
        index: u32,
        row: &[u8; 64],
    ) -> Result<bool, WorldError> {
        for (i, word) in row.chunks_exact(4).enumerate() {
            self.write(
                reg::TABLE_DATA + 4 * i as u32,
                u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
            );
        }
        self.table(TableOperation::Write, table, index)
    }

    fn table(
        &mut self,
        operation: TableOperation,
        table: u8,
        index: u32,
    ) -> Result<bool, WorldError> {
        let command = TableCmd::default()
            .with_operation(operation)
            .with_table(table)
            .with_index(index);
        self.write(reg::TABLE_CMD, command.0);
        Ok(!TableCmdRead(self.read(reg::TABLE_CMD)?).refused())
    }

    /// Reads a table row; `None` if refused.
    pub fn read_table(&mut self, table: u8, index: u32) -> Result<Option<[u8; 64]>, WorldError> {
        if !self.table(TableOperation::Read, table, index)? {
            return Ok(None);
        }
        let mut row = [0; 64];
        for (i, word) in row.chunks_exact_mut(4).enumerate() {
            word.copy_from_slice(&self.read(reg::TABLE_DATA + 4 * i as u32)?.to_le_bytes());
        }
        Ok(Some(row))
    }

    /// Sets up a flow: key, both rows, attached at `attach`.
    pub fn flow(
        &mut self,
        flow: u16,
        ends: &Ends,
        rx: &FlowRxRow,
        tx: &FlowTxRow,
        attach: &AttachRow,
    ) -> Result<(), WorldError> {
        let mut key = [0; 12];
        key[..4].copy_from_slice(&ends.remote_ip);
        key[4..8].copy_from_slice(&ends.local_ip);
        key[8..10].copy_from_slice(&ends.remote_port.to_be_bytes());
        key[10..].copy_from_slice(&ends.local_port.to_be_bytes());
        let row = FlowKeyRow {
            valid: FlowKeyRow::VALID,
            flow,
            remote_ip: ends.remote_ip,
            local_ip: ends.local_ip,
            remote_port: ends.remote_port.to_be_bytes(),
            local_port: ends.local_port.to_be_bytes(),
        };
        // The place by the flow's number, so that all four are used, or the next one that nobody else has.
        let mut places = key_places(&key, self.flows);
        places.rotate_left(usize::from(flow & 3));
        let is_free = |place: &&u32| self.keys.get(place).is_none_or(|of| *of == key);
        let index = *places.iter().find(is_free).unwrap_or(&places[0]);
        self.keys.insert(index, key);
        self.write_table(table::FLOW_RX, flow.into(), &rx.to_bytes())?;
        self.write_table(table::FLOW_TX, flow.into(), &tx.to_bytes())?;
        self.write_table(
            table::ATTACH,
            flow.into(),
            &AttachRow {
                attached: 0,
                ..*attach
            }
            .to_bytes(),
        )?;
        if attach.attached != 0 {
            self.write_table(table::ATTACH, flow.into(), &attach.to_bytes())?;
        }
        self.write_table(table::FLOW_KEY, index, &row.to_bytes())?;
        Ok(())
    }

    /// Sets up a region of the card.
    pub fn stag(&mut self, stag: u32, row: &StagRow) -> Result<(), WorldError> {
        self.write_table(table::STAG, stag >> 8, &row.to_bytes())?;
        Ok(())
    }

    /// Where a job lies in its ring.
    fn job_place(&self, number: u32) -> usize {
        (number & ((1 << self.rings.job) - 1)) as usize * Job::SIZE
    }

    /// Writes a job slot without ringing the doorbell. `inline` goes to byte 64 on.
    pub fn post(&mut self, job: &Job, inline: &[u8]) -> u32 {
        let number = self.ports[self.port].job_tail;
        let slot = self.job_place(number);
        let mut bytes = job.to_bytes();
        if !inline.is_empty() {
            bytes[64..64 + inline.len()].copy_from_slice(inline);
        }
        bytes[Job::NUMBER_AT..Job::NUMBER_AT + 4].copy_from_slice(&number.to_le_bytes());
        let port = &mut self.ports[self.port];
        let written = port.jobs.write(slot, &bytes);
        assert!(written.is_ok(), "the job ring has this slot");
        port.job_tail = number.wrapping_add(1);
        number
    }

    /// Rings the doorbell for the jobs posted.
    pub fn ring_jobs(&mut self) {
        let port = &mut self.ports[self.port];
        let tail = port.job_tail;
        port.job_told = tail;
        self.ring(doorbell::JOB_TAIL + self.port as u32 * PORT_DOORBELLS, tail);
    }

    /// Writes the jobs posted into the push window instead, which the first port has; at most as many as it has slots may be under way.
    pub fn push_jobs(&mut self) {
        assert_eq!(self.port, 0, "the push window is the first port's");
        while self.ports[0].job_told != self.ports[0].job_tail {
            let number = self.ports[0].job_told;
            let at = self.job_place(number);
            let job = self.ports[0].jobs.read(at, Job::SIZE).unwrap_or_default();
            let slot = number % PUSH_SLOTS * Job::SIZE as u32;
            self.world
                .write_block(0, DOORBELLS + doorbell::JOB_PUSH + slot, &job);
            self.ports[0].job_told = number.wrapping_add(1);
        }
    }

    /// Keeps raw slots instead of freeing them with their reports.
    pub fn hold_raw(&mut self, hold: bool) {
        self.hold_raw = hold;
    }

    /// Raw frames of the first port whose reports were taken.
    pub fn raw_seen(&self) -> u32 {
        self.ports[0].raw_head
    }

    /// Gives report slots back when so many have been taken; a quarter of the ring if nobody says it.
    pub fn give_back(&mut self, portion: u32) {
        self.portion = portion;
    }

    /// Takes the reports that are there, each with its raw frame, and gives their room back. One that stands for two comes as the two.
    pub fn reports(&mut self) -> Vec<Report> {
        self.some_reports(usize::MAX)
    }

    /// Takes so many reports at most.
    pub fn some_reports(&mut self, most: usize) -> Vec<Report> {
        let written = self.reports_as_written(most);
        written.into_iter().flat_map(apart).collect()
    }

    /// Takes so many reports at most of each port, as the card wrote them; those of the first port come first.
    pub fn reports_as_written(&mut self, most: usize) -> Vec<Report> {
        let mut all = Vec::new();
        for number in 0..self.ports.len() {
            all.extend(self.reports_of_port(number, most));
        }
        all
    }

    /// Takes so many reports of a port at most.
    pub fn reports_of_port(&mut self, number: usize, most: usize) -> Vec<Report> {
        let mut all = Vec::new();
        let port = &mut self.ports[number];
        while all.len() < most {
            let Some(report) = port.next_report(self.rings.report) else {
                break;
            };
            // A frame report has its raw slot where a segment report has it.
            let segment = SegmentReport::from_bytes(&report);
            let has_raw = match segment.kind() {
                Ok(ReportKind::Frame) => true,
                Ok(ReportKind::Segment) => segment.raw(),
                _ => false,
            };
            let len = segment.raw_len.into();
            let raw = has_raw.then(|| port.raw_frame(segment.raw_slot, len, &self.rings));
            all.push((report, raw));
        }
        let behind = number as u32 * PORT_DOORBELLS;
        let (reports, raw) = (port.report_head, port.raw_head);
        let give_reports = reports.wrapping_sub(port.report_told) >= self.portion;
        let give_raw = raw != port.raw_told && !self.hold_raw;
        if give_reports {
            port.report_told = reports;
        }
        if give_raw {
            port.raw_told = raw;
        }
        if give_reports {
            self.ring(behind + doorbell::REPORT_HEAD, reports);
        }
        if give_raw {
            self.ring(behind + doorbell::RAW_HEAD, raw);
        }
        all
    }

    /// Runs until nothing is left to happen, or `limit` ns have passed.
    pub fn settle(&mut self, limit: u64) -> Result<Stop, WorldError> {
        let end = self.world.now() + limit;
        loop {
            match self.world.settle(end)? {
                Stop::Interrupt => {}
                stop => return Ok(stop),
            }
        }
    }

    /// Sends a frame to the card.
    pub fn inject(&mut self, frame: Vec<u8>) {
        self.world.inject(0, frame);
    }

    /// The frames the card sent since the last call.
    pub fn sent(&mut self) -> Vec<Seen> {
        let link = self.world.link(0);
        let seen = link.take_seen();
        link.watch();
        seen.into_iter().filter(|s| s.from == 0).collect()
    }
}

/// A report and its raw frame.
pub type Report = ([u8; 64], Option<Vec<u8>>);

/// The reports that one stands for.
fn apart(report: Report) -> Vec<Report> {
    let placed = PlacedReport::from_bytes(&report.0);
    if placed.kind() != Ok(ReportKind::Placed) {
        return vec![report];
    }
    vec![
        (placed.fpdu().to_bytes(), None),
        (placed.segment().to_bytes(), None),
    ]
}

fn region(world: &mut World, len: usize) -> Region {
    let pages = Pages::new(len);
    assert!(pages.is_some(), "no memory for {len} bytes");
    let Some(pages) = pages else { unreachable!() };
    let pages = Arc::new(pages);
    let iova = world.iommu(0).map(Arc::clone(&pages));
    Region { pages, iova }
}

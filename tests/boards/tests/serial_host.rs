//! `serial_host` against a model of the host's end: everything arrives once, in order, whole; and what is wrong with the stream is told and ends the link.

use rtl_sim::{replay, Pace, Run, Sim, Stall};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use weft_board_tests::{crc32, enter_reset, serial_host, CRC32C};

type Failed = Box<dyn Error>;

/// Host memory: one block of bursts.
const MEMORY: usize = 16384;
/// Where it is. What is not in it is refused.
const BASE: u64 = 0x7b00_0000_4000;

const SYNC: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;
const DATA: u8 = 4;
const READ_ERROR: u8 = 5;
const WRITTEN: u8 = 6;
const WRITE_ERROR: u8 = 7;

/// What the card asks for on AXI.
#[derive(Clone, Debug)]
enum Ask {
    /// Address, beats, ID.
    Read(u64, usize, u8),
    /// Address, first and last byte strobed (none if equal), beats, data.
    Write(u64, usize, usize, Vec<u8>),
}

fn inside(address: u64, count: usize) -> Option<usize> {
    let offset = usize::try_from(address.checked_sub(BASE)?).ok()?;
    (offset + count <= MEMORY).then_some(offset)
}

impl Ask {
    fn any(rng: &mut fastrand::Rng) -> Ask {
        let beats = [1, 2, 4, 16, 64, 256][rng.usize(0..6)];
        let beats = rng.usize(1..=beats);
        let page = [0, 1, 2, 3, 4, 9][rng.usize(0..6)];
        let address = BASE + 4096 * page + 16 * rng.u64(0..=256 - beats as u64);
        if rng.bool() {
            return Ask::Read(address, beats, rng.u8(0..3));
        }
        let mut data = vec![0; 16 * beats];
        rng.fill(&mut data);
        // Beats without a strobe at either end: a drain.
        let first = if rng.u32(0..6) == 0 {
            rng.usize(0..data.len())
        } else {
            rng.usize(0..16)
        };
        let last = match rng.u32(0..6) {
            0 => rng.usize(first..=data.len()),
            _ => (data.len() - rng.usize(0..16)).max(first),
        };
        Ask::Write(address, first, last, data)
    }
}

/// The card's side, and the bytes of the line.
struct Bench {
    sim: Sim<serial_host::Model>,
    paces: [Pace; 8],
    to_card: VecDeque<u8>,
    from_card: Vec<u8>,
    /// Frames of the host so far, and expected from the card.
    sent: u8,
    expected: u8,
    /// Registers, and accesses of them that came.
    registers: BTreeMap<u32, u32>,
    written: Vec<(u32, u32)>,
    aw: Option<u32>,
    w: Option<u32>,
    b: bool,
    r: Option<u32>,
    /// AXI: asked, and answered: error, data.
    asks: VecDeque<Ask>,
    reads: VecDeque<Ask>,
    writes: VecDeque<Ask>,
    w_beat: usize,
    r_data: Vec<u8>,
    r_error: bool,
    answered: Vec<(Ask, bool, Vec<u8>)>,
    /// Interrupts to ask for.
    irqs: VecDeque<u8>,
    irqs_taken: usize,
}

impl Bench {
    fn new(run: &Run, rng: &mut fastrand::Rng) -> Bench {
        let mut sim = run.sim::<serial_host::Model>();
        enter_reset(&mut sim);
        sim.reset(4);
        Bench {
            sim,
            paces: [(); 8].map(|()| Pace::new(Stall::any(rng), rng.fork())),
            to_card: VecDeque::new(),
            from_card: Vec::new(),
            sent: 0,
            expected: 0,
            registers: BTreeMap::new(),
            written: Vec::new(),
            aw: None,
            w: None,
            b: false,
            r: None,
            asks: VecDeque::new(),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            w_beat: 0,
            r_data: Vec::new(),
            r_error: false,
            answered: Vec::new(),
            irqs: VecDeque::new(),
            irqs_taken: 0,
        }
    }

    /// One frame as the host makes it.
    fn frame(kind: u8, sequence: u8, payload: &[u8]) -> Vec<u8> {
        let [low, high] = (payload.len() as u16).to_le_bytes();
        let mut frame = [&[kind, sequence, low, high], payload].concat();
        frame.extend(crc32(CRC32C, &frame).to_le_bytes());
        frame
    }

    fn say(&mut self, kind: u8, payload: &[u8]) {
        self.to_card.extend(Self::frame(kind, self.sent, payload));
        self.sent = self.sent.wrapping_add(1);
    }

    /// The next whole frame of the card: kind, payload.
    fn hear(&mut self) -> Result<Option<(u8, Vec<u8>)>, Failed> {
        let &[kind, sequence, low, high, ..] = &self.from_card[..] else {
            return Ok(None);
        };
        let end = 4 + usize::from(low) + 256 * usize::from(high);
        if self.from_card.len() < end + 4 {
            return Ok(None);
        }
        let frame: Vec<u8> = self.from_card.drain(..end + 4).collect();
        if crc32(CRC32C, &frame[..end]).to_le_bytes() != frame[end..] {
            return Err(format!("a CRC is wrong: {frame:02x?}").into());
        }
        if sequence != self.expected {
            return Err(format!("frame {sequence} instead of {}", self.expected).into());
        }
        self.expected = self.expected.wrapping_add(1);
        Ok(Some((kind, frame[4..end].to_vec())))
    }

    /// Begins anew, with bytes before it that end whatever frame there was.
    fn sync(&mut self, nonce: u32, fill: usize) {
        self.to_card.extend(std::iter::repeat_n(0, fill));
        self.sent = 0;
        self.say(SYNC, &nonce.to_le_bytes());
    }

    /// A cycle of all interfaces.
    fn cycle(&mut self) -> Result<(), Failed> {
        self.sim.step();
        let (i, o) = (&mut self.sim.inputs, &self.sim.outputs);
        // Bytes.
        if i.rx_valid && o.rx_ready {
            self.to_card.pop_front();
        }
        if o.tx_valid && i.tx_ready {
            self.from_card.push(o.tx_byte);
        }
        // A byte that waits is the same whatever happens to those behind it.
        i.rx_valid =
            !self.to_card.is_empty() && (i.rx_valid && !o.rx_ready || self.paces[0].start());
        i.rx_byte = self.to_card.front().copied().unwrap_or(0xee);
        i.tx_ready = self.paces[1].next(o.tx_valid && !i.tx_ready);
        // Registers.
        if o.m_axil_awvalid && i.m_axil_awready {
            self.aw = Some(o.m_axil_awaddr);
        }
        if o.m_axil_wvalid && i.m_axil_wready {
            self.w = Some(o.m_axil_wdata);
        }
        if i.m_axil_bvalid && o.m_axil_bready {
            (i.m_axil_bvalid, self.b) = (false, false);
        }
        if let (Some(address), Some(value), false) = (self.aw, self.w, self.b) {
            self.registers.insert(address, value);
            self.written.push((address, value));
            (self.aw, self.w, self.b) = (None, None, true);
        }
        i.m_axil_awready = self.aw.is_none() && self.paces[2].next(o.m_axil_awvalid);
        i.m_axil_wready = self.w.is_none() && self.paces[3].next(o.m_axil_wvalid);
        i.m_axil_bvalid |= self.b && self.paces[4].start();
        if i.m_axil_rvalid && o.m_axil_rready {
            (i.m_axil_rvalid, self.r) = (false, None);
        }
        if o.m_axil_arvalid && i.m_axil_arready {
            self.r = Some(self.registers.get(&o.m_axil_araddr).copied().unwrap_or(0));
        }
        i.m_axil_arready = self.r.is_none() && self.paces[2].next(o.m_axil_arvalid);
        i.m_axil_rvalid |= self.r.is_some() && self.paces[4].start();
        i.m_axil_rdata = self.r.unwrap_or(0xdead_beef);
        // AXI writes.
        if i.s_axi_awvalid && o.s_axi_awready {
            i.s_axi_awvalid = false;
        }
        if i.s_axi_wvalid && o.s_axi_wready {
            i.s_axi_wvalid = false;
            self.w_beat += 1;
        }
        if o.s_axi_bvalid && i.s_axi_bready {
            let ask = self.writes.pop_front().ok_or("an answer to no write")?;
            self.answered.push((ask, o.s_axi_bresp != 0, Vec::new()));
            self.w_beat = 0;
        }
        // AXI reads.
        if i.s_axi_arvalid && o.s_axi_arready {
            i.s_axi_arvalid = false;
        }
        if o.s_axi_rvalid && i.s_axi_rready {
            let Some(Ask::Read(_, beats, id)) = self.reads.front() else {
                return Err("an answer to no read".into());
            };
            self.r_data.extend_from_slice(&o.s_axi_rdata);
            self.r_error |= o.s_axi_rresp != 0;
            if o.s_axi_rid != *id || o.s_axi_rlast != (self.r_data.len() == 16 * beats) {
                return Err("RID or RLAST".into());
            }
            if o.s_axi_rlast {
                let ask = self.reads.pop_front().ok_or("a read")?;
                self.answered.push((
                    ask,
                    std::mem::take(&mut self.r_error),
                    std::mem::take(&mut self.r_data),
                ));
            }
        }
        i.s_axi_bready = self.paces[5].next(o.s_axi_bvalid);
        i.s_axi_rready = self.paces[6].next(o.s_axi_rvalid);
        if !self.asks.is_empty() && self.paces[7].start() {
            match &self.asks[0] {
                Ask::Read(address, beats, id) if self.reads.is_empty() => {
                    (i.s_axi_arvalid, i.s_axi_araddr, i.s_axi_arlen, i.s_axi_arid) =
                        (true, *address, (*beats - 1) as u8, *id);
                    self.reads.extend(self.asks.pop_front());
                }
                Ask::Write(address, ..) if self.writes.is_empty() => {
                    (i.s_axi_awvalid, i.s_axi_awaddr) = (true, *address);
                    self.writes.extend(self.asks.pop_front());
                }
                _ => {}
            }
        }
        if let Some(Ask::Write(_, first, last, data)) = self.writes.front() {
            let at = 16 * self.w_beat;
            if !i.s_axi_wvalid && at < data.len() && !i.s_axi_awvalid {
                i.s_axi_wvalid = true;
                i.s_axi_wdata.copy_from_slice(&data[at..at + 16]);
                i.s_axi_wstrb = (0..16).fold(0, |s, n| {
                    s | u16::from((*first..*last).contains(&(at + n))) << n
                });
                i.s_axi_wlast = at + 16 == data.len();
            }
        }
        // Interrupts.
        if i.msix_valid && o.msix_ready {
            self.irqs.pop_front();
            self.irqs_taken += 1;
        }
        i.msix_valid = !self.irqs.is_empty();
        i.msix_vector = self.irqs.front().copied().unwrap_or(0);
        Ok(())
    }

    /// Cycles until the card has a frame.
    fn until_heard(&mut self) -> Result<(u8, Vec<u8>), Failed> {
        for _ in 0..400_000 {
            if let Some(frame) = self.hear()? {
                return Ok(frame);
            }
            self.cycle()?;
        }
        Err("the card says nothing".into())
    }

    /// Begins, and expects the answer.
    fn link_up(&mut self, nonce: u32, fill: usize) -> Result<(), Failed> {
        self.sync(nonce, fill);
        self.expected = 0;
        let want = [nonce.to_le_bytes(), 1_u32.to_le_bytes()].concat();
        if self.until_heard()? != (0x81, want) {
            return Err("another answer to SYNC".into());
        }
        Ok(())
    }
}

/// What the host does with what it hears.
struct Host {
    memory: Vec<u8>,
    values: Vec<u32>,
    irqs: Vec<u8>,
    /// Answers that take their time.
    later: VecDeque<(u32, u8, Vec<u8>)>,
}

impl Host {
    fn new(rng: &mut fastrand::Rng) -> Host {
        let mut memory = vec![0; MEMORY];
        rng.fill(&mut memory);
        Host {
            memory,
            values: Vec::new(),
            irqs: Vec::new(),
            later: VecDeque::new(),
        }
    }

    fn take(&mut self, kind: u8, payload: &[u8], rng: &mut fastrand::Rng) -> Result<(), Failed> {
        let address = || u64::from_le_bytes(payload[..8].try_into().expect("8 bytes"));
        let delay = if rng.bool() { 0 } else { rng.u32(0..300) };
        match kind {
            0x82 => self.values.push(u32::from_le_bytes(payload.try_into()?)),
            0x83 => {
                let count = usize::from(u16::from_le_bytes([payload[8], payload[9]]));
                self.later.push_back(match inside(address(), count) {
                    Some(at) => (delay, DATA, self.memory[at..at + count].to_vec()),
                    None => (delay, READ_ERROR, vec![]),
                });
            }
            0x84 => {
                let data = &payload[8..];
                self.later.push_back(match inside(address(), data.len()) {
                    Some(at) => {
                        self.memory[at..at + data.len()].copy_from_slice(data);
                        (delay, WRITTEN, vec![])
                    }
                    None => (delay, WRITE_ERROR, vec![]),
                });
            }
            0x85 => self.irqs.push(payload[0]),
            _ => return Err(format!("frame {kind:#x} {payload:02x?}").into()),
        }
        Ok(())
    }

    /// The next answer, when it is due.
    fn answer(&mut self, bench: &mut Bench) {
        if let Some((delay, kind, payload)) = self.later.front_mut() {
            if *delay > 0 {
                *delay -= 1;
            } else {
                bench.say(*kind, payload);
                self.later.pop_front();
            }
        }
    }
}

#[test]
fn everything_arrives_once_and_whole() {
    replay("serial_host", 0..24, |run| {
        let mut rng = run.seed.rng("test");
        let mut bench = Bench::new(run, &mut rng);
        let mut host = Host::new(&mut rng);
        bench.link_up(rng.u32(..), rng.usize(0..9))?;
        bench.asks = (0..60).map(|_| Ask::any(&mut rng)).collect();
        let asked = bench.asks.clone();
        bench.irqs = (0..20).map(|_| rng.u8(0..32)).collect();
        let irqs: Vec<u8> = bench.irqs.iter().copied().collect();
        let mut model: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut written, mut values) = (Vec::new(), Vec::new());
        let mut left = 100;
        let mut calm = 0;
        for _ in 0..3_000_000 {
            bench.cycle()?;
            while let Some((kind, payload)) = bench.hear()? {
                host.take(kind, &payload, &mut rng)?;
            }
            host.answer(&mut bench);
            if left > 0 && rng.u32(0..100) == 0 {
                left -= 1;
                let address = (4 * rng.u32(0..1 << 15) % 256) | (rng.u32(0..2) << 16);
                if rng.bool() {
                    let value = rng.u32(..);
                    model.insert(address, value);
                    written.push((address, value));
                    bench.say(
                        WRITE,
                        &[address.to_le_bytes(), value.to_le_bytes()].concat(),
                    );
                } else {
                    values.push(model.get(&address).copied().unwrap_or(0));
                    bench.say(READ, &address.to_le_bytes());
                }
            }
            let done = left == 0
                && bench.answered.len() == asked.len()
                && host.values.len() == values.len()
                && bench.irqs.is_empty();
            calm = if done { calm + 1 } else { 0 };
            if calm > 2000 {
                break;
            }
        }
        if calm <= 2000 {
            return Err(format!(
                "not at rest: {} of {} bursts, {} of {} values",
                bench.answered.len(),
                asked.len(),
                host.values.len(),
                values.len()
            )
            .into());
        }
        if bench.written != written || host.values != values || host.irqs != irqs {
            return Err("registers or interrupts differ".into());
        }
        for (ask, error, data) in &bench.answered {
            match ask {
                Ask::Read(address, beats, _) => match inside(*address, 16 * beats) {
                    None if *error => {}
                    // What a write under way had changed by then is not known here: the next test compares.
                    Some(_) if !error && data.len() == 16 * beats => {}
                    _ => {
                        return Err(
                            format!("a read at {address:#x} ended with error: {error}").into()
                        )
                    }
                },
                Ask::Write(address, first, last, _) => {
                    let refused =
                        first < last && inside(address + *first as u64, last - first).is_none();
                    if refused != *error {
                        return Err(
                            format!("a write at {address:#x} ended with error: {error}").into()
                        );
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn one_after_the_other_memory_is_what_was_written() {
    replay("serial_host_memory", 0..16, |run| {
        let mut rng = run.seed.rng("test");
        let mut bench = Bench::new(run, &mut rng);
        let mut host = Host::new(&mut rng);
        bench.link_up(rng.u32(..), 0)?;
        let mut model = host.memory.clone();
        for number in 0..80 {
            let ask = Ask::any(&mut rng);
            bench.asks.push_back(ask.clone());
            for _ in 0..200_000 {
                if bench.answered.len() > number {
                    break;
                }
                bench.cycle()?;
                while let Some((kind, payload)) = bench.hear()? {
                    host.take(kind, &payload, &mut rng)?;
                }
                host.answer(&mut bench);
            }
            let (_, error, got) = bench.answered.get(number).ok_or("no answer")?;
            match ask {
                Ask::Read(address, beats, _) => {
                    let want = inside(address, 16 * beats).map(|at| &model[at..at + 16 * beats]);
                    if want.is_none() != *error || want.is_some_and(|want| want != got) {
                        return Err(format!("a read of {beats} beats at {address:#x}").into());
                    }
                }
                Ask::Write(address, first, last, data) => {
                    if let Some(at) = inside(address, data.len()) {
                        model[at + first..at + last].copy_from_slice(&data[first..last]);
                    }
                    if model != host.memory {
                        return Err(format!("a write of {first}..{last} at {address:#x}").into());
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_broken_stream_is_told_and_ends_the_link() {
    replay("serial_host_faults", 0..40, |run| {
        let mut rng = run.seed.rng("test");
        let mut bench = Bench::new(run, &mut rng);
        let mut host = Host::new(&mut rng);
        // Before the first SYNC nothing is heard, and memory does not answer.
        bench.to_card.extend(Bench::frame(WRITE, 0, &[0; 8]));
        for round in 0..6 {
            bench.asks = (0..4).map(|_| Ask::any(&mut rng)).collect();
            bench.irqs.push_back(rng.u8(0..32));
            bench.answered.clear();
            for _ in 0..40_000 {
                bench.cycle()?;
            }
            let wrong = |(ask, error, _): &(Ask, bool, Vec<u8>)| {
                !error && !matches!(ask, Ask::Write(_, first, last, _) if first == last)
            };
            if bench.answered.len() != 4
                || bench.answered.iter().any(wrong)
                || !bench.irqs.is_empty()
            {
                return Err(format!(
                    "round {round}: without a link, {} answers",
                    bench.answered.len()
                )
                .into());
            }
            if !bench.from_card.is_empty() || !bench.written.is_empty() || bench.sim.outputs.up {
                return Err(format!(
                    "round {round}: something without a link: {:02x?}",
                    bench.from_card
                )
                .into());
            }
            // It comes up whatever there was before.
            bench.link_up(rng.u32(..), 4112)?;
            host.later.clear();
            let value = rng.u32(..);
            bench.registers.insert(0x40, value);
            bench.say(READ, &0x40_u32.to_le_bytes());
            if bench.until_heard()? != (0x82, value.to_le_bytes().to_vec()) {
                return Err(format!("round {round}: a register").into());
            }
            // Sometimes something is under way.
            if rng.bool() {
                bench.asks.push_back(Ask::any(&mut rng));
                let (kind, payload) =
                    bench
                        .until_heard()
                        .or_else(|e| match bench.asks.is_empty() {
                            // A write without a strobe is not told to anybody.
                            true if !bench.answered.is_empty() => Ok((0, vec![])),
                            _ => Err(e),
                        })?;
                if kind != 0 && rng.bool() {
                    host.take(kind, &payload, &mut rng)?;
                }
            }
            let sequence = bench.sent;
            let good = Bench::frame(WRITE, sequence, &[0x44, 0, 0, 0, 1, 2, 3, 4]);
            let mut frame = good.clone();
            let reason = match rng.u32(0..7) {
                0 => {
                    let at = rng.usize(4..frame.len());
                    frame[at] ^= 1 << rng.u32(0..8);
                    1
                }
                1 => {
                    frame = Bench::frame(WRITE, sequence.wrapping_add(1 + rng.u8(0..255)), &[0; 8]);
                    2
                }
                2 => {
                    frame = Bench::frame([0, 8, 0x81, 255][rng.usize(1..4)], sequence, &[]);
                    3
                }
                3 => {
                    frame =
                        Bench::frame(WRITE, sequence, &vec![0; [0, 4, 7, 9, 16][rng.usize(0..5)]]);
                    3
                }
                4 => {
                    // A byte less: the beginning of the next frame is taken for the end of this one.
                    frame.remove(rng.usize(4..frame.len()));
                    frame.extend(Bench::frame(WRITE, sequence.wrapping_add(1), &[0; 8]));
                    1
                }
                5 => {
                    bench.sim.inputs.line_error = true;
                    bench.cycle()?;
                    bench.sim.inputs.line_error = false;
                    frame.clear();
                    4
                }
                _ => {
                    // An answer to nothing, or of another length than was asked for.
                    let kind = [DATA, WRITTEN, WRITE_ERROR, READ_ERROR][rng.usize(0..4)];
                    let waits = match kind {
                        DATA => false,
                        READ_ERROR => !bench.reads.is_empty(),
                        _ => !bench.writes.is_empty(),
                    };
                    let payload = if kind == DATA { vec![0; 4096] } else { vec![] };
                    frame = Bench::frame(kind, sequence, &payload);
                    if waits || matches!(bench.reads.front(), Some(Ask::Read(_, 256, _))) {
                        frame = Bench::frame(kind, sequence.wrapping_add(7), &payload);
                        2
                    } else {
                        5
                    }
                }
            };
            bench.to_card.extend(frame);
            let heard = bench.until_heard()?;
            if heard != (0x86, vec![reason]) {
                return Err(
                    format!("round {round}: {heard:02x?} instead of fault {reason}").into(),
                );
            }
            // And from there on nothing is believed.
            bench.to_card.extend(Bench::frame(WRITE, sequence, &[0; 8]));
            bench.sent = 0;
            for _ in 0..20_000 {
                bench.cycle()?;
            }
            bench.answered.clear();
        }
        Ok(())
    });
}

#[test]
fn a_new_host_ends_what_the_one_before_left() {
    replay("serial_host_sync", 0..16, |run| {
        let mut rng = run.seed.rng("test");
        let mut bench = Bench::new(run, &mut rng);
        bench.link_up(rng.u32(..), 0)?;
        for round in 0..8 {
            // Requests that nobody answers, and perhaps half a frame.
            bench.asks.push_back(Ask::Read(BASE, rng.usize(1..40), 1));
            bench.asks.push_back(Ask::Write(BASE, 3, 100, vec![7; 256]));
            for _ in 0..rng.u32(0..2500) {
                bench.cycle()?;
            }
            let half = Bench::frame(DATA, bench.sent, &[1; 64]);
            bench.to_card.extend(&half[..rng.usize(0..half.len())]);
            // What the card was saying is said to its end, then comes the answer.
            let nonce = rng.u32(..);
            bench.sync(nonce, 4112);
            let want = Bench::frame(
                0x81,
                0,
                &[nonce.to_le_bytes(), 1_u32.to_le_bytes()].concat(),
            );
            for cycle in 0.. {
                bench.cycle()?;
                if bench.from_card.ends_with(&want) {
                    break;
                }
                if cycle > 300_000 {
                    return Err(format!("round {round}: no answer").into());
                }
            }
            bench.from_card.clear();
            bench.expected = 1;
            bench.say(READ, &8_u32.to_le_bytes());
            // Asked before the SYNC: ended by it. Asked behind it: asked of the new one.
            let mut host = Host::new(&mut rng);
            for _ in 0..60_000 {
                bench.cycle()?;
                while let Some((kind, payload)) = bench.hear()? {
                    host.take(kind, &payload, &mut rng)?;
                }
                host.answer(&mut bench);
            }
            if host.values.len() != 1 || bench.answered.len() != 2 {
                return Err(format!(
                    "round {round}: {} values, {} answers",
                    host.values.len(),
                    bench.answered.len()
                )
                .into());
            }
            bench.answered.clear();
        }
        Ok(())
    });
}

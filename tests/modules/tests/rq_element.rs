//! Receive elements by themselves: Sends of several flows want theirs in turn, from queues in a host memory that takes its time and refuses some.
//! Elements are posted, flows attached, their queues exchanged all the while. Every element is held against what was posted.

use rtl_sim::{replay, Pace, Run, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{rq_element_128, rq_element_512};

/// Cycles of the sweep after reset, and more.
const SWEEP: u64 = 2200;
/// Between writes of rows, and from one to what is judged by it, at the least.
const APART: u64 = 12;

/// A flow and its receive queue.
struct Flow {
    number: u16,
    log2: u8,
    /// Number of its queue: another one after each flush.
    queue: u16,
    flushed: u64,
    /// The first one that was posted, the next one to use, the last one posted.
    first: u32,
    msn: u32,
    posted: u32,
}

impl Flow {
    fn base(&self) -> u64 {
        u64::from(self.queue) << 48 | u64::from(self.number) << 32
    }

    fn slot(&self, msn: u32) -> u32 {
        msn.wrapping_sub(1) & ((1 << self.log2) - 1)
    }

    fn room(&self) -> u32 {
        (1 << self.log2) - self.posted.wrapping_sub(self.msn.wrapping_sub(1))
    }

    /// What is in a slot, if it is posted: its last MSN.
    fn posted_in(&self, slot: u32) -> Option<u32> {
        let behind = self.slot(self.posted).wrapping_sub(slot) & ((1 << self.log2) - 1);
        let msn = self.posted.wrapping_sub(behind);
        (msn.wrapping_sub(self.first) as i32 >= 0).then_some(msn)
    }
}

/// Whether host memory refuses an element, one of so many.
fn refused(addr: u64, one_of: u64) -> bool {
    one_of != 0 && (addr >> 6).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 < (1 << 24) / one_of
}

/// An element as it lies in host memory: where, and of which MSN.
fn element(addr: u64, msn: u32) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..8].copy_from_slice(&addr.to_le_bytes());
    bytes[8..12].copy_from_slice(&msn.to_le_bytes());
    for (at, byte) in bytes[12..].iter_mut().enumerate() {
        *byte = (addr as u8 >> 6) ^ msn as u8 ^ at as u8;
    }
    bytes
}

/// A read of host memory.
struct Read {
    number: u64,
    addr: u64,
    elements: usize,
    beat: usize,
    due: u64,
}

/// What a Send wants.
#[derive(Clone, Copy)]
struct Wanted {
    flow: usize,
    msn: u32,
    base: u64,
    /// Cycles since it was decided.
    age: u64,
    served: bool,
}

/// How a run goes.
#[derive(Clone, Copy)]
struct Kind {
    flows: u16,
    latency: u64,
    jitter: u64,
    one_bad_of: u64,
    /// Of a stream of Sends: flows in turn, cycles from one to the next at the least, all posted, nothing else.
    period: Option<u64>,
    /// Each element is posted when the one before it was used, and is there so many cycles after it is wanted at the latest.
    posted_late: Option<u64>,
    sends: u64,
}

macro_rules! rq_element_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            /// Gives cycles a Send, in the second half.
            pub fn check(run: &Run, kind: Kind) -> Result<f64, Box<dyn Error>> {
                let mut rng = run.seed.rng("test");
                let mut sim = run.sim::<$design::Model>();
                let wild = kind.period.is_none();
                let stall = if wild {
                    Stall::any(&mut rng)
                } else {
                    Stall::Never
                };
                let mut pace = Pace::new(stall, rng.fork());
                let mut flows: Vec<Flow> = (0..kind.flows)
                    .map(|number| {
                        let msn = if wild && rng.bool() { rng.u32(..) } else { 1 };
                        let log2 = if wild { rng.u8(0..9) } else { 12 };
                        let (queue, flushed, posted) = (0, 0, msn.wrapping_sub(1));
                        Flow {
                            number: number * (256 / kind.flows),
                            log2,
                            queue,
                            flushed,
                            first: msn,
                            msn,
                            posted,
                        }
                    })
                    .collect();
                let mut reads: VecDeque<Read> = VecDeque::new();
                let (mut asked, mut answered, mut beats) = (0, 0, 0);
                let mut mark: Option<(u64, u64)> = None;
                let mut shown_since = None;
                let mut wanted: Option<Wanted> = None;
                let (mut sends, mut half, mut begun, mut flushed) = (0, 0, 0, 0);
                let (mut turn, mut quiet) = (0, 0);
                sim.reset(3);
                sim.step_many(SWEEP);
                // All is posted, and the flows attached, before the first Send.
                if !wild {
                    for flow in &mut flows {
                        flow.posted = if kind.posted_late.is_some() { 1 } else { 4000 };
                        let i = &mut sim.inputs;
                        (i.tail_valid, i.tail_flow, i.tail_value) =
                            (true, flow.number, flow.posted);
                        sim.step();
                        let i = &mut sim.inputs;
                        i.tail_valid = false;
                        (i.attach_valid, i.attach_flow, i.attach_msn) =
                            (true, flow.number, flow.msn);
                        (i.attach_rq_base, i.attach_rq_log2) = (flow.base(), flow.log2);
                        sim.step();
                        sim.inputs.attach_valid = false;
                    }
                }
                loop {
                    sim.step();
                    let now = sim.cycle();
                    let (i, o) = (&mut sim.inputs, &sim.outputs);
                    if now > SWEEP + 2000 * kind.sends {
                        return Err(format!("stuck after {sends} Sends").into());
                    }
                    // ---- host memory
                    let shown = *shown_since.get_or_insert(now);
                    if !o.el_req_valid || i.el_req_ready {
                        shown_since = None;
                    }
                    if o.el_req_valid && i.el_req_ready {
                        let (addr, bytes) = (o.el_req_addr, usize::from(o.el_req_bytes));
                        let number = (addr >> 32) as u16;
                        let flow = flows
                            .iter()
                            .find(|f| f.number == number)
                            .ok_or("a read of no queue")?;
                        let (first, count) = ((addr as u32) >> 6, bytes as u32 / 64);
                        if bytes % 64 != 0
                            || count == 0
                            || addr % 64 != 0
                            || first + count > 1 << flow.log2
                        {
                            return Err(format!("a read of {bytes} bytes at {addr:#x}").into());
                        }
                        if (first..first + count).any(|slot| flow.posted_in(slot).is_none()) {
                            return Err(format!(
                                "a read of what is not posted, {bytes} bytes at {addr:#x}, {} {}",
                                flow.msn, flow.posted
                            )
                            .into());
                        }
                        let of_wanted = wanted.is_some_and(|w| {
                            flows[w.flow].number == number && w.base >> 48 == addr >> 48
                        });
                        if addr >> 48 != u64::from(flow.queue)
                            && !of_wanted
                            && shown > flow.flushed + APART
                        {
                            return Err(format!("a read of a queue of before, at {addr:#x}").into());
                        }
                        let due = now + kind.latency + rng.u64(0..kind.jitter + 1);
                        reads.push_back(Read {
                            number: asked,
                            addr,
                            elements: count as usize,
                            beat: 0,
                            due,
                        });
                        asked += 1;
                        beats += count as usize;
                    }
                    if i.el_rsp_valid && o.el_rsp_ready {
                        let read = reads.front_mut().ok_or("no read")?;
                        read.beat += 1;
                        if read.beat * $bytes % 64 == 0 {
                            beats -= 1;
                        }
                        if i.el_rsp_last {
                            answered = read.number + 1;
                            reads.pop_front();
                        }
                        i.el_rsp_valid = false;
                    }
                    match mark {
                        Some((at, since)) if now > since + 1 && !o.marked => {
                            if answered < at {
                                return Err("reads from before the mark are in flight".into());
                            }
                            mark = None;
                        }
                        Some((_, since)) if now > since + 40 * (kind.latency + 60) => {
                            return Err("a mark for ever".into())
                        }
                        _ => {}
                    }
                    if o.idle && !reads.is_empty() {
                        return Err("idle, and is not".into());
                    }
                    // ---- the element
                    if let Some(w) = &mut wanted {
                        w.age += 1;
                        if i.want && o.here {
                            let flow = &mut flows[w.flow];
                            let addr = w.base + 64 * u64::from(flow.slot(w.msn));
                            let bad = refused(addr, kind.one_bad_of);
                            if o.error != bad || (!bad && o.element != element(addr, w.msn)) {
                                return Err(format!(
                                    "element {} at {addr:#x}: error {}, should be {bad}; {:x?}",
                                    w.msn, o.error, o.element
                                )
                                .into());
                            }
                            if kind
                                .posted_late
                                .is_some_and(|most| w.age > most && sends > 2)
                            {
                                return Err(format!("Send {sends}: {} cycles", w.age).into());
                            }
                            (i.want, w.served) = (false, true);
                            sends += 1;
                            if !wild || rng.u8(0..3) != 0 {
                                flow.msn = flow.msn.wrapping_add(1);
                            }
                            if sends == kind.sends / 2 {
                                half = now;
                            }
                        }
                        let due = now >= begun + kind.period.unwrap_or(0);
                        if w.served && due && (!wild || rng.bool()) {
                            wanted = None;
                            i.once = false;
                        }
                    }
                    if sends >= kind.sends && wanted.is_none() {
                        // At rest in the end: no read comes any more.
                        quiet += 1;
                        if quiet > 100 + 30 * (kind.latency + kind.jitter) {
                            if !o.idle {
                                return Err("is not idle in the end".into());
                            }
                            return Ok((begun - half) as f64 / (sends - kind.sends / 2) as f64);
                        }
                    }

                    // ================================================ the next cycle
                    i.el_req_ready = pace.next(o.el_req_valid) && reads.len() < 32 && beats <= 56;
                    if let Some(read) = reads.front().filter(|r| r.due <= now) {
                        let at = read.beat * $bytes;
                        let addr = read.addr + (at / 64 * 64) as u64;
                        let flow = flows
                            .iter()
                            .find(|f| f.number == (addr >> 32) as u16)
                            .ok_or("no queue")?;
                        let msn = flow.posted_in((addr as u32) >> 6).unwrap_or(0);
                        i.el_rsp_valid = true;
                        i.el_rsp_data
                            .copy_from_slice(&element(addr, msn)[at % 64..][..$bytes]);
                        i.el_rsp_count = $bytes;
                        i.el_rsp_last = at + $bytes == 64 * read.elements;
                        i.el_rsp_error = i.el_rsp_last
                            && (0..read.elements)
                                .any(|n| refused(read.addr + 64 * n as u64, kind.one_bad_of));
                    }
                    // `flow` is there three cycles before `want`, `msn` two.
                    match wanted {
                        Some(w) if w.age == 3 => i.want = true,
                        None if sends < kind.sends => {
                            let same = flows
                                .iter()
                                .position(|f| f.number == i.flow)
                                .filter(|_| wild && rng.bool());
                            let next = same.unwrap_or(if wild {
                                rng.usize(0..flows.len())
                            } else {
                                turn % flows.len()
                            });
                            let flow = &flows[next];
                            if flow.posted.wrapping_sub(flow.msn) as i32 >= 0
                                && now > flow.flushed + APART
                            {
                                turn += 1;
                                begun = now;
                                (i.flow, i.msn, i.posted) = (flow.number, flow.msn, flow.posted);
                                (i.rq_base, i.rq_log2) = (flow.base(), flow.log2);
                                // Told wrongly it costs time alone.
                                i.last = !wild || rng.bool();
                                wanted = Some(Wanted {
                                    flow: next,
                                    msn: flow.msn,
                                    base: flow.base(),
                                    age: 0,
                                    served: false,
                                });
                            }
                        }
                        _ => {}
                    }
                    (i.tail_valid, i.attach_valid, i.mark) = (false, false, false);
                    if std::mem::take(&mut i.flush)
                        && wanted.is_some_and(|w| flows[w.flow].number == i.flush_flow)
                    {
                        i.once = true;
                    }
                    if kind.posted_late.is_some() && wanted.is_some_and(|w| w.served) {
                        let flow = &mut flows[0];
                        flow.posted = flow.msn;
                        (i.tail_valid, i.tail_flow) = (true, flow.number);
                        (i.tail_value, i.posted) = (flow.posted, flow.posted);
                    }
                    if !wild || sends >= kind.sends {
                        continue;
                    }
                    if rng.u8(0..4) == 0 {
                        let flow = &mut flows[rng.usize(0..usize::from(kind.flows))];
                        let n = rng.u32(0..6).min(flow.room());
                        flow.posted = flow.posted.wrapping_add(n);
                        (i.tail_valid, i.tail_flow, i.tail_value) =
                            (true, flow.number, flow.posted);
                        if i.flow == flow.number {
                            i.posted = flow.posted;
                        }
                    }
                    if rng.u16(0..400) == 0 && mark.is_none() {
                        i.mark = true;
                        mark = Some((asked, now));
                    }
                    let at = rng.usize(0..usize::from(kind.flows));
                    let flow = &mut flows[at];
                    if rng.u16(0..300) == 0 && now > flushed + APART {
                        flushed = now;
                        (flow.flushed, flow.queue) = (now, flow.queue + 1);
                        (i.flush, i.flush_flow) = (true, flow.number);
                    } else if rng.u16(0..500) == 0 && now > flow.flushed + APART && !i.once {
                        (i.attach_valid, i.attach_flow, i.attach_msn) =
                            (true, flow.number, flow.msn);
                        (i.attach_rq_base, i.attach_rq_log2) = (flow.base(), flow.log2);
                    }
                }
            }

            #[test]
            fn each_element_is_the_one_that_was_posted() {
                replay(concat!("rq_element_", $bytes), 0..16, |run| {
                    let mut rng = run.seed.rng("kind");
                    let kind = Kind {
                        flows: [1, 3, 12, 64][rng.usize(0..4)],
                        latency: [2, 30, 100, 300][rng.usize(0..4)],
                        jitter: 20,
                        one_bad_of: [0, 0, 20, 100][rng.usize(0..4)],
                        period: None,
                        posted_late: None,
                        sends: 3000,
                    };
                    check(run, kind).map(|_| ())
                });
            }
        }
    };
}

rq_element_tests!(w128, rq_element_128, 16);
rq_element_tests!(w512, rq_element_512, 64);

#[test]
fn elements_of_any_number_of_flows_in_turn_are_there_in_time() {
    for flows in [1, 8, 9, 10, 12, 16, 64, 128, 256] {
        for latency in [100, 250, 300] {
            // So many flows with nothing on the card at first need all reads that may be in flight.
            if flows > 128 && latency > 250 {
                continue;
            }
            replay("rq_element_pace", 0..1, |run| {
                let kind = Kind {
                    flows,
                    latency,
                    jitter: 0,
                    one_bad_of: 0,
                    period: Some(9),
                    posted_late: None,
                    sends: 8 * u64::from(flows).max(250),
                };
                let each = w512::check(run, kind)?;
                println!("{flows} flows, reads of {latency} cycles: {each:.2}");
                match each {
                    ..=10.0 => Ok(()),
                    _ => Err(format!(
                        "{flows} flows, reads of {latency} cycles: {each:.2} cycles a Send"
                    )
                    .into()),
                }
            });
        }
    }
}

/// Who posts one Receive at a time has it on the card by the time the next Send comes.
#[test]
fn an_element_that_is_posted_late_is_read_ahead() {
    replay("rq_element_late", 0..1, |run| {
        let kind = Kind {
            flows: 1,
            latency: 100,
            jitter: 0,
            one_bad_of: 0,
            period: Some(200),
            posted_late: Some(6),
            sends: 100,
        };
        w512::check(run, kind).map(|_| ())
    });
}

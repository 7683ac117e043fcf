//! Two hosts with so many processes each, all of which send to all of the other host: with reliable connected queue pairs, with these and shared receive queues, and by XRC.
//! Queue pairs and connections of a host, its memory, registered memory for receives, simulated time until each has a message of each.
//! `WEFT_TEST_CARD=rtl256 cargo run -p weft-tests --example xrc_cost -- xrc 16`, and `rc`, `srq`; RC of 16 wants 256 flows.

use std::error::Error;
use std::net::SocketAddrV4;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::Device;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Bytes of a receive; how many wait for one sender, and in a shared queue for all.
const BYTES: u32 = 1024;
const OF_ONE: u32 = 16;
const OF_ALL: u32 = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Rc,
    RcShared,
    Xrc,
}

struct Process {
    pd: Pd,
    sent: Cq,
    received: Cq,
    mr: Mr,
    srq: Option<Srq>,
    /// To each process of the other host; by XRC one for all.
    qps: Vec<Qp>,
}

struct Host {
    device: Device,
    channel: EventChannel,
    xrcd: Xrcd,
    processes: Vec<Process>,
    ids: Vec<CmId>,
    _listener: CmId,
}

fn resident() -> Outcome<u64> {
    let all = std::fs::read_to_string("/proc/self/statm")?;
    let pages = all.split_whitespace().nth(1).ok_or("no such file")?;
    Ok(pages.parse::<u64>()? * 4096)
}

impl Host {
    fn new(bench: &Bench, number: usize, count: usize, how: How) -> Outcome<Self> {
        let device = bench.device(number).clone();
        let channel = device.create_event_channel();
        let listener = channel.create_id();
        listener.bind_addr(SocketAddrV4::new(bench.ip(number), 4791))?;
        listener.listen(64)?;
        let xrcd = device.alloc_xrcd()?;
        let mut processes = Vec::new();
        for _ in 0..count {
            let (sent, received) = (device.create_cq(2048, None)?, device.create_cq(2048, None)?);
            let pd = device.alloc_pd()?;
            let receives = match how {
                How::Rc => OF_ONE * count as u32,
                _ => OF_ALL,
            };
            let mr = pd.alloc_mr((receives * BYTES) as usize, Access::LOCAL_WRITE)?;
            let init = SrqInit {
                max_wr: OF_ALL,
                max_sge: 1,
                srq_limit: 0,
            };
            let srq = match how {
                How::Rc => None,
                How::RcShared => Some(pd.create_srq(&init)?),
                How::Xrc => Some(pd.create_xrc_srq(&xrcd, &received, &init)?),
            };
            for n in 0..u64::from(OF_ALL) {
                if let Some(srq) = &srq {
                    let sge = mr.sge(n * u64::from(BYTES), BYTES);
                    srq.post_recv(RecvWr::new(n).sge(sge))?;
                }
            }
            processes.push(Process {
                pd,
                sent,
                received,
                mr,
                srq,
                qps: Vec::new(),
            });
        }
        Ok(Self {
            device,
            channel,
            xrcd,
            processes,
            ids: Vec::new(),
            _listener: listener,
        })
    }

    /// A queue pair of a process, for one process of the other host.
    fn init(&self, process: usize, how: How) -> QpInit {
        let process = &self.processes[process];
        let cap = QpCap {
            max_send_wr: 16,
            max_recv_wr: OF_ONE,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: 32,
        };
        let init = QpInit {
            recv_cq: process.received.clone(),
            cap,
            ..QpInit::new(&process.sent)
        };
        match (how, &process.srq) {
            (How::RcShared, Some(srq)) => init.srq(srq),
            (How::Xrc, _) => init.initiator(),
            _ => init,
        }
    }

    /// The receives of a queue pair for the other host's process `number`.
    fn post(&self, process: usize, number: usize, qp: &Qp) -> Outcome<()> {
        let first = u64::from(OF_ONE) * number as u64;
        for n in first..first + u64::from(OF_ONE) {
            let sge = self.processes[process].mr.sge(n * u64::from(BYTES), BYTES);
            qp.post_recv(RecvWr::new(n).sge(sge))?;
        }
        Ok(())
    }
}

/// Connects a process of `from` to `to`: to process `number`, by XRC to all.
fn connect(
    bench: &Bench,
    [from, to]: [&mut Host; 2],
    (process, number): (usize, usize),
    how: How,
) -> Outcome<()> {
    let id = from.channel.create_id();
    id.resolve_addr(SocketAddrV4::new(to.device.ip(), 4791))?;
    id.resolve_route()?;
    let qp = id.create_qp(&from.processes[process].pd, &from.init(process, how))?;
    id.connect(&ConnParam::default())?;
    let request = next_request(bench, &to.channel)?;
    let init = match how {
        How::Xrc => to.xrcd.target(),
        _ => to.init(number, how),
    };
    let other = request.create_qp(&to.processes[number].pd, &init)?;
    if how == How::Rc {
        from.post(process, number, &qp)?;
        to.post(number, process, &other)?;
    }
    request.accept(&ConnParam::default())?;
    use CmEventType::{AddrResolved, Established, RouteResolved};
    for wanted in [AddrResolved, RouteResolved, Established] {
        next_event(bench, &from.channel, wanted);
    }
    next_event(bench, &to.channel, CmEventType::Established);
    from.processes[process].qps.push(qp);
    if how != How::Xrc {
        to.processes[number].qps.push(other);
    }
    from.ids.push(id);
    to.ids.push(request);
    Ok(())
}

fn next_request(bench: &Bench, channel: &EventChannel) -> Outcome<CmId> {
    Ok(next_event(bench, channel, CmEventType::ConnectRequest).id)
}

fn measure(count: usize, how: How) -> Outcome<()> {
    let bench = Bench::new(&Way::Sim, 1)?;
    // What the cards and their devices take by themselves is not counted.
    let before = resident()?;
    let mut a = Host::new(&bench, 0, count, how)?;
    let mut b = Host::new(&bench, 1, count, how)?;
    for process in 0..count {
        match how {
            How::Xrc => {
                connect(&bench, [&mut a, &mut b], (process, 0), how)?;
                connect(&bench, [&mut b, &mut a], (process, 0), how)?;
            }
            _ => {
                for number in 0..count {
                    connect(&bench, [&mut a, &mut b], (process, number), how)?;
                }
            }
        }
    }
    let begun = a.device.now();
    // In rounds, as a collective goes: each process sends one message and gets one.
    for round in 0..count {
        for (from, to) in [(&a, &b), (&b, &a)] {
            for (n, process) in from.processes.iter().enumerate() {
                let number = (n + round) % count;
                let wr = SendWr::send(0).inline(b"a message of 32 bytes, no fewer.");
                let wr = wr.signaled();
                match (how, &to.processes[number].srq) {
                    (How::Xrc, Some(srq)) => process.qps[0].post_send(wr.to_srq(srq.srq_num()))?,
                    _ => process.qps[number].post_send(wr)?,
                }
            }
        }
        for process in a.processes.iter().chain(&b.processes) {
            for cq in [&process.received, &process.sent] {
                assert_eq!(completion(&bench, cq).status, WcStatus::Success);
            }
        }
    }
    let spent = a.device.now() - begun;
    let used = resident()?.saturating_sub(before) / 2;
    let receives: usize = a.processes.iter().map(|process| process.mr.len()).sum();
    let name = match how {
        How::Rc => "RC",
        How::RcShared => "RC, a shared receive queue for each process",
        How::Xrc => "XRC",
    };
    println!(
        "| {name} | {} | {:.2} | {:.2} | {:.1} |",
        a.ids.len(),
        (used.saturating_sub(receives as u64)) as f64 / 1048576.0,
        receives as f64 / 1048576.0,
        spent as f64 / 1000.0
    );
    Ok(())
}

fn main() -> Outcome<()> {
    // One way for each run: what one has let go of would be the next one's.
    let count = std::env::args()
        .nth(2)
        .map_or(Ok(16), |count| count.parse())?;
    println!("| {count} × {count} processes | queue pairs of a host | MiB for them | MiB for receives | all messages, µs |");
    println!("|---|---|---|---|---|");
    match std::env::args().nth(1).as_deref() {
        Some("rc") => measure(count, How::Rc),
        Some("srq") => measure(count, How::RcShared),
        Some("xrc") => measure(count, How::Xrc),
        _ => Err("rc, srq or xrc?".into()),
    }
}

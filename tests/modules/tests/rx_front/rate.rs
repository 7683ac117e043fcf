//! How fast verdicts come where nobody is slow: cycles between starts of walks and slots of the commit queue.

use super::*;
use weft_module_tests::rx_front_512::Model;

/// Frames of a run.
const FRAMES: usize = 60;
/// Cycles from a segment's last beat of payload to its end.
const WALK: u64 = 6;

/// The cycles in which packets of one attached flow were decided; `bare` are acknowledgments. So many octets are missing before them.
fn decided(bare: impl Fn(usize) -> bool, missing: u32) -> Vec<u64> {
    let mut rng = Rng::with_seed(1);
    let mut sender = Sender {
        key: [10, 0, 0, 2, 10, 0, 0, 1, 1, 2, 3, 4],
        seq: 1000,
        ts: 0,
        later: VecDeque::new(),
    };
    let position = Position {
        attached: true,
        rcv_nxt: sender.seq - missing,
        ..Position::default()
    };
    let row = Row {
        valid: true,
        flags: KEEPS,
        ..Row::default()
    };
    let place = places(&sender.key)[0];
    let mut accesses = VecDeque::from([
        Access::Key(place, Some((sender.key, 0))),
        Access::Row(0, row),
        Access::Attach(0, position),
    ]);
    let mut sim = rtl_sim::Sim::<Model>::new(Seed(1));
    sim.inputs.mtu = MTU as u16;
    let mut mac = [0; 8];
    mac[..6].copy_from_slice(&STATION);
    sim.inputs.mac = u64::from_le_bytes(mac);
    sim.inputs.raw_count_log2 = 5;
    sim.reset(3);
    let i = &mut sim.inputs;
    (i.start_ready, i.pl_ready, i.close_ready) = (true, true, true);
    let mut source = Source::<64>::new(Stall::Never, Seed(1));
    let mut dones: VecDeque<u64> = VecDeque::new();
    let (mut frees, mut times) = (VecDeque::new(), vec![]);
    let (mut sent, mut closed) = (0, 0);
    while times.len() < FRAMES {
        sim.step();
        let now = sim.cycle();
        assert!(now < 10_000, "stuck behind {} verdicts", times.len());
        let (i, o) = (&mut sim.inputs, &sim.outputs);
        if i.tbl_req_valid && o.tbl_req_ready {
            i.tbl_req_valid = false;
        }
        if o.tbl_rsp_valid {
            assert!(!o.tbl_refused);
            accesses.pop_front();
        }
        if let Some(access) = accesses.front().filter(|_| now % 20 == 0) {
            (i.tbl_number, i.tbl_write, i.tbl_index, i.tbl_row) = access.words();
            i.tbl_req_valid = true;
        }
        if o.start_valid || o.enter {
            times.push(now);
        }
        if o.pl_valid && o.pl_last {
            dones.push_back(now + WALK);
        }
        i.done_valid = dones.front().is_some_and(|at| *at <= now);
        if i.done_valid {
            dones.pop_front();
        }
        if o.close_valid {
            closed += 1;
            frees.push_back(o.close_stop);
        }
        i.free_valid = !frees.is_empty();
        i.free_stop = frees.pop_front().unwrap_or(i.free_stop);
        if accesses.is_empty() && sent < FRAMES && sent < closed + QUEUE - 4 && source.pending() < 3
        {
            let frame = loop {
                let tcp = Tcp {
                    key: sender.key,
                    seq: sender.seq,
                    flags: ACK,
                    payload: vec![7; if bare(sent) { 0 } else { 40 }],
                    ..Tcp::default()
                };
                let frame = frames::segment(tcp, 0, &mut rng);
                if frame.drop.is_none() && frame.tcp.is_some() {
                    break frame;
                }
            };
            sender.seq += frame.tcp.as_ref().map_or(0, |tcp| tcp.payload.len()) as u32;
            source.push(&frame.bytes);
            sent += 1;
        }
        source.cycle(&mut i.mac_rx, &o.mac_rx);
    }
    times
}

/// Cycles a frame, in the middle of the run.
fn cycles(times: &[u64]) -> f64 {
    let (from, to) = (FRAMES / 3, FRAMES - 4);
    (times[to] - times[from]) as f64 / (to - from) as f64
}

#[test]
fn a_segment_takes_four_cycles_and_a_bare_acknowledgment_two() {
    for (bare, most) in [
        ((|_| false) as fn(usize) -> bool, 4.0),
        (|n| n % 2 == 1, 3.0),
        (|n| n % 3 == 2, 10.0 / 3.0),
    ] {
        let times = decided(bare, 0);
        assert!(cycles(&times) <= most, "{most}: {times:?}");
    }
}

/// At 100 Gb/s a segment of 1460 bytes comes in 30 cycles.
#[test]
fn a_segment_beyond_a_gap_takes_eighteen_cycles() {
    let times = decided(|_| false, 100);
    assert!(cycles(&times) <= 18.0, "{times:?}");
}

//! Each checker catches the design that breaks its rule, and passes the good one.

use rtl_sim::axi::{self, MemorySlave, Ram, Timing};
use rtl_sim::axil::{self, Access, Master};
use rtl_sim::axis::{self, Sink, Source};
use rtl_sim::{Rule, Seed, Sim, Stall, StopKind, Violation, Watchdog};
use rtl_sim_designs::{copier, stream_fifo};

/// Sends packets of many lengths through the FIFO with this fault, and checks all there is to check.
fn fifo(fault: u8, seed: Seed, stall: Stall) -> Result<(), Violation> {
    let mut rng = seed.rng("test");
    let mut sim = Sim::<stream_fifo::Model>::new(seed);
    let mut source = Source::<8>::new(Stall::Random(0.2), seed);
    let mut sink = Sink::<8>::new(stall, seed);
    let mut input = axis::Checker::<8>::new("s_axis").limit(500);
    let mut output = axis::Checker::<8>::new("m_axis")
        .limit(500)
        .longest_packet(99);
    let mut watchdog = Watchdog::new("stream_fifo", 500);
    for _ in 0..40 {
        let packet: Vec<u8> = (0..rng.usize(1..100)).map(|_| rng.u8(..)).collect();
        source.push(&packet);
    }
    sim.inputs.fault = fault;
    sim.reset(3);
    output.cycle(sim.cycle(), true, &sim.outputs.m_axis, &sim.inputs.m_axis)?;
    for _ in 0..3000 {
        sim.step();
        let (now, inputs, outputs) = (sim.cycle(), &mut sim.inputs, &sim.outputs);
        input.cycle(now, false, &inputs.s_axis, &outputs.s_axis)?;
        output.cycle(now, false, &outputs.m_axis, &inputs.m_axis)?;
        let moved = outputs.m_axis.valid && inputs.m_axis.ready;
        watchdog.cycle(now, !outputs.quiescent, moved)?;
        source.cycle(&mut inputs.s_axis, &outputs.s_axis);
        sink.cycle(now, &mut inputs.m_axis, &outputs.m_axis);
        while sink.pop().is_some() {}
    }
    Ok(())
}

/// Copies two blocks with this fault.
fn copy(fault: u8, seed: Seed, timing: Timing, stall: Stall) -> Result<(), Violation> {
    let mut sim = Sim::<copier::Model>::new(seed);
    let mut control = Master::new(stall, 1, seed);
    let mut slave = MemorySlave::<8>::new(timing, seed);
    let mut memory = Ram::new(0, 0x1_0000);
    let mut lite = axil::Checker::new("s_axil").limit(500);
    let mut full = axi::Checker::<8>::new("m_axi").limit(500);
    sim.inputs.fault = fault;
    sim.reset(3);
    lite.cycle(sim.cycle(), true, &sim.inputs.s_axil, &sim.outputs.s_axil)?;
    full.cycle(sim.cycle(), true, &sim.outputs.m_axi, &sim.inputs.m_axi)?;
    for (addr, data) in [(0, 0xfc8), (4, 0x8000), (8, 60), (12, 1)] {
        control.write(addr, data);
    }
    for _ in 0..6000 {
        sim.step();
        let (now, inputs, outputs) = (sim.cycle(), &mut sim.inputs, &sim.outputs);
        lite.cycle(now, false, &inputs.s_axil, &outputs.s_axil)?;
        full.cycle(now, false, &outputs.m_axi, &inputs.m_axi)?;
        if control.is_idle() {
            control.push(Access::Read { addr: 0 });
        }
        control.cycle(now, &mut inputs.s_axil, &outputs.s_axil);
        slave.cycle(now, &mut inputs.m_axi, &outputs.m_axi, &mut memory);
        while control.pop().is_some() {}
    }
    Ok(())
}

#[test]
fn good_designs_pass() {
    for number in 0..20 {
        let seed = Seed(number);
        let mut rng = seed.rng("stall");
        fifo(0, seed, Stall::any(&mut rng)).unwrap();
        copy(0, seed, Timing::any(seed), Stall::any(&mut rng)).unwrap();
    }
}

#[test]
fn broken_streams_are_caught() {
    let cases = [
        (1, Rule::ValidDropped),
        (2, Rule::PayloadChanged),
        (3, Rule::PayloadChanged),
        (4, Rule::PayloadChanged),
        (5, Rule::ValidInReset),
        (6, Rule::KeepHole),
        (7, Rule::PartialBeat),
        (8, Rule::EmptyBeat),
        (10, Rule::Stalled),
        (11, Rule::PacketTooLong),
    ];
    for (fault, rule) in cases {
        for seed in 0..5 {
            let violation =
                fifo(fault, Seed(seed), Stall::Random(0.7)).expect_err(&format!("fault {fault}"));
            assert_eq!(
                violation.rule, rule,
                "fault {fault}, seed {seed}: {violation}"
            );
        }
    }
    // A valid that waits for ready passes any sink but the one that waits for valid.
    assert_eq!(fifo(9, Seed(1), Stall::Random(0.7)), Ok(()));
    let violation = fifo(9, Seed(1), Stall::AfterValid).unwrap_err();
    assert_eq!(violation.rule, Rule::NoProgress, "{violation}");
}

#[test]
fn broken_masters_are_caught() {
    let cases = [
        (1, "AR", Rule::ValidDropped),
        (2, "AR", Rule::PayloadChanged),
        (3, "AW", Rule::ValidDropped),
        (4, "AW", Rule::PayloadChanged),
        (5, "W", Rule::ValidDropped),
        (6, "W", Rule::PayloadChanged),
        (7, "AR", Rule::ValidInReset),
        (8, "AR", Rule::Crosses4K),
        (9, "W", Rule::LastMisplaced),
        (10, "W", Rule::LastMisplaced),
        (11, "AR", Rule::BeatSize),
        (12, "AR", Rule::BurstType),
        (13, "AR", Rule::BurstLength),
        (14, "AR", Rule::BurstLength),
        (15, "W", Rule::StrobeOutside),
        (16, "R", Rule::Stalled),
        (17, "B", Rule::Stalled),
        (18, "bus", Rule::NoProgress),
        (20, "W", Rule::LastMisplaced),
    ];
    let slow = Timing {
        aw: Stall::Random(0.8),
        w: Stall::Random(0.8),
        ar: Stall::Random(0.8),
        ..Timing::default()
    };
    for (fault, channel, rule) in cases {
        for seed in 0..5 {
            let violation = copy(fault, Seed(seed), slow.clone(), Stall::Never)
                .expect_err(&format!("fault {fault}"));
            assert_eq!(
                (violation.channel, violation.rule),
                (channel, rule),
                "fault {fault}, seed {seed}: {violation}"
            );
        }
    }
    let waiting = Timing {
        aw: Stall::AfterValid,
        ..Timing::default()
    };
    let violation = copy(19, Seed(1), waiting, Stall::Never).unwrap_err();
    assert_eq!(violation.rule, Rule::NoProgress, "{violation}");
}

#[test]
fn broken_register_ports_are_caught() {
    let cases = [
        (32, "B", Rule::ValidDropped),
        (33, "B", Rule::PayloadChanged),
        (34, "R", Rule::ValidDropped),
        (35, "R", Rule::PayloadChanged),
        (36, "B", Rule::UnaskedResponse),
        (37, "R", Rule::UnaskedData),
        (38, "B", Rule::EarlyResponse),
        (39, "B", Rule::ResponseCode),
        (40, "bus", Rule::NoProgress),
        (41, "AW", Rule::Stalled),
        (42, "B", Rule::ValidInReset),
    ];
    for (fault, channel, rule) in cases {
        for seed in 0..5 {
            let stall = Stall::Random(0.8);
            let violation = copy(fault, Seed(seed), Timing::default(), stall)
                .expect_err(&format!("fault {fault}"));
            assert_eq!(
                (violation.channel, violation.rule),
                (channel, rule),
                "fault {fault}, seed {seed}: {violation}"
            );
        }
    }
}

/// A packet that stops in its middle, as a MAC must not see it; pauses of ready, and between packets, are no gap.
#[test]
fn gaps_are_caught() {
    use axis::{Backward, Forward};
    let beat = |valid, last, ready| {
        let forward = Forward::<8> {
            keep: 0xff,
            valid,
            last,
            ..Forward::default()
        };
        (forward, Backward { ready })
    };
    let check = |checker: axis::Checker<8>, beats: &[(Forward<8>, Backward)]| {
        let mut checker = checker;
        let mut beats = beats.iter().enumerate();
        beats
            .find_map(|(now, (forward, backward))| {
                checker.cycle(now as u64, false, forward, backward).err()
            })
            .map(|violation| violation.rule)
    };
    let (on, last, none) = (
        beat(true, false, true),
        beat(true, true, true),
        beat(false, false, true),
    );
    let good = [
        on,
        beat(true, false, false),
        on,
        last,
        none,
        beat(true, true, false),
        last,
        none,
        on,
        last,
    ];
    let bad = [on, on, none, last];
    let gapless = || axis::Checker::new("mac").gapless();
    assert_eq!(check(gapless(), &good), None);
    assert_eq!(check(gapless(), &bad), Some(Rule::Gap));
    assert_eq!(check(axis::Checker::new("fifo"), &bad), None);
}

/// The AXI4 checker's rules for slaves, with a slave made of plain struct values.
#[test]
fn broken_slaves_are_caught() {
    use axi::{resp, FromMaster, FromSlave};
    let asks = |write: bool| {
        let mut master = FromMaster::<8>::default();
        let channel = if write {
            &mut master.aw
        } else {
            &mut master.ar
        };
        *channel = axi::Address {
            id: 3,
            len: 1,
            size: 3,
            burst: 1,
            valid: true,
            ..Default::default()
        };
        (master.b_ready, master.r_ready) = (true, true);
        master
    };
    let taken = FromSlave::<8> {
        aw_ready: true,
        w_ready: true,
        ar_ready: true,
        ..Default::default()
    };
    let quiet = FromMaster::<8> {
        b_ready: true,
        r_ready: true,
        ..Default::default()
    };
    let last_data = |last| {
        let mut master = quiet;
        (master.w.valid, master.w.last, master.w.strb) = (true, last, 0xff);
        master
    };
    let read = |id, last, resp| {
        let mut slave = FromSlave::<8>::default();
        (slave.r.valid, slave.r.id, slave.r.last, slave.r.resp) = (true, id, last, resp);
        slave
    };
    let response = |id, resp| {
        let mut slave = FromSlave::<8>::default();
        (slave.b.valid, slave.b.id, slave.b.resp) = (true, id, resp);
        slave
    };
    let caught = |cycles: &[(FromMaster<8>, FromSlave<8>)]| {
        let mut checker = axi::Checker::<8>::new("bus");
        let mut cycles = cycles.iter().enumerate();
        cycles
            .find_map(|(now, (master, slave))| {
                checker.cycle(now as u64, false, master, slave).err()
            })
            .map(|v| v.rule)
    };
    let ask_read = (asks(false), taken);
    assert_eq!(
        caught(&[
            ask_read,
            (quiet, read(3, false, 0)),
            (quiet, read(3, true, 0))
        ]),
        None
    );
    assert_eq!(
        caught(&[ask_read, (quiet, read(2, false, 0))]),
        Some(Rule::UnaskedData)
    );
    assert_eq!(
        caught(&[ask_read, (quiet, read(3, true, 0))]),
        Some(Rule::LastMisplaced)
    );
    assert_eq!(
        caught(&[ask_read, (quiet, read(3, false, resp::EXOKAY))]),
        Some(Rule::ResponseCode)
    );
    let again = [
        ask_read,
        (quiet, read(3, false, 0)),
        (quiet, read(3, true, 0)),
        (quiet, read(3, true, 0)),
    ];
    assert_eq!(caught(&again), Some(Rule::UnaskedData));

    let written = [
        (asks(true), taken),
        (last_data(false), taken),
        (last_data(true), taken),
    ];
    let then = |slave| [written[0], written[1], written[2], (quiet, slave)];
    assert_eq!(caught(&then(response(3, 0))), None);
    assert_eq!(caught(&then(response(1, 0))), Some(Rule::UnaskedResponse));
    assert_eq!(
        caught(&then(response(3, resp::EXOKAY))),
        Some(Rule::ResponseCode)
    );
    assert_eq!(
        caught(&[written[0], written[1], (quiet, response(3, 0))]),
        Some(Rule::EarlyResponse)
    );
}

#[test]
fn an_assertion_in_the_design_stops_it() {
    let mut sim = Sim::<stream_fifo::Model>::new(Seed(1));
    let mut source = Source::<8>::new(Stall::Never, Seed(1));
    source.push(&[7; 200]);
    sim.inputs.fault = 12;
    sim.inputs.m_axis.ready = true;
    sim.reset(3);
    let stop = loop {
        if let Err(stop) = sim.try_step() {
            break stop;
        }
        assert!(sim.cycle() < 100, "the assertion did not fail");
        source.cycle(&mut sim.inputs.s_axis, &sim.outputs.s_axis);
    };
    assert_eq!(stop.kind, StopKind::Error);
    assert!(
        stop.messages.contains("the ninth beat was too many"),
        "{stop}"
    );
}

//! The good designs under random pauses, latencies and orders: every byte arrives.

use rtl_sim::axi::{Fault, Memory, MemorySlave, Ram, Timing};
use rtl_sim::axil::Master;
use rtl_sim::axis::{Sink, Source};
use rtl_sim::{Seed, Sim, Stall};
use rtl_sim_designs::{copier, stream_fifo, stream_fifo_512};

macro_rules! fifo_passes_packets {
    ($name:ident, $design:ident, $bytes:literal) => {
        #[test]
        fn $name() {
            for number in 0..20 {
                let seed = Seed::from_env(number);
                let mut rng = seed.rng("test");
                let mut sim = Sim::<$design::Model>::new(seed);
                let mut source = Source::<$bytes>::new(Stall::any(&mut rng), seed);
                let mut sink = Sink::<$bytes>::new(Stall::any(&mut rng), seed);
                let packets: Vec<Vec<u8>> = (0..50)
                    .map(|_| (0..rng.usize(1..200)).map(|_| rng.u8(..)).collect())
                    .collect();
                for packet in &packets {
                    source.push(packet);
                }
                sim.reset(3);
                let mut received = Vec::new();
                while received.len() < packets.len() {
                    assert!(
                        sim.cycle() < 100_000,
                        "seed {seed}: stuck after {} packets",
                        received.len()
                    );
                    sim.step();
                    source.cycle(&mut sim.inputs.s_axis, &sim.outputs.s_axis);
                    sink.cycle(sim.cycle(), &mut sim.inputs.m_axis, &sim.outputs.m_axis);
                    received.extend(sink.pop().map(|packet| packet.data));
                }
                assert_eq!(received, packets, "seed {seed}");
            }
        }
    };
}

fifo_passes_packets!(fifo_of_8_bytes, stream_fifo, 8);
fifo_passes_packets!(fifo_of_64_bytes, stream_fifo_512, 64);

/// The copier with its bus models.
struct Bench {
    sim: Sim<copier::Model>,
    control: Master,
    slave: MemorySlave<8>,
}

impl Bench {
    fn new(seed: Seed, timing: Timing, stall: Stall) -> Bench {
        let mut bench = Bench {
            sim: Sim::new(seed),
            control: Master::new(stall, 2, seed),
            slave: MemorySlave::new(timing, seed),
        };
        bench.sim.reset(3);
        bench
    }

    fn cycle(&mut self, memory: &mut impl Memory) {
        let Bench {
            sim,
            control,
            slave,
        } = self;
        sim.step();
        let now = sim.cycle();
        control.cycle(now, &mut sim.inputs.s_axil, &sim.outputs.s_axil);
        slave.cycle(now, &mut sim.inputs.m_axi, &sim.outputs.m_axi, memory);
    }

    fn write(&mut self, addr: u64, data: u32) {
        self.control.write(addr, data);
    }

    fn read(&mut self, addr: u64, memory: &mut impl Memory) -> u32 {
        while self.control.pop().is_some() {}
        self.control.read(addr);
        loop {
            self.cycle(memory);
            if let Some(done) = self.control.pop() {
                if matches!(done.access, rtl_sim::axil::Access::Read { .. }) {
                    return done.data as u32;
                }
            }
        }
    }

    fn copy(&mut self, from: u32, to: u32, beats: u32, memory: &mut impl Memory) {
        for (addr, data) in [(0, from), (4, to), (8, beats), (12, 1)] {
            self.write(addr, data);
        }
        while self.read(12, memory) != 0 {
            assert!(
                self.sim.cycle() < 1_000_000,
                "seed {}: stuck",
                self.sim.seed()
            );
        }
    }
}

#[test]
fn copier_copies() {
    for number in 0..30 {
        let seed = Seed::from_env(number);
        let mut rng = seed.rng("test");
        let mut memory = Ram::new(0x1_0000, 0x1_0000);
        memory.bytes.iter_mut().for_each(|byte| *byte = rng.u8(..));
        let before = memory.bytes.clone();
        let (from, to, beats) = (
            rng.u32(0..0x800) * 8,
            0x8000 + rng.u32(0..0x800) * 8,
            rng.u32(1..200),
        );
        let mut bench = Bench::new(seed, Timing::any(seed), Stall::any(&mut rng));
        bench.copy(0x1_0000 + from, 0x1_0000 + to, beats, &mut memory);
        let (from, to, bytes) = (from as usize, to as usize, beats as usize * 8);
        assert_eq!(
            memory.bytes[to..to + bytes],
            before[from..from + bytes],
            "seed {seed}"
        );
        assert_eq!(memory.bytes[..to], before[..to], "seed {seed}");
        assert_eq!(
            memory.bytes[to + bytes..],
            before[to + bytes..],
            "seed {seed}"
        );
        assert_eq!(bench.read(0x10, &mut memory), 0);
        assert_eq!(bench.slave.totals().write_bytes, bytes as u64);
        assert!(bench.slave.is_idle());
    }
}

#[test]
fn a_fault_becomes_an_error_response() {
    let mut memory = Ram::new(0x1000, 0x1000);
    assert_eq!(memory.read(0xfff, &mut [0; 2]), Err(Fault::Decode));
    let mut bench = Bench::new(Seed(1), Timing::default(), Stall::Never);
    // Reads well, writes beyond the end: the last 4 beats of 8 are refused, in one burst.
    bench.copy(0x1000, 0x1fe0, 8, &mut memory);
    // The burst stops at the page: 4 beats written, then 4 refused.
    assert_eq!(bench.read(0x10, &mut memory), 1);
    // Nothing readable at all: every beat is an error.
    bench.copy(0x8000, 0x1000, 8, &mut memory);
    assert_eq!(bench.read(0x10, &mut memory), 1 + 8);
    assert_eq!(bench.slave.totals().errors, 2);
}

#[test]
fn injected_errors_are_seen() {
    let mut memory = Ram::new(0, 0x1_0000);
    let timing = Timing {
        error_rate: 1.0,
        ..Timing::default()
    };
    let mut bench = Bench::new(Seed(1), timing, Stall::Never);
    bench.copy(0, 0x8000, 16, &mut memory);
    assert_eq!(bench.read(0x10, &mut memory), 16 + 1);
}

#[test]
fn same_seed_same_cycles() {
    let run = |seed| {
        let mut memory = Ram::new(0, 0x1_0000);
        let mut bench = Bench::new(seed, Timing::any(seed), Stall::Random(0.3));
        bench.copy(0, 0x8000, 100, &mut memory);
        bench.sim.cycle()
    };
    assert_eq!(run(Seed(5)), run(Seed(5)));
    assert_ne!(run(Seed(5)), run(Seed(6)));
}

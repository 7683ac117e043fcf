//! A controller that a program brings: it does what one of the engine's own does in its place.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::congestion::{Congestion, Control, Custom, Event as Sign, Progress, Rate, Window};
use weft_engine::congestion::{Cubic, Dctcp, Delay, Reno};
use weft_engine::*;

/// Another crate's: it has nothing but the trait.
#[derive(Clone, Debug)]
struct Foreign<C>(C);

impl<C: Control> Control for Foreign<C> {
    fn window(&self) -> &Window {
        self.0.window()
    }

    fn window_mut(&mut self) -> &mut Window {
        self.0.window_mut()
    }

    fn acknowledged(&mut self, progress: &Progress) {
        self.0.acknowledged(progress);
    }

    fn congestion(&mut self, event: Sign, now: u64, flight: u32) {
        self.0.congestion(event, now, flight);
    }

    fn pace(&self) -> Option<Rate> {
        self.0.pace()
    }
}

const PLAIN: Custom = Custom {
    name: "",
    paces: false,
    by_delay: false,
    exact_ecn: false,
    new: || Box::new(Foreign(Reno::default())),
};

static OWN: [Custom; 4] = [
    Custom {
        name: "own reno",
        ..PLAIN
    },
    Custom {
        name: "own cubic",
        new: || Box::new(Foreign(Cubic::default())),
        ..PLAIN
    },
    Custom {
        name: "own dctcp",
        exact_ecn: true,
        new: || Box::new(Foreign(Dctcp::default())),
        ..PLAIN
    },
    Custom {
        name: "own delay",
        paces: true,
        by_delay: true,
        new: || Box::new(Foreign(Delay::default())),
        ..PLAIN
    },
];

/// A Write each way of 200 KB, twice.
fn run(seed: u64, faults: Faults, congestion: Congestion) -> Bench {
    let mut b = Bench::with(seed, &|config| {
        config.congestion = congestion;
        config.timestamps = seed % 2 == 0;
    });
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.faults = faults;
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let stags = [0, 1].map(|n: usize| b.hosts[n].region(400_000, access).0);
    for id in 0..2 {
        for n in [0, 1] {
            let sges = [sge(stags[n], 0, 200_000)];
            let wr = write(id, stags[1 - n], 0x1000 + 200_000, &sges);
            b.post_send(n, pair.qps[n], &wr).unwrap();
        }
        for n in [0, 1] {
            let done = b.completions_of(n, 1, 600_000 * MS);
            assert!(done.iter().all(|c| c.status == Status::Success), "{done:?}");
        }
    }
    let of = |n: usize| b.hosts[n].engine.conn_info(pair.qps[n]).unwrap().unwrap();
    assert_eq!([of(0).congestion, of(1).congestion], [congestion; 2]);
    b
}

#[test]
fn the_same_frames_as_by_the_engines_own() {
    let faults = Faults {
        loss: 600,
        duplicate: 600,
        reorder: 3000,
        split: 600,
        mark: 3000,
        ..Default::default()
    };
    let (mut undone, mut marked) = (0, 0);
    for seed in 0..16 {
        let n = seed as usize % 4;
        let by = Congestion::ALL[n];
        let one = run(seed, faults, by);
        let other = run(seed, faults, Congestion::Custom(&OWN[n]));
        for (at, (a, b)) in one.capture.iter().zip(&other.capture).enumerate() {
            assert_eq!(a, b, "seed {seed}, {}, frame {at}", by.name());
        }
        for n in [0, 1] {
            let stats = other.hosts[n].engine.stats();
            assert_eq!(stats, one.hosts[n].engine.stats(), "seed {seed}");
            undone += stats.recoveries_undone;
            marked += stats.marked;
        }
    }
    assert!(undone > 0 && marked > 0, "{undone} {marked}");
}

/// Its name is not among those that a command may ask for.
#[test]
fn a_name_of_its_own() {
    let own = Congestion::Custom(&OWN[1]);
    assert_eq!(own.name(), "own cubic");
    assert_eq!(Congestion::named("own cubic"), None);
    assert_ne!(own, Congestion::Cubic);
    assert_ne!(own, Congestion::Custom(&OWN[0]));
}

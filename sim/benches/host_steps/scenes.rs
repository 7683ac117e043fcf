//! The scenes: each has one step more than other scenes have it.

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::{RecvWr, SendWr, Wc, WcOpcode, WcStatus};
use weft_hostdrv::{Device, Rung};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::host::Done;
use weft_sim::idle_polls::IdlePolls;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::pair::{End, Pair};
use weft_sim::transport::lock;

/// What of an end is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    Send,
    Receive,
    Poll,
    Turn,
    Look,
}

/// Writes from one end to the other.
pub struct Scene {
    /// The step that it is about.
    pub step: &'static str,
    pub what: What,
    /// The end that is counted; the first one posts.
    pub end: usize,
    pub rung: Rung,
    pub mtu: u16,
    pub bytes: u32,
    /// Messages in flight, and of all rounds.
    pub depth: usize,
    pub rounds: usize,
    /// Nanoseconds between looks.
    pub between: u64,
    /// Frames of a million that are lost.
    pub loss: u32,
    /// One Send at a time instead, each answered by another.
    pub echo: bool,
}

/// What most scenes have.
const USUAL: Scene = Scene {
    step: "",
    what: What::Turn,
    end: 1,
    rung: Rung::Placement,
    mtu: 1500,
    bytes: 64,
    depth: 1,
    rounds: 100,
    between: 100,
    loss: 0,
    echo: false,
};

/// One for each step.
pub const SCENES: [Scene; 17] = [
    Scene {
        step: "look that finds nothing",
        what: What::Look,
        ..USUAL
    },
    Scene {
        step: "send posted",
        what: What::Send,
        end: 0,
        depth: 16,
        ..USUAL
    },
    Scene {
        step: "receive posted",
        what: What::Receive,
        ..USUAL
    },
    Scene {
        step: "poll that finds",
        what: What::Poll,
        end: 0,
        depth: 16,
        ..USUAL
    },
    Scene {
        step: "turn of the device",
        end: 0,
        ..USUAL
    },
    Scene {
        step: "report of a placed FPDU",
        depth: 16,
        between: 2_000,
        ..USUAL
    },
    Scene {
        step: "report of a segment",
        end: 0,
        bytes: 64 << 10,
        depth: 4,
        rounds: 12,
        between: 2_000,
        ..USUAL
    },
    Scene {
        step: "acknowledgment that comes with data",
        end: 0,
        echo: true,
        ..USUAL
    },
    Scene {
        step: "segment on the slow path",
        end: 0,
        rung: Rung::Host,
        bytes: 4096,
        depth: 16,
        rounds: 20,
        between: 500,
        ..USUAL
    },
    Scene {
        step: "raw segment",
        rung: Rung::Host,
        depth: 16,
        between: 2_000,
        ..USUAL
    },
    Scene {
        step: "completion made",
        end: 0,
        depth: 16,
        between: 2_000,
        ..USUAL
    },
    Scene {
        step: "job with data",
        what: What::Send,
        end: 0,
        bytes: 1 << 20,
        rounds: 4,
        between: 1_000,
        ..USUAL
    },
    Scene {
        step: "acknowledgment",
        bytes: 64 << 10,
        depth: 4,
        rounds: 12,
        between: 2_000,
        ..USUAL
    },
    Scene {
        step: "FPDU made by the host",
        what: What::Send,
        end: 0,
        rung: Rung::Crc,
        bytes: 4096,
        depth: 16,
        rounds: 20,
        between: 500,
        ..USUAL
    },
    Scene {
        step: "segment sent again",
        end: 0,
        bytes: 64 << 10,
        depth: 4,
        rounds: 25,
        between: 1_000,
        loss: 40_000,
        ..USUAL
    },
    Scene {
        step: "byte copied",
        rung: Rung::Crc,
        mtu: 9000,
        bytes: 256 << 10,
        rounds: 8,
        between: 5_000,
        ..USUAL
    },
    Scene {
        step: "byte of CRC",
        rung: Rung::Host,
        mtu: 9000,
        bytes: 256 << 10,
        rounds: 8,
        between: 5_000,
        ..USUAL
    },
];

/// Callgrind counts in here only.
#[inline(never)]
fn weft_step_counted<T>(step: impl FnOnce() -> T) -> T {
    std::hint::black_box(step())
}

/// A step that is counted, and what the device did in it.
pub fn counted_step<T>(device: &Device, looks: &IdlePolls, step: impl FnOnce() -> T) -> (T, Done) {
    let before = Done::of(device);
    let result = match looks.are_known() {
        true => looks.counted(|| weft_step_counted(step)),
        false => step(),
    };
    (result, Done::of(device).since(before))
}

/// Runs a scene, under callgrind; what was done while it counted. It runs twice, so that turns that find nothing are known and not counted.
pub fn run(scene: &Scene) -> Result<Done, Box<dyn std::error::Error>> {
    let looks = IdlePolls::noted();
    with_looks(scene, &looks)?;
    with_looks(scene, &looks.again())
}

fn with_looks(scene: &Scene, looks: &IdlePolls) -> Result<Done, Box<dyn std::error::Error>> {
    let fabric = Fabric::new(&FabricConfig {
        mtu: scene.mtu,
        rungs: vec![scene.rung; 2],
        ..FabricConfig::default()
    })?;
    let room = scene.bytes as usize * scene.depth;
    let param = ConnParam::default();
    let source = vec![0x5a; room];
    let mut pair = Pair::connect(&fabric, 4800, &param, &param, &source, room)?;
    let to = pair.ends[1].target.remote();
    pair.ends[0].qp.post_send(SendWr::write(0, to).signaled())?;
    pair.completion(0, "the first Write")?;
    pair.established()?;
    let faults = Faults {
        loss: scene.loss,
        ..Faults::default()
    };
    let config = LinkConfig {
        faults,
        ..LinkConfig::default()
    };
    lock(fabric.world()).link(0).set_config(config);
    let mut counting = Counting {
        fabric: &fabric,
        scene,
        looks,
        done: Done::default(),
        is_warm: false,
    };
    if scene.what == What::Receive {
        counting.is_warm = true;
        for n in 0..48 {
            let wr = RecvWr::new(n).sge(pair.ends[1].target.sge(0, scene.bytes));
            counting.counted(1, What::Receive, || pair.ends[1].qp.post_recv(wr))?;
        }
        return Ok(counting.done);
    }
    for round in 0..scene.rounds {
        counting.is_warm = round >= scene.rounds / 5;
        counting.round(&pair)?;
    }
    Ok(counting.done)
}

struct Counting<'a> {
    fabric: &'a Fabric,
    scene: &'a Scene,
    looks: &'a IdlePolls,
    done: Done,
    is_warm: bool,
}

impl Counting<'_> {
    /// A step, which is counted if the scene is about it.
    fn counted<T>(&mut self, end: usize, what: What, step: impl FnOnce() -> T) -> T {
        if !self.is_about(end, what) {
            return step();
        }
        let (result, done) = counted_step(self.fabric.device(end), self.looks, step);
        self.done = self.done.and(done);
        match what {
            What::Send => self.done.sends += 1,
            What::Receive => self.done.receives += 1,
            What::Look => self.done.looks += 1,
            What::Poll | What::Turn => {}
        }
        result
    }

    /// A Send and its answer: no end sends anything before it has heard of the other.
    fn echo(&mut self, pair: &Pair<'_>) -> Result<(), Box<dyn std::error::Error>> {
        let bytes = self.scene.bytes;
        for end in &pair.ends {
            let into = end.target.sge(0, bytes);
            end.qp.post_recv(RecvWr::new(0).sge(into))?;
        }
        let send = |end: &End| {
            let from = end.source.sge(0, bytes);
            end.qp.post_send(SendWr::send(0).sge(from))
        };
        send(&pair.ends[0])?;
        let mut is_answered = false;
        while !is_answered {
            for (n, end) in pair.ends.iter().enumerate() {
                self.turn(n)?;
                while let Some(wc) = end.cq.poll_there() {
                    assert_eq!(wc.status, WcStatus::Success);
                    if wc.opcode == WcOpcode::Recv {
                        match n {
                            0 => is_answered = true,
                            _ => send(end)?,
                        }
                    }
                }
            }
            self.pass()?;
        }
        Ok(())
    }

    /// Time passes until the next look.
    fn pass(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let mut world = lock(self.fabric.world());
        let until = world.now() + self.scene.between;
        while world.now() < until {
            world.run(Some(until))?;
        }
        Ok(())
    }

    fn round(&mut self, pair: &Pair<'_>) -> Result<(), Box<dyn std::error::Error>> {
        if self.scene.echo {
            return self.echo(pair);
        }
        let [a, b] = &pair.ends;
        let (bytes, depth) = (self.scene.bytes, self.scene.depth);
        for n in 0..depth {
            let at = n as u64 * u64::from(bytes);
            let write = SendWr::write(n as u64, b.target.remote().offset(at)).signaled();
            let write = write.sge(a.source.sge(at, bytes));
            self.counted(0, What::Send, || a.qp.post_send(write))?;
        }
        let mut left = depth;
        while left > 0 {
            for end in [0, 1] {
                self.turn(end)?;
            }
            while let Some(wc) = self.poll(a) {
                assert_eq!(wc.status, WcStatus::Success);
                left -= 1;
            }
            self.pass()?;
        }
        Ok(())
    }

    fn poll(&mut self, end: &End) -> Option<Wc> {
        if !self.is_about(0, What::Poll) {
            return end.cq.poll_there();
        }
        let looks = self.looks;
        let found = self.counted(0, What::Poll, || {
            looks.look(|| end.cq.poll_there(), Option::is_none)
        });
        self.done.polls += u64::from(found.is_some());
        found
    }

    fn turn(&mut self, end: usize) -> Result<(), Box<dyn std::error::Error>> {
        let (device, looks) = (self.fabric.device(end), self.looks);
        if self.is_about(end, What::Turn) {
            let nothing = |handled: &Result<usize, _>| matches!(handled, Ok(0));
            let found = self.counted(end, What::Turn, || {
                looks.look(|| device.progress(), nothing)
            })?;
            self.done.turns += u64::from(found > 0);
        } else {
            device.progress()?;
        }
        if self.scene.what == What::Look {
            self.counted(end, What::Look, || device.progress())?;
        }
        Ok(())
    }

    fn is_about(&self, end: usize, what: What) -> bool {
        self.is_warm && (end, what) == (self.scene.end, self.scene.what)
    }
}

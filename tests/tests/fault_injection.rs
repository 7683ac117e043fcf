//! Things pulled at a hundred seeded moments each, while connecting, while the RTR is on its way, under traffic of Sends, Writes
//! and Reads both ways, while closing, and shortly after. What has to hold is in `weft_tests::fault_injection`.
//!
//! `WEFT_PULL_MOMENTS` says how many (100; at `firmware`, where one takes half a minute, 3), `WEFT_PULL_SEED=n` runs seed n alone.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::cm::CmEventType;
use weft_sim::kind::CardKind;
use weft_tests::fault_injection::{App, Plan, Site};
use weft_tests::fewer_on_card;

const MS: u64 = 1_000_000;
/// A connection that stood has ended so long after its peer fell silent: seven retransmissions of up to 16 ms, or keepalive
/// (20 ms and 8 times 5 ms), or the 200 ms of the MPA start-up and of closing.
const BOUND_STANDING: u64 = 450 * MS;
/// One that was being set up: five ARP requests of a second.
const BOUND_CONNECTING: u64 = 6000 * MS;
/// A cut so long is survived.
const SURVIVED: u64 = 25 * MS;

/// A new connection has done all its work so long after its start. While a firmware starts, a question for its address is lost, and asked again after a
/// second.
fn usable_within() -> u64 {
    fewer_on_card(300 * MS, 1500 * MS)
}

const PORT: u16 = 7471;

fn seeds(first: u64) -> Vec<u64> {
    // Environment (tests): `WEFT_PULL_SEED`: `fault_injection`, `killed_process`: this moment alone. Without it: all.
    if let Ok(seed) = std::env::var("WEFT_PULL_SEED") {
        return vec![seed.parse().expect("WEFT_PULL_SEED")];
    }
    let moments = std::env::var("WEFT_PULL_MOMENTS").map_or_else(
        |_| fewer_on_card(100, 3),
        |moments| moments.parse().expect("WEFT_PULL_MOMENTS"),
    );
    (first..first + moments).collect()
}

/// What a run is to be like, from its seed.
struct Pull {
    seed: u64,
    kind: CardKind,
    rng: ChaCha8Rng,
    plan: Plan,
    /// When, in simulated time.
    moment: u64,
    /// While what.
    phase: &'static str,
}

/// The applications of both sides, introduced and started.
fn start(site: &Site, plan: &Plan) -> [App; 2] {
    let mut apps = [0, 1].map(|side| App::new(site.device(side), side, plan));
    let [a, b] = &mut apps;
    a.introduce(b);
    apps[1 - plan.client].start();
    apps[plan.client].start();
    apps
}

fn step(now: u64, apps: &mut [App]) {
    for app in apps {
        app.step(now);
    }
}

impl Pull {
    /// The same run without a pull tells when what happens; the moment is drawn from one of its phases.
    fn new(seed: u64) -> Self {
        let kind = std::env::var("WEFT_TEST_CARD").map_or(CardKind::Model, |name| {
            name.parse().expect("WEFT_TEST_CARD")
        });
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let plan = Plan::new(seed, rng.random_range(0..2), PORT);
        let site = Site::new(kind, seed);
        let begin = site.now();
        let mut apps = start(&site, &plan);
        let done = site.run(begin + 1000 * MS, || {
            step(site.now(), &mut apps);
            apps.iter().all(App::is_done)
        });
        let states = || apps.iter().map(App::state).collect::<Vec<_>>().join("\n");
        assert!(done, "seed {seed}: not even without a pull\n{}", states());
        assert!(
            apps.iter().all(App::is_perfect),
            "seed {seed}\n{}",
            states()
        );
        let up = apps.iter().filter_map(|app| app.established);
        let (first, last) = up.fold((u64::MAX, 0), |(a, b), t| (a.min(t), b.max(t)));
        let closing = apps[plan.client].disconnected.expect("perfect");
        let phases = [
            ("connecting", begin, first),
            ("RTR", first, last),
            ("traffic", last, closing),
            ("traffic", first, closing),
            ("closing", closing, site.now()),
        ];
        let (phase, from, to) = phases[(seed % 5) as usize];
        let moment = rng.random_range(from..to.max(from + 1));
        Self {
            seed,
            kind,
            rng,
            plan,
            moment,
            phase,
        }
    }

    /// Runs up to the moment.
    fn begin(&self) -> (Site, [App; 2]) {
        let site = Site::new(self.kind, self.seed);
        let mut apps = start(&site, &self.plan);
        site.run(self.moment, || {
            step(site.now(), &mut apps);
            false
        });
        (site, apps)
    }

    fn bound(&self) -> u64 {
        match self.phase {
            "connecting" => BOUND_CONNECTING,
            _ => BOUND_STANDING,
        }
    }

    /// Waits until nothing of the old connection is open; new connections may be at work meanwhile.
    fn settle(&self, site: &Site, old: &mut [App]) {
        let limit = site.now() + self.bound();
        let done = site.run(limit, || {
            step(site.now(), old);
            old.iter().all(App::is_done)
        });
        assert!(
            done,
            "{}: it hangs\n{}",
            self.name(),
            old.iter().map(App::state).collect::<Vec<_>>().join("\n")
        );
    }

    /// A new connection does all its work, at once.
    fn usable(&mut self, site: &Site, old: &mut [App]) {
        let client = self.rng.random_range(0..2);
        let plan = Plan::new(self.seed + 10_000, client, PORT + 1);
        let mut apps = start(site, &plan);
        let done = site.run(site.now() + usable_within(), || {
            step(site.now(), old);
            step(site.now(), &mut apps);
            apps.iter().all(App::is_done)
        });
        let states = || apps.iter().map(App::state).collect::<Vec<_>>().join("\n");
        let name = self.name();
        assert!(done, "{name}: not usable afterwards\n{}", states());
        assert!(apps.iter().all(App::is_perfect), "{name}\n{}", states());
        apps[0].check_writes_of(&apps[1]);
        apps[1].check_writes_of(&apps[0]);
    }

    /// Everything is let go: nothing stays mapped, and nothing was touched that was not.
    fn finish(&self, mut site: Site, old: Vec<App>) {
        drop(old);
        for side in [0, 1] {
            site.close(side);
            assert_eq!(site.mappings(side), 0, "{}: side {side}", self.name());
        }
        assert_eq!(site.faults(), 0, "{}", self.name());
    }

    fn name(&self) -> String {
        format!(
            "WEFT_PULL_SEED={} ({}, at {} ns)",
            self.seed, self.phase, self.moment
        )
    }
}

#[test]
fn the_link_is_cut_for_good() {
    for seed in seeds(1000) {
        let mut pull = Pull::new(seed);
        let (site, mut apps) = pull.begin();
        site.cut(true);
        pull.settle(&site, &mut apps);
        let late = apps.iter().filter(|app| app.over.is_none()).count();
        assert!(late == 0 || pull.phase == "connecting", "{}", pull.name());
        site.cut(false);
        apps[0].check_writes_of(&apps[1]);
        apps[1].check_writes_of(&apps[0]);
        pull.usable(&site, &mut apps);
        pull.finish(site, apps.into());
    }
}

#[test]
fn the_link_is_cut_and_mended() {
    let seeds = seeds(2000);
    let (mut survived, all) = (0, seeds.len());
    for seed in seeds {
        let mut pull = Pull::new(seed);
        let (site, mut apps) = pull.begin();
        // From a microsecond to a quarter of a second, evenly in its logarithm.
        let long = 10f64.powf(pull.rng.random_range(3.0..8.4)) as u64;
        site.cut(true);
        site.run(site.now() + long, || {
            step(site.now(), &mut apps);
            false
        });
        site.cut(false);
        pull.settle(&site, &mut apps);
        // What stood, stands; what was asked for, comes about. ARP asks once in a second.
        if long < SURVIVED {
            let perfect = apps.iter().all(App::is_perfect);
            let state = || apps.iter().map(App::state).collect::<Vec<_>>().join("\n");
            assert!(perfect, "{}: cut for {long} ns\n{}", pull.name(), state());
            survived += 1;
        }
        apps[0].check_writes_of(&apps[1]);
        apps[1].check_writes_of(&apps[0]);
        pull.usable(&site, &mut apps);
        pull.finish(site, apps.into());
    }
    assert!(survived > all / 2 || all < 20, "{survived} of {all}");
}

/// One process ends without a word, or lets go of its device without closing anything.
fn a_process_goes(first: u64, killed: bool) {
    for seed in seeds(first) {
        let mut pull = Pull::new(seed);
        let (mut site, apps) = pull.begin();
        let victim = pull.rng.random_range(0..2);
        let mut apps: Vec<_> = apps.into_iter().map(Some).collect();
        if killed {
            site.kill(victim);
            apps[victim] = None;
        } else {
            apps[victim] = None;
            site.close(victim);
        }
        assert_eq!(site.mappings(victim), 0, "{}", pull.name());
        assert_eq!(site.faults(), 0, "{}", pull.name());
        let mut old: Vec<_> = apps.into_iter().flatten().collect();
        // Another process takes the card: at once, or when the survivor has noticed.
        let at_once = pull.rng.random_bool(0.5);
        if !at_once {
            pull.settle(&site, &mut old);
        }
        site.open(victim);
        pull.usable(&site, &mut old);
        pull.settle(&site, &mut old);
        for app in &old {
            if let Some((event, status)) = app.over {
                let orderly = event == CmEventType::Disconnected && status == 0;
                assert!(
                    !orderly || pull.phase == "closing" || !killed,
                    "{}: {}",
                    pull.name(),
                    app.state()
                );
            }
        }
        pull.finish(site, old);
    }
}

#[test]
fn the_process_is_killed() {
    a_process_goes(3000, true);
}

#[test]
fn the_device_is_dropped() {
    a_process_goes(4000, false);
}

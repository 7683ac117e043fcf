//! Blocking threads in a simulated world: the seed decides what they do.

use std::sync::mpsc;
use std::time::Duration;

use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::threads::{scope, scope_within, sleep, until, yield_now};
use weft_tests::same_capture::Program;

/// Runs of one program.
const RUNS: usize = 20;
/// And of one that looks each microsecond, also where it waits for a timer of milliseconds.
const FEW_RUNS: usize = 4;
/// Real time in which a run that is meant to be stuck is told so.
const SOON: Duration = Duration::from_millis(300);

fn fabric() -> Fabric {
    Fabric::new(&FabricConfig::default()).expect("two devices come up")
}

fn has_one_capture(program: &Program, runs: usize) {
    // Environment (tests): `WEFT_CAPTURE_RUNS`: blocking threads in a simulated world: runs of a program that have one capture (20).
    let named = std::env::var("WEFT_CAPTURE_RUNS");
    let runs = named.map_or(runs, |text| text.parse().expect("a number of runs"));
    let first = program.capture().expect("it runs");
    for run in 1..runs {
        let again = program.capture().expect("it runs");
        assert!(
            again == first,
            "{program:?}: run {run} differs from the first"
        );
    }
}

#[test]
fn sixteen_threads_have_one_capture() {
    has_one_capture(&Program::of_sixteen(1), RUNS);
}

#[test]
fn seeds_have_captures_of_their_own() {
    let [one, other] = [1, 2].map(|seed| Program::of_sixteen(seed).capture().expect("it runs"));
    assert!(one != other);
}

#[test]
fn threads_of_a_driven_device_have_one_capture() {
    let program = Program {
        driven: true,
        ..Program::of_sixteen(2)
    };
    has_one_capture(&program, RUNS);
}

#[test]
fn threads_that_poll_have_one_capture() {
    let program = Program {
        polled: true,
        ..Program::of_sixteen(3)
    };
    has_one_capture(&program, FEW_RUNS);
}

/// A thread that waits by the system keeps its turn. What it waits for comes when the others' calls have failed.
#[test]
fn who_is_stuck_is_named() {
    let fabric = fabric();
    let device = fabric.device(0);
    let stuck = scope_within(fabric.world(), SOON, |threads| {
        let (told, tells) = mpsc::channel::<()>();
        let sleeper = threads.spawn("sleeper", move || {
            let cq = device.create_cq(4, None).expect("a queue");
            let failed = cq.wait_one(None).expect_err("the run is stuck");
            drop(told);
            failed.to_string()
        });
        threads.spawn("blocked", move || {
            tells.recv().expect_err("nobody tells anything");
        });
        let failed = sleeper.join().expect("no panic");
        assert!(failed.contains("`blocked` runs outside"), "{failed}");
    });
    let why = stuck.expect_err("it is stuck").to_string();
    for named in [
        "`blocked` runs outside the simulation",
        "`sleeper` sleeps on card 0 without a deadline",
        "joins `sleeper`",
    ] {
        assert!(why.contains(named), "{named}: {why}");
    }
}

#[test]
fn who_waits_for_nothing_that_can_happen_is_named() {
    let fabric = fabric();
    let ended = scope(fabric.world(), |threads| {
        for n in 0..2 {
            let cq = fabric.device(n).create_cq(4, None).expect("a queue");
            threads.spawn(&format!("end {n}"), move || {
                cq.wait_one(None).expect_err("nothing comes");
            });
        }
    });
    let why = ended.expect_err("nothing is left").to_string();
    assert!(why.starts_with("nothing is left to happen"), "{why}");
    for named in ["`end 0` sleeps on card 0", "`end 1` sleeps on card 1"] {
        assert!(why.contains(named), "{named}: {why}");
    }
}

/// A thread that nobody registered would run beside the one whose turn it is.
#[test]
fn a_thread_of_no_scope_is_refused() {
    let fabric = fabric();
    let device = fabric.device(0);
    let refused = scope(fabric.world(), |_| {
        std::thread::scope(|threads| {
            let stranger = threads.spawn(|| device.health());
            stranger.join().expect("no panic")
        })
    });
    let why = refused.expect("it ends").expect_err("it takes no turns");
    assert!(why.to_string().contains("takes no turns"), "{why}");
    device.health().expect("no scope is open any more");
}

#[test]
fn a_panic_ends_the_run() {
    let fabric = fabric();
    let ended = scope(fabric.world(), |threads| {
        let fails = threads.spawn("fails", || panic!("on purpose"));
        fails.join().expect_err("it panics");
        sleep(1).expect_err("the run has ended").to_string()
    });
    let why = ended.expect_err("it panicked").to_string();
    assert_eq!(why, "`fails` panicked");
}

/// What threads tell each other by the system's means is seen when another thread has run; time does not go on for it.
#[test]
fn what_threads_tell_each_other_takes_no_time() {
    let fabric = fabric();
    let begun = fabric.now();
    let order = scope(fabric.world(), |threads| {
        let (told, tells) = mpsc::channel();
        let teller = threads.spawn("teller", move || {
            for n in 0..3 {
                told.send(n).expect("it is heard");
                yield_now().expect("its turn comes");
            }
            sleep(5_000).expect("its time comes");
            told.send(3).expect("it is heard");
        });
        let mut heard = Vec::new();
        for _ in 0..4 {
            let next = until("a number", || tells.try_recv().ok());
            heard.push((next.expect("it comes"), fabric.now() - begun));
        }
        teller.join().expect("no panic");
        heard
    });
    let order = order.expect("it ends");
    let (last, late) = order[3];
    assert_eq!(order[..3], [(0, 0), (1, 0), (2, 0)]);
    assert!(last == 3 && (5_000..5_100).contains(&late), "{order:?}");
}

/// A program that lets the whole fabric run is one of the threads: time goes on for all.
#[test]
fn a_fabric_runs_with_its_threads() {
    let fabric = fabric();
    let ended = scope(fabric.world(), |threads| {
        let sleeper = threads.spawn("sleeper", || {
            sleep(10_000).expect("its time comes");
            fabric.now()
        });
        fabric.run_for(50_000).expect("time passes");
        sleeper.join().expect("no panic")
    });
    let woke = ended.expect("it ends");
    assert!((10_000..40_000).contains(&woke), "{woke}");
}

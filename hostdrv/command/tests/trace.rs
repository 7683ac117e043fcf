//! `weft trace` shows what the card's last user left.
#![cfg(feature = "sim")]

use crate::weft;

use weft::{folder, run, text, Served};

#[test]
fn what_the_last_user_did_is_there_for_the_next() {
    let folder = folder("trace-left");
    let card = Served::start(&folder);
    let device = card.device();
    let trace = |more: &[&str]| {
        let trace = ["trace", "--device", &device];
        let output = run(&[&trace[..], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let nobody = [
        "rping",
        "-c",
        "-C",
        "1",
        "-a",
        "10.0.0.9",
        "--timeout",
        "0.3",
        "--ip",
        "10.0.0.1/24",
    ];
    let ping = run(&[&nobody[..], &["--device", &device]].concat());
    assert!(!ping.status.success());
    // Its questions, to nobody, and the way it used the card.
    let left = trace(&[]);
    for event in ["frame out", "doorbell JOB_TAIL", "job 0 begins"] {
        assert!(left.contains(event), "no `{event}` in\n{left}");
    }
    // Looking changes nothing.
    assert_eq!(
        trace(&["--kind", "frame-out"]),
        trace(&["--kind", "frame-out"])
    );

    // What is written beside a tool is of that tool alone.
    let file = folder.join("ping.trace").display().to_string();
    let beside = ["--device", &device, "--trace", &file];
    assert!(!run(&[&nobody[..], &beside].concat()).status.success());
    let beside = std::fs::read_to_string(&file).expect("written");
    assert_eq!(beside.matches("job 0 begins").count(), 1, "{beside}");
    assert!(
        trace(&["--kind", "job-begin"])
            .matches("job 0 begins")
            .count()
            == 2
    );
}

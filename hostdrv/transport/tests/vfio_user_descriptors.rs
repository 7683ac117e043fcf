//! Opening where descriptors run out, at each place where one is needed.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;

use crate::toy::Toy;

const SPEC: &str = "TOY_SPEC";

/// In a process of its own, whose limit is nobody else's.
#[test]
fn what_cannot_be_opened_leaves_nothing() {
    let toy = Toy::start_for_all();
    let status = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "vfio_user_descriptors::opens"])
        .args(["--ignored", "--nocapture"])
        .env(SPEC, toy.spec())
        .status();
    assert!(status.expect("a process").success());
}

fn entries(folder: &str) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Descriptors and threads of this process.
fn held() -> (usize, usize) {
    (entries("/proc/self/fd"), entries("/proc/self/task"))
}

/// Descriptors below this number may be had.
fn limit(below: u64) {
    use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: Some(below),
        maximum,
    };
    setrlimit(Resource::Nofile, limit).expect("allowed");
}

/// Not a test: that process.
#[test]
#[ignore = "a process of the test what_cannot_be_opened_leaves_nothing"]
fn opens() {
    let spec = std::env::var(SPEC).expect("a server");
    let open = || weft_card_transport::open(&spec);
    drop(open().expect("opens"));
    let before = held();
    // The next descriptor's number.
    let first = File::open("/dev/null").expect("a file").as_raw_fd() as u64;
    let mut refused = 0;
    loop {
        limit(first + refused);
        let opened = open();
        limit(256);
        match opened {
            Ok(card) => {
                drop(card);
                break;
            }
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains("open files"), "{refused} descriptors: {said}");
            }
        }
        assert_eq!(held(), before, "{refused} descriptors");
        // The server is free for the next, who has all that it needs.
        drop(open().expect("opens"));
        refused += 1;
    }
    assert!(refused > 10, "{refused}");
}

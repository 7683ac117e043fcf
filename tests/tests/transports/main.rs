//! One suite over every transport: in this process, by vfio-user, by the kernel's VFIO, and by the loop, which has no cards.
//!
//! `WEFT_TEST_TRANSPORT` says which: `sim`, `vfio-user`, `loop`, `vfio:0000:00:04.0,0000:00:05.0` (two cards joined to each
//! other), or several with spaces between; without it, the first three. The program needs nothing around it: copied into
//! a guest, it runs there. Names and options are those of every test program (`transports sim::`, `--list`).

mod connections;
mod failures;
mod messages;
mod program_memory;
mod seam;
mod shared_receives;
mod windows;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use weft_tests::bench::Way;
use weft_tests::left_out_on_card;
use weft_watchdog::Watchdog;

type Test = fn(&Way);

/// The names of tests, with the tests.
macro_rules! tests {
    ($($module:ident :: $name:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($name)), $module::$name as Test)),*]
    };
}

const TESTS: [(&str, Test); 25] = tests![
    seam::a_card_says_who_it_is,
    seam::reads_come_after_writes,
    seam::new_memory_is_zeroed_aligned_and_apart,
    seam::a_card_reaches_what_is_mapped_and_nothing_else,
    seam::waits_keep_their_deadlines,
    seam::reset_is_as_power_on,
    seam::the_selftest_passes,
    seam::a_card_opens_again_and_again,
    messages::send_write_and_read,
    messages::immediate_data,
    messages::completion_channel,
    messages::unsignalled_work_completes_in_silence_and_lets_go,
    connections::every_way_to_connect,
    connections::rejected_refused_and_unreachable,
    connections::a_callback_answers,
    program_memory::memory_of_the_program_is_used_where_it_is,
    program_memory::neighbours_of_a_region_lose_nothing,
    failures::errors_flush,
    shared_receives::two_connections_share_receives,
    shared_receives::misuse_of_shared_receives_is_refused,
    shared_receives::receives_come_back_from_queue_pairs_that_are_gone,
    windows::windows_and_fast_registration,
    windows::misuse_of_windows_is_refused,
    windows::atomics,
    windows::a_region_is_registered_anew,
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let mut ways = match Way::asked_for() {
        Ok(ways) => ways,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    ways.retain(|way| {
        way.has_cards() || !left_out_on_card(&way.to_string(), "it has no card to be on")
    });
    if !ways.iter().all(Way::is_shared) {
        arguments.test_threads = Some(1);
    }
    let trial = |way: &Way, (name, test): (&str, Test)| {
        let (title, way) = (format!("{way}::{name}"), way.clone());
        Trial::test(title.clone(), move || {
            let _limit = Watchdog::usual(&title);
            test(&way);
            Ok(())
        })
    };
    let trials = ways
        .iter()
        // Of the seam to a card there is nothing to test where there is none.
        .flat_map(|way| TESTS.map(|test| (way, test)))
        .filter(|(way, (name, _))| way.has_cards() || !name.starts_with("seam::"))
        .map(|(way, test)| trial(way, test));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

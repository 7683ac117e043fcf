//! What the full-stack tests share: a judge and a peer that are not Weft, and a card for the peer to meet.

pub mod bench;
pub mod clients;
pub mod ends;
pub mod fault_injection;
pub mod goodput;
pub mod lent_program;
pub mod lingering;
pub mod markers;
pub mod namespace;
pub mod one_sided;
pub mod peer;
pub mod profiles;
pub mod replay_cost;
pub mod resolvers;
pub mod same_capture;
pub mod target;
pub mod traffic;
pub mod tshark;
pub mod watched;

use std::io::Write;

use weft_hostdrv::Rung;
use weft_sim::kind::CardKind;

/// Two cards of the kind that tests use: the RTL, 512 bits wide, unless `WEFT_TEST_CARD` names another
/// (`rtl128`, `model`), or the build has no RTL, which is said.
///
/// # Panics
/// If the variable names a card that there is not: the message says what to do.
pub fn cards() -> Vec<CardKind> {
    // Environment (tests): `WEFT_TEST_CARD`: the card of the full-stack tests and of the lanes: `rtl512`, `rtl256`, `rtl128`, `model`. Without it:
    // `rtl512`; where kernel timers run, `model`; VFIO lane: `rtl128`.
    let kind = match std::env::var("WEFT_TEST_CARD") {
        Ok(name) => name
            .parse()
            .unwrap_or_else(|why| panic!("WEFT_TEST_CARD: {why}")),
        Err(_) => {
            has(CardKind::Rtl512);
            CardKind::widest()
        }
    };
    vec![kind; 2]
}

/// Does this build have such a card? If not, it is said, and a test that wants it is skipped, or takes the functional model.
pub fn has(kind: CardKind) -> bool {
    let has = CardKind::available().contains(&kind);
    if !has {
        eprintln!(
            "no {kind} in this build (WEFT_NO_RTL): skipped, or done by the functional model"
        );
    }
    has
}

/// Two functional models, for tests of what does not depend on the card; but a device of rung `firmware` has the card that is asked for ([`cards`]),
/// for a model has no processor.
pub fn models() -> Vec<CardKind> {
    let asked = cards();
    let kind = |(rung, kind)| match rung {
        Rung::Firmware => kind,
        _ => CardKind::Model,
    };
    rungs().into_iter().zip(asked).map(kind).collect()
}

/// The rungs of their queue pairs: the usual one, unless `WEFT_TEST_RUNG` names one for both (`host`), or one for each (`host,placement`).
pub fn rungs() -> [Rung; 2] {
    // Environment (tests): `WEFT_TEST_RUNG`: the rung of the queue pairs of the full-stack tests: `host`, or one for each device, `host,placement`.
    // Without it: `placement`.
    let Ok(names) = std::env::var("WEFT_TEST_RUNG") else {
        return [Rung::default(); 2];
    };
    let (a, b) = names.split_once(',').unwrap_or((&names, &names));
    [a, b].map(|name| name.parse().expect("WEFT_TEST_RUNG"))
}

/// Whether one of the rungs that are asked for is `firmware`, whose software takes time and has to be simulated: there, a few are as good as many.
pub fn is_on_card() -> bool {
    rungs().contains(&Rung::Firmware)
}

/// So many, or `few` of them where one of the rungs that are asked for is `firmware`.
pub fn fewer_on_card<T>(many: T, few: T) -> T {
    if is_on_card() {
        few
    } else {
        many
    }
}

/// Whether a test is left out at the rungs that are asked for, because one of them is `firmware`. Says so, past the harness, which keeps what tests print.
pub fn left_out_on_card(test: &str, why: &str) -> bool {
    if !is_on_card() {
        return false;
    }
    // Nobody reads it any more: then it does not matter.
    let _ = writeln!(std::io::stderr(), "{test} is left out at firmware: {why}");
    true
}

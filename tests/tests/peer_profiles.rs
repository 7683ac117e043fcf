//! Weft meets the peers of `weft_tests::profiles`, in both parts. Each meeting ends as it has to; both judges look at the frames;
//! and `docs/peers.md` quotes the table that came of it (`UPDATE_PEERS=1` renews the page).

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use weft_hostdrv::Rung;
use weft_sim::fabric;
use weft_sim::kind::CardKind;
use weft_tests::markers::{check, Rules};
use weft_tests::profiles::{meet, scenarios, table, Met, Outcome, Role, Scenario};
use weft_tests::tshark;
use weft_tests::{cards, rungs};

/// A file that goes away with its owner.
struct TempFile(PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Meetings so far.
static MET: AtomicUsize = AtomicUsize::new(0);

fn all(rung: Rung) -> Vec<(Scenario, Met)> {
    let rules = Rules {
        ours: vec![fabric::ip(0)],
    };
    // A model has no processor for `firmware`.
    let kind = match rung {
        Rung::Firmware => cards()[0],
        _ => CardKind::Model,
    };
    let mut rows = Vec::new();
    for (n, scenario) in scenarios().into_iter().enumerate() {
        let name = format!(
            "{} as {:?}, {}",
            scenario.profile.name, scenario.role, scenario.remark
        );
        // Both tests may have the same rung.
        let unique = MET.fetch_add(1, Ordering::Relaxed);
        let file = format!("weft-peer-{rung}-{unique}-{}.pcapng", std::process::id());
        let capture = TempFile(std::env::temp_dir().join(file));
        let met = meet(&scenario, kind, rung, 100 + n as u64, &capture.0);
        assert_eq!(
            met.data,
            scenario.outcome == Outcome::Data,
            "{name}: {met:?}"
        );
        let report = check(&capture.0, &rules).expect("a capture");
        assert_eq!(report.violations(), Vec::<String>::new(), "{name}");
        assert_eq!(report.sum(|d| d.fpdus) > 10, met.data, "{name}: {report}");
        let decoded = tshark::decode(&capture.0).expect("tshark");
        assert_eq!(decoded.complaints, Vec::<String>::new(), "{name}");
        // Everybody who is connected is told so, and everybody is told of the end.
        let refused = scenario.outcome == Outcome::Refused;
        let silent = refused && scenario.role == Role::Initiator;
        assert_eq!(met.agreed.is_some(), !refused, "{name}: {met:?}");
        assert!(!met.events.is_empty() || silent, "{name}: {met:?}");
        rows.push((scenario, met));
    }
    rows
}

/// Where software frames and checks, each peer hears and sees the same.
#[test]
fn every_peer_is_got_along_with_by_software() {
    for (scenario, met) in all(Rung::Host) {
        let name = format!("{} as {:?}", scenario.profile.name, scenario.role);
        assert_eq!(met.stats.fpdus_card, 0, "{name}");
        assert_eq!(met.stats.fpdus_made > 5, met.data, "{name}: {met:?}");
    }
}

/// What holds for all peers, from `peers.md`.
#[test]
fn every_peer_is_got_along_with() {
    let rows = all(rungs()[0]);
    for (scenario, met) in &rows {
        let name = format!("{} as {:?}", scenario.profile.name, scenario.role);
        let reply = &met.frames[1];
        if scenario.role == Role::Initiator && met.data && reply[17] == 2 {
            let (a, kinds) = (
                reply[20] & 0x80 != 0,
                [reply[20] & 0x40, reply[22] & 0x80, reply[22] & 0x40],
            );
            let named = kinds.iter().filter(|k| **k != 0).count();
            assert_eq!(
                named,
                usize::from(a),
                "{name}: one RTR kind if A, else none"
            );
        }
        if let (Role::Responder, Some(rtr)) = (scenario.role, &met.rtr) {
            assert!(!rtr.contains("STag 0x0"), "{name}: {rtr}");
        }
    }
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/peers.md");
    let text = std::fs::read_to_string(&page).expect("docs/peers.md");
    let (begin, end) = ("<!-- profiles -->\n", "<!-- end of profiles -->");
    let from = text.find(begin).expect("the table's place") + begin.len();
    let to = text.find(end).expect("the table's end");
    let table = table(&rows);
    // Environment (tests): `UPDATE_PEERS`: `peer_profiles`: `1` writes its table into docs/peers.md. Without it: the page is compared.
    if std::env::var_os("UPDATE_PEERS").is_some() {
        let renewed = [&text[..from], &table, &text[to..]].concat();
        std::fs::write(&page, renewed).expect("write");
    } else {
        let mut told = text[from..to].to_owned();
        if rungs()[0] == Rung::Firmware {
            // By a count of the engine, which the host does not see when the engine is on the card.
            told = told.replace(" (Terminate 2007, in siw's layout)", "");
        }
        assert!(
            told == table,
            "docs/peers.md is stale: UPDATE_PEERS=1 cargo test -p weft-tests --test stack peer_profiles\n{table}"
        );
    }
}

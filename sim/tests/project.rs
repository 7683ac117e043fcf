//! What `weft project` predicts from what it measures, against the RTL where both reach.
#![cfg(rtl)]

use weft_hostdrv::Rung;
use weft_sim::host::HostConfig;
use weft_sim::kind::CardKind;
use weft_sim::partitions::run::Place;
use weft_sim::partitions::{workload, Name};
use weft_sim::project::{run, Question};

/// Points that were not measured, one under way or many, slower lines and more connections: the simulation is where it was said to be.
#[test]
fn the_simulation_is_within_the_bounds() {
    let load =
        "[[load]]\nname = \"Writes\"\nwrite = 1\nsizes = [1024]\ndepth = 8\nmessages = 150\n";
    let loads = workload::parse("test", load).unwrap();
    let kind = CardKind::Rtl128;
    let question = Question {
        place: Place {
            kind,
            seed: 3,
            mtu: 1500,
            gbps: kind.gbps(),
            host: HostConfig::free(),
        },
        rungs: vec![Rung::Host, Rung::Placement],
        targets: Vec::new(),
        check: true,
    };
    let name = Name {
        version: String::new(),
        command: String::new(),
    };
    let projection = run(name, &question, &loads, |_, _| {}).unwrap();
    assert_eq!(projection.loads.len(), 2);
    for row in &projection.loads {
        assert_eq!(row.checked.len(), 6);
        for point in &row.checked {
            assert!(point.outside() == 0.0, "{}: {point:?}", row.rung);
            // They say something.
            let [least, most] = point.predicted;
            assert!(most < 2.2 * least, "{}: {point:?}", row.rung);
        }
    }
}

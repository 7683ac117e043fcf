//! The card behind PCIe ports: the link is never exceeded, and what a port lacks costs what depends on it.

use weft_sim::kind::CardKind;
use weft_sim::perf::pcie::{self, Port, Row};

fn rows(ports: &[&str]) -> Vec<Row> {
    let ports: Vec<Port> = ports
        .iter()
        .map(|text| text.parse().expect("a port"))
        .collect();
    let table = pcie::run(CardKind::widest(), 1, &ports, |_| {}).expect("a card");
    let names: Vec<_> = table.rows.iter().map(|row| row.port.clone()).collect();
    assert_eq!(names[0], None);
    assert_eq!(names.len(), ports.len() + 1);
    table.rows
}

#[test]
fn a_port_costs_what_its_link_and_its_reads_cannot_do() {
    if CardKind::widest() == CardKind::Model {
        return;
    }
    let rows = rows(&["3x8", "3x16", "3x16+tags=8", "3x16+wide", "3x16+beside=50"]);
    let of = |row: usize, value: fn(&Row) -> Option<f64>| value(&rows[row]).expect("measured");
    let (rx, tx) = (|row: &Row| row.rx_gbps, |row: &Row| row.tx_gbps);
    // 7.2 bytes a nanosecond, less 24 around each TLP of a write or 20 of a completion.
    assert!((40.0..54.0).contains(&of(1, rx)) && (40.0..54.0).contains(&of(1, tx)));
    assert!(
        (0.45..0.55).contains(&(of(5, tx) / of(2, tx))),
        "half of the link"
    );
    // Writes need no tag and wait for no read.
    for slow in [3, 4] {
        assert!((0.99..1.01).contains(&(of(slow, rx) / of(2, rx))));
        assert!(of(slow, tx) < 0.7 * of(2, tx));
    }
    let sends = |row: &Row| row.send_rx_millions;
    assert!(of(4, sends) < 0.5 * of(2, sends), "elements that are late");
    assert!(of(2, rx) <= of(0, rx), "no port is quicker than none");
}

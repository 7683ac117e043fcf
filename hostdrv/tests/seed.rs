//! What must not repeat in every process.
#![allow(missing_docs)]

use crate::fake;

use std::net::Ipv4Addr;
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::{Device, DeviceConfig};
use weft_layout::{reg, table};

fn config() -> DeviceConfig {
    DeviceConfig::new([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 0, 0, 1))
}

/// The words of HASH_SECRET that a card is brought up with, written before any row of FLOW_KEY.
fn hash_secret(config: DeviceConfig) -> Vec<u32> {
    let card = FakeCard::new();
    let _device = Device::open(Arc::new(card.clone()), config).expect("it comes up");
    let inner = card.lock();
    let words = |at: u32| (reg::HASH_SECRET..reg::HASH_SECRET + 16).contains(&at);
    let first_row = inner.writes.iter().position(|(at, value)| {
        *at == reg::TABLE_CMD && reg::TableCmd(*value).table() == table::FLOW_KEY
    });
    let before = first_row.unwrap_or(inner.writes.len());
    let written = inner.writes[..before].iter().filter(|(at, _)| words(*at));
    written.map(|(_, value)| *value).collect()
}

#[test]
fn flows_are_looked_up_by_a_secret_of_the_seed() {
    let all = [1, 2].map(|seed| hash_secret(config().seed(seed)));
    assert_eq!(all[0].len(), 4);
    assert_ne!(all[0], all[1]);
    assert_eq!(all[0], hash_secret(config().seed(1)));
    assert_ne!(hash_secret(config()), hash_secret(config()));
}

//! What must not repeat in every process.
#![allow(missing_docs)]

use std::net::Ipv4Addr;

use weft_hostdrv::DeviceConfig;

fn config() -> DeviceConfig {
    DeviceConfig::new([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 0, 0, 1))
}

#[test]
fn the_seed_comes_from_the_operating_system_unless_it_is_given() {
    assert!(config().engine.seed != config().engine.seed);
    assert!(config().seed(1).engine.seed == config().seed(1).engine.seed);
    assert!(config().seed(1).engine.seed != config().seed(2).engine.seed);
}

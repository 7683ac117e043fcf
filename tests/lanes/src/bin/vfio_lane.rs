//! `make test-vfio`.
use std::time::Duration;
use weft_lanes::images::{Images, Kernel};
use weft_lanes::{accel::Accel, Device, Guest, GuestConfig, Iommu};
fn main() {
    let images = Images::build(&[Kernel::Debian12]).unwrap();
    let (accel, why) = Accel::choose(&images);
    println!("{accel:?} {why}");
    let mut c = GuestConfig::new("try", std::path::Path::new("/tmp/lanes"));
    c.iommu = Iommu::On;
    c.devices = vec![Device::Edu {
        slot: 4,
        function: 0,
    }];
    let mut g = Guest::boot(&images, accel, c).unwrap();
    println!("boot {:?}", g.boot_time());
    for cmd in std::env::args().skip(1) {
        println!(
            "{:?}",
            g.run(&cmd, Duration::from_secs(10))
                .unwrap_or_else(|e| panic!("{e}"))
        );
    }
}

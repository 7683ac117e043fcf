//! The VFIO lane: the driver and its tools under a guest kernel's VFIO, on QEMU's `edu` device and on simulated cards
//! that QEMU reaches by vfio-user.

mod cards;
mod edu;
mod kills;
mod site;
mod wrong;

use crate::accel::Accel;
use crate::images::{Images, Kernel};
use crate::qemu::{Iommu, Memory};
use crate::steps::Lane;

pub use site::{Site, SiteConfig};

/// What all steps need.
pub struct Setting<'a> {
    /// The images.
    pub images: &'a Images,
    /// Emulation or KVM.
    pub accel: Accel,
    /// `rtl512`, `rtl256`, `rtl128` or `model`.
    pub card: &'a str,
    /// The folder of the logs.
    pub logs: &'a std::path::Path,
    /// The edu example of the driver.
    pub edu: std::path::PathBuf,
    /// The test-suite that all transports share, if it was built.
    pub suite: Option<std::path::PathBuf>,
    /// How many times processes are killed.
    pub kills: u64,
    /// Decides when.
    pub seed: u64,
}

/// All steps of the lane.
pub fn run(lane: &mut Lane, setting: &Setting<'_>) {
    let plain = SiteConfig {
        name: "vfio",
        ..SiteConfig::default()
    };
    if let Some(mut site) = site::step(lane, setting, "guest, IOMMU on", &plain) {
        wrong::before_binding(lane, &mut site);
        site::bind(lane, &mut site);
        edu::run(lane, &mut site);
        wrong::after_binding(lane, &mut site);
        cards::run(lane, &mut site, setting);
        // What was on the wire is judged in the next guests: here the suite starts its cards again and again with the same
        // seeds, so that one connection looks like another one's retransmission.
        kills::run(lane, &mut site, setting);
    }
    let private = SiteConfig {
        name: "vfio-private",
        memory: Memory::Private,
        ..SiteConfig::default()
    };
    if let Some(mut site) = site::step(lane, setting, "guest, memory not shared", &private) {
        site::bind(lane, &mut site);
        cards::by_messages(lane, &mut site);
        site::end(lane, site, ", DMA by messages");
    }
    let newer = SiteConfig {
        name: "vfio-iommufd",
        kernel: Kernel::V6_12,
        ..SiteConfig::default()
    };
    if let Some(mut site) = site::step(lane, setting, "guest, newer kernel", &newer) {
        site::bind(lane, &mut site);
        edu::by_iommufd(lane, &mut site);
        cards::by_iommufd(lane, &mut site);
        site::end(lane, site, ", newer kernel");
    }
    let unused = SiteConfig {
        name: "vfio-no-iommu",
        kernel: Kernel::V6_12,
        iommu: Iommu::Unused,
        cards: false,
        ..SiteConfig::default()
    };
    if let Some(mut site) = site::step(lane, setting, "guest, IOMMU off", &unused) {
        wrong::iommu_off(lane, &mut site);
        wrong::no_iommu_mode(lane, &mut site);
    }
}

//! A guest with an edu device and two cards, and how they are bound to vfio-pci.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::images::Kernel;
use crate::process::{built, HostProcess};
use crate::steps::{ensure, Lane, NoPass};
use crate::wire;
use crate::{Device, Guest, GuestConfig, GuestError, Iommu, Memory, Output};

use super::Setting;

/// For commands that do little.
pub const SHORT: Duration = Duration::from_secs(60);
/// Of the edu device.
pub const EDU: &str = "0000:00:04.0";
/// Of an edu device that shares its IOMMU group with a network interface.
pub const SHARED: &str = "0000:00:05.0";
/// The network interface.
pub const SIBLING: &str = "0000:00:05.1";
/// Of the two cards, which are joined to each other.
pub const CARDS: [&str; 2] = ["0000:00:10.0", "0000:00:11.0"];
/// The addresses that programs in the guest give them.
pub const CARD_IPS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 9, 0, 1), Ipv4Addr::new(10, 9, 0, 2)];
const CARD_SLOTS: [u8; 2] = [0x10, 0x11];

/// What a guest is like.
#[derive(Debug, Clone)]
pub struct SiteConfig {
    /// Names its logs.
    pub name: &'static str,
    /// Its kernel.
    pub kernel: Kernel,
    /// Its IOMMU.
    pub iommu: Iommu,
    /// Whether QEMU shares its memory with the cards.
    pub memory: Memory,
    /// With cards.
    pub cards: bool,
}

impl Default for SiteConfig {
    fn default() -> Self {
        Self {
            name: "vfio",
            kernel: Kernel::V6_1,
            iommu: Iommu::On,
            memory: Memory::Shared,
            cards: true,
        }
    }
}

/// A guest at work, and the process that serves its cards.
pub struct Site {
    /// The guest.
    pub guest: Guest,
    /// `weft serve`, if there are cards.
    pub server: Option<HostProcess>,
    /// What goes between the cards.
    capture: PathBuf,
    _folder: tempfile::TempDir,
}

impl Site {
    fn start(setting: &Setting<'_>, config: &SiteConfig) -> Result<Self, NoPass> {
        let folder = tempfile::Builder::new().prefix("weft-vfio").tempdir()?;
        let mut guest = GuestConfig::new(config.name, setting.logs);
        guest.kernel = config.kernel;
        guest.iommu = config.iommu;
        guest.memory = config.memory;
        guest.cpus = 2;
        guest.devices.push(Device::Edu {
            slot: 4,
            function: 0,
        });
        guest.devices.push(Device::Edu {
            slot: 5,
            function: 0,
        });
        guest.devices.push(Device::Other {
            address: SIBLING.to_owned(),
            argument: "virtio-net-pci,addr=5.1,multifunction=on,romfile=".to_owned(),
        });
        guest = guest
            .with_file(&setting.edu, "edu")
            .with_file(&built("weft")?, "weft");
        if let Some(suite) = &setting.suite {
            guest = guest.with_file(suite, "suite");
        }
        let capture = setting.logs.join(format!("{}.pcapng", config.name));
        let mut server = None;
        if config.cards {
            let sockets = ["a", "b"].map(|name| folder.path().join(name));
            let log = setting.logs.join(format!("{}.serve", config.name));
            server = Some(serve(setting, &sockets, &capture, &log)?);
            for (slot, socket) in CARD_SLOTS.into_iter().zip(sockets) {
                guest.devices.push(Device::VfioUser { slot, socket });
            }
        }
        let guest = Guest::boot(setting.images, setting.accel, guest)?;
        Ok(Self {
            guest,
            server,
            capture,
            _folder: folder,
        })
    }

    /// Runs a command in the guest.
    pub fn run(&mut self, command: &str, limit: Duration) -> Result<Output, GuestError> {
        self.guest.run(command, limit)
    }

    /// Runs a command that must succeed.
    pub fn must(&mut self, command: &str, limit: Duration) -> Result<String, GuestError> {
        self.guest.must(command, limit)
    }

    /// Numbers of the cards' server, as it tells them.
    pub fn stats(&mut self) -> Result<serde_json::Value, NoPass> {
        let server = self
            .server
            .as_mut()
            .ok_or_else(|| NoPass::Skip("no cards".to_owned()))?;
        let answer = server.ask("stats", SHORT)?;
        let line = answer
            .lines()
            .find(|line| line.starts_with('{'))
            .unwrap_or_default();
        Ok(serde_json::from_str(line)?)
    }

    /// A number of a card's statistics.
    pub fn stat(&mut self, card: usize, name: &str) -> Result<u64, NoPass> {
        let stats = self.stats()?;
        let number = stats["cards"][card][name].as_u64();
        number.ok_or_else(|| {
            NoPass::Fail(format!(
                "weft serve tells no {name} of card {card}: {stats}"
            ))
        })
    }

    /// What the server and the guest must still be after anything: alive and well.
    pub fn is_well(&mut self) -> Result<(), NoPass> {
        if let Some(server) = &mut self.server {
            let ended = server.ended();
            ensure(
                ended.is_none(),
                format!("weft serve ended, {ended:?}:\n{}", server.output()),
            )?;
        }
        let news = self.guest.console().bad_news();
        ensure(
            news.is_none(),
            format!(
                "the guest's kernel is not well: {}",
                news.unwrap_or_default()
            ),
        )
    }
}

fn serve(
    setting: &Setting<'_>,
    sockets: &[PathBuf; 2],
    capture: &Path,
    log: &Path,
) -> Result<HostProcess, NoPass> {
    let mut command = Command::new(built("weft")?);
    command.args([
        "serve",
        "--card",
        setting.card,
        "--port",
        "card:1",
        "--port",
        "card:0",
        "--capture",
    ]);
    command.arg(capture);
    for socket in sockets {
        command.arg("--socket").arg(socket);
    }
    let mut server = HostProcess::start(&mut command, log)?;
    let ready = server.wait_for_output("listening on", SHORT);
    ensure(
        ready,
        format!("weft serve does not serve:\n{}", server.output()),
    )?;
    Ok(server)
}

/// Boots a guest as a step of the lane; not at all when no step in it is wanted.
pub fn step(
    lane: &mut Lane,
    setting: &Setting<'_>,
    name: &str,
    config: &SiteConfig,
) -> Option<Site> {
    lane.always(name, || {
        let mut site = Site::start(setting, config)?;
        let release = site.must("uname -r", SHORT)?;
        let took = site.guest.boot_time().as_secs_f64();
        Ok((
            site,
            format!("Linux {}, up after {took:.1} s", release.trim()),
        ))
    })
}

/// Ends a guest and its cards, and judges what went between these.
pub fn end(lane: &mut Lane, site: Site, what: &str) {
    let Site {
        guest,
        server,
        capture,
        ..
    } = site;
    drop(guest);
    lane.check(&format!("what was on the wire{what}"), || {
        if let Some(mut server) = server {
            server.stop(SHORT);
        }
        let seen = wire::judge(&capture, &CARD_IPS)?;
        ensure(
            seen.report.sum(|direction| direction.fpdus) > 0,
            format!("no FPDU in {}", capture.display()),
        )?;
        Ok(seen.to_string())
    });
}

/// Binds everything that the steps use to vfio-pci, as `weft probe` tells to.
pub fn bind(lane: &mut Lane, site: &mut Site) {
    lane.always("bind to vfio-pci", || {
        site.must("modprobe vfio-pci", SHORT)?;
        let mut devices = vec![EDU, SHARED];
        devices.extend(site.server.as_ref().map_or(&[][..], |_| &CARDS));
        for device in &devices {
            site.must(&bind_command(device), SHORT)?;
        }
        let groups = site.must(
            &format!(
                "for d in {}; do readlink /sys/bus/pci/devices/$d/iommu_group; done",
                devices.join(" ")
            ),
            SHORT,
        )?;
        let groups: Vec<_> = groups
            .lines()
            .map(|line| line.rsplit('/').next().unwrap_or(line))
            .collect();
        let mut distinct = groups.clone();
        distinct.sort_unstable();
        distinct.dedup();
        ensure(
            distinct.len() == devices.len(),
            format!("IOMMU groups {groups:?} of {devices:?}"),
        )?;
        Ok((
            (),
            format!(
                "{} devices, IOMMU groups {}",
                devices.len(),
                groups.join(" ")
            ),
        ))
    });
}

/// The command that binds a device to vfio-pci.
pub fn bind_command(device: &str) -> String {
    format!(
        "d=/sys/bus/pci/devices/{device}; echo vfio-pci > $d/driver_override \
         && {{ [ ! -e $d/driver ] || echo {device} > $d/driver/unbind; }} && echo {device} > /sys/bus/pci/drivers_probe \
         && [ \"$(basename $(readlink $d/driver))\" = vfio-pci ]"
    )
}

//! Both ends of the wire, and how a scenario runs between them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::accel::Accel;
use crate::images::Images;
use crate::process::built;
use crate::qemu::{GuestConfig, Net};
use crate::steps::{ensure, NoPass};
use crate::{Guest, GuestError};

use super::card::Wire;
use super::{capture, Card, Scenario, Session, Siw};

/// The guest's address.
pub const GUEST_IP: &str = "10.57.0.1";
/// The card's address.
pub const CARD_IP: &str = "10.57.0.2";
/// How often a scenario is tried when siw loses an FPDU by its own fault.
const TRIES: u32 = 4;
/// For commands that only set something.
const SHORT: Duration = Duration::from_secs(30);

/// A guest with siw, and the wire that cards are joined to.
pub struct PeerBench {
    /// The guest.
    pub guest: Guest,
    /// `rtl512`, `rtl256`, `rtl128` or `model`.
    pub card_kind: String,
    images: Images,
    accel: Accel,
    boots: u32,
    wire: Wire,
    logs: PathBuf,
    siw: Option<Siw>,
    _folder: tempfile::TempDir,
}

impl PeerBench {
    /// Boots the guest and brings siw up on its interface.
    pub fn start(
        images: &Images,
        accel: Accel,
        card_kind: &str,
        logs: &Path,
    ) -> Result<Self, NoPass> {
        let folder = tempfile::Builder::new().prefix("weft-peer").tempdir()?;
        let wire = Wire {
            folder: folder.path().to_owned(),
        };
        Ok(Self {
            guest: boot(images, accel, &wire, "peer", logs)?,
            card_kind: card_kind.to_owned(),
            images: images.clone(),
            accel,
            boots: 1,
            wire,
            logs: logs.to_owned(),
            siw: None,
            _folder: folder,
        })
    }

    /// A new guest in the place of one that is dead or not well.
    pub fn boot_again(&mut self) -> Result<(), NoPass> {
        self.guest.kill_guest();
        self.boots += 1;
        let name = format!("peer-{}", self.boots);
        self.guest = boot(&self.images, self.accel, &self.wire, &name, &self.logs)?;
        self.siw = None;
        Ok(())
    }

    /// What siw says of itself.
    pub fn describe(&mut self) -> Result<String, GuestError> {
        self.guest
            .must("uname -r; rdma link show", SHORT)
            .map(|text| text.trim().replace('\n', "; "))
    }

    /// Makes siw this one. Connections that are up stay as they are.
    pub fn set_siw(&mut self, siw: Siw) -> Result<(), GuestError> {
        if self.siw != Some(siw) {
            self.guest.must(&siw.set_command(), SHORT)?;
            self.siw = Some(siw);
        }
        Ok(())
    }

    /// Sets the MTU of the guest's interface.
    pub fn set_mtu(&mut self, mtu: u16) -> Result<(), GuestError> {
        self.guest
            .must(&format!("ip link set eth0 mtu {mtu}"), SHORT)
            .map(drop)
    }

    /// Runs a scenario with a card of its own, and judges what was on the wire.
    ///
    /// Where it fails because siw lost our first FPDU (see `capture::siw_lost_it`) it is tried again, and the note
    /// tells that.
    pub fn run(&mut self, scenario: &Scenario) -> Result<String, NoPass> {
        let mut lost = 0;
        loop {
            if !self.guest.is_well() {
                self.boot_again()?;
            }
            self.set_siw(scenario.siw)?;
            let name = scenario.name.replace([' ', ',', ':', '/'], "-");
            let card = Card::serve(&self.card_kind, &self.wire, &self.logs.join(name))?;
            let mut session = Session { bench: self, card };
            let told = (scenario.run)(&mut session);
            let capture = session.card.stop();
            self.quiet();
            match told {
                Err(NoPass::Fail(_)) if lost + 1 < TRIES && capture::siw_lost_it(&capture)? => {
                    lost += 1;
                }
                Err(why) => return Err(why),
                Ok(mut told) => {
                    let seen = capture::judge(&capture, scenario.capture)?;
                    if let Some(news) = self.guest.console().bad_news() {
                        let why = format!("the guest's kernel is not well: {news}");
                        return Err(NoPass::Fail(why));
                    }
                    if lost > 0 {
                        told += &format!(" [tried {} times: siw lost our first FPDU]", lost + 1);
                    }
                    return Ok(format!("{told}; {seen}"));
                }
            }
        }
    }

    /// Ends what a scenario may have left in the guest, so that the next one finds nothing of it.
    fn quiet(&mut self) {
        // A guest that does not answer is noticed by the next command.
        let _ = self.guest.run(
            "pkill -9 'rping|ucmatose|ib_' ; ip neigh flush dev eth0; ip link set eth0 mtu 1500",
            SHORT,
        );
    }
}

fn boot(
    images: &Images,
    accel: Accel,
    wire: &Wire,
    name: &str,
    logs: &Path,
) -> Result<Guest, NoPass> {
    let say_no = built("weft-say-no")?;
    let mut config = GuestConfig::new(name, logs).with_file(&say_no, "weft-say-no");
    config.nets.push(Net {
        local: wire.guest_socket(),
        remote: wire.card_socket(),
        mac: "52:54:00:57:00:01".to_owned(),
    });
    // QEMU binds it; a guest before this one may have left it.
    let _ = std::fs::remove_file(wire.guest_socket());
    let mut guest = Guest::boot(images, accel, config)?;
    bring_up(&mut guest)?;
    Ok(guest)
}

fn bring_up(guest: &mut Guest) -> Result<(), NoPass> {
    guest.must("modprobe -a virtio_pci virtio_net", SHORT)?;
    guest.must(
        "until [ -e /sys/class/net/eth0 ]; do sleep 0.05; done",
        SHORT,
    )?;
    guest.must(
        &format!("ip addr add {GUEST_IP}/24 dev eth0 && ip link set eth0 up"),
        SHORT,
    )?;
    guest.must(
        "modprobe -a ib_core iw_cm rdma_cm ib_uverbs rdma_ucm siw",
        SHORT,
    )?;
    guest.must("rdma link add siw0 type siw netdev eth0", SHORT)?;
    // Its rdma_cm takes ports at random, and one that a connection of the last minute had (TIME_WAIT) it cannot use: "Cannot assign
    // requested address", once in some hundred connections. So closed connections are forgotten at once.
    guest.must("echo 0 > /proc/sys/net/ipv4/tcp_max_tw_buckets", SHORT)?;
    let link = guest.must("rdma link show siw0/1", SHORT)?;
    ensure(
        link.contains("ACTIVE"),
        format!("siw0 is not active: {link}"),
    )
}

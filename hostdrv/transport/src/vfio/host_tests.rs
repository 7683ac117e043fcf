//! Hosts with every usual trouble, made of directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use super::host::Host;
use super::list::list_of;
use crate::address::PciAddress;
use crate::interface::Interface;
use crate::open_error::Neighbour;
use crate::open_error::OpenError;
use crate::spec::VfioOptions;

const CARD: &str = "0000:3b:00.0";

/// A host under construction.
struct Fake {
    root: TempDir,
}

impl Fake {
    fn new() -> Self {
        let fake = Self {
            root: tempfile::tempdir().expect("a directory"),
        };
        fake.folder("sys/bus/pci/devices");
        fake.folder("sys/kernel/iommu_groups");
        fake.file("proc/cmdline", "root=/dev/sda1 quiet");
        fake
    }

    /// One card, bound, in a group of its own, with the nodes of the legacy interface.
    fn good() -> Self {
        Self::new()
            .function(CARD, 0xfffe, 0x5746, 0x020000)
            .driver(CARD, "vfio-pci")
            .group(CARD, 26)
            .node("dev/vfio/vfio")
            .node("dev/vfio/26")
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.root.path().join(path)
    }

    fn folder(&self, path: &str) {
        fs::create_dir_all(self.path(path)).expect("made");
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("has one")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn link(&self, path: &str, to: &str) {
        let _ = fs::remove_file(self.path(path));
        symlink(to, self.path(path)).expect("linked");
    }

    fn node(self, path: &str) -> Self {
        self.file(path, "");
        self
    }

    fn without(self, path: &str) -> Self {
        let path = self.path(path);
        fs::remove_file(&path)
            .or_else(|_| fs::remove_dir_all(&path))
            .expect("it was there");
        self
    }

    fn function(self, address: &str, vendor: u16, device: u16, class: u32) -> Self {
        let folder = format!("sys/bus/pci/devices/{address}");
        self.file(&format!("{folder}/vendor"), &format!("{vendor:#06x}\n"));
        self.file(&format!("{folder}/device"), &format!("{device:#06x}\n"));
        self.file(&format!("{folder}/class"), &format!("{class:#08x}\n"));
        self
    }

    fn driver(self, address: &str, driver: &str) -> Self {
        self.folder(&format!("sys/bus/pci/drivers/{driver}"));
        self.link(
            &format!("sys/bus/pci/devices/{address}/driver"),
            &format!("../../../../bus/pci/drivers/{driver}"),
        );
        self
    }

    fn at_node(self, address: &str, node: &str) -> Self {
        let file = format!("sys/bus/pci/devices/{address}/numa_node");
        self.file(&file, &format!("{node}\n"));
        self
    }

    fn group(self, address: &str, group: u32) -> Self {
        self.file(
            &format!("sys/kernel/iommu_groups/{group}/devices/{address}"),
            "",
        );
        self.link(
            &format!("sys/bus/pci/devices/{address}/iommu_group"),
            &format!("../../../../kernel/iommu_groups/{group}"),
        );
        self
    }

    fn own_node(self, address: &str, n: u32) -> Self {
        self.folder(&format!("sys/bus/pci/devices/{address}/vfio-dev/vfio{n}"));
        self.node("dev/iommu")
            .node(&format!("dev/vfio/devices/vfio{n}"))
    }

    fn host(&self) -> Host {
        Host::under(self.root.path())
    }

    fn check(&self, interface: Option<Interface>) -> Result<(Interface, String), OpenError> {
        let options = VfioOptions {
            interface,
            ..VfioOptions::default()
        };
        let ready = self.host().check(card(), options)?;
        Ok((ready.interface, ready.node.display().to_string()))
    }

    /// The trouble, and that its text has these parts.
    fn trouble(&self, parts: &[&str]) -> OpenError {
        let error = self.check(None).expect_err("there is trouble");
        let text = error.to_string();
        for part in parts {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
        error
    }
}

fn card() -> PciAddress {
    CARD.parse().expect("an address")
}

#[test]
fn a_good_host() {
    let fake = Fake::good();
    let legacy = (Interface::Legacy, "/dev/vfio/26".to_owned());
    assert_eq!(fake.check(None), Ok(legacy.clone()));
    assert_eq!(fake.check(Some(Interface::Legacy)), Ok(legacy.clone()));
    // iommufd is taken where it is there, unless the other is asked for.
    let fake = fake.own_node(CARD, 3);
    let own = (Interface::Iommufd, "/dev/vfio/devices/vfio3".to_owned());
    assert_eq!(fake.check(None), Ok(own.clone()));
    assert_eq!(fake.check(Some(Interface::Iommufd)), Ok(own));
    assert_eq!(fake.check(Some(Interface::Legacy)), Ok(legacy.clone()));
    // Half of it is not enough.
    let fake = fake.without("dev/iommu");
    assert_eq!(fake.check(None), Ok(legacy));
    assert_eq!(
        fake.check(Some(Interface::Iommufd)),
        Err(OpenError::NoInterface {
            address: card(),
            interface: Interface::Iommufd,
            path: "/dev/iommu".into()
        })
    );
}

#[test]
fn no_such_function() {
    let fake = Fake::new().function("0000:5e:00.0", 0xfffe, 0x5746, 0x020000);
    let error = fake.trouble(&[CARD, "Weft cards: 0000:5e:00.0", "rescan"]);
    assert!(matches!(error, OpenError::NoFunction { .. }));
    let none = Fake::new().trouble(&["lspci"]).to_string();
    assert!(!none.contains("Weft cards"), "{none}");
}

#[test]
fn the_iommu_is_off() {
    let fake = Fake::new().function(CARD, 0xfffe, 0x5746, 0x020000);
    fake.trouble(&["iommu_groups is empty", "firmware"]);
    // Off by the kernel's own parameter.
    fake.file("proc/cmdline", "quiet intel_iommu=off");
    fake.trouble(&["without `intel_iommu=off`"]);
    // On for others.
    let fake = fake
        .function("0000:00:1f.0", 0x8086, 1, 0x060100)
        .group("0000:00:1f.0", 1);
    let error = fake.trouble(&["off for it"]);
    assert!(matches!(error, OpenError::IommuOff { groups: true, .. }));
}

#[test]
fn no_iommu_mode() {
    let fake = Fake::good();
    fake.file("sys/kernel/iommu_groups/26/name", "vfio-noiommu\n");
    let error = fake.trouble(&["no-IOMMU mode", "refuses", "enable_unsafe_noiommu_mode"]);
    assert!(matches!(error, OpenError::NoIommuMode { group: 26, .. }));
}

#[test]
fn bound_to_another_driver() {
    let fake = Fake::good().driver(CARD, "mlx5_core");
    fake.trouble(&[
        "bound to the driver `mlx5_core`",
        "modprobe vfio-pci",
        "echo vfio-pci > /sys/bus/pci/devices/0000:3b:00.0/driver_override",
        "echo 0000:3b:00.0 > /sys/bus/pci/devices/0000:3b:00.0/driver/unbind",
        "echo 0000:3b:00.0 > /sys/bus/pci/drivers_probe",
    ]);
    // A variant of vfio-pci for one kind of card is as good.
    assert!(fake.driver(CARD, "mlx5_vfio_pci").check(None).is_ok());
}

#[test]
fn bound_to_no_driver() {
    let fake = Fake::good().without("sys/bus/pci/devices/0000:3b:00.0/driver");
    let text = fake.trouble(&["bound to no driver, not to vfio-pci;"]);
    assert!(!text.to_string().contains("unbind"));
    let fake = fake.without("sys/bus/pci/drivers/vfio-pci");
    let error = fake.trouble(&["(which is not loaded)", "modprobe vfio-pci"]);
    assert_eq!(
        error,
        OpenError::NotBound {
            address: card(),
            driver: None,
            module: false
        }
    );
}

#[test]
fn the_group_is_not_viable() {
    let harmless = |fake: Fake| {
        fake.function("0000:3a:00.0", 0x8086, 1, 0x060400)
            .driver("0000:3a:00.0", "pcieport")
            .group("0000:3a:00.0", 26)
            .function("0000:3b:00.1", 0x8086, 2, 0x010802)
            .group("0000:3b:00.1", 26)
            .function("0000:3b:00.2", 0x8086, 3, 0x020000)
            .driver("0000:3b:00.2", "pci-stub")
            .group("0000:3b:00.2", 26)
            .function("0000:3b:00.3", 0x8086, 3, 0x020000)
            .driver("0000:3b:00.3", "vfio-pci")
            .group("0000:3b:00.3", 26)
    };
    let fake = harmless(Fake::good());
    assert!(fake.check(None).is_ok(), "ports, no driver, VFIO's own");
    let fake = fake
        .function("0000:3c:00.0", 0x8086, 4, 0x010802)
        .driver("0000:3c:00.0", "nvme")
        .group("0000:3c:00.0", 26);
    let error = fake.trouble(&["group 26", "0000:3c:00.0 (driver nvme)", "ACS"]);
    let in_the_way = Neighbour {
        address: "0000:3c:00.0".parse().expect("an address"),
        driver: "nvme".into(),
    };
    assert!(matches!(error, OpenError::GroupNotViable { others, .. } if others == [in_the_way]));
}

#[test]
fn the_nodes_are_missing() {
    for node in ["dev/vfio/vfio", "dev/vfio/26"] {
        let fake = Fake::good().without(node);
        let error = fake.trouble(&[node, "modprobe vfio-pci"]);
        assert!(matches!(error, OpenError::NoVfio { .. }));
        let error = fake.check(Some(Interface::Legacy)).expect_err("missing");
        assert!(matches!(error, OpenError::NoInterface { .. }), "{error}");
        assert!(error.to_string().contains("?iommufd"), "{error}");
    }
    let error = Fake::good().check(Some(Interface::Iommufd));
    let text = error.expect_err("not there").to_string();
    assert!(
        text.contains("Linux 6.6") && text.contains("?legacy"),
        "{text}"
    );
}

#[test]
fn who_has_a_node_open() {
    let fake = Fake::good();
    fake.file("proc/4711/comm", "weft\n");
    fake.folder("proc/4711/fd");
    fake.link("proc/4711/fd/3", "/dev/null");
    fake.link("proc/4711/fd/4", "/dev/vfio/26");
    fake.file("proc/5/comm", "other\n");
    fake.folder("proc/5/fd");
    fake.folder("proc/self/fd");
    let holders = fake.host().holders(Path::new("/dev/vfio/26"));
    assert_eq!(holders, [(4711, "weft".to_owned())]);
    let path = "/dev/vfio/26".into();
    let text = OpenError::Busy { path, holders }.to_string();
    assert!(text.contains("in use by weft (4711)"), "{text}");
}

#[test]
fn cards_are_listed_with_their_trouble() {
    let fake = Fake::good()
        .function("0000:5e:00.0", 0xfffe, 0x5746, 0x020000)
        .group("0000:5e:00.0", 40)
        .function("0000:00:1f.0", 0x8086, 0x5746, 0x060100)
        .at_node(CARD, "1")
        .at_node("0000:5e:00.0", "-1")
        .function("not an address", 0xfffe, 0x5746, 0x020000);
    let found = list_of(&fake.host());
    let specs: Vec<_> = found.iter().map(|f| f.spec()).collect();
    assert_eq!(specs, ["vfio:0000:3b:00.0", "vfio:0000:5e:00.0"]);
    assert_eq!(found[0].problem, None);
    assert_eq!(found[0].function.driver.as_deref(), Some("vfio-pci"));
    assert_eq!(found[0].function.group, Some(26));
    assert_eq!(found[0].function.node, Some(1));
    assert_eq!(found[1].function.node, None);
    assert!(matches!(found[1].problem, Some(OpenError::NotBound { .. })));
    assert!(list_of(&Host::under("/nowhere")).is_empty());
}

#[test]
fn what_the_kernel_says_becomes_what_to_do() {
    use super::domain::explain;
    use std::io;
    use vfio_ioctls::VfioError;
    use vmm_sys_util::errno::Error as SysError;

    let fake = Fake::good();
    let host = fake.host();
    let ready = host.check(card(), VfioOptions::default()).expect("good");
    let os = io::Error::from_raw_os_error;
    let say = |error| explain(&host, &ready, error).to_string();
    for (error, parts) in [
        (
            VfioError::OpenGroup(os(libc::EACCES), "26".into()),
            ["no permission to open /dev/vfio/26", "udev"],
        ),
        (
            VfioError::OpenGroup(os(libc::EBUSY), "26".into()),
            ["/dev/vfio/26 is in use", "one program"],
        ),
        (
            VfioError::OpenContainer(os(libc::ENODEV)),
            ["/dev/vfio/vfio is missing", "modprobe vfio-pci"],
        ),
        (VfioError::GroupViable, ["group 26", "not viable"]),
        (
            VfioError::ContainerSetIOMMU(SysError::new(libc::EPERM)),
            ["does not remap interrupts", "allow_unsafe_interrupts"],
        ),
        (
            VfioError::VfioDeviceBindIommufd(SysError::new(libc::EBUSY)),
            ["is in use", "one program"],
        ),
        (
            VfioError::GroupGetDeviceFD(SysError::new(libc::EIO)),
            [CARD, "dmesg"],
        ),
        (
            VfioError::VfioExtension,
            ["modprobe vfio_iommu_type1", "/dev/vfio/26"],
        ),
    ] {
        let text = say(error);
        for part in parts {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
    }
}

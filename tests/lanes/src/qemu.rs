//! What a guest is made of, and the QEMU command line that says so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::accel::Accel;
use crate::host_disk::HostFile;
use crate::images::{Images, Kernel};

/// A guest to boot. Start from [`GuestConfig::new`].
#[derive(Debug, Clone)]
pub struct GuestConfig {
    /// Names its console log.
    pub name: String,
    /// Its kernel.
    pub kernel: Kernel,
    /// More words for the kernel's command line.
    pub kernel_words: Vec<String>,
    /// How many processors.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Whether a vfio-user server can map its memory.
    pub memory: Memory,
    /// Its IOMMU.
    pub iommu: Iommu,
    /// PCI devices.
    pub devices: Vec<Device>,
    /// Network interfaces, eth0 first.
    pub nets: Vec<Net>,
    /// Files of the host, in `/host`. The agent is always there.
    pub files: Vec<HostFile>,
    /// Where the console log goes.
    pub logs: PathBuf,
}

/// Guest memory, as a vfio-user server meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// A memfd that QEMU shares: DMA goes straight to memory.
    Shared,
    /// QEMU's own: DMA goes by messages.
    Private,
}

/// The guest's IOMMU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Iommu {
    /// The machine has none.
    None,
    /// There is one; the kernel is not told to use it (what a host without `intel_iommu=on` is).
    Unused,
    /// There is one and the kernel uses it.
    On,
}

/// A PCI device at `0000:00:SLOT.FUNCTION`.
#[derive(Debug, Clone)]
pub enum Device {
    /// QEMU's teaching device: registers, DMA and MSI; nothing of ours.
    Edu {
        /// PCI slot.
        slot: u8,
        /// Function; with another one in the same slot both are in one IOMMU group.
        function: u8,
    },
    /// A device that another process serves by vfio-user.
    VfioUser {
        /// PCI slot.
        slot: u8,
        /// The server's socket. The server must be listening when the guest boots.
        socket: PathBuf,
    },
    /// Any other.
    Other {
        /// Its address in the guest.
        address: String,
        /// What `-device` gets.
        argument: String,
    },
}

impl Device {
    /// Its address in the guest.
    pub fn address(&self) -> String {
        match self {
            Device::Edu { slot, function } => format!("0000:00:{slot:02x}.{function}"),
            Device::VfioUser { slot, .. } => format!("0000:00:{slot:02x}.0"),
            Device::Other { address, .. } => address.clone(),
        }
    }

    fn argument(&self) -> String {
        match self {
            Device::Edu { slot, function } => {
                format!("edu,addr={slot:x}.{function},multifunction=on")
            }
            Device::VfioUser { slot, socket } => serde_json::json!({
                "driver": "vfio-user-pci",
                "socket": { "type": "unix", "path": socket },
                "addr": format!("{slot:x}.0"),
            })
            .to_string(),
            Device::Other { argument, .. } => argument.clone(),
        }
    }
}

/// A network interface whose wire is a pair of unix datagram sockets, one raw frame each.
#[derive(Debug, Clone)]
pub struct Net {
    /// The socket that QEMU binds: frames for the guest go there.
    pub local: PathBuf,
    /// The socket that frames of the guest are sent to.
    pub remote: PathBuf,
    /// Its MAC address.
    pub mac: String,
}

impl GuestConfig {
    /// A small guest with nothing attached.
    pub fn new(name: &str, logs: &Path) -> Self {
        Self {
            name: name.to_owned(),
            kernel: Kernel::V6_1,
            kernel_words: Vec::new(),
            cpus: 1,
            memory_mib: 512,
            memory: Memory::Shared,
            iommu: Iommu::None,
            devices: Vec::new(),
            nets: Vec::new(),
            files: Vec::new(),
            logs: logs.to_owned(),
        }
    }

    /// A file of the host for the guest: `/host/NAME`.
    pub fn with_file(mut self, from: &Path, name: &str) -> Self {
        self.files.push(HostFile {
            from: from.to_owned(),
            to: name.to_owned(),
        });
        self
    }

    pub(crate) fn arguments(&self, images: &Images, accel: Accel, run: &RunPaths) -> Vec<OsString> {
        let mut line = Arguments::default();
        line.add("-nodefaults -no-user-config -display none -no-reboot");
        line.pair("-name", format!("weft-{}", self.name));
        line.add(match accel {
            Accel::Kvm => "-accel kvm -cpu host",
            Accel::Tcg => "-accel tcg -cpu max",
        });
        let irqchip = if accel == Accel::Kvm {
            ",kernel-irqchip=split"
        } else {
            ""
        };
        line.pair("-machine", format!("q35,memory-backend=memory{irqchip}"));
        line.pair("-smp", self.cpus.to_string());
        line.pair("-m", format!("{}M", self.memory_mib));
        line.pair(
            "-object",
            match self.memory {
                Memory::Shared => format!(
                    "memory-backend-memfd,id=memory,size={}M,share=on",
                    self.memory_mib
                ),
                Memory::Private => format!(
                    "memory-backend-ram,id=memory,size={}M,share=off",
                    self.memory_mib
                ),
            },
        );
        if self.iommu != Iommu::None {
            // First: devices behind it must be made after it.
            line.add("-device intel-iommu,intremap=on,caching-mode=on");
        }
        line.pair("-kernel", images.vmlinux(self.kernel));
        line.pair("-append", self.kernel_command_line());
        line.pair("-serial", chardev_file(&run.console));
        line.pair(
            "-chardev",
            with_path("socket,id=agent,server=off,path=", &run.agent),
        );
        line.add("-serial chardev:agent -device nvme,id=disks,serial=weft,addr=3.0");
        let disks = [
            images.root(),
            images.modules(self.kernel),
            run.host_disk.clone(),
        ];
        for (index, disk) in disks.iter().enumerate() {
            let drive = format!("if=none,id=disk{index},format=raw,readonly=on,file=");
            line.pair("-drive", with_path(&drive, disk));
            line.pair(
                "-device",
                format!("nvme-ns,bus=disks,drive=disk{index},nsid={}", index + 1),
            );
        }
        for (index, net) in self.nets.iter().enumerate() {
            let mut dgram = with_path(
                &format!("dgram,id=net{index},local.type=unix,local.path="),
                &net.local,
            );
            dgram.push(with_path(",remote.type=unix,remote.path=", &net.remote));
            line.pair("-netdev", dgram);
            let device = format!(
                "virtio-net-pci,netdev=net{index},mac={},addr={:x}.0,romfile=",
                net.mac,
                8 + index
            );
            line.pair("-device", device);
        }
        for device in &self.devices {
            line.pair("-device", device.argument());
        }
        line.0
    }

    fn kernel_command_line(&self) -> String {
        let iommu = if self.iommu == Iommu::On { "on" } else { "off" };
        // no_timer_check: the kernel would take a machine for broken whose processor, emulated on a busy host, stood still for a while.
        let mut words = format!(
            "console=ttyS0 root=PARTUUID=57454654-01 rootwait ro init=/init panic=-1 oops=panic net.ifnames=0 nokaslr \
             mitigations=off random.trust_cpu=on no_timer_check intel_iommu={iommu}"
        );
        for word in &self.kernel_words {
            words.push(' ');
            words.push_str(word);
        }
        words
    }
}

/// The files of one run.
#[derive(Debug)]
pub(crate) struct RunPaths {
    pub(crate) console: PathBuf,
    pub(crate) agent: PathBuf,
    pub(crate) host_disk: PathBuf,
}

fn with_path(text: &str, path: &Path) -> OsString {
    let mut all = OsString::from(text);
    all.push(path);
    all
}

fn chardev_file(path: &Path) -> OsString {
    with_path("file:", path)
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, words: &str) {
        self.0.extend(words.split_whitespace().map(OsString::from));
    }

    fn pair(&mut self, option: &str, value: impl Into<OsString>) {
        self.0.extend([OsString::from(option), value.into()]);
    }
}

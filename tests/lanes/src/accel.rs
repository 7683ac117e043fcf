//! KVM where a trial boot proves that it works, emulation where not.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::images::{Images, Kernel};

/// How a guest's processor runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accel {
    /// By this machine's own.
    Kvm,
    /// Emulated.
    Tcg,
}

/// The trial boot ends with a panic about the missing root after well under a second where KVM works.
const TRIAL: Duration = Duration::from_secs(5);

impl Accel {
    /// What works here, and how that is known. The trial is done once for each boot of this machine.
    pub fn choose(images: &Images) -> (Self, String) {
        if let Err(error) = std::fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/kvm")
        {
            return (Accel::Tcg, format!("/dev/kvm: {error}"));
        }
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let note = images.folder().join("accel");
        let known = std::fs::read_to_string(&note).unwrap_or_default();
        let why = match known.strip_prefix(&boot) {
            Some(why) if !boot.is_empty() => why.to_owned(),
            _ => {
                let why = trial(images);
                // Without the note the next lane makes the trial again.
                let _ = std::fs::write(&note, format!("{boot}{why}"));
                why
            }
        };
        let accel = if why == WORKS { Accel::Kvm } else { Accel::Tcg };
        (accel, why)
    }
}

const WORKS: &str = "a trial boot under KVM worked";

/// Boots the kernel without a root under KVM.
fn trial(images: &Images) -> String {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return format!("no trial boot: {error}"),
    };
    let console = folder.path().join("console");
    let child = Command::new(images.qemu())
        .args(
            "-accel kvm -cpu host -machine q35,kernel-irqchip=split -m 256M -nodefaults".split(' '),
        )
        .args(["-display", "none", "-no-reboot", "-kernel"])
        .arg(images.vmlinux(Kernel::V6_1))
        .args(["-append", "console=ttyS0 panic=-1", "-serial"])
        .arg(format!("file:{}", console.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return format!("no trial boot: {error}"),
    };
    let until = Instant::now() + TRIAL;
    let ended = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(50)),
            Ok(Some(_)) => break true,
            _ => break false,
        }
    };
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
    }
    verdict(&console, ended)
}

fn verdict(console: &Path, ended: bool) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(console).unwrap_or_default()).into_owned();
    match (text.contains("Unable to mount root fs"), ended) {
        (true, _) => WORKS.to_owned(),
        (false, true) => "a trial boot under KVM ended before the kernel was up".to_owned(),
        (false, false) => format!("a trial boot under KVM was not up in {} s", TRIAL.as_secs()),
    }
}

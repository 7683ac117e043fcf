//! What the guests boot, built by the scripts of `images/` into `target/guest`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel for the guests: Debian 12's, both with modules that Debian leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Linux 6.1, with siw.
    V6_1,
    /// Linux 6.12, with iommufd and VFIO's no-IOMMU mode.
    V6_12,
}

impl Kernel {
    fn series(self) -> &'static str {
        match self {
            Kernel::V6_1 => "6.1",
            Kernel::V6_12 => "6.12",
        }
    }
}

/// The built images.
#[derive(Debug, Clone)]
pub struct Images {
    folder: PathBuf,
}

/// The images could not be built.
#[derive(Debug, thiserror::Error)]
pub enum ImagesError {
    /// The script could not be started.
    #[error("{script}: {error}")]
    Start {
        /// Which.
        script: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The script failed; it has said why.
    #[error("{script} failed ({status}): its messages are above; ./setup.sh guest installs what it needs")]
    Failed {
        /// Which.
        script: PathBuf,
        /// How.
        status: std::process::ExitStatus,
    },
}

impl Images {
    /// Builds what is missing for these kernels. Quick when all is there.
    pub fn build(kernels: &[Kernel]) -> Result<Self, ImagesError> {
        let lanes = Path::new(env!("CARGO_MANIFEST_DIR"));
        let script = lanes.join("images/build.sh");
        // Environment (building): `WEFT_GUEST_DIR`: folder of the guests' images (`make test-vfio`, `make test-peer`). Without it: `target/guest`.
        let folder = std::env::var_os("WEFT_GUEST_DIR")
            .map_or_else(|| lanes.join("../../target/guest"), PathBuf::from);
        let status = Command::new(&script)
            .args(kernels.iter().map(|kernel| kernel.series()))
            .env("WEFT_GUEST_DIR", &folder)
            .status()
            .map_err(|error| ImagesError::Start {
                script: script.clone(),
                error,
            })?;
        match status.success() {
            true => Ok(Self {
                folder: folder.canonicalize().unwrap_or(folder),
            }),
            false => Err(ImagesError::Failed { script, status }),
        }
    }

    /// The folder of all of them.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The command that runs QEMU.
    pub fn qemu(&self) -> PathBuf {
        self.folder.join("qemu/run")
    }

    /// The root's disk image.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root.img")
    }

    /// A kernel's image.
    pub fn vmlinux(&self, kernel: Kernel) -> PathBuf {
        self.kernel_folder(kernel).join("vmlinux")
    }

    /// The disk image of a kernel's modules.
    pub fn modules(&self, kernel: Kernel) -> PathBuf {
        self.kernel_folder(kernel).join("modules.ext4")
    }

    /// The kernel's release, as `uname -r` tells it.
    pub fn release(&self, kernel: Kernel) -> String {
        let release = std::fs::read_to_string(self.kernel_folder(kernel).join("release"));
        release.unwrap_or_default().trim().to_owned()
    }

    fn kernel_folder(&self, kernel: Kernel) -> PathBuf {
        self.folder.join(format!("kernel-{}", kernel.series()))
    }
}

//! Why the kernel would not pin more memory.

use std::io;

use procfs::process::Process;
use rustix::process::{getrlimit, Resource};

/// What to say of a mapping that failed.
pub(super) fn explain_map(error: &io::Error, len: usize) -> String {
    let limit = getrlimit(Resource::Memlock).current;
    let status = Process::myself().and_then(|process| process.status());
    let pinned = status.map_or(0, |status| {
        status.vmlck.unwrap_or(0) + status.vmpin.unwrap_or(0)
    });
    explain(error, len, limit, pinned)
}

/// `limit`: RLIMIT_MEMLOCK, `None` without limit; `pinned`: what the process has locked and pinned, in KiB.
fn explain(error: &io::Error, len: usize, limit: Option<u64>, pinned: u64) -> String {
    match (error.raw_os_error(), limit) {
        (Some(libc::ENOMEM), Some(limit)) => {
            format!(
                "{error}: the locked-memory limit is {limit} KiB, {pinned} KiB of it are in use and {more} KiB more are needed; \
                 raise it (`ulimit -l {total}` or more as root, `* - memlock unlimited` in /etc/security/limits.conf, \
                 LimitMEMLOCK=infinity in a systemd unit)",
                limit = limit / 1024,
                more = len.div_ceil(1024),
                total = pinned + len.div_ceil(1024) as u64,
            )
        }
        (Some(libc::ENOSPC), _) => format!(
            "{error}: too many mappings (module parameter vfio_iommu_type1.dma_entry_limit)"
        ),
        (Some(libc::EINVAL), _) => {
            format!("{error}: the IOMMU does not take this address or length")
        }
        (Some(libc::EFAULT), _) => {
            format!("{error}: the memory is not there, or is read-only")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_named_with_what_is_needed() {
        let error = io::Error::from_raw_os_error(libc::ENOMEM);
        let text = explain(&error, 1 << 20, Some(8 << 20), 8016);
        for part in ["8192 KiB", "8016 KiB", "1024 KiB", "ulimit -l 9040"] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        assert!(!explain(&error, 1, None, 8016).contains("limit"));
        let other = io::Error::from_raw_os_error(libc::EINVAL);
        assert!(!explain(&other, 1, Some(1), 8016).contains("limit"));
        assert!(explain(&error, 1, Some(1), 0).contains("0 KiB of it"));
    }
}

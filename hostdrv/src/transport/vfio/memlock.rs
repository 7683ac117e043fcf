//! Why the kernel would not pin more memory.

use std::io;

use rustix::process::{getrlimit, Resource};

/// What to say of a mapping that failed.
pub(super) fn explain_map(error: &io::Error, len: usize) -> String {
    let limit = getrlimit(Resource::Memlock).current;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    explain(error, len, limit, &status)
}

/// `limit`: RLIMIT_MEMLOCK, `None` without limit; `status`: /proc/self/status.
fn explain(error: &io::Error, len: usize, limit: Option<u64>, status: &str) -> String {
    let kib = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.unwrap_or(0)
    };
    match (error.raw_os_error(), limit) {
        (Some(libc::ENOMEM), Some(limit)) => {
            let pinned = kib("VmLck:") + kib("VmPin:");
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
        let status = "VmPeak:\t  100 kB\nVmLck:\t     16 kB\nVmPin:\t   8000 kB\n";
        let error = io::Error::from_raw_os_error(libc::ENOMEM);
        let text = explain(&error, 1 << 20, Some(8 << 20), status);
        for part in ["8192 KiB", "8016 KiB", "1024 KiB", "ulimit -l 9040"] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        assert!(!explain(&error, 1, None, status).contains("limit"));
        let other = io::Error::from_raw_os_error(libc::EINVAL);
        assert!(!explain(&other, 1, Some(1), status).contains("limit"));
        assert!(explain(&error, 1, Some(1), "").contains("0 KiB of it"));
    }
}

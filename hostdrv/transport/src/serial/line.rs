//! The tty: opened raw, alone, at the speed of the bitstream.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::termios::{
    ioctl_tiocexcl, tcflush, tcgetattr, tcsetattr, ControlModes, OptionalActions, QueueSelector,
    SpecialCodeIndex,
};

/// Opens a tty as a line of bytes.
pub(super) fn open(path: &Path, baud: u32) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY | libc::O_CLOEXEC)
        .open(path)?;
    let fd = file.as_fd();
    let mut modes = tcgetattr(fd)?;
    ioctl_tiocexcl(fd)?;
    modes.make_raw();
    modes.control_modes |= ControlModes::CREAD | ControlModes::CLOCAL;
    modes.control_modes &= !(ControlModes::CSTOPB | ControlModes::CRTSCTS);
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes.set_speed(baud)?;
    tcsetattr(fd, OptionalActions::Now, &modes)?;
    // Not all drivers take every speed, and not all of them say so.
    let got = tcgetattr(fd)?.output_speed();
    if got.abs_diff(baud) > baud / 50 {
        return Err(io::Error::other(format!("it has {got} baud, not {baud}")));
    }
    tcflush(fd, QueueSelector::IOFlush)?;
    Ok(file)
}

//! A card that a broker lends: `share:` and the path of the broker's socket.

use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use weft_hostdrv::Device;

/// What such a card's name begins with.
const KIND: &str = "share:";

/// The broker's socket, if the card is a broker's.
pub(crate) fn socket(device: &str) -> Option<&Path> {
    device.strip_prefix(KIND).map(Path::new)
}

/// The device that the broker at this socket lends. An error says what to do.
pub(crate) fn open(socket: &Path) -> Result<Device, String> {
    weft_share::open(socket).map_err(|error| {
        let hint = what_to_do(socket, &error);
        format!("share:{}: {error}; {hint}", socket.display())
    })
}

fn what_to_do(socket: &Path, error: &io::Error) -> &'static str {
    let is_socket = || std::fs::metadata(socket).is_ok_and(|file| file.file_type().is_socket());
    match error.kind() {
        ErrorKind::NotFound => "start the broker first (weft share --socket PATH), and look whether the path is the same",
        ErrorKind::ConnectionRefused if is_socket() => {
            "its broker has ended: start it anew (weft share --socket PATH)"
        }
        ErrorKind::ConnectionRefused => "it is no socket: give the one of `weft share --socket PATH`",
        ErrorKind::PermissionDenied => {
            "who may write to the socket may use the card: run as its owner, or give your group permission (chmod g+w)"
        }
        ErrorKind::InvalidInput => "a socket's path has 1 to 107 bytes",
        // What the broker itself says of those that it turns away.
        ErrorKind::Other => "end other programs, or let the broker have more (weft share --clients, --user-share)",
        _ => "is it the socket of a broker (weft share)?",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Each says which socket, and what to do.
    #[test]
    fn what_is_wrong_with_a_socket_is_said() {
        let folder = std::env::temp_dir().join(format!("weft-broker-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let [none, file, dead, mute] =
            ["none", "file", "dead", "mute"].map(|name| folder.join(name));
        std::fs::write(&file, "").expect("written");
        drop(UnixListener::bind(&dead).expect("bound"));
        let listener = UnixListener::bind(&mute).expect("bound");
        let hangs_up = std::thread::spawn(move || drop(listener.accept()));
        for (socket, says) in [
            (&none, "start the broker first"),
            (&file, "no socket"),
            (&dead, "its broker has ended"),
            (&mute, "is it the socket of a broker"),
        ] {
            let name = format!("share:{}", socket.display());
            let socket = super::socket(&name).expect("a broker's");
            let why = open(socket).expect_err("nobody lends");
            assert!(why.contains(&name) && why.contains(says), "{why}");
        }
        hangs_up.join().expect("it ends");
        assert_eq!(super::socket("vfio-user:/a"), None);
        std::fs::remove_dir_all(folder).expect("ours");
    }
}

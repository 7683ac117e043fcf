//! What a host says for programs that say nothing: its configuration file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;
use thiserror::Error;
use weft_engine::RtrKinds;

use crate::bounded;

/// The file of hosts that name none.
pub const CONFIG_FILE: &str = "/etc/weft/weft.toml";
// Environment (programs): `WEFT_CONFIG`: the host's configuration for programs that say nothing (docs/peer2peer.md#who-decides), or `off`. Without
// it: `/etc/weft/weft.toml`, if it is there.
/// The environment variable that names another one; `off`: none.
pub const CONFIG_VARIABLE: &str = "WEFT_CONFIG";

/// Why a file configures nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the configuration {path}: {reason}", path = path.display())]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// A host's configuration:
///
/// ```
/// # let config = weft_hostdrv::cm::HostConfig::parse(r#"
/// [peer_to_peer]
/// default = false                 # of programs that do not say; true unless it says so
/// rtr = ["read"]                  # kinds to offer, and to be content with
///
/// [peer_to_peer.listeners]        # what a listener on this port insists on
/// 7471 = "required"
/// 4791 = "refused"                # the client has to send first
/// # "#)?;
/// # assert_eq!(config.peer_to_peer, Some(false));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostConfig {
    /// What `ConnParam::peer_to_peer: None` means where neither program nor environment says it.
    pub peer_to_peer: Option<bool>,
    /// What `ConnParam::rtr: None` means.
    pub rtr: Option<RtrKinds>,
    /// What listeners insist on that do not say it ([`CmOption::PeerToPeer`](super::CmOption::PeerToPeer)), by port.
    pub listeners: BTreeMap<u16, bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    peer_to_peer: PeerToPeer,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerToPeer {
    default: Option<bool>,
    rtr: Option<Vec<Kind>>,
    #[serde(default)]
    listeners: BTreeMap<String, Insists>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Read,
    Write,
    Send,
    Frame,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Insists {
    Required,
    Refused,
}

impl HostConfig {
    /// From TOML.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let File { peer_to_peer } = toml::from_str(text).map_err(|error| error.to_string())?;
        let rtr = match peer_to_peer.rtr {
            Some(kinds) if kinds.is_empty() => {
                return Err("rtr names no kind: there are read, write, send and frame".into())
            }
            Some(kinds) => {
                let kinds = kinds.into_iter().map(|kind| match kind {
                    Kind::Read => RtrKinds::READ,
                    Kind::Write => RtrKinds::WRITE,
                    Kind::Send => RtrKinds::SEND,
                    Kind::Frame => RtrKinds::FRAME,
                });
                Some(kinds.fold(RtrKinds::NONE, RtrKinds::union))
            }
            None => None,
        };
        let mut listeners = BTreeMap::new();
        for (port, insists) in peer_to_peer.listeners {
            let number = port.parse().ok().filter(|port: &u16| *port > 0);
            let number = number.ok_or(format!("listeners: `{port}` is no port"))?;
            listeners.insert(number, insists == Insists::Required);
        }
        Ok(Self {
            peer_to_peer: peer_to_peer.default,
            rtr,
            listeners,
        })
    }

    /// The one of this host: of the file that [`CONFIG_VARIABLE`] names, else of [`CONFIG_FILE`] if there is one. It is read again when it has
    /// changed.
    pub fn of_host() -> Result<Self, ConfigError> {
        match std::env::var_os(CONFIG_VARIABLE) {
            Some(off) if off == "off" => Ok(Self::default()),
            Some(path) => followed(Path::new(&path), true),
            None => followed(Path::new(CONFIG_FILE), false),
        }
    }
}

/// The file that was read last.
struct Read {
    path: PathBuf,
    changed: Option<SystemTime>,
    config: HostConfig,
}

fn followed(path: &Path, has_to_be: bool) -> Result<HostConfig, ConfigError> {
    static READ: Mutex<Option<Read>> = Mutex::new(None);
    let wrong = |reason: String| ConfigError {
        path: path.to_owned(),
        reason,
    };
    let changed = match fs::metadata(path).and_then(|data| data.modified()) {
        Ok(changed) => Some(changed),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !has_to_be => {
            return Ok(HostConfig::default())
        }
        Err(error) => return Err(wrong(error.to_string())),
    };
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.as_ref() {
        if known.path == path && known.changed == changed {
            return Ok(known.config.clone());
        }
    }
    let text = bounded::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let config = HostConfig::parse(&text).map_err(wrong)?;
    *read = Some(Read {
        path: path.to_owned(),
        changed,
        config: config.clone(),
    });
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood_and_nothing_else_is() {
        let config = HostConfig::parse("").expect("nothing is said");
        assert_eq!(config, HostConfig::default());
        let text = "[peer_to_peer]\ndefault = true\nrtr = [\"send\", \"read\"]\n\
                    [peer_to_peer.listeners]\n1 = \"required\"\n2 = \"refused\"\n";
        let config = HostConfig::parse(text).expect("all is right");
        assert_eq!(config.peer_to_peer, Some(true));
        assert_eq!(config.rtr, Some(RtrKinds::READ.union(RtrKinds::SEND)));
        assert_eq!(config.listeners, BTreeMap::from([(1, true), (2, false)]));
        for text in [
            "[peer2peer]\n",
            "[peer_to_peer]\ndefault = \"yes\"\n",
            "[peer_to_peer]\nrtr = []\n",
            "[peer_to_peer]\nrtr = [\"push\"]\n",
            "[peer_to_peer.listeners]\n0 = \"required\"\n",
            "[peer_to_peer.listeners]\nhttp = \"required\"\n",
            "[peer_to_peer.listeners]\n1 = \"maybe\"\n",
            "[peer_to_peer]\nlistener = 1\n",
        ] {
            assert!(HostConfig::parse(text).is_err(), "{text}");
        }
    }
}

//! Agreement on the protocol's version and on both sides' limits (`VFIO_USER_VERSION`).

use serde::Deserialize;
use serde_json::json;
use thiserror::Error;

use super::connection::{MAX_DATA, MAX_FDS};
use super::device::MAX_MAPPINGS;
use super::message::Payload;

/// Major and minor version of the protocol.
const VERSION: (u16, u16) = (0, 1);
/// Page sizes of mappings: 4 KiB, 2 MiB, 1 GiB.
const PAGE_SIZES: u64 = 1 << 12 | 1 << 21 | 1 << 30;

/// What was wrong with a proposal.
#[derive(Debug, Error)]
pub enum VersionError {
    /// Another protocol.
    #[error("version {0}.{1} of the protocol: this is {major}.{minor}", major = VERSION.0, minor = VERSION.1)]
    Major(u16, u16),
    /// Not the JSON that it should be.
    #[error("the capabilities cannot be read: {0}")]
    Capabilities(#[from] serde_json::Error),
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Data {
    capabilities: Capabilities,
}

#[derive(Deserialize)]
#[serde(default)]
struct Capabilities {
    max_data_xfer_size: u64,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            max_data_xfer_size: MAX_DATA as u64,
        }
    }
}

/// What a client proposes.
pub struct Proposal {
    minor: u16,
    /// The most data it takes in a message.
    pub max_data: usize,
}

impl Proposal {
    /// Reads it. The JSON may be missing, as may the zero byte behind it.
    pub fn parse(major: u16, minor: u16, json: &[u8]) -> Result<Self, VersionError> {
        if major != VERSION.0 {
            return Err(VersionError::Major(major, minor));
        }
        let json = json.strip_suffix(&[0]).unwrap_or(json);
        let data = if json.is_empty() {
            Data::default()
        } else {
            serde_json::from_slice(json)?
        };
        Ok(Self {
            minor: minor.min(VERSION.1),
            max_data: usize::try_from(data.capabilities.max_data_xfer_size)
                .unwrap_or(MAX_DATA)
                .clamp(1, MAX_DATA),
        })
    }

    /// The reply's payload.
    pub fn answer(&self) -> Vec<u8> {
        let capabilities = json!({
            "capabilities": {
                "max_msg_fds": MAX_FDS,
                "max_data_xfer_size": MAX_DATA,
                "max_dma_maps": MAX_MAPPINGS,
                "pgsizes": PAGE_SIZES,
                "write_multiple": true,
            }
        });
        Payload::new()
            .u16(VERSION.0)
            .u16(self.minor)
            .bytes(capabilities.to_string().as_bytes())
            .bytes(&[0])
            .done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_may_leave_everything_out() {
        for json in [
            &b""[..],
            b"\0",
            b"{}",
            b"{\"capabilities\":{\"max_msg_fds\":8}}\0",
        ] {
            let proposal = Proposal::parse(0, 0, json).unwrap();
            assert_eq!((proposal.minor, proposal.max_data), (0, MAX_DATA));
        }
        let small = b"{\"capabilities\":{\"max_data_xfer_size\":4096}}\0";
        let proposal = Proposal::parse(0, 9, small).unwrap();
        assert_eq!((proposal.minor, proposal.max_data), (1, 4096));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Proposal::parse(1, 0, b"").is_err());
        assert!(Proposal::parse(0, 1, b"{").is_err());
        assert!(Proposal::parse(0, 1, &[0xff; 40]).is_err());
        assert!(Proposal::parse(0, 1, b"{\"capabilities\":7}\0").is_err());
    }
}

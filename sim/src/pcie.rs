//! A host's PCIe port: generation, lanes, and what it moves.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A PCIe port: generation and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pcie {
    /// 3 to 6.
    pub generation: u32,
    /// 1 to 16.
    pub lanes: u32,
}

/// Bytes of a TLP's payload: what most hosts agree to.
pub(crate) const PAYLOAD: u32 = 256;
/// Most that one read request asks for.
pub(crate) const REQUEST: u32 = 512;

impl Pcie {
    /// Bytes that it moves in a nanosecond, each way, TLPs with their headers; a twelfth goes to flow control and acknowledgments.
    pub(crate) fn bytes_a_ns(self) -> f64 {
        let (gigatransfers, coding) = match self.generation {
            3 => (8.0, 128.0 / 130.0),
            4 => (16.0, 128.0 / 130.0),
            5 => (32.0, 128.0 / 130.0),
            _ => (64.0, 236.0 / 256.0),
        };
        gigatransfers * coding * f64::from(self.lanes) / 8.0 * (11.0 / 12.0)
    }
}

impl fmt::Display for Pcie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.generation, self.lanes)
    }
}

impl FromStr for Pcie {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('x');
        let numbers = parts.and_then(|(g, l)| Some((g.parse().ok()?, l.parse().ok()?)));
        match numbers {
            Some((generation @ 3..=6, lanes @ (1 | 2 | 4 | 8 | 16))) => Ok(Self { generation, lanes }),
            _ => Err(format!("`{text}` is no PCIe port: generation 3 to 6, x, and 1, 2, 4, 8 or 16 lanes, as in 4x16")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_said_as_people_say_it() {
        assert_eq!("4x16".parse::<Pcie>().unwrap().to_string(), "4x16");
        for wrong in ["", "4", "4x", "2x16", "7x16", "4x3", "x16"] {
            assert!(wrong.parse::<Pcie>().is_err(), "{wrong}");
        }
    }
}

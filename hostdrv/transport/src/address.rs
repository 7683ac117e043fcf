//! Where a PCI function is: domain, bus, device, function.

use std::fmt;
use std::str::FromStr;

/// A PCI function's address as Linux writes it: `0000:3b:00.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// PCI domain (segment); some hosts have more than 2^16.
    pub domain: u32,
    /// Bus number.
    pub bus: u8,
    /// Device number, 0 to 31.
    pub device: u8,
    /// Function number, 0 to 7.
    pub function: u8,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain,
            bus,
            device,
            function,
        } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

impl FromStr for PciAddress {
    type Err = &'static str;

    /// `0000:3b:00.0`, or `3b:00.0` for domain 0.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "a PCI address looks like 0000:3b:00.0 (see lspci -D)";
        let hex = |digits: &str, limit: u32| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
            let value = plain.then(|| u32::from_str_radix(digits, 16).ok());
            value.flatten().filter(|v| *v <= limit).ok_or(FORM)
        };
        let (rest, function) = text.rsplit_once('.').ok_or(FORM)?;
        let (rest, device) = rest.rsplit_once(':').ok_or(FORM)?;
        let (domain, bus) = rest.rsplit_once(':').unwrap_or(("0", rest));
        Ok(Self {
            domain: hex(domain, u32::MAX)?,
            bus: hex(bus, 0xff)? as u8,
            device: hex(device, 31)? as u8,
            function: hex(function, 7)? as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_lspci_writes_them() {
        for (text, canonical) in [
            ("0000:3b:00.0", "0000:3b:00.0"),
            ("3b:1f.7", "0000:3b:1f.7"),
            ("10000:e1:00.0", "10000:e1:00.0"),
            ("ffFF:Aa:0.1", "ffff:aa:00.1"),
        ] {
            let address: PciAddress = text.parse().expect(text);
            assert_eq!(address.to_string(), canonical);
        }
        for bad in [
            "",
            "3b",
            "3b:00",
            "3b:20.0",
            "3b:00.8",
            "x:3b:00.0",
            "0:0:3b:00.0",
            "3b:+1.0",
            "3b:00.0 ",
            "100:00.0",
            "::.",
        ] {
            assert!(bad.parse::<PciAddress>().is_err(), "{bad}");
        }
    }
}

//! How a user names a device: `vfio:0000:3b:00.0`, `vfio-user:/run/card.sock`, `serial:/dev/ttyUSB1`.

use std::path::PathBuf;
use std::str::FromStr;

use super::address::PciAddress;
use super::interface::Interface;
use super::open_error::OpenError;
use super::serial::BAUD;

/// What may be said about a kernel VFIO device besides its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VfioOptions {
    /// The kernel's interface; the better one that is there, if not said.
    pub interface: Option<Interface>,
    /// Address bits the function drives on DMA, for functions that have fewer than the IOMMU.
    pub iova_bits: Option<u8>,
}

/// A device, as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spec {
    /// A PCI function bound to vfio-pci: `vfio:BDF[?OPTION[&OPTION]]` with the options `legacy`, `iommufd`
    /// and `iova-bits=N`.
    Vfio(PciAddress, VfioOptions),
    /// A vfio-user server: `vfio-user:PATH`.
    VfioUser(PathBuf),
    /// A board at a serial line: `serial:PATH[?baud=N]`.
    Serial(PathBuf, u32),
}

impl FromStr for Spec {
    type Err = OpenError;

    fn from_str(spec: &str) -> Result<Self, OpenError> {
        let bad = |why: &str| OpenError::Spec {
            spec: spec.to_owned(),
            why: why.to_owned(),
        };
        let (kind, rest) = spec
            .split_once(':')
            .ok_or_else(|| bad("there is no colon"))?;
        match kind {
            "vfio" => {
                let (address, options) = rest.split_once('?').unwrap_or((rest, ""));
                let address = address.parse().map_err(bad)?;
                let options = vfio_options(options).map_err(bad)?;
                Ok(Spec::Vfio(address, options))
            }
            "vfio-user" if rest.is_empty() => Err(bad("the path of the socket is missing")),
            "vfio-user" => Ok(Spec::VfioUser(PathBuf::from(rest))),
            "serial" => {
                let (path, options) = rest.split_once('?').unwrap_or((rest, ""));
                if path.is_empty() {
                    return Err(bad("the path of the serial line is missing"));
                }
                let baud = match options.split_once('=') {
                    None if options.is_empty() => Some(BAUD),
                    Some(("baud", baud)) => baud.parse().ok().filter(|b| *b >= 9600),
                    _ => None,
                };
                let baud = baud.ok_or_else(|| bad("the option is baud=N, from 9600 on"))?;
                Ok(Spec::Serial(PathBuf::from(path), baud))
            }
            _ => Err(bad(
                "it begins with none of `vfio:`, `vfio-user:`, `serial:`",
            )),
        }
    }
}

fn vfio_options(text: &str) -> Result<VfioOptions, &'static str> {
    let mut options = VfioOptions::default();
    for option in text.split('&').filter(|o| !o.is_empty()) {
        match option.split_once('=') {
            None => options.interface = Some(option.parse()?),
            Some(("iova-bits", bits)) => {
                let bits = bits.parse().ok().filter(|b| (21..=64).contains(b));
                options.iova_bits = Some(bits.ok_or("iova-bits is a number from 21 to 64")?);
            }
            Some(_) => return Err("the options are legacy, iommufd and iova-bits=N"),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs() {
        let address: PciAddress = "0000:00:04.0".parse().expect("an address");
        let options = VfioOptions::default();
        for (text, spec) in [
            ("vfio:0000:00:04.0", Spec::Vfio(address, options)),
            ("vfio:00:04.0?", Spec::Vfio(address, options)),
            (
                "vfio:00:04.0?legacy&iova-bits=28",
                Spec::Vfio(
                    address,
                    VfioOptions {
                        interface: Some(Interface::Legacy),
                        iova_bits: Some(28),
                    },
                ),
            ),
            ("vfio-user:/a:b?c", Spec::VfioUser("/a:b?c".into())),
            (
                "serial:/dev/ttyUSB1",
                Spec::Serial("/dev/ttyUSB1".into(), BAUD),
            ),
            (
                "serial:/a:b?baud=12000000",
                Spec::Serial("/a:b".into(), 12_000_000),
            ),
        ] {
            assert_eq!(text.parse::<Spec>(), Ok(spec), "{text}");
        }
        for text in [
            "",
            "0000:00:04.0",
            "vfio:",
            "vfio:00:04",
            "vfio:00:04.0?fast",
            "vfio:00:04.0?iova-bits=20",
            "vfio:00:04.0?iova-bits=",
            "vfio:00:04.0?x=1",
            "vfio-user:",
            "serial:",
            "serial:?baud=9600",
            "serial:/dev/ttyUSB1?baud=0",
            "serial:/dev/ttyUSB1?speed=1",
            "uio:00:04.0",
        ] {
            let error = text.parse::<Spec>().expect_err(text).to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}

//! What the environment says of the device. `weft run` writes it.

use std::net::Ipv4Addr;
use std::sync::OnceLock;

use weft_hostdrv::{Device, DeviceConfig};

use crate::calls::{refuse, Answer, Refused};

/// The card, as [`transport::open`](weft_hostdrv::transport::open) takes it.
pub const DEVICE_VARIABLE: &str = "WEFT_DEVICE";
/// Its address and the length of the network's prefix: `10.0.0.1/24`.
pub const IP_VARIABLE: &str = "WEFT_IP";
// Environment (programs): `WEFT_GATEWAY`: C interface (docs/c-programs.md): next hop of other networks. Without it: none.
/// Next hop for addresses of other networks.
pub const GATEWAY_VARIABLE: &str = "WEFT_GATEWAY";
// Environment (programs): `WEFT_MTU`: C interface: largest IPv4 packet. Without it: 1500.
/// Largest IPv4 packet; 1500 unless it says otherwise.
pub const MTU_VARIABLE: &str = "WEFT_MTU";
/// How much of the work is the card's (docs/partitions.md).
pub const RUNG_VARIABLE: &str = "WEFT_RUNG";

// Environment (programs): `WEFT_C_LISTENING`: C interface: a descriptor that is closed when the program listens. Without it: none.
/// A file's descriptor, which is closed when the program listens: so `weft run --pair` knows when the client may begin.
pub const LISTENING_VARIABLE: &str = "WEFT_C_LISTENING";

/// The program listens.
pub(crate) fn tell_listening() {
    static TOLD: std::sync::Once = std::sync::Once::new();
    TOLD.call_once(|| {
        let file = std::env::var(LISTENING_VARIABLE).ok();
        if let Some(file) = file.and_then(|file| file.parse::<i32>().ok()) {
            // SAFETY: who set the variable gave this process the descriptor for this.
            unsafe { libc::close(file) };
        }
    });
}

/// The card's name.
pub(crate) fn device() -> Answer<String> {
    match std::env::var(DEVICE_VARIABLE) {
        Ok(device) => Ok(device),
        Err(_) => refuse(libc::ENODEV, "WEFT_DEVICE names no card"),
    }
}

/// Address and prefix of a card that a broker lends: the broker's.
static LENT: OnceLock<(Ipv4Addr, u32)> = OnceLock::new();

/// A lent device has its broker's address. One that the environment says has to be that.
pub(crate) fn check_lent(device: Device) -> Answer<Device> {
    let wanted = std::env::var_os(IP_VARIABLE)
        .map(|_| address())
        .transpose()?;
    let (ip, mask) = (device.ip(), device.netmask());
    if wanted.is_some_and(|(wanted, _)| wanted != ip) {
        return refuse(
            libc::EADDRNOTAVAIL,
            "WEFT_IP is not the address of the broker's card: leave it out, or give that",
        );
    }
    LENT.get_or_init(|| (ip, u32::from(mask).leading_ones()));
    Ok(device)
}

/// Address and prefix.
fn address() -> Answer<(Ipv4Addr, u32)> {
    let wrong = || Refused::new(libc::EINVAL, "WEFT_IP is no address: 10.0.0.1/24");
    if let Some(lent) = LENT.get() {
        return Ok(*lent);
    }
    let text = std::env::var(IP_VARIABLE).map_err(|_| wrong())?;
    let (address, prefix) = text.split_once('/').unwrap_or((&text, "24"));
    let address = address.parse().map_err(|_| wrong())?;
    let prefix = prefix
        .parse()
        .ok()
        .filter(|prefix| (1..=30).contains(prefix));
    Ok((address, prefix.ok_or_else(wrong)?))
}

/// Address and mask of the network.
pub(crate) fn network() -> Answer<(Ipv4Addr, Ipv4Addr)> {
    let (address, prefix) = address()?;
    Ok((address, (u32::MAX << (32 - prefix)).into()))
}

/// A variable, if it is set.
fn parsed<T: std::str::FromStr>(name: &str, wrong: &'static str) -> Answer<Option<T>> {
    match std::env::var(name) {
        Err(_) => Ok(None),
        Ok(text) => match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => refuse(libc::EINVAL, wrong),
        },
    }
}

/// The device's address; as long as nobody has said it, that of nobody.
pub(crate) fn ip() -> Ipv4Addr {
    address().map_or(Ipv4Addr::UNSPECIFIED, |(address, _)| address)
}

/// How the device is set up.
pub(crate) fn config() -> Answer<DeviceConfig> {
    let (address, mask) = network()?;
    let mut config = DeviceConfig::at(address)
        .netmask(mask)
        .gateway(parsed(GATEWAY_VARIABLE, "WEFT_GATEWAY is no address")?);
    if let Some(mtu) = parsed(MTU_VARIABLE, "WEFT_MTU is no number of bytes")? {
        config = config.mtu(mtu);
    }
    if let Some(rung) = parsed(RUNG_VARIABLE, "WEFT_RUNG is no rung")? {
        config = config.rung(rung);
    }
    Ok(config)
}

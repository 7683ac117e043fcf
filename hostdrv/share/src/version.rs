//! Which version of the interface a client and a broker speak: the socket's requests, and the records in what is lent.
//!
//! | version | |
//! |---|---|
//! | 1 | HELLO, CREATE_QP, MEMORY; nobody says a version |
//! | 2 | HELLO says versions and the records' sizes; EXTENSIONS; what XRC has |
//! | 3 | HELLO gives a line as well: two files; RING; XRC domains by name |
//! | 4 | the line has a fence; DOMAIN, QUEUE_PAIR, SHARED_RECEIVES, JOIN and their ends: what a [`Device`](weft_hostdrv::device::Device) of a client's is made of |
//! | 5 | XRCD, XRC_RECEIVES, XRC_TARGET and their ends, initiators by QUEUE_PAIR: XRC of such a device |
//! | 6 | MAP: memory of the client's own, of a broker that trusts it |
//!
//! Requests and answers have one size for good, and words that a version does not know are 0: so who says nothing speaks version 1.

use std::io;
use std::net::Ipv4Addr;

use weft_layout::{Answer, Command, Cqe, EventEntry};

use super::packet::{words, Request, Words, HELLO};

/// Versions that are spoken here.
const LEAST: u64 = 1;
pub(super) const NEWEST: u64 = 6;

/// Words of the answer to HELLO behind what version 1 has: the version, and the sizes of the records.
pub(super) const VERSION_AT: usize = 3;
const RECORDS_AT: usize = 4;
/// Mask of the network, and its gateway, since version 4; a broker that does not know them says 0.
const NETWORK_AT: usize = 5;

/// Bytes of a command, an answer, an event and a CQE, 16 bits each.
const RECORDS: u64 = (Command::SIZE as u64) << 48
    | (Answer::SIZE as u64) << 32
    | (EventEntry::SIZE as u64) << 16
    | Cqe::SIZE as u64;

/// A HELLO that says what its asker speaks.
pub(super) fn hello() -> Request {
    words(&[HELLO, LEAST, NEWEST])
}

/// The version for who said this in a HELLO: the newest that both speak.
pub(super) fn agree(said: &[u64]) -> Result<u64, String> {
    let (least, newest) = match said {
        [0, 0, ..] | [] | [_] => (1, 1),
        [least, newest, ..] => (*least, *newest),
    };
    let version = newest.min(NEWEST);
    match least <= newest && version >= least.max(LEAST) {
        true => Ok(version),
        false => Err(format!(
            "versions {least} to {newest} of the interface, where this broker speaks {LEAST} to {NEWEST}"
        )),
    }
}

/// What HELLO's answer says of the version agreed on, behind `sizes`, which version 1 has.
pub(super) fn said(sizes: [u64; VERSION_AT], version: u64, network: [u32; 2]) -> Words {
    let [commands, events, ip] = sizes;
    let [mask, gateway] = network.map(u64::from);
    match version {
        1 => words(&[commands, events, ip]),
        2 | 3 => words(&[commands, events, ip, version, RECORDS]),
        _ => words(&[commands, events, ip, version, RECORDS, mask, gateway]),
    }
}

/// What a broker's answer to HELLO says of its network: the mask, and the gateway.
pub(super) fn network(answer: &Words) -> (Ipv4Addr, Option<Ipv4Addr>) {
    let address = |at: usize| {
        let address = u32::try_from(answer[at])
            .ok()
            .filter(|address| *address != 0);
        address.map(Ipv4Addr::from)
    };
    let mask = address(NETWORK_AT).unwrap_or(Ipv4Addr::new(255, 255, 255, 0));
    (mask, address(NETWORK_AT + 1))
}

/// The version that a broker chose, by its answer to HELLO.
pub(super) fn chosen(answer: &Words) -> io::Result<u64> {
    let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    match answer[VERSION_AT] {
        0 => Ok(1),
        version if version > NEWEST => wrong(format!(
            "the broker chose version {version} of the interface, of {LEAST} to {NEWEST}"
        )),
        version if answer[RECORDS_AT] != RECORDS => wrong(format!(
            "records of other sizes than those of version {version}: {:#x}",
            answer[RECORDS_AT]
        )),
        version => Ok(version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_both_speak() {
        for (least, newest, version) in [
            (0, 0, Some(1)),
            (1, 1, Some(1)),
            (1, 2, Some(2)),
            (2, 2, Some(2)),
            (1, 99, Some(6)),
            (1, 5, Some(5)),
            (3, 3, Some(3)),
            (4, 4, Some(4)),
            (6, 99, Some(6)),
            (0, 1, Some(1)),
            (7, 99, None),
            (2, 1, None),
            (1, 0, None),
            (0, u64::MAX, Some(6)),
            (u64::MAX, u64::MAX, None),
        ] {
            let agreed = agree(&[least, newest, 7]);
            assert_eq!(agreed.as_ref().ok().copied(), version, "{agreed:?}");
            if let Err(why) = agreed {
                assert!(why.contains("speaks 1 to 6"), "{why}");
            }
        }
        assert_eq!(agree(&[]), Ok(1));
    }

    #[test]
    fn an_answer_of_any_version_or_of_none() {
        let sizes = [16, 64, 0x0a00_0001];
        for version in [1, 2, 3, 4, 5, 6] {
            let own = [0xffff_0000, 0x0a00_00fe];
            let answer = said(sizes, version, own);
            assert_eq!(answer[..VERSION_AT], sizes);
            assert_eq!(chosen(&answer).ok(), Some(version));
            let known = match version {
                4.. => own,
                _ => [0xffff_ff00, 0],
            };
            let (mask, gateway) = network(&answer);
            let gateway = gateway.map_or(0, u32::from);
            assert_eq!([mask.into(), gateway], known);
        }
        assert!(said(sizes, 1, [1; 2])[VERSION_AT..]
            .iter()
            .all(|word| *word == 0));
        for (at, value) in [(VERSION_AT, 7), (RECORDS_AT, 0), (RECORDS_AT, RECORDS + 8)] {
            let mut wrong = said(sizes, 2, [1; 2]);
            wrong[at] = value;
            assert!(chosen(&wrong).is_err(), "{at} {value}");
        }
    }
}

//! Formats on the wire, without a byte of state: Ethernet, ARP, IPv4, ICMP echo, TCP with options,
//! the MPA start-up frames (RFC 5044 §7.1, RFC 6581), FPDUs with and without markers (RFC 5044
//! §4), DDP (RFC 5041 §4), RDMAP (RFC 5040 §4) and its Terminate; and what is checked of FPDUs and of the
//! segments in them before anything is placed.
//!
//! Parsers take any bytes and never panic; builders write into a slice of the caller.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod arp;
pub mod bytes;
pub mod checks;
pub mod checksum;
pub mod crc32c;
pub mod ddp;
pub mod ethernet;
pub mod fpdu;
pub mod icmp;
pub mod ipv4;
pub mod mpa;
pub mod rdmap;
pub mod tcp;
pub mod terminate;
pub mod walk;

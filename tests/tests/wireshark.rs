//! The judge itself: it must find what is there, and it must find what is broken.

use std::path::{Path, PathBuf};
use weft_tests::tshark;

/// rping between two soft-iWARP hosts, peer-to-peer by Read, CRC on: 37 FPDUs.
fn siw_capture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../firmware/wire/tests/data/rping-p2p-read-crc.pcap")
}

#[test]
fn a_capture_of_soft_iwarp_is_clean() {
    let decoded = tshark::decode(&siw_capture()).expect("tshark");
    assert_eq!(decoded.complaints, Vec::<String>::new());
    assert_eq!(
        (decoded.mpa_start_up, decoded.fpdus, decoded.good_crcs),
        (2, 37, 37)
    );
}

#[test]
fn a_flipped_payload_bit_is_found() {
    let mut bytes = std::fs::read(siw_capture()).expect("capture");
    let last = bytes.len() - 8;
    let rdma_text = bytes
        .windows(11)
        .rposition(|w| w == b"rdma-ping-4")
        .unwrap_or(last);
    bytes[rdma_text] ^= 1;
    let broken = std::env::temp_dir().join(format!("weft-flipped-{}.pcap", std::process::id()));
    std::fs::write(&broken, bytes).expect("write");
    let decoded = tshark::decode(&broken).expect("tshark");
    std::fs::remove_file(&broken).expect("remove");
    assert!(
        decoded.complaints.iter().any(|c| c.contains("Bad CRC32")),
        "{:?}",
        decoded.complaints
    );
}

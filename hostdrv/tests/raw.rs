//! The port for raw frames against a card that writes what a test wants: who gets what, bounds, counters.

use crate::fake;

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::device::RingSizes;
use weft_hostdrv::raw::{RawConfig, Sent};
use weft_hostdrv::{Device, DeviceConfig, DeviceError};
use weft_layout::{doorbell, reg};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A device with eight frame buffers, of which the host's stack may use six.
fn open(card: &FakeCard) -> Device {
    let rings = RingSizes {
        jobs_log2: 3,
        reports_log2: 4,
        raw_log2: 3,
        ..RingSizes::default()
    };
    let config = DeviceConfig::new(MAC, Ipv4Addr::new(10, 0, 0, 1)).rings(rings);
    Device::open(Arc::new(card.clone()), config).expect("nothing is wrong")
}

/// A frame that is nobody's but the host's; its last byte is a number.
fn frame(number: u8) -> Vec<u8> {
    let mut frame = vec![0xff; 60];
    frame[12..14].copy_from_slice(&[0x86, 0xdd]);
    frame[59] = number;
    frame
}

const TWO: RawConfig = RawConfig {
    receive: 2,
    send: 2,
};

#[test]
fn received_frames_queue_up_to_the_bound_and_the_rest_are_counted() {
    let card = FakeCard::new();
    let device = open(&card);
    card.frame(0, 0, &frame(0));
    assert_eq!(
        device.progress(),
        Ok(1),
        "nobody listens: the frame is lost"
    );
    let port = device.raw(TWO).expect("the port is free");
    for number in 1..=5 {
        card.frame(number, number, &frame(number as u8));
    }
    assert_eq!(device.progress(), Ok(5));
    assert_eq!(port.try_receive(), Ok(Some(frame(1))));
    assert_eq!(port.try_receive(), Ok(Some(frame(2))));
    assert_eq!(port.try_receive(), Ok(None));
    let stats = port.stats();
    assert_eq!((stats.received, stats.receive_dropped_full), (2, 3));
    card.frame(6, 6, &frame(6));
    assert_eq!(
        port.try_receive(),
        Ok(Some(frame(6))),
        "it looks for new reports"
    );
    assert_eq!(device.engine_stats().frames_for_host, 6);
}

#[test]
fn frames_to_send_wait_for_the_card_then_are_dropped_and_counted() {
    let card = FakeCard::new();
    let device = open(&card);
    let port = device.raw(TWO).expect("the port is free");
    assert_eq!(port.send(&[0; 13]), Ok(Sent::Dropped), "no Ethernet header");
    assert_eq!(
        port.send(&[0; 1519]),
        Ok(Sent::Dropped),
        "longer than a tagged frame of the MTU"
    );
    assert_eq!(port.stats().send_dropped_length, 2);

    let sent: Vec<Sent> = (0..10)
        .map(|n| port.send(&frame(n)).expect("no fault"))
        .collect();
    let mut expected = vec![Sent::Posted; 6];
    expected.extend([Sent::Waiting; 2]);
    expected.extend([Sent::Dropped; 2]);
    assert_eq!(sent, expected);
    assert_eq!(port.room(), 0);
    assert_eq!(card.doorbell(doorbell::JOB_TAIL), Some(6));

    // Nothing tells of frames that were sent: the deadline does.
    let deadline = device.next_deadline().expect("frames wait");
    card.set(reg::JOB_DONE, 1);
    device.progress().expect("no fault");
    assert_eq!(port.room(), 0, "not asked before its time");
    card.lock().now = deadline;
    device.progress().expect("no fault");
    assert_eq!(port.room(), 1);
    card.set(reg::JOB_DONE, 7);
    card.lock().now = device.next_deadline().expect("one frame waits");
    device.progress().expect("no fault");
    assert_eq!(port.room(), 2);
    assert_eq!(device.next_deadline(), None);
    let stats = port.stats();
    assert_eq!(
        (
            stats.sent,
            stats.sent_after_waiting,
            stats.send_dropped_full
        ),
        (8, 2, 2)
    );
    // In order, and each once.
    let jobs = card.address(reg::JOB_BASE_LO);
    for number in [6u64, 7] {
        let job = card.dma_read(jobs + 128 * number, 128);
        let slot = u64::from_le_bytes(job[64..72].try_into().expect("8 bytes"));
        assert_eq!(card.dma_read(slot, 60), frame(number as u8));
    }
}

#[test]
fn there_is_one_port_and_the_engine_is_alone_again_without_it() {
    let card = FakeCard::new();
    let device = open(&card);
    let port = device.raw(RawConfig::default()).expect("the port is free");
    let taken = device.raw(RawConfig::default());
    assert!(matches!(taken, Err(DeviceError::RawPortTaken { .. })));
    let mut request = [
        &[0xff; 6][..],
        &[2, 0, 0, 0, 0, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1],
    ]
    .concat();
    request.extend([2, 0, 0, 0, 0, 9, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1]);
    card.frame(0, 0, &request);
    assert_eq!(port.try_receive(), Ok(Some(request.clone())));
    assert_eq!(
        card.doorbell(doorbell::JOB_TAIL),
        None,
        "the host's stack answers"
    );
    drop(port);
    card.frame(1, 1, &request);
    device.progress().expect("no fault");
    assert_eq!(
        card.doorbell(doorbell::JOB_TAIL),
        Some(1),
        "the engine answers"
    );
    let again = device.raw(RawConfig::default());
    assert!(again.is_ok(), "the port is free again: {again:?}");
}

#[test]
fn a_wait_ends_with_a_frame_or_another_file() {
    let card = FakeCard::new();
    let device = open(&card);
    let port = device.raw(TWO).expect("the port is free");
    // A regular file can always be read: the wait is over at once, although no interrupt ever comes.
    let file = File::open("/dev/null").expect("/dev/null");
    port.wait(Some(file.as_fd()), None).expect("no fault");
    card.frame(0, 0, &frame(0));
    device.progress().expect("no fault");
    port.wait(None, None).expect("a frame is there");
}

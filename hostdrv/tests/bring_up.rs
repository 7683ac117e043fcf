//! Bring-up against cards that are not what they should be.

use crate::fake;

use std::net::Ipv4Addr;
use std::sync::Arc;

use fake::{FakeCard, Fault};
use weft_hostdrv::device::RingSizes;
use weft_hostdrv::transport::TransportError;
use weft_hostdrv::{Device, DeviceConfig, DeviceError};
use weft_layout::{doorbell, reg};

/// CTRL of a card that is up.
const ON: u32 = reg::Ctrl::JOBS | reg::Ctrl::RECEIVE;
const MAC: [u8; 6] = [2, 0x11, 0x22, 0x33, 0x44, 0x55];

fn config() -> DeviceConfig {
    DeviceConfig::new(MAC, Ipv4Addr::new(10, 0, 0, 1))
}

fn open(card: &FakeCard, config: DeviceConfig) -> Result<Device, DeviceError> {
    Device::open(Arc::new(card.clone()), config)
}

fn refused(fault: Fault) -> DeviceError {
    let card = FakeCard::with(fault);
    let error = open(&card, config()).expect_err("the card is broken");
    let inner = card.lock();
    assert!(
        inner.memory.is_empty(),
        "memory stays mapped after {fault:?}"
    );
    assert!(
        !inner
            .writes
            .iter()
            .any(|(at, value)| *at == reg::CTRL && *value & ON != 0),
        "turned on in spite of {fault:?}"
    );
    error
}

#[test]
fn a_device_that_does_not_answer() {
    let error = refused(Fault::Absent);
    assert!(matches!(&error, DeviceError::NoAnswer { device } if device == "fake card"));
    let text = error.to_string();
    assert!(
        text.contains("all ones") && text.contains("powered"),
        "{text}"
    );
}

#[test]
fn another_device() {
    let error = refused(Fault::Register(reg::ID, 0x8086_1572));
    assert!(matches!(
        error,
        DeviceError::NotWeft {
            found: 0x8086_1572,
            ..
        }
    ));
}

#[test]
fn another_version() {
    let found = weft_layout::INTERFACE_VERSION + 1;
    let error = refused(Fault::Register(reg::VERSION, found));
    assert!(
        matches!(error, DeviceError::WrongVersion { found: f, expected, .. }
        if f == found && expected == weft_layout::INTERFACE_VERSION)
    );
}

#[test]
fn impossible_capabilities() {
    for caps in [
        [48, 4, 8, 2],
        [64, 14, 8, 2],
        [64, 4, 0, 2],
        [64, 4, 25, 2],
        [64, 4, 8, 0],
    ] {
        let error = refused(Fault::Register(reg::CAPS, u32::from_le_bytes(caps)));
        assert!(
            matches!(error, DeviceError::Capabilities { .. }),
            "{caps:?}: {error}"
        );
    }
}

#[test]
fn writes_that_do_not_arrive() {
    let error = refused(Fault::Register(reg::SCRATCH, 0));
    assert_eq!(
        error,
        DeviceError::Scratch {
            wrote: 0x5a5a_a5a5,
            read: 0
        }
    );
    let error = refused(Fault::Register(reg::JOB_LOG2, 3));
    assert!(
        matches!(
            error,
            DeviceError::Register {
                register: "JOB_LOG2",
                read: 3,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_card_that_never_rests() {
    let error = refused(Fault::NeverQuiescent);
    let DeviceError::NotQuiescent {
        status: 0,
        waited_ns,
    } = error
    else {
        panic!("{error}");
    };
    assert!(waited_ns >= 100_000_000, "given up after {waited_ns} ns");
}

#[test]
fn a_card_whose_clock_is_slow() {
    let card = FakeCard::with(Fault::Slow);
    drop(open(&card, config()).expect("its tables are cleared in its own time"));
    assert!(card.lock().now >= 3_000_000_000);
}

#[test]
fn a_bus_that_fails() {
    let error = refused(Fault::ReadsFail);
    assert!(
        matches!(
            error,
            DeviceError::Transport(TransportError::Mmio {
                offset: reg::ID,
                ..
            })
        ),
        "{error}"
    );
    let error = refused(Fault::NoMemory);
    assert!(
        matches!(error, DeviceError::Transport(TransportError::Map { .. })),
        "{error}"
    );
}

#[test]
fn a_soft_reset_that_does_not_end() {
    let card = FakeCard::with(Fault::SoftResetHangs);
    drop(open(&card, config()).expect("the transport's reset brings it up"));
    let (soft, others) = {
        let inner = card.lock();
        (inner.soft_resets, inner.resets)
    };
    assert_eq!((soft, others), (2, 2), "the transport's after each");

    let text = refused(Fault::NoReset).to_string();
    for part in ["fake card", "does not end", "STATUS 0x8", "no FLR"] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn settings_out_of_range() {
    let mut wrong = Vec::new();
    for mtu in [100, 9300] {
        wrong.push(("mtu", config().mtu(mtu)));
    }
    let rings = RingSizes::default();
    wrong.push((
        "jobs_log2",
        config().rings(RingSizes {
            jobs_log2: 17,
            ..rings
        }),
    ));
    wrong.push((
        "reports_log2",
        config().rings(RingSizes {
            reports_log2: 0,
            ..rings
        }),
    ));
    wrong.push((
        "raw_log2",
        config().rings(RingSizes {
            raw_log2: 13,
            ..rings
        }),
    ));
    for (name, config) in wrong {
        let card = FakeCard::new();
        let error = open(&card, config).expect_err("out of range");
        assert!(
            matches!(error, DeviceError::Setting { setting, .. } if setting == name),
            "{name}: {error}"
        );
        assert_eq!(card.lock().resets, 0, "a card was touched for nothing");
    }
}

#[test]
fn a_card_that_is_right() {
    let card = FakeCard::new();
    let device = open(&card, config().mtu(9000)).expect("nothing is wrong");
    assert_eq!(device.capabilities().flows, 16);
    assert_eq!(device.capabilities().stags, 256);
    assert_eq!(card.register(reg::CTRL), ON);
    assert_eq!(card.register(reg::MTU), 9018);
    assert_eq!(card.register(reg::MAC_LO), 0x3322_1102);
    assert_eq!(card.register(reg::MAC_HI), 0x5544);
    assert_eq!(card.address(reg::JOB_BASE_LO) % 128, 0);
    assert_eq!(card.address(reg::REPORT_BASE_LO) % 64, 0);
    let slot_log2 = reg::RawLog2(card.register(reg::RAW_LOG2)).slot();
    assert_eq!(slot_log2, 14, "9018 bytes need slots of 16 KiB");
    assert_eq!(card.address(reg::RAW_BASE_LO) % (1 << slot_log2), 0);
    let last = card.lock().writes.last().copied();
    assert_eq!(last, Some((reg::CTRL, ON)), "the card is turned on last");
    // The whole raw ring is mapped.
    let count = 1u64 << reg::RawLog2(card.register(reg::RAW_LOG2)).count();
    let end = card.address(reg::RAW_BASE_LO) + (count << slot_log2);
    card.dma_write(end - 4, &[1; 4]);

    let stats = device.host_stats();
    let mapped: usize = card
        .lock()
        .memory
        .values()
        .map(|pages| pages.memory().len())
        .sum();
    assert_eq!(stats.dma_bytes_allocated, mapped as u64);
    assert!(stats.mmio_reads > 0 && stats.doorbells == 0);

    drop(device);
    let (soft, others) = {
        let inner = card.lock();
        (inner.soft_resets, inner.resets)
    };
    assert_eq!((soft, others), (2, 0), "reset when opened and when closed");
    assert!(card.lock().memory.is_empty(), "everything is unmapped");
}

#[test]
fn counters_by_name() {
    let card = FakeCard::new();
    let device = open(&card, config()).expect("opens");
    card.set(
        reg::COUNTERS + 4 * weft_layout::Counter::RxDropTcpChecksum as u32,
        42,
    );
    assert_eq!(device.counter("rx_drop_tcp_checksum"), Ok(42));
    assert_eq!(
        device
            .counters()
            .expect("readable")
            .get("rx_drop_tcp_checksum"),
        Some(42)
    );
    assert_eq!(
        device.counter("rx_drops"),
        Err(DeviceError::NoSuchCounter("rx_drops".into()))
    );
    card.lock().fault = Some(Fault::Absent);
    assert!(matches!(
        device.counter("rx_frames"),
        Err(DeviceError::Gone { .. })
    ));
}

#[test]
fn waiting_arms_once_and_sees_interrupts() {
    let card = FakeCard::new();
    let device = open(&card, config()).expect("opens");
    let deadline = device.now() + 1000;
    device.wait(Some(deadline)).expect("waits");
    assert_eq!(device.now(), deadline);
    device.wait(Some(deadline + 1000)).expect("waits");
    assert_eq!(fake::rings(&card, doorbell::REPORT_ARM), 1, "armed already");
    card.lock().interrupt = true;
    device.wait(None).expect("waits");
    assert_eq!(device.host_stats().interrupts, 1);
    device.wait(Some(0)).expect("waits");
    assert_eq!(
        fake::rings(&card, doorbell::REPORT_ARM),
        2,
        "the interrupt disarmed it"
    );
}

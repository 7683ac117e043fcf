//! Served cards and an independent client: the one of the `vfio_user` crate.

use crate::serve_support;

use std::os::fd::AsRawFd;
use std::time::Duration;

use rustix::event::{eventfd, EventfdFlags};
use serve_support::{
    be_master, frame, read32, readable, serve, stats_when, write32, Driver, Memory, Shared, CONFIG,
    MEMORY, MSIX, MSIX_IRQ, REGISTERS,
};
use vfio_user::Client;
use weft_layout::{pci, reg};
use weft_sim::serve::Served;

const IOVA: u64 = 0x7_0000_0000;

/// DATA_EVENTFD and ACTION_TRIGGER.
const EVENTS: u32 = 4 | 32;

fn connect(served: &Served) -> Client {
    Client::new(&served.sockets()[0]).unwrap()
}

/// A client with memory mapped, and the card set up to send to itself.
fn looped(served: &Served) -> (Client, Shared, Driver) {
    let mut client = connect(served);
    let memory = Shared::new(MEMORY);
    client
        .dma_map(0, IOVA, MEMORY, memory.0.as_raw_fd())
        .unwrap();
    be_master(&mut client);
    let driver = Driver::new(&mut client, IOVA, true);
    (client, memory, driver)
}

#[test]
fn the_function_is_as_the_description_says() {
    let served = serve();
    let mut client = connect(&served);
    for (region, size) in [
        (pci::REGISTERS_BAR, pci::REGISTERS_SIZE),
        (1, 0),
        (pci::DOORBELLS_BAR, pci::DOORBELLS_SIZE),
        (3, 0),
        (pci::MSIX_BAR, pci::MSIX_SIZE),
        (5, 0),
        (6, 0),
        (7, 4096),
        (8, 0),
    ] {
        let region = client.region(region.into()).unwrap();
        assert_eq!(region.size, size, "region {}", region.index);
    }
    assert!(client.region(9).is_none());
    let id = read32(&mut client, CONFIG, 0);
    assert_eq!(id, u32::from(pci::DEVICE) << 16 | u32::from(pci::VENDOR));
    let class = read32(&mut client, CONFIG, 8);
    assert_eq!(class, pci::CLASS << 8 | u32::from(pci::REVISION));
    assert_eq!(read32(&mut client, REGISTERS, reg::ID), reg::ID_RESET);
    let vectors = read32(&mut client, REGISTERS, reg::CAPS) >> 24;
    assert_eq!(client.get_irq_info(MSIX_IRQ).unwrap().count, vectors);
    for other in [0, 1, 3, 4] {
        assert_eq!(client.get_irq_info(other).unwrap().count, 0);
    }
    let mut at = read32(&mut client, CONFIG, 0x34) & 0xff;
    let mut capabilities = Vec::new();
    while at != 0 {
        let capability = read32(&mut client, CONFIG, at);
        capabilities.push(capability as u8);
        at = capability >> 8 & 0xff;
    }
    assert_eq!(capabilities, [0x01, 0x11, 0x10]);
    assert_eq!(served.stats().cards[0].malformed, 0);
}

#[test]
fn registers_keep_what_is_written_until_a_reset() {
    let served = serve();
    let mut client = connect(&served);
    write32(&mut client, REGISTERS, reg::SCRATCH, 0x1234_5678);
    assert_eq!(read32(&mut client, REGISTERS, reg::SCRATCH), 0x1234_5678);
    let mut part = [0; 2];
    client
        .region_read(REGISTERS, u64::from(reg::SCRATCH) + 1, &mut part)
        .unwrap();
    assert_eq!(part, [0x56, 0x34]);
    be_master(&mut client);
    client.reset().unwrap();
    assert_eq!(read32(&mut client, REGISTERS, reg::SCRATCH), 0);
    assert_eq!(
        read32(&mut client, CONFIG, 4) & 6,
        6,
        "DEVICE_RESET keeps the configuration space, as the kernel's does"
    );
    // A function-level reset does not.
    write32(&mut client, REGISTERS, reg::SCRATCH, 7);
    let express = 0x60;
    let control = read32(&mut client, CONFIG, express + 8) as u16;
    client
        .region_write(
            CONFIG,
            u64::from(express) + 8,
            &(control | 1 << 15).to_le_bytes(),
        )
        .unwrap();
    assert_eq!(read32(&mut client, REGISTERS, reg::SCRATCH), 0);
    assert_eq!(read32(&mut client, CONFIG, 4) & 6, 0);
    assert_eq!(served.stats().cards[0].resets, 2);
}

#[test]
fn memory_goes_both_ways_and_the_interrupt_comes() {
    let served = serve();
    let (mut client, mut memory, mut driver) = looped(&served);
    let event = eventfd(0, EventfdFlags::empty()).unwrap();
    client
        .set_irqs(MSIX_IRQ, EVENTS, 0, 1, &[event.as_raw_fd()])
        .unwrap();
    for n in 0..40u8 {
        driver.arm(&mut client);
        let sent = frame(60 + 31 * usize::from(n), n);
        driver.send(&mut client, &mut memory, &sent);
        assert!(readable(&event, Duration::from_secs(60)), "no interrupt");
        let mut count = [0; 8];
        rustix::io::read(&event, &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 1);
        let got = driver.receive(&mut client, &mut memory);
        assert_eq!(got, sent);
    }
    let stats = served.stats();
    let card = &stats.cards[0];
    assert_eq!(
        (card.dma_refused, card.malformed, card.interrupts),
        (0, 0, 40)
    );
    assert!(card.dma_read_bytes > 40 * 60 && card.cycles > 0);
}

#[test]
fn an_interrupt_without_a_descriptor_is_pending_until_there_is_one() {
    let served = serve();
    let (mut client, mut memory, mut driver) = looped(&served);
    driver.arm(&mut client);
    driver.send(&mut client, &mut memory, &frame(100, 1));
    stats_when(&served, "an interrupt", |s| s.cards[0].interrupts == 1);
    assert_eq!(read32(&mut client, MSIX, pci::MSIX_PBA), 1);
    let event = eventfd(0, EventfdFlags::empty()).unwrap();
    client
        .set_irqs(MSIX_IRQ, EVENTS, 0, 1, &[event.as_raw_fd()])
        .unwrap();
    assert!(readable(&event, Duration::from_secs(60)));
    assert_eq!(read32(&mut client, MSIX, pci::MSIX_PBA), 0);
    // "None from 0 on" takes the descriptor away.
    client.set_irqs(MSIX_IRQ, 1 | 32, 0, 0, &[]).unwrap();
    let got = driver.receive(&mut client, &mut memory);
    assert_eq!(got.len(), 100);
    let mut count = [0; 8];
    rustix::io::read(&event, &mut count).unwrap();
    driver.arm(&mut client);
    driver.send(&mut client, &mut memory, &frame(100, 2));
    stats_when(&served, "an interrupt", |s| s.cards[0].interrupts == 2);
    assert!(!readable(&event, Duration::ZERO));
}

#[test]
fn memory_that_was_unmapped_is_not_reached() {
    let served = serve();
    let (mut client, mut memory, mut driver) = looped(&served);
    driver.send(&mut client, &mut memory, &frame(100, 1));
    driver.receive(&mut client, &mut memory);
    client.dma_unmap(IOVA, MEMORY).unwrap();
    assert_eq!(served.stats().cards[0].mappings, 0);
    let mut before = vec![0; MEMORY as usize];
    driver.send(&mut client, &mut memory, &frame(100, 2));
    memory.read(0, &mut before);
    let stats = stats_when(&served, "a refusal", |s| s.cards[0].dma_refused > 0);
    assert_eq!(stats.cards[0].malformed, 0);
    let mut after = vec![0; MEMORY as usize];
    memory.read(0, &mut after);
    assert!(
        before == after,
        "the card wrote into memory that was unmapped"
    );
    // Ranges without a mapping are no error.
    client.dma_unmap(0, 1 << 47).unwrap();
    let card = &served.stats().cards[0];
    assert_eq!((card.unmaps, card.unmaps_of_nothing), (1, 1));
}

#[test]
fn a_function_that_is_no_bus_master_reaches_nothing() {
    let served = serve();
    let (mut client, mut memory, mut driver) = looped(&served);
    client.region_write(CONFIG, 4, &[2, 0]).unwrap();
    driver.send(&mut client, &mut memory, &frame(100, 1));
    stats_when(&served, "a refusal", |s| s.cards[0].dma_refused > 0);
    assert!(driver.try_receive(&mut client, &mut memory).is_none());
    client.reset().unwrap();
    be_master(&mut client);
    let mut driver = Driver::new(&mut client, IOVA, true);
    driver.send(&mut client, &mut memory, &frame(100, 2));
    assert_eq!(
        driver.receive(&mut client, &mut memory),
        frame(100, 2),
        "with the bit set it does"
    );
}

#[test]
fn one_client_comes_after_another() {
    let served = serve();
    for n in 1..=5 {
        let (mut client, mut memory, mut driver) = looped(&served);
        assert_eq!(read32(&mut client, REGISTERS, reg::SCRATCH), 0);
        write32(&mut client, REGISTERS, reg::SCRATCH, n);
        driver.send(&mut client, &mut memory, &frame(64, n as u8));
        assert_eq!(driver.receive(&mut client, &mut memory)[63], n as u8);
    }
    let stats = stats_when(&served, "the last parting", |s| !s.cards[0].connected);
    let card = &stats.cards[0];
    assert_eq!((card.clients, card.mappings, card.malformed), (5, 0, 0));
}

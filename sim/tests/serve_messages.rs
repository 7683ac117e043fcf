//! Served cards and a client written by hand: DMA by message, and input that no good client sends.

use crate::serve_support;

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rustix::fs::ftruncate;
use serve_support::raw::{bytes, payload, Field, Lent, Manner, Raw, ERROR, NO_REPLY};
use serve_support::{
    be_master, eventually, frame, read32, serve, stats_when, write32, Driver, Shared, CONFIG,
    MEMORY, REGISTERS,
};
use weft_layout::reg;
use weft_sim::seed::{generator, Stream};

const IOVA: u64 = 0x7_0000_0000;

/// The card sends frames to itself, out of memory that has no descriptor.
fn frames_by_message(manner: Manner, max_data: usize) {
    let served = serve();
    let mut raw = Raw::greet(&served.sockets()[0], max_data);
    raw.manner = manner;
    raw.share(IOVA, MEMORY);
    be_master(&mut raw);
    let mut driver = Driver::new(&mut raw, IOVA, true);
    for n in 0..8u8 {
        let sent = frame(60 + 211 * usize::from(n), n);
        let mut memory = std::mem::take(&mut raw.memory);
        let mut held = Lent(&mut memory, IOVA);
        // The doorbell is answered first, so the memory may be away until then.
        driver.send(&mut raw, &mut held, &sent);
        raw.memory = memory;
        let got = eventually("a frame", || {
            raw.attend(Duration::from_millis(5));
            let mut memory = raw.memory.clone();
            driver.try_receive(&mut raw, &mut Lent(&mut memory, IOVA))
        });
        assert_eq!(got, sent);
    }
    let stats = served.stats();
    let card = &stats.cards[0];
    assert_eq!((card.dma_refused, card.malformed), (0, 0));
    if manner == Manner::Eager {
        // All but the first answer, which refuses, had a command with it.
        eventually("the last reply", || {
            raw.attend(Duration::from_millis(5));
            (raw.eager == raw.asked - 1).then_some(())
        });
    }
    assert!(card.dma_messages > 16 && raw.longest <= max_data);
}

#[test]
fn memory_without_a_descriptor_goes_by_message() {
    frames_by_message(Manner::Properly, 1 << 20);
}

#[test]
fn memory_of_a_client_that_counts_with_32_bits_goes_by_message() {
    frames_by_message(Manner::Narrow, 1 << 20);
    frames_by_message(Manner::Narrow, 100);
}

#[test]
fn a_client_may_want_its_own_answers_first() {
    frames_by_message(Manner::OwnFirst, 1 << 20);
}

#[test]
fn a_command_behind_an_answer_is_not_left_unread() {
    frames_by_message(Manner::Eager, 1 << 20);
}

#[test]
fn messages_are_as_short_as_the_client_wants() {
    frames_by_message(Manner::Properly, 100);
}

#[test]
fn a_client_that_refuses_makes_a_dma_error() {
    let served = serve();
    let mut raw = Raw::greet(&served.sockets()[0], 4096);
    raw.share(IOVA, MEMORY);
    be_master(&mut raw);
    let mut driver = Driver::new(&mut raw, IOVA, true);
    raw.manner = Manner::Refusing;
    let mut memory = raw.memory.clone();
    driver.send(&mut raw, &mut Lent(&mut memory, IOVA), &frame(100, 1));
    eventually("a refusal", || {
        raw.attend(Duration::from_millis(5));
        (served.stats().cards[0].dma_refused > 0).then_some(())
    });
    assert_ne!(read32(&mut raw, REGISTERS, reg::STATUS) & 6, 0);
    assert!(raw.asked > 0);
}

#[test]
fn a_client_that_does_not_answer_stops_neither_its_card_nor_another() {
    let served = serve();
    let mut raw = Raw::greet(&served.sockets()[0], 4096);
    raw.share(IOVA, MEMORY);
    be_master(&mut raw);
    let mut driver = Driver::new(&mut raw, IOVA, true);
    raw.manner = Manner::Never;
    let mut memory = raw.memory.clone();
    driver.send(&mut raw, &mut Lent(&mut memory, IOVA), &frame(100, 1));
    let id = read32(&mut raw, REGISTERS, reg::ID);
    assert_eq!(id, reg::ID_RESET, "while the question is open");
    stats_when(&served, "a refusal", |s| s.cards[0].dma_refused > 0);
    let id = read32(&mut raw, REGISTERS, reg::ID);
    assert_eq!(id, reg::ID_RESET);
}

#[test]
fn commands_without_reply_get_none_and_are_carried_out() {
    let served = serve();
    let mut raw = Raw::greet(&served.sockets()[0], 4096);
    let mut write = payload(&[
        Field::L(u64::from(reg::SCRATCH)),
        Field::W(REGISTERS),
        Field::W(4),
    ]);
    for n in 1..=100u32 {
        write.truncate(16);
        write.extend(n.to_le_bytes());
        raw.send(&bytes(7000, 10, NO_REPLY, &write));
    }
    assert_eq!(read32(&mut raw, REGISTERS, reg::SCRATCH), 100);
    // Several writes in one message: 8 bytes each, of which 4 count.
    let mut multi = payload(&[Field::L(2)]);
    for value in [5u32, 6] {
        multi.extend(payload(&[
            Field::L(u64::from(reg::SCRATCH)),
            Field::W(REGISTERS),
            Field::W(4),
            Field::W(value),
            Field::W(0),
        ]));
    }
    let reply = raw.ask(15, &multi);
    assert_eq!((reply.flags & ERROR, reply.payload[0]), (0, 2));
    assert_eq!(read32(&mut raw, REGISTERS, reg::SCRATCH), 6);
}

/// A command, its payload, and the error number it should get.
fn refused(raw: &mut Raw, command: u16, payload: &[u8], error: u32) {
    let reply = raw.ask(command, payload);
    assert_eq!(
        (reply.flags & ERROR != 0, reply.error),
        (true, error),
        "command {command}, payload {payload:?}"
    );
    assert!(reply.payload.is_empty(), "an error reply is a header");
}

#[test]
fn wrong_fields_get_an_error_and_nothing_else_happens() {
    let served = serve();
    let mut raw = Raw::connect(&served.sockets()[0]);
    refused(&mut raw, 4, &payload(&[Field::W(16)]), 71);
    refused(&mut raw, 1, &[9, 0, 0, 0], 22);
    refused(&mut raw, 1, b"\0\0\x01\0{nonsense", 22);
    refused(&mut raw, 1, &[0], 22);
    assert_eq!(raw.ask(1, &[0, 0, 1, 0]).flags & ERROR, 0);
    refused(&mut raw, 1, &[0, 0, 1, 0], 22);
    for command in [0, 11, 12, 14, 16, 17, 18, 999] {
        let error = if matches!(command, 11 | 12) { 22 } else { 38 };
        refused(&mut raw, command, &[], error);
    }
    refused(&mut raw, 6, &[], 95);
    for command in [2, 3, 4, 5, 7, 8, 9, 10, 15] {
        refused(&mut raw, command, &[1, 2], 22);
    }
    // Regions: no such one, outside, nothing at all, half a word.
    for (region, offset, count) in [
        (1, 0, 4),
        (9, 0, 4),
        (u32::MAX, 0, 4),
        (0, 0xfffe, 4),
        (0, u64::MAX, 4),
        (0, 0, u32::MAX),
        (7, 4096, 1),
        (4, 4096, 1),
        (2, 0, 0),
    ] {
        let read = payload(&[Field::L(offset), Field::W(region), Field::W(count)]);
        refused(&mut raw, 9, &read, 22);
        let mut write = read.clone();
        write.resize(16 + (count as usize).min(64), 0);
        refused(&mut raw, 10, &write, 22);
    }
    let mut half = payload(&[Field::L(u64::from(reg::SCRATCH)), Field::W(0), Field::W(2)]);
    half.extend([1, 2]);
    refused(&mut raw, 10, &half, 22);
    let mut nine = payload(&[Field::L(1), Field::L(0), Field::W(7), Field::W(9)]);
    nine.extend([0; 8]);
    refused(&mut raw, 15, &nine, 22);
    // Mappings: no direction, unknown flags, no page, no bytes, the end of the address space, twice.
    for (flags, iova, len) in [
        (0, 0, 4096),
        (8, 0, 4096),
        (3, 1, 4096),
        (3, 0, 4095),
        (3, 0, 0),
        (3, u64::MAX - 4095, 8192),
    ] {
        let fields = [
            Field::W(32),
            Field::W(flags),
            Field::L(0),
            Field::L(iova),
            Field::L(len),
        ];
        refused(&mut raw, 2, &payload(&fields), 22);
    }
    raw.share(0x1000, 0x2000);
    let again = [
        Field::W(32),
        Field::W(3),
        Field::L(0),
        Field::L(0x2000),
        Field::L(0x1000),
    ];
    refused(&mut raw, 2, &payload(&again), 17);
    for (flags, iova, len, error) in [
        (0, 0x1000, 0x1000, 22),
        (0, 0, 0, 22),
        (0, u64::MAX, 2, 22),
        (1, 0x1000, 0x2000, 95),
    ] {
        let fields = [Field::W(24), Field::W(flags), Field::L(iova), Field::L(len)];
        refused(&mut raw, 3, &payload(&fields), error);
    }
    // All at once.
    let all = [Field::W(24), Field::W(2), Field::L(0), Field::L(0)];
    assert_eq!(raw.ask(3, &payload(&all)).flags & ERROR, 0);
    // Interrupts.
    for (flags, index, start, count) in [
        (33, 0, 0, 1),
        (33, 2, 0, 9999),
        (33, 2, u32::MAX, u32::MAX),
        (0, 2, 0, 1),
        (7, 2, 0, 1),
        (34, 2, 0, 1),
        (12, 2, 0, 1),
        (33, 77, 0, 0),
    ] {
        let fields = [flags, index, start, count].map(Field::W);
        let mut set = payload(&[Field::W(20)]);
        set.extend(payload(&fields));
        refused(&mut raw, 8, &set, 22);
    }
    let card = &served.stats().cards[0];
    assert!(card.malformed > 60 && card.mappings == 0 && card.clients == 1);
    assert_eq!(read32(&mut raw, REGISTERS, reg::ID), reg::ID_RESET);
}

#[test]
fn wrong_descriptors_are_refused() {
    let served = serve();
    let mut raw = Raw::greet(&served.sockets()[0], 4096);
    let file = Shared::new(8192).0;
    let (pipe, _writer) = rustix::pipe::pipe().unwrap();
    let map = |offset: u64, len: u64| {
        payload(&[
            Field::W(32),
            Field::W(3),
            Field::L(offset),
            Field::L(0x10000),
            Field::L(len),
        ])
    };
    let mut id = 100;
    let mut try_map = |fds: &[&OwnedFd], offset: u64, len: u64| {
        id += 1;
        let fds: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
        raw.send_with(&bytes(id, 2, 0, &map(offset, len)), &fds);
        raw.reply_to(id).error
    };
    assert_eq!(try_map(&[&pipe], 0, 4096), 22, "a pipe");
    assert_eq!(try_map(&[&file], 0, 12288), 22, "beyond the end");
    assert_eq!(try_map(&[&file], 4096, 8192), 22, "beyond the end");
    assert_eq!(try_map(&[&file], !4095, 4096), 22, "a wrap");
    assert_eq!(try_map(&[&file, &file], 0, 4096), 22, "two");
    assert_eq!(try_map(&[&file; 60], 0, 4096), 9, "too many");
    assert_eq!(try_map(&[&file], 0, 8192), 0, "a good one");
    // Descriptors with a command that takes none.
    let read = payload(&[Field::L(0), Field::W(0), Field::W(4)]);
    raw.send_with(&bytes(7, 9, 0, &read), &[file.as_fd()]);
    assert_eq!(raw.reply_to(7).error, 22);
    // Interrupts: more descriptors than vectors.
    let mut set = payload(&[Field::W(20)]);
    set.extend(payload(&[36, 2, 0, 1].map(Field::W)));
    raw.send_with(&bytes(8, 8, 0, &set), &[pipe.as_fd(), pipe.as_fd()]);
    assert_eq!(raw.reply_to(8).error, 22);
    assert_eq!(served.stats().cards[0].mappings, 1);
}

#[test]
fn a_file_that_is_cut_behind_the_card_s_back_is_a_dma_error() {
    let served = serve();
    let mut raw = Raw::greet(&served.sockets()[0], 4096);
    let mut memory = Shared::new(MEMORY);
    let map = payload(&[
        Field::W(32),
        Field::W(3),
        Field::L(0),
        Field::L(IOVA),
        Field::L(MEMORY),
    ]);
    raw.send_with(&bytes(9, 2, 0, &map), &[memory.0.as_fd()]);
    assert_eq!(raw.reply_to(9).error, 0);
    be_master(&mut raw);
    let mut driver = Driver::new(&mut raw, IOVA, true);
    driver.send(&mut raw, &mut memory, &frame(100, 1));
    driver.receive(&mut raw, &mut memory);
    ftruncate(&memory.0, 0).unwrap();
    write32(&mut raw, 2, 0, 2);
    stats_when(&served, "a refusal", |s| s.cards[0].dma_refused > 0);
    assert_eq!(read32(&mut raw, REGISTERS, reg::ID), reg::ID_RESET);
}

#[test]
fn what_is_no_message_ends_the_connection() {
    let served = serve();
    for (n, nonsense) in [
        // Shorter than a header, longer than anything, neither command nor reply.
        [1, 0, 4, 0, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 4, 0, 32, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0],
    ]
    .iter()
    .enumerate()
    {
        let mut raw = Raw::greet(&served.sockets()[0], 4096);
        raw.send(nonsense);
        assert!(raw.is_closed(), "{n}");
        stats_when(&served, "a count", |s| {
            s.cards[0].malformed == n as u64 + 1 && !s.cards[0].connected
        });
    }
    let mut raw = Raw::greet(&served.sockets()[0], 4096);
    assert_eq!(read32(&mut raw, CONFIG, 0), 0x5746_fffe);
    // A reply that nobody asked for is counted, and no more.
    raw.send(&bytes(5, 11, 1, &[0; 16]));
    assert_eq!(read32(&mut raw, CONFIG, 0), 0x5746_fffe);
    assert_eq!(served.stats().cards[0].malformed, 4);
}

/// A message out of a good one, by chance a bad one.
fn mutated(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let numbers = [0, 1, 4, 15, 16, 4096, 0xffff_ffff, 1 << 63, u64::MAX];
    let any = |rng: &mut ChaCha8Rng| numbers[rng.random_range(0..numbers.len())];
    let mut body = Vec::new();
    for _ in 0..rng.random_range(0..8) {
        let number = any(rng);
        if rng.random() {
            body.extend(number.to_le_bytes());
        } else {
            body.extend((number as u32).to_le_bytes());
        }
    }
    let command = rng.random_range(0..20);
    let flags = [0, 0, 0, 0, NO_REPLY, 1, 2, ERROR][rng.random_range(0..8)];
    let mut message = bytes(rng.random(), command, flags, &body);
    match rng.random_range(0..10) {
        // A size that is not the message's.
        0 => {
            let size = any(rng) as u32;
            message[4..8].copy_from_slice(&size.to_le_bytes());
        }
        // The end is missing.
        1 => message.truncate(rng.random_range(0..=message.len())),
        // Bits flipped.
        2 => {
            let bit = rng.random_range(0..message.len() * 8);
            message[bit / 8] ^= 1 << (bit % 8);
        }
        _ => {}
    }
    message
}

#[test]
fn random_messages_disturb_nobody_else() {
    // Environment (tests): `WEFT_SERVE_FUZZ`: malformed vfio-user messages: how many rounds. Without it: 60.
    let rounds = std::env::var("WEFT_SERVE_FUZZ").map_or(60, |n| n.parse().unwrap());
    let served = serve_support::serve_two();
    let mut neighbour = Raw::greet(&served.sockets()[1], 4096);
    write32(&mut neighbour, REGISTERS, reg::SCRATCH, 0x600d);
    let files = [Shared::new(4096).0, Shared::new(1 << 20).0];
    for seed in 0..rounds {
        let mut rng = generator(seed, Stream::Application);
        let mut raw = if rng.random_bool(0.9) {
            Raw::greet(&served.sockets()[0], 4096)
        } else {
            Raw::connect(&served.sockets()[0])
        };
        for _ in 0..rng.random_range(1..60) {
            let message = mutated(&mut rng);
            let fds = [files[rng.random_range(0..2)].as_fd(); 20];
            let count = rng.random_range(0..20);
            let sent = if rng.random_bool(0.3) && count > 0 && !message.is_empty() {
                raw.try_send_with(&message, &fds[..count])
            } else {
                raw.try_send(&message)
            };
            if !sent {
                break;
            }
            raw.drop_replies();
        }
        drop(raw);
        assert_eq!(
            read32(&mut neighbour, REGISTERS, reg::SCRATCH),
            0x600d,
            "seed {seed}"
        );
        // The card is usable by the next client, and nothing is left of the one before.
        let mut next = Raw::greet(&served.sockets()[0], 4096);
        assert_eq!(read32(&mut next, REGISTERS, reg::ID), reg::ID_RESET);
        assert_eq!(served.stats().cards[0].mappings, 0, "seed {seed}");
    }
    let stats = served.stop().unwrap();
    assert!(stats.cards[0].malformed > 0 && stats.cards[1].malformed == 0);
}

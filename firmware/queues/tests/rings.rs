//! What is posted is what is taken, whatever came before; what no honest poster writes is refused, and nothing panics.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use weft_queues::*;

fn memory(bytes: usize) -> Vec<AtomicU64> {
    (0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect()
}

/// A WQE that owns what it points to.
#[derive(Clone, Debug)]
struct Owned {
    opcode: WqeOpcode,
    flags: u8,
    to: u64,
    stag: u32,
    inline: Option<Vec<u8>>,
    sges: Vec<Sge>,
}

impl Owned {
    fn wqe(&self) -> Wqe<'_> {
        Wqe {
            opcode: self.opcode,
            flags: self.flags,
            to: self.to,
            stag: self.stag,
            payload: match &self.inline {
                Some(bytes) => Payload::Inline(bytes),
                None => Payload::Sges(&self.sges),
            },
        }
    }
}

fn sge() -> impl Strategy<Value = Sge> {
    (any::<u64>(), any::<u32>(), any::<u32>()).prop_map(|(to, length, stag)| Sge {
        to,
        length,
        stag,
    })
}

fn wqe() -> impl Strategy<Value = Owned> {
    let opcode = proptest::sample::select(&WqeOpcode::ALL[..]);
    let inline = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..=MAX_INLINE));
    let sges = proptest::collection::vec(sge(), 0..=MAX_SGE);
    (opcode, 0u8..16, any::<u64>(), any::<u32>(), inline, sges).prop_map(
        |(opcode, flags, to, stag, inline, sges)| Owned {
            opcode,
            flags,
            to,
            stag,
            inline,
            sges,
        },
    )
}

const FULL: Capacity = Capacity {
    send: 4,
    sges: MAX_SGE,
    inline: MAX_INLINE,
    recv: 8,
};

proptest! {
    #[test]
    fn what_is_posted_is_taken(wqes in proptest::collection::vec(wqe(), 1..40), begin in any::<u32>()) {
        let queue = QueuePair::new(FULL).expect("a capacity");
        let memory = memory(queue.bytes());
        let memory = memory.as_slice();
        let mut tail = begin;
        for posted in &wqes {
            let at = tail;
            tail = tail.wrapping_add(queue.put_send(memory, at, &posted.wqe()));
            queue.ring_send(memory, tail);
            let seen = queue.send_tail(memory);
            prop_assert_eq!(seen, tail);
            let taken = queue.take_send(memory, at, seen).expect("one").expect("a good one");
            let wqe = posted.wqe();
            prop_assert_eq!(taken.payload(), wqe.payload);
            prop_assert_eq!((taken.opcode, taken.to, taken.stag), (wqe.opcode, wqe.to, wqe.stag));
            for flag in [SendWqe::SIGNALED, SendWqe::FENCE, SendWqe::SOLICITED, SendWqe::INVALIDATE] {
                prop_assert_eq!(taken.has(flag), wqe.flags & flag != 0);
            }
            prop_assert_eq!(at.wrapping_add(taken.blocks), tail);
            prop_assert!(queue.take_send(memory, tail, seen).is_none());
            // The receive queue lies behind, and keeps what it has.
            let sges = [Sge { to: 7, length: 0, stag: 9 }, Sge { to: u64::MAX, length: tail | 1, stag: 1 }];
            queue.put_recv(memory, tail, &sges);
            prop_assert_eq!(queue.take_recv(memory, tail), [sges[1], Sge::default(), Sge::default(), Sge::default()]);
        }
    }

    /// Whatever a poster writes: it is understood or refused, and what is understood is within bounds.
    #[test]
    fn nothing_is_believed(words in proptest::collection::vec(any::<u64>(), 8), block in any::<u32>(), tail in any::<u32>(),
                           near in any::<bool>(), blocks in 0u64..8, count in 0u64..20, length in 0u64..300) {
        let queue = QueuePair::new(FULL).expect("a capacity");
        let memory = memory(queue.bytes());
        for (place, word) in memory.iter().zip(words.iter().cycle()) {
            place.store(*word, Ordering::Relaxed);
        }
        let tail = if near { block.wrapping_add(tail % 8) } else { tail };
        if near {
            // Headers that are almost right.
            let first = 16 + 8 * (block as usize % queue.send_blocks() as usize);
            let header = (1 + words[0] % 5) | (words[1] & 0x1f) << 8 | blocks << 16 | count << 24 | length << 32;
            memory[first].store(header, Ordering::Relaxed);
        }
        match queue.take_send(memory.as_slice(), block, tail) {
            None => prop_assert_eq!(block, tail),
            Some(Err(bad)) => prop_assert!(!bad.to_string().is_empty()),
            Some(Ok(taken)) => {
                prop_assert!(taken.blocks >= 1 && taken.blocks <= tail.wrapping_sub(block));
                prop_assert!(tail.wrapping_sub(block) <= queue.send_blocks());
                match taken.payload() {
                    Payload::Sges(sges) => prop_assert!(sges.len() <= MAX_SGE),
                    Payload::Inline(bytes) => prop_assert!(bytes.len() <= MAX_INLINE),
                }
            }
        }
    }

    /// CQEs come once each, in order, over many rounds of the ring and over the end of the numbers.
    #[test]
    fn completions_come_once(size in 1usize..20, steps in proptest::collection::vec((0u32..9, 0u32..9), 1..60), near_end in any::<bool>()) {
        let queue = CompletionQueue::new(size).expect("a size");
        let memory = memory(queue.bytes());
        let memory = memory.as_slice();
        let (mut put, mut got) = (0u32, 0u32);
        if near_end {
            // A whole number of rounds before the numbers begin anew.
            let start = 0u32.wrapping_sub(2 * queue.capacity());
            (put, got) = (start, start);
            for number in 0..queue.capacity() {
                // As the round before left it.
                queue.put(memory, start.wrapping_sub(queue.capacity()).wrapping_add(number), Cqe::default());
            }
            queue.taken(memory, got);
        }
        for (more, fewer) in steps {
            for _ in 0..more {
                if queue.has_room(memory, put) {
                    queue.put(memory, put, Cqe { work: put, qp_num: !put, immediate: u64::from(put) << 20, status: 3, ..Cqe::default() });
                    put = put.wrapping_add(1);
                } else {
                    prop_assert_eq!(put.wrapping_sub(got), queue.capacity());
                }
            }
            for _ in 0..fewer {
                match queue.get(memory, got) {
                    Some(cqe) => {
                        prop_assert_eq!((cqe.work, cqe.qp_num, cqe.immediate, cqe.status), (got, !got, u64::from(got) << 20, 3));
                        got = got.wrapping_add(1);
                        queue.taken(memory, got);
                    }
                    None => prop_assert_eq!(put, got),
                }
            }
        }
    }
}

#[test]
fn capacities() {
    for (bad, what) in [
        (Capacity { send: 0, ..FULL }, "no WQE"),
        (Capacity { recv: 0, ..FULL }, "no element"),
        (
            Capacity {
                send: 32769,
                ..FULL
            },
            "too deep",
        ),
        (
            Capacity {
                recv: 32769,
                ..FULL
            },
            "too deep",
        ),
        (Capacity { sges: 17, ..FULL }, "too many SGEs"),
        (
            Capacity {
                send: u32::MAX,
                recv: u32::MAX,
                sges: usize::MAX / 16,
                inline: usize::MAX / 4,
            },
            "too much of everything",
        ),
        (
            Capacity {
                inline: 257,
                ..FULL
            },
            "too long",
        ),
    ] {
        assert_eq!(QueuePair::new(bad), None, "{what}");
    }
    let small = QueuePair::new(Capacity {
        send: 64,
        sges: 2,
        inline: 32,
        recv: 1,
    })
    .expect("a capacity");
    assert_eq!(small.send_blocks(), 64);
    assert_eq!(QueuePair::new(FULL).expect("a capacity").send_blocks(), 32);
    assert_eq!(
        (CompletionQueue::new(0), CompletionQueue::new(1 << 25)),
        (None, None)
    );
}

/// Two threads: one posts, one takes; no WQE is seen before all of it is there.
#[test]
fn a_doorbell_comes_behind_what_it_announces() {
    const WQES: u32 = 200_000;
    let queue = QueuePair::new(FULL).expect("a capacity");
    let memory = memory(queue.bytes());
    let memory = memory.as_slice();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut tail = 0u32;
            for number in 0..u64::from(WQES) {
                let sges = [Sge {
                    to: number,
                    length: number as u32,
                    stag: !number as u32,
                }; MAX_SGE];
                let payload = Payload::Sges(&sges[..number as usize % (MAX_SGE + 1)]);
                while queue.send_blocks() - tail.wrapping_sub(queue.send_done(memory)) < 5 {
                    std::hint::spin_loop();
                }
                let wqe = Wqe {
                    opcode: WqeOpcode::Write,
                    flags: 0,
                    to: number,
                    stag: 0,
                    payload,
                };
                tail = tail.wrapping_add(queue.put_send(memory, tail, &wqe));
                queue.ring_send(memory, tail);
            }
        });
        let mut at = 0u32;
        for number in 0..u64::from(WQES) {
            let taken = loop {
                match queue.take_send(memory, at, queue.send_tail(memory)) {
                    Some(taken) => break taken.expect("a good one"),
                    None => std::hint::spin_loop(),
                }
            };
            assert_eq!(taken.to, number);
            let Payload::Sges(sges) = taken.payload() else {
                panic!("no SGEs")
            };
            assert_eq!(sges.len(), number as usize % (MAX_SGE + 1));
            assert!(sges
                .iter()
                .all(|sge| sge.to == number && sge.length == number as u32));
            at = at.wrapping_add(taken.blocks);
            queue.set_send_done(memory, at);
        }
    });
}

/// Each thing that no honest poster writes, and its name.
#[test]
fn what_is_wrong_is_named() {
    let queue = QueuePair::new(FULL).expect("a capacity");
    let send = WqeOpcode::Send as u8;
    let inline = SendWqe::INLINE_PAYLOAD;
    // Opcode, flags, blocks, SGEs, bytes inline; blocks posted.
    let cases = [
        ((0, 0, 1, 0, 0), 1, BadWqe::Opcode(0)),
        ((11, 0, 1, 0, 0), 1, BadWqe::Opcode(11)),
        ((send, 0, 5, 17, 0), 8, BadWqe::Sges(17)),
        ((send, inline, 1, 1, 8), 8, BadWqe::Sges(1)),
        ((send, inline, 5, 0, 257), 8, BadWqe::Length(257)),
        ((send, 0, 1, 0, 8), 8, BadWqe::Length(8)),
        ((send, 0, 0, 0, 0), 8, BadWqe::Blocks(0)),
        ((send, 0, 2, 2, 0), 8, BadWqe::Blocks(2)),
        ((send, 0, 1, 3, 0), 8, BadWqe::Blocks(1)),
        ((send, 0, 2, 3, 0), 1, BadWqe::Blocks(2)),
        ((send, 0, 1, 2, 0), 33, BadWqe::Blocks(0)),
        ((send, 0, 1, 2, 0), u32::MAX, BadWqe::Blocks(0)),
    ];
    for ((opcode, flags, blocks, sges, length), posted, wrong) in cases {
        let memory = memory(queue.bytes());
        let header = u64::from_le_bytes([opcode, flags, blocks, sges, 0, 0, 0, 0]) | length << 32;
        memory[16].store(header, Ordering::Relaxed);
        let taken = queue.take_send(memory.as_slice(), 0, posted);
        assert_eq!(taken, Some(Err(wrong)), "{posted} blocks posted");
    }
}

/// Receives in any slots, in the order in which they were posted; a tail or a slot that cannot be says nothing.
#[test]
fn a_shared_receive_queue_is_taken_as_it_was_posted() {
    let layout = SharedReceive::new(5).expect("a queue");
    assert_eq!(SharedReceive::new(0), None);
    assert_eq!(SharedReceive::new(32769), None);
    let memory = memory(layout.bytes());
    let memory = memory.as_slice();
    let element = |n: u32| Sge {
        to: u64::from(n) << 32,
        length: 1 + n,
        stag: n,
    };
    let nothing = Sge::default();
    for number in 0..40u32 {
        let slot = number * 3 % 5;
        // One without length is left out.
        layout.put(
            memory,
            number,
            slot,
            &[element(number), nothing, element(7)],
        );
        assert_eq!(layout.take(memory, number), None, "not rung");
        layout.ring(memory, number + 1);
        let expected = [element(number), element(7), nothing, nothing];
        assert_eq!(layout.take(memory, number), Some((slot, expected)));
        assert_eq!(layout.take(memory, number + 1), None);
    }
    // Further away than there are slots.
    layout.ring(memory, 46);
    assert_eq!(layout.take(memory, 40), None);
    for word in memory {
        word.store(u64::MAX, Ordering::Relaxed);
    }
    layout.ring(memory, 41);
    assert_eq!(layout.take(memory, 40), None, "no such slot");
}

/// A ring of frames: what is put is what is got, any number of times around; what has no room, or is too long, is not there.
#[test]
fn frames() {
    let ring = FrameRing::new(4).unwrap();
    assert_eq!(FrameRing::new(0), None);
    assert_eq!((ring.capacity(), ring.bytes() % 64), (4, 0));
    let memory = memory(ring.bytes());
    let memory = &memory[..];
    let mut there = [0; MAX_FRAME + 100];
    let frame = |number: u32| vec![number as u8; 14 + 500 * (number as usize % 4)];
    // Counts of both sides begin at 0: here they are about to be 0 again.
    let (mut put, mut got) = (u32::MAX - 7, u32::MAX - 7);
    ring.taken(memory, got);
    for round in 0..40 {
        for _ in 0..=round % 5 {
            let room = put.wrapping_sub(got) < 4;
            assert_eq!(ring.put(memory, put, &frame(put)), room);
            put = put.wrapping_add(u32::from(room));
        }
        while put != got {
            let length = ring.get(memory, got, &mut there).expect("it is there");
            assert_eq!(there[..length], frame(got), "round {round}");
            got = got.wrapping_add(1);
            ring.taken(memory, got);
        }
        assert_eq!(ring.get(memory, got, &mut there), None);
    }
    assert!(ring.put(memory, put, &[7; MAX_FRAME]));
    assert!(!ring.put(memory, put.wrapping_add(1), &[7; MAX_FRAME + 1]));
    assert_eq!(ring.get(memory, got, &mut there), Some(MAX_FRAME));
    // Who takes has less room: no more than that.
    assert_eq!(ring.get(memory, got, &mut there[..60]), Some(60));
}

/// Whatever lies in the memory of a ring of frames, who takes one gets no more than a frame.
#[test]
fn frames_of_anything() {
    let ring = FrameRing::new(2).unwrap();
    let words: Vec<AtomicU64> = (0..ring.bytes() / 8)
        .map(|_| AtomicU64::new(u64::MAX))
        .collect();
    let mut there = [0; 4096];
    for number in 0..4 {
        let length = ring.get(&words[..], number, &mut there);
        assert!(length.is_none_or(|length| length <= MAX_FRAME));
    }
    assert!(!ring.put(&words[..], 5, &[0; 60]), "as if all were taken");
}

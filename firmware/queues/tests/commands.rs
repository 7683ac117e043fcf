//! What is commanded is what is taken, what is answered is what is read, and no event is lost, whatever else lies in the memory.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use weft_queues::*;

fn memory(bytes: usize) -> Vec<AtomicU64> {
    (0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect()
}

fn command() -> impl Strategy<Value = Command> {
    vec(any::<u8>(), Command::SIZE).prop_map(|bytes| {
        let bytes: [u8; Command::SIZE] = bytes.try_into().expect("as many");
        Command::from_bytes(&bytes)
    })
}

fn entry() -> impl Strategy<Value = EventEntry> {
    vec(any::<u8>(), EventEntry::SIZE).prop_map(|bytes| {
        let bytes: [u8; EventEntry::SIZE] = bytes.try_into().expect("as many");
        EventEntry::from_bytes(&bytes)
    })
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=MAX_PRIVATE_DATA)
}

proptest! {
    #[test]
    fn what_is_commanded_is_taken_and_answered(commands in vec((command(), data(), any::<u32>()), 1..40)) {
        let ring = CommandRing::new(4).expect("a ring");
        let memory = memory(ring.bytes());
        let memory = memory.as_slice();
        for (number, (command, data, stag)) in (0u32..).zip(&commands) {
            prop_assert!(ring.take(memory, number).is_none(), "not posted yet");
            ring.put(memory, number, command, data);
            prop_assert!(ring.take(memory, number).is_none(), "not rung yet");
            ring.ring(memory, number + 1);
            let taken = ring.take(memory, number).expect("posted").expect("a tail");
            let wanted = Command { length: data.len() as u32, ..*command };
            prop_assert_eq!(&taken.command, &wanted);
            prop_assert_eq!(taken.private_data(), &data[..]);
            prop_assert!(ring.answer(memory, number).is_none(), "not answered yet");
            ring.put_answer(memory, number, Answer { stag: *stag, ..Answer::default() });
            let answer = ring.answer(memory, number).expect("answered");
            prop_assert_eq!((answer.command, answer.stag), (number, *stag));
        }
    }

    #[test]
    fn events_come_in_order_and_wait_for_room(
        events in vec((entry(), data()), 1..60),
        bursts in vec(1u32..9, 60),
    ) {
        let ring = EventRing::new(4).expect("a ring");
        let memory = memory(ring.bytes());
        let memory = memory.as_slice();
        let (mut put, mut taken) = (0u32, 0u32);
        for burst in bursts {
            for _ in 0..burst {
                let Some((entry, data)) = events.get(put as usize) else { break };
                prop_assert_eq!(ring.has_room(memory, put), put - taken < 4);
                if !ring.has_room(memory, put) {
                    break;
                }
                ring.put(memory, put, *entry, data);
                put += 1;
            }
            for _ in 0..burst.div_ceil(2) {
                let Some(found) = ring.get(memory, taken) else { break };
                let (entry, data) = &events[taken as usize];
                let wanted = EventEntry {
                    length: data.len() as u16,
                    phase: found.entry.phase,
                    ..*entry
                };
                prop_assert_eq!(&found.entry, &wanted);
                prop_assert_eq!(found.private_data(), &data[..]);
                taken += 1;
                ring.taken(memory, taken);
            }
            prop_assert!(taken <= put);
            prop_assert_eq!(ring.get(memory, taken).is_some(), taken < put);
        }
    }

    /// Random words all over: whatever is taken lies inside its bounds, and a tail from nowhere is told.
    #[test]
    fn random_words(words in vec(any::<u64>(), 600), number in any::<u32>(), tail in any::<u32>()) {
        let ring = CommandRing::new(4).expect("a ring");
        let events = EventRing::new(4).expect("a ring");
        let memory = memory(ring.bytes().max(events.bytes()));
        for (word, value) in memory.iter().zip(words.iter().cycle()) {
            word.store(*value, Ordering::Relaxed);
        }
        ring.ring(memory.as_slice(), tail);
        match ring.take(memory.as_slice(), number) {
            None => prop_assert_eq!(tail, number),
            Some(Err(bad)) => {
                prop_assert_eq!(bad, BadTail { taken: number, tail });
                prop_assert!(tail.wrapping_sub(number) > ring.capacity());
            }
            Some(Ok(taken)) => {
                prop_assert!(tail.wrapping_sub(number) <= ring.capacity());
                prop_assert!(taken.private_data().len() <= MAX_PRIVATE_DATA);
            }
        }
        if let Some(event) = events.get(memory.as_slice(), number) {
            prop_assert!(event.private_data().len() <= MAX_PRIVATE_DATA);
        }
    }

    /// Memory that is too short harms nobody.
    #[test]
    fn short_memory(words in 0usize..100, number in any::<u32>(), data in data()) {
        let ring = CommandRing::new(4).expect("a ring");
        let events = EventRing::new(4).expect("a ring");
        let memory = memory(8 * words);
        let memory = memory.as_slice();
        ring.put(memory, number, &Command::default(), &data);
        ring.ring(memory, number);
        ring.put_answer(memory, number, Answer::default());
        events.put(memory, number, EventEntry::default(), &data);
        let _ = (ring.take(memory, number), ring.answer(memory, number));
        let _ = (events.get(memory, number), events.has_room(memory, number));
    }
}

#[test]
fn private_data_beyond_the_slot_is_counted_and_left_out() {
    let ring = CommandRing::new(2).expect("a ring");
    let memory = memory(ring.bytes());
    let memory = memory.as_slice();
    ring.put(memory, 1, &Command::default(), &[7; 700]);
    ring.ring(memory, 2);
    let taken = ring.take(memory, 1).expect("posted").expect("a tail");
    assert_eq!(taken.command.length, 700);
    assert_eq!(taken.private_data(), [7; MAX_PRIVATE_DATA]);
    assert!(
        ring.take(memory, 0)
            .expect("posted")
            .expect("a tail")
            .private_data()
            .is_empty(),
        "the neighbour's slot has nothing of it"
    );
}

#[test]
fn who_arms_is_woken_once() {
    let commands = CommandRing::new(2).expect("a ring");
    let events = EventRing::new(2).expect("a ring");
    let memory = memory(commands.bytes().max(events.bytes()));
    let memory = memory.as_slice();
    assert!(!commands.disarm(memory));
    commands.arm(memory);
    commands.arm(memory);
    assert!(commands.disarm(memory));
    assert!(!commands.disarm(memory));
    events.arm(memory);
    assert!(events.disarm(memory));
    assert!(!events.disarm(memory));
}

#[test]
fn rings_of_no_size_are_refused() {
    for size in [0, (1 << 16) + 1] {
        assert_eq!(CommandRing::new(size), None);
        assert_eq!(EventRing::new(size), None);
    }
    assert_eq!(CommandRing::new(5).expect("a ring").capacity(), 8);
    assert_eq!(EventRing::new(1 << 16).expect("a ring").capacity(), 1 << 16);
}

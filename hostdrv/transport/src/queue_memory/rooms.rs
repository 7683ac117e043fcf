//! Memory that a card reaches, given away in parts: several queues in one mapping.

use std::ptr::NonNull;
#[cfg(test)]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Kept, QueueMemory};
use crate::dma::DmaBuffer;

/// Where a part begins and ends is a multiple of this.
const ROOM_UNIT: usize = 64;

/// Memory that a card reaches, given away in parts.
pub struct Rooms {
    memory: Arc<DmaBuffer>,
    /// What nobody has: offsets and bytes, in order, none behind another without a gap.
    free: Mutex<Vec<(usize, usize)>>,
}

/// A part that somebody has. When it is dropped, nobody has it.
pub(super) struct Room {
    rooms: Arc<Rooms>,
    at: usize,
    bytes: usize,
}

impl Rooms {
    /// All of it is free.
    pub fn new(memory: Arc<DmaBuffer>) -> Arc<Self> {
        let free = vec![(0, memory.len() / ROOM_UNIT * ROOM_UNIT)];
        Arc::new(Self {
            memory,
            free: Mutex::new(free),
        })
    }

    /// So many bytes, zero, and where in the memory they are; `None`: there are none.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Option<(QueueMemory, usize)> {
        let bytes = bytes.checked_next_multiple_of(ROOM_UNIT)?;
        let room = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let place = free.iter().position(|(_, there)| *there >= bytes)?;
            let (at, there) = free[place];
            match there == bytes {
                true => drop(free.remove(place)),
                false => free[place] = (at + bytes, there - bytes),
            }
            Room {
                rooms: self.clone(),
                at,
                bytes,
            }
        };
        let at = room.at;
        let words = self.memory.memory().words().get(at / 8..(at + bytes) / 8)?;
        for word in words {
            word.store(0, Ordering::Relaxed);
        }
        let memory = QueueMemory {
            words: NonNull::from(words).cast(),
            count: words.len(),
            kept: Arc::new(Kept::Part { _room: room }),
        };
        Some((memory, at))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let free = &self.rooms.free;
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        let place = free.partition_point(|(at, _)| *at < self.at);
        free.insert(place, (self.at, self.bytes));
        for left in [place, place.wrapping_sub(1)] {
            if let (Some(&(at, bytes)), Some(&(next, more))) =
                (free.get(left), free.get(left.wrapping_add(1)))
            {
                if at + bytes == next {
                    free[left].1 += more;
                    free.remove(left + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::dma::Pages;

    fn rooms(bytes: usize) -> Arc<Rooms> {
        let pages = Pages::new(bytes).expect("memory");
        let ptr = NonNull::new(pages.memory().as_ptr()).expect("an address");
        // SAFETY: the pages live as long as the buffer that keeps them, and nobody else knows of them.
        let buffer = unsafe { DmaBuffer::new(ptr, 0, bytes, Box::new(pages)) };
        Rooms::new(Arc::new(buffer))
    }

    /// Parts do not overlap, are zero, and what was given back is one piece again.
    #[test]
    fn parts_are_their_owners_alone() {
        let rooms = rooms(1 << 14);
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut had: Vec<(QueueMemory, usize, u64)> = Vec::new();
        let (mut given, mut refused) = (0, 0);
        for round in 1..3000u64 {
            if random.random() && !had.is_empty() {
                let (memory, at, mark) = had.swap_remove(random.random_range(..had.len()));
                let intact = |word: &AtomicU64| word.load(Ordering::Relaxed) == mark;
                assert!(memory.words().iter().all(intact), "part at {at}");
                continue;
            }
            let bytes = random.random_range(1..3000);
            let Some((memory, at)) = rooms.take(bytes) else {
                refused += 1;
                continue;
            };
            given += 1;
            assert!(at % ROOM_UNIT == 0 && 8 * memory.words().len() >= bytes);
            for word in memory.words() {
                assert_eq!(word.swap(round, Ordering::Relaxed), 0);
            }
            had.push((memory, at, round));
        }
        assert!(given > 100 && refused > 10, "{given} {refused}");
        drop(had);
        assert_eq!(rooms.take(1 << 14).map(|(_, at)| at), Some(0));
        assert!(rooms.take((1 << 14) + 1).is_none());
    }
}

//! Queues that nobody uses at the moment, kept with the memory they have grown to: who has nothing under way holds none, and who
//! has something again finds one as large as was ever needed.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Emptied queues.
#[derive(Debug)]
pub struct Spare<T> {
    queues: Vec<VecDeque<T>>,
    most: usize,
    room: usize,
}

impl<T> Spare<T> {
    /// So many are kept at most. A queue for which there is none has room for so many at once: where that is all that it ever has, it does not grow
    /// by and by, and leaves no holes behind.
    pub fn new(most: usize, room: usize) -> Self {
        Spare {
            queues: Vec::new(),
            most,
            room,
        }
    }

    /// Gives a queue without memory one with some, if there is one.
    pub fn lend(&mut self, queue: &mut VecDeque<T>) {
        if queue.capacity() == 0 {
            match self.queues.pop() {
                Some(found) => *queue = found,
                None => queue.reserve_exact(self.room),
            }
        }
    }

    /// Takes an empty queue's memory.
    pub fn take_back(&mut self, queue: &mut VecDeque<T>) {
        if queue.is_empty() && queue.capacity() > 0 {
            let queue = core::mem::take(queue);
            if self.queues.len() < self.most {
                self.queues.push(queue);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_round_and_so_many_are_kept() {
        let mut spare = Spare::new(1, 0);
        let (mut a, mut b) = (VecDeque::with_capacity(100), VecDeque::from([1]));
        spare.take_back(&mut b);
        assert_eq!(b.len(), 1, "in use");
        spare.take_back(&mut a);
        assert_eq!(a.capacity(), 0);
        b.clear();
        spare.take_back(&mut b);
        assert_eq!(b.capacity(), 0);
        spare.lend(&mut b);
        assert!(b.capacity() >= 100);
        spare.lend(&mut a);
        assert_eq!(a.capacity(), 0, "none is left");
    }
}

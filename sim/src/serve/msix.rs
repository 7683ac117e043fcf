//! MSI-X: the vectors' event descriptors, as the client gives them, and the table in BAR4.
//!
//! A client of this protocol emulates the table itself (QEMU) or has none (a driver in user space), and says what is to
//! happen by descriptors. So the table here is memory that can be written and read back; what decides is the
//! descriptor, and whether the client has masked it. An interrupt that cannot be told is kept in the pending bits.

use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use weft_layout::pci;

/// Bytes of a table entry.
const ENTRY: usize = 16;

#[derive(Default)]
struct Vector {
    event: Option<std::fs::File>,
    masked: bool,
    pending: bool,
}

/// The vectors.
pub struct Msix {
    vectors: Vec<Vector>,
    table: Vec<u8>,
    raised: u64,
    lost: u64,
}

impl Msix {
    /// So many vectors, none with a descriptor.
    pub fn new(vectors: u16) -> Self {
        let mut table = vec![0; ENTRY * usize::from(vectors)];
        for entry in table.chunks_exact_mut(ENTRY) {
            // Masked after a reset.
            entry[12] = 1;
        }
        Self {
            vectors: (0..vectors).map(|_| Vector::default()).collect(),
            table,
            raised: 0,
            lost: 0,
        }
    }

    /// How many vectors there are.
    pub fn count(&self) -> usize {
        self.vectors.len()
    }

    /// Gives a vector a descriptor, or takes it away.
    pub fn set_event(&mut self, vector: usize, event: Option<OwnedFd>) {
        self.vectors[vector].event = event.map(std::fs::File::from);
        self.tell(vector);
    }

    /// Takes all descriptors away; nothing is masked or pending.
    pub fn clear(&mut self) {
        for vector in &mut self.vectors {
            *vector = Vector::default();
        }
    }

    /// Masks or unmasks a vector.
    pub fn set_masked(&mut self, vector: usize, masked: bool) {
        self.vectors[vector].masked = masked;
        self.tell(vector);
    }

    /// The card asks for an interrupt.
    pub fn raise(&mut self, vector: usize) {
        if let Some(v) = self.vectors.get_mut(vector) {
            v.pending = true;
            self.raised += 1;
            self.tell(vector);
        }
    }

    /// Interrupts raised, and those whose descriptor did not take them.
    pub fn counts(&self) -> (u64, u64) {
        (self.raised, self.lost)
    }

    fn tell(&mut self, vector: usize) {
        let v = &mut self.vectors[vector];
        if !v.pending || v.masked {
            return;
        }
        if let Some(event) = &mut v.event {
            v.pending = false;
            if signal(event).is_err() {
                self.lost += 1;
            }
        }
    }

    /// Reads of BAR4; `None` beyond its end. What is neither table nor pending bits reads as 0.
    pub fn read(&self, offset: u64, count: usize) -> Option<Vec<u8>> {
        let range = inside(offset, count)?;
        let mut bar = vec![0; pci::MSIX_SIZE as usize];
        let table = pci::MSIX_TABLE as usize;
        bar[table..table + self.table.len()].copy_from_slice(&self.table);
        for (n, vector) in self.vectors.iter().enumerate() {
            bar[pci::MSIX_PBA as usize + n / 8] |= u8::from(vector.pending) << (n % 8);
        }
        Some(bar[range].to_vec())
    }

    /// Writes of BAR4; `None` beyond its end.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Option<()> {
        let range = inside(offset, data.len())?;
        let table = pci::MSIX_TABLE as usize;
        for (at, byte) in range.zip(data) {
            if let Some(place) = at.checked_sub(table).and_then(|n| self.table.get_mut(n)) {
                *place = *byte;
            }
        }
        Some(())
    }
}

fn inside(offset: u64, count: usize) -> Option<Range<usize>> {
    let offset = usize::try_from(offset).ok()?;
    let end = offset.checked_add(count)?;
    (end as u64 <= pci::MSIX_SIZE).then_some(offset..end)
}

/// Adds 1 to an event descriptor, unless that would wait: it may be the client's own, or no event descriptor at all.
fn signal(event: &mut std::fs::File) -> io::Result<()> {
    let mut ready = [PollFd::from_borrowed_fd(event.as_fd(), PollFlags::OUT)];
    poll(&mut ready, Some(&Timespec::default()))?;
    if !ready[0].revents().contains(PollFlags::OUT) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    event.write_all(&1u64.to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use rustix::event::{eventfd, EventfdFlags};

    use super::*;

    fn taken(event: &OwnedFd) -> u64 {
        let mut value = [0; 8];
        match std::fs::File::from(event.try_clone().unwrap()).read_exact(&mut value) {
            Ok(()) => u64::from_ne_bytes(value),
            Err(_) => 0,
        }
    }

    #[test]
    fn an_interrupt_waits_for_its_descriptor_and_for_the_mask() {
        let event = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        let mut msix = Msix::new(2);
        msix.raise(1);
        assert_eq!(msix.read(u64::from(pci::MSIX_PBA), 1), Some(vec![2]));
        msix.set_event(1, Some(event.try_clone().unwrap()));
        assert_eq!(taken(&event), 1);
        assert_eq!(msix.read(u64::from(pci::MSIX_PBA), 1), Some(vec![0]));
        msix.set_masked(1, true);
        msix.raise(1);
        assert_eq!(taken(&event), 0);
        msix.set_masked(1, false);
        assert_eq!(taken(&event), 1);
        msix.raise(7);
        assert_eq!(msix.counts(), (2, 0));
    }

    #[test]
    fn a_descriptor_that_takes_nothing_does_not_stop_the_card() {
        let full = eventfd(0, EventfdFlags::empty()).unwrap();
        rustix::io::write(&full, &(u64::MAX - 1).to_ne_bytes()).unwrap();
        let mut msix = Msix::new(1);
        msix.set_event(0, Some(full));
        msix.raise(0);
        assert_eq!(msix.counts(), (1, 1));
    }

    #[test]
    fn the_table_reads_back_and_nothing_is_behind_the_bar() {
        let mut msix = Msix::new(1);
        assert_eq!(msix.read(12, 4), Some(vec![1, 0, 0, 0]));
        msix.write(0, &[7; 8]).unwrap();
        assert_eq!(msix.read(0, 8), Some(vec![7; 8]));
        // The second entry does not exist, the pending bits are not writable.
        msix.write(16, &[7; 8]).unwrap();
        msix.write(u64::from(pci::MSIX_PBA), &[7; 8]).unwrap();
        assert_eq!(msix.read(16, 8), Some(vec![0; 8]));
        assert_eq!(msix.read(u64::from(pci::MSIX_PBA), 8), Some(vec![0; 8]));
        assert!(msix.read(pci::MSIX_SIZE - 1, 2).is_none());
        assert!(msix.write(u64::MAX, &[0]).is_none());
    }
}

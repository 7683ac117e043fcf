//! Memory that the server has no file of: it asks for the bytes by message (`DMA_READ`, `DMA_WRITE`), and the guard's thread moves them.
//!
//! So pages in use are reached where they are, whatever they are: heap, stack, data of the program, a file's mapping. Nothing is exchanged or
//! copied ahead of time; each access of the card costs a message.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::message::{command, Message, HEADER};
use super::wire::{Fields, MAX_DATA};
use crate::dma::SharedMemory;

/// Where the count of a DMA message is, and where its data are.
const DATA: usize = HEADER + 16;

/// Lent memory by IOVA.
#[derive(Default)]
pub(super) struct Lent(Mutex<BTreeMap<u64, SharedMemory>>);

impl Lent {
    fn locked(&self) -> MutexGuard<'_, BTreeMap<u64, SharedMemory>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, iova: u64, memory: SharedMemory) {
        self.locked().insert(iova, memory);
    }

    /// From its end on nobody accesses the memory. Was it there?
    pub(super) fn remove(&self, iova: u64) -> bool {
        self.locked().remove(&iova).is_some()
    }

    /// Is exactly this lent?
    pub(super) fn is_lent(&self, iova: u64, len: usize) -> bool {
        let lent = self.locked();
        lent.get(&iova).is_some_and(|memory| memory.len() == len)
    }

    /// Takes the descriptor away from a request to map lent memory: the client of the `vfio_user` crate sends none without.
    pub(super) fn strip(&self, request: &mut Message) {
        if request.command() != command::DMA_MAP {
            return;
        }
        let mut fields = Fields::new(request.bytes.get(HEADER + 16..).unwrap_or(&[]));
        if let (Some(iova), Some(len)) = (fields.u64(), fields.u64()) {
            if usize::try_from(len).is_ok_and(|len| self.is_lent(iova, len)) {
                request.fds.clear();
            }
        }
    }

    /// The answer to a request of the server's.
    pub(super) fn answer(&self, request: &Message) -> Message {
        let moved = match request.command() {
            command::DMA_READ | command::DMA_WRITE => self.transfer(request),
            _ => Err(libc::ENOTSUP),
        };
        moved.unwrap_or_else(|errno| request.refuse(errno))
    }

    fn transfer(&self, request: &Message) -> Result<Message, i32> {
        let mut fields = Fields::new(&request.bytes[HEADER..]);
        let (Some(address), Some(count)) = (fields.u64(), fields.u64()) else {
            return Err(libc::EINVAL);
        };
        let count = usize::try_from(count).map_err(|_| libc::EINVAL)?;
        if count > MAX_DATA {
            return Err(libc::EINVAL);
        }
        let lent = self.locked();
        let (start, memory) = lent.range(..=address).next_back().ok_or(libc::EFAULT)?;
        let offset = usize::try_from(address - start).map_err(|_| libc::EFAULT)?;
        if request.command() == command::DMA_READ {
            let mut reply = request.echo(DATA + count);
            let read = memory.read(offset, &mut reply.bytes[DATA..]);
            return read.map(|()| reply).map_err(|_| libc::EFAULT);
        }
        let data = fields.rest().get(..count).ok_or(libc::EINVAL)?;
        let written = memory.write(offset, data);
        written
            .map(|()| request.echo(DATA))
            .map_err(|_| libc::EFAULT)
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;

    use super::super::wire::{request, Payload};
    use super::*;

    fn message(number: u16, address: u64, count: u64, data: &[u8]) -> Message {
        let payload = Payload::new().u64(address).u64(count).bytes(data).done();
        let (bytes, fds) = (request(7, number, &payload), Vec::new());
        Message {
            bytes,
            fds,
            fds_lost: false,
        }
    }

    #[test]
    fn only_lent_bytes_are_moved() {
        let mut bytes: Vec<u8> = (0..64).collect();
        let first = NonNull::new(bytes.as_mut_ptr()).expect("not null");
        let lent = Lent::default();
        // SAFETY: the vector is left alone until the memory is taken back.
        lent.insert(0x1000, unsafe { SharedMemory::new(first, 64) });
        let ask = |number, address, count, data: &[u8]| {
            lent.answer(&message(number, address, count, data))
        };
        let read = ask(command::DMA_READ, 0x1003, 5, &[]);
        assert_eq!(
            (read.error(), read.id(), &read.bytes[DATA..]),
            (None, 7, &[3, 4, 5, 6, 7][..])
        );
        let written = ask(command::DMA_WRITE, 0x103e, 2, &[0xaa, 0xbb]);
        assert_eq!((written.error(), written.bytes.len()), (None, DATA));
        let (fault, invalid) = (Some(libc::EFAULT), Some(libc::EINVAL));
        for (address, count, data, errno) in [
            (0x103f, 2, &[1, 1][..], fault),
            (0xfff, 1, &[1], fault),
            (u64::MAX, 1, &[1], fault),
            (0x1000, 3, &[1, 1], invalid),
            (0x1000, u64::MAX, &[], invalid),
            (0x1000, (1 << 32) | 4, &[], invalid),
        ] {
            let refused = ask(command::DMA_WRITE, address, count, data).error();
            assert_eq!(refused, errno, "{address:#x} {count}");
        }
        assert_eq!(ask(command::DMA_READ, 0x1040, 1, &[]).error(), fault);
        let beyond = ask(command::DMA_READ, 0x1000, MAX_DATA as u64 + 1, &[]);
        assert_eq!(beyond.error(), invalid);
        assert_eq!(
            ask(command::VERSION, 0x1000, 1, &[]).error(),
            Some(libc::ENOTSUP)
        );
        let mut short = message(command::DMA_READ, 0, 0, &[]);
        short.cut(HEADER + 9);
        assert_eq!(lent.answer(&short).error(), invalid);
        assert!(lent.remove(0x1000) && !lent.remove(0x1000));
        assert_eq!(ask(command::DMA_READ, 0x1000, 1, &[]).error(), fault);
        assert_eq!(
            (&bytes[..3], &bytes[60..]),
            (&[0, 1, 2][..], &[60, 61, 0xaa, 0xbb][..])
        );
    }
}

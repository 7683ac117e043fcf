//! Parts of a region, and values in them.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use weft_card_transport::dma::OutOfBounds;

use super::mr::Mr;
use super::remote_region::RemoteRegion;
use super::wr::Sge;
use super::VerbsError;

/// A run of a region's bytes: for work requests, for the peer, to be read and written. Made by [`Mr::slice`], which checks that it is inside.
#[derive(Clone, Copy, Debug)]
pub struct MrSlice<'a> {
    mr: &'a Mr,
    start: usize,
    len: usize,
}

/// A value that is its bytes: any bytes are one, in the host's order.
///
/// Implemented for integers, floats and arrays of such; a program may implement it for its own types.
pub trait Plain: Sized {
    /// Bytes of a value.
    const SIZE: usize;
    /// From so many bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// Into so many bytes.
    fn to_bytes(&self, bytes: &mut [u8]);
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            const SIZE: usize = size_of::<$number>();
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_ne_bytes(std::array::from_fn(|at| bytes[at]))
            }
            #[inline]
            fn to_bytes(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

plain!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

impl<T: Plain, const N: usize> Plain for [T; N] {
    const SIZE: usize = T::SIZE * N;
    fn from_bytes(bytes: &[u8]) -> Self {
        std::array::from_fn(|n| T::from_bytes(&bytes[n * T::SIZE..][..T::SIZE]))
    }
    fn to_bytes(&self, bytes: &mut [u8]) {
        for (n, value) in self.iter().enumerate() {
            value.to_bytes(&mut bytes[n * T::SIZE..][..T::SIZE]);
        }
    }
}

/// Values one behind the other in a region, read and written by copy.
///
/// A number that lies at a multiple of its size is read and written at once. What is read later may be older, unless
/// [`observe`](weft_card_transport::dma::observe) stands between.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    slice: MrSlice<'a>,
    values: PhantomData<fn() -> T>,
}

impl<'a> MrSlice<'a> {
    pub(super) fn new(mr: &'a Mr, range: impl RangeBounds<usize>) -> Result<Self, OutOfBounds> {
        let whole = Self {
            mr,
            start: 0,
            len: mr.len(),
        };
        whole.part(range)
    }

    fn part(self, range: impl RangeBounds<usize>) -> Result<Self, OutOfBounds> {
        let from = match range.start_bound() {
            Bound::Included(at) => *at,
            Bound::Excluded(at) => at.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(at) => at.saturating_add(1),
            Bound::Excluded(at) => *at,
            Bound::Unbounded => self.len,
        };
        if from > to || to > self.len {
            let count = to.saturating_sub(from);
            let (offset, len) = (from, self.len);
            return Err(OutOfBounds { offset, count, len });
        }
        Ok(Self {
            start: self.start + from,
            len: to - from,
            ..self
        })
    }

    /// A part of it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<MrSlice<'a>, VerbsError> {
        Ok(self.part(range)?)
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Has it no byte?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// For a work request; a message has less than 2^32 bytes.
    pub fn sge(&self) -> Result<Sge<'a>, VerbsError> {
        let length = u32::try_from(self.len).map_err(|_| VerbsError::InvalidSize {
            what: "length of an SGE",
            given: self.len as u64,
            allowed: "less than 2^32",
        })?;
        Ok(self.mr.sge(self.start as u64, length))
    }

    /// For the peer.
    pub fn remote(&self) -> RemoteRegion {
        RemoteRegion {
            length: self.len as u64,
            ..self.mr.remote().offset(self.start as u64)
        }
    }

    fn check(&self, offset: usize, count: usize) -> Result<usize, OutOfBounds> {
        let end = offset.saturating_add(count);
        self.part(offset..end).map(|part| part.start)
    }

    /// Copies bytes out.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<(), VerbsError> {
        self.mr.read(self.check(offset, to.len())?, to)
    }

    /// Copies bytes in.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), VerbsError> {
        self.mr.write(self.check(offset, from.len())?, from)
    }

    /// Copies all of it out.
    pub fn to_vec(&self) -> Result<Vec<u8>, VerbsError> {
        self.mr.to_vec(self.start, self.len)
    }

    /// Sets all of it.
    pub fn fill(&self, value: u8) -> Result<(), VerbsError> {
        self.mr.fill(self.start, self.len, value)
    }

    /// As values; bytes behind the last whole one are in none.
    pub fn view<T: Plain>(&self) -> View<'a, T> {
        View {
            slice: *self,
            values: PhantomData,
        }
    }
}

impl<T: Plain> View<'_, T> {
    /// Values.
    pub fn len(&self) -> usize {
        self.slice.len.checked_div(T::SIZE).unwrap_or(0)
    }

    /// Has it no value?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `n`.
    pub fn get(&self, n: usize) -> Result<T, VerbsError> {
        with_room(T::SIZE, |bytes| {
            self.slice.read(n.saturating_mul(T::SIZE), bytes)?;
            Ok(T::from_bytes(bytes))
        })
    }

    /// Sets value `n`.
    pub fn set(&self, n: usize, value: &T) -> Result<(), VerbsError> {
        with_room(T::SIZE, |bytes| {
            value.to_bytes(bytes);
            self.slice.write(n.saturating_mul(T::SIZE), bytes)
        })
    }
}

/// Zeroed bytes for a value; of a small one without an allocation.
fn with_room<R>(size: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut small = [0; 64];
    match small.get_mut(..size) {
        Some(bytes) => work(bytes),
        None => work(&mut vec![0; size]),
    }
}

//! Big-endian fields of a slice, with a length check in each access.

/// One byte.
pub fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

/// `N` bytes.
pub fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// 16 bits, big-endian.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_be_bytes)
}

/// 32 bits, big-endian.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_be_bytes)
}

/// 64 bits, big-endian.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_be_bytes)
}

/// Writes fields one after the other into a slice; what does not fit is not written and makes
/// [`Writer::finish`] return `None`.
pub struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
    fits: bool,
}

impl<'a> Writer<'a> {
    /// Writes from the front of `out`.
    pub fn new(out: &'a mut [u8]) -> Self {
        Writer {
            out,
            at: 0,
            fits: true,
        }
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> &mut Self {
        match self.out.get_mut(self.at..self.at + bytes.len()) {
            Some(room) if self.fits => {
                room.copy_from_slice(bytes);
                self.at += bytes.len();
            }
            _ => self.fits = false,
        }
        self
    }

    /// Appends a byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.put(&[value])
    }

    /// Appends 16 bits.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.put(&value.to_be_bytes())
    }

    /// Appends 32 bits.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.put(&value.to_be_bytes())
    }

    /// Appends 64 bits.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.put(&value.to_be_bytes())
    }

    /// How many bytes were written, if all fitted.
    pub fn finish(&self) -> Option<usize> {
        self.fits.then_some(self.at)
    }
}

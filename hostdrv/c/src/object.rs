//! Handles that a C program has: a structure of rdma-core's, and behind it what Weft has of it.

use crate::calls::{refuse, Answer};

/// Something that a program has a pointer to.
///
/// # Safety
/// It is `repr(C)`, and its first field is a `C`.
pub(crate) unsafe trait Object: Sized {
    /// What the program sees.
    type C;

    /// Gives it to the program, until [`take`](Self::take).
    fn give(self) -> *mut Self::C {
        Box::into_raw(Box::new(self)).cast()
    }

    /// What a pointer of the program's points to, unless it is null: for ways that leave refusals to others.
    ///
    /// # Safety
    /// As [`of`](Self::of).
    #[inline(always)]
    unsafe fn peek<'a>(pointer: *mut Self::C) -> Option<&'a Self> {
        // SAFETY: the caller's promise; the structure is the first field of this.
        unsafe { pointer.cast::<Self>().as_ref() }
    }

    /// What a pointer of the program's points to.
    ///
    /// # Safety
    /// It is null, or was given and is not taken, nor will be for `'a`.
    #[inline(always)]
    unsafe fn of<'a>(pointer: *mut Self::C) -> Answer<&'a Self> {
        // SAFETY: the caller's promise.
        match unsafe { Self::peek(pointer) } {
            Some(object) => Ok(object),
            None => refuse(libc::EINVAL, "a null pointer where a handle has to be"),
        }
    }

    /// Takes it back.
    ///
    /// # Safety
    /// It is null, or was given, is not taken, and nobody uses it.
    unsafe fn take(pointer: *mut Self::C) -> Answer<Box<Self>> {
        if pointer.is_null() {
            return refuse(libc::EINVAL, "a null pointer where a handle has to be");
        }
        // SAFETY: the caller's promise; `give` made it of a box.
        Ok(unsafe { Box::from_raw(pointer.cast::<Self>()) })
    }
}

/// A structure of the program's to be read.
///
/// # Safety
/// It is null or valid for `'a`.
pub(crate) unsafe fn given<'a, T>(pointer: *const T) -> Answer<&'a T> {
    // SAFETY: the caller's promise.
    match unsafe { pointer.as_ref() } {
        Some(given) => Ok(given),
        None => refuse(libc::EINVAL, "a null pointer where a structure has to be"),
    }
}

/// A C structure of zeros.
///
/// # Safety
/// Zeros are a value of it, as they are of numbers, pointers that may be null, and unions and arrays of them.
pub(crate) unsafe fn zeros<T>() -> T {
    // SAFETY: the caller's promise.
    unsafe { std::mem::zeroed() }
}

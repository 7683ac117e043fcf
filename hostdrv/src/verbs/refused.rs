//! Calls that use a handle up, refused.

use std::fmt;

use super::VerbsError;

/// A call that would have used its handle up was refused, and gives it back.
#[derive(Debug)]
pub struct Refused<T> {
    /// Why.
    pub error: VerbsError,
    /// The handle, of what is as it was. `None`: what it named is gone, and what came after that failed.
    pub handle: Option<T>,
}

impl<T> Refused<T> {
    pub(super) fn back(handle: T, error: VerbsError) -> Self {
        let handle = Some(handle);
        Self { error, handle }
    }

    pub(super) fn gone(error: impl Into<VerbsError>) -> Self {
        let (error, handle) = (error.into(), None);
        Self { error, handle }
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: fmt::Debug> std::error::Error for Refused<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl<T> From<Refused<T>> for VerbsError {
    fn from(refused: Refused<T>) -> Self {
        refused.error
    }
}

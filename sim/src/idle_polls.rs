//! IdlePolls at a device that find nothing. The simulation looks whenever something may have happened anywhere; a host that sleeps until its
//! own card wakes it would not. So that they can be left out where instructions are counted, a first run notes which they are, and a
//! second one, which is the same, makes them by `weft_idle_look`.

use std::hint::black_box;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is done with looks.
#[derive(Debug, Default)]
enum Mode {
    /// Nothing.
    #[default]
    Off,
    /// Noted: which found nothing.
    Noted(Vec<bool>),
    /// As noted; the next one.
    Known(Vec<bool>, usize),
}

/// The looks of a fabric.
#[derive(Clone, Debug, Default)]
pub struct IdlePolls(Arc<Mutex<Mode>>);

/// A look that is known to find nothing: what profilers are told to leave out.
#[inline(never)]
pub(crate) fn weft_idle_look<T>(look: impl FnOnce() -> T) -> T {
    black_box(look())
}

impl IdlePolls {
    /// To be noted.
    pub fn noted() -> Self {
        Self(Arc::new(Mutex::new(Mode::Noted(Vec::new()))))
    }

    /// Once more, as they were noted.
    pub fn again(&self) -> Self {
        let known = match &*self.mode() {
            Mode::Noted(noted) | Mode::Known(noted, _) => noted.clone(),
            Mode::Off => return Self::default(),
        };
        Self(Arc::new(Mutex::new(Mode::Known(known, 0))))
    }

    /// Whether it is known which find nothing.
    pub fn are_known(&self) -> bool {
        matches!(&*self.mode(), Mode::Known(..))
    }

    /// Whether they are noted.
    pub fn are_noted(&self) -> bool {
        matches!(&*self.mode(), Mode::Noted(_))
    }

    fn mode(&self) -> MutexGuard<'_, Mode> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the next one is known to find nothing.
    fn is_idle(&self) -> bool {
        match &mut *self.mode() {
            Mode::Known(known, next) => {
                *next += 1;
                known.get(*next - 1).copied().unwrap_or(false)
            }
            _ => false,
        }
    }

    /// IdlePolls; `nothing` says whether there was anything.
    pub fn look<T>(&self, look: impl FnOnce() -> T, nothing: impl FnOnce(&T) -> bool) -> T {
        if self.is_idle() {
            return weft_idle_look(look);
        }
        let found = look();
        if let Mode::Noted(noted) = &mut *self.mode() {
            noted.push(nothing(&found));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_knows_what_the_first_one_found() {
        let first = IdlePolls::noted();
        for n in [0, 3, 0, 1] {
            assert_eq!(first.look(|| n, |n| *n == 0), n);
        }
        let second = first.again();
        assert!(second.are_known() && !first.are_known());
        let idle: Vec<bool> = (0..5).map(|_| second.is_idle()).collect();
        assert_eq!(idle, [true, false, true, false, false]);
        assert!(!IdlePolls::default().again().is_idle());
    }
}

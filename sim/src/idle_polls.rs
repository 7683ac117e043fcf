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
    /// As noted.
    Known(Known),
}

/// Looks that were noted.
#[derive(Debug, Default)]
struct Known {
    /// Which found nothing.
    idle: Vec<bool>,
    next: usize,
    /// A profiler counts: what it is told to leave out would else begin a count.
    is_counted: bool,
}

/// The looks of a fabric.
#[derive(Clone, Debug, Default)]
pub struct IdlePolls(Arc<Mutex<Mode>>);

/// A look that is known to find nothing: what profilers are told to leave out.
#[inline(never)]
fn weft_idle_look<T>(look: impl FnOnce() -> T) -> T {
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
            Mode::Noted(noted) => noted.clone(),
            Mode::Known(known) => known.idle.clone(),
            Mode::Off => return Self::default(),
        };
        let known = Known {
            idle: known,
            ..Known::default()
        };
        Self(Arc::new(Mutex::new(Mode::Known(known))))
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

    /// Whether the next one is known to find nothing, and has to be left out of a count.
    fn is_idle(&self) -> bool {
        match &mut *self.mode() {
            Mode::Known(known) => {
                known.next += 1;
                let is_idle = known.idle.get(known.next - 1).copied().unwrap_or(false);
                is_idle && known.is_counted
            }
            _ => false,
        }
    }

    /// What a profiler counts, if it is known which looks are to be left out.
    pub fn counted<T>(&self, count: impl FnOnce() -> T) -> T {
        self.set_counted(true);
        let counted = count();
        self.set_counted(false);
        counted
    }

    fn set_counted(&self, is_counted: bool) {
        if let Mode::Known(known) = &mut *self.mode() {
            known.is_counted = is_counted;
        }
    }

    /// What is no software of a host's: left out where instructions are counted.
    pub(crate) fn apart<T>(&self, step: impl FnOnce() -> T) -> T {
        let is_counted = matches!(&*self.mode(), Mode::Known(known) if known.is_counted);
        match is_counted {
            true => weft_idle_look(step),
            false => step(),
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
        let idle = || (0..5).map(|_| second.is_idle()).collect::<Vec<bool>>();
        assert_eq!(second.counted(idle), [true, false, true, false, false]);
        // Nothing is left out of what is not counted.
        let second = first.again();
        let idle: Vec<bool> = (0..5).map(|_| second.is_idle()).collect();
        assert_eq!(idle, [false; 5]);
        assert!(!IdlePolls::default().again().is_idle());
    }
}

//! Two devices under their locks at once: for what happens at both or at neither.

use super::{Device, State, StateGuard, Unlocked};

/// The locks of two devices, or of one that is both. What the end of a lock sets going is done when both have gone.
pub(crate) struct Both<'a> {
    near: StateGuard<'a>,
    /// `None`: the same device.
    far: Option<StateGuard<'a>>,
    // Behind the guards: it may take their locks.
    after: [Option<Unlocked<'a>>; 2],
}

impl<'a> Both<'a> {
    /// Every thread takes the locks in one order, so that no two wait for each other.
    pub(crate) fn lock(near: &'a Device, far: &'a Device) -> Self {
        let place = |device: &Device| std::ptr::from_ref(&**device.shared).addr();
        let (near, far) = match place(near).cmp(&place(far)) {
            std::cmp::Ordering::Equal => (near.lock(), None),
            std::cmp::Ordering::Less => {
                let near = near.lock();
                (near, Some(far.lock()))
            }
            std::cmp::Ordering::Greater => {
                let far = far.lock();
                (near.lock(), Some(far))
            }
        };
        let after = [None, None];
        Self { near, far, after }
    }

    pub(crate) fn near(&mut self) -> &mut State {
        &mut self.near
    }

    pub(crate) fn far(&mut self) -> &mut State {
        self.far.as_mut().unwrap_or(&mut self.near)
    }
}

impl Drop for Both<'_> {
    fn drop(&mut self) {
        let far = self.far.as_mut().and_then(StateGuard::take_after);
        self.after = [self.near.take_after(), far];
    }
}

//! What one poll takes of what may come without end: reports, frames. Between polls timers are looked at, commands taken, completions told; who sends
//! faster than this side handles starves none of them (receive livelock).

/// Reports of a poll at most: a ring of 512 is through in eight polls.
pub const REPORTS: u32 = 64;
/// Frames that come from elsewhere.
pub const FRAMES: u32 = 16;

/// Takes one after the other, as long as `take` finds one, and `most` at most. True: there may be more.
pub fn some(most: u32, mut take: impl FnMut() -> bool) -> bool {
    (0..most).all(|_| take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_left_after_so_many() {
        let mut taken = 0;
        let more = some(REPORTS, || {
            taken += 1;
            true
        });
        assert_eq!((taken, more), (REPORTS, true));
    }

    #[test]
    fn what_there_is_is_taken_and_no_more_is_said_to_come() {
        let mut left = 5;
        let mut asked = 0;
        let more = some(FRAMES, || {
            asked += 1;
            left -= i32::from(left > 0);
            asked <= 5
        });
        assert_eq!((left, asked, more), (0, 6, false));
    }
}

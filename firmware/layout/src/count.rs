//! Counts of which a record has the low bits.

/// The count of which a report has the low 24 bits (JOB_DONE), by the newest one that is known: it may be older or newer by less than 2^23.
///
/// ```
/// assert_eq!(weft_layout::count_near(0x01ff_fff0, 0x10), 0x0200_0010);
/// assert_eq!(weft_layout::count_near(0x0200_0010, 0xff_fff0), 0x01ff_fff0);
/// ```
#[inline]
pub fn count_near(known: u32, low: u32) -> u32 {
    let ahead = (low.wrapping_sub(known) << 8) as i32 >> 8;
    known.wrapping_add(ahead as u32)
}

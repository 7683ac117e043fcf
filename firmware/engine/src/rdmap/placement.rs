//! Where the payload of an untagged message goes.

use weft_wire::checks;

use crate::interface::verbs::Sge;

/// The pieces of a payload at `mo` of a message, with the SGEs they go to.
pub fn scatter<'a>(
    sges: &'a [Sge],
    mo: u32,
    payload: &'a [u8],
) -> impl Iterator<Item = (Sge, &'a [u8])> + 'a {
    let lengths = sges.iter().map(|sge| sge.length);
    checks::scatter(lengths, mo, payload.len()).filter_map(|run| {
        let sge = sges.get(run.sge)?;
        let bytes = payload.get(run.bytes)?;
        let sge = Sge {
            stag: sge.stag,
            to: sge.to.wrapping_add(u64::from(run.offset)),
            length: bytes.len() as u32,
        };
        Some((sge, bytes))
    })
}

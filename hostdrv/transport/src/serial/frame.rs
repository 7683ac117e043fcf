//! Frames of the byte stream (`rtl/boards/serial_host/serial_pkg.sv`): kind, sequence, length, payload, CRC32C.

use std::fmt;

/// The protocol that this driver speaks.
pub const VERSION: u32 = 1;
/// Most payload there is: an address and a burst of 4 KiB.
pub const MAX_PAYLOAD: usize = 8 + 4096;
/// Bytes before the payload, and behind it.
const HEAD: usize = 4;
const CRC: usize = 4;

/// What the host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ToCard {
    /// Nonce: begin anew.
    Sync = 1,
    /// Address of a register.
    Read = 2,
    /// Address, value.
    Write = 3,
    /// What a [`FromCard::DmaRead`] asked for.
    Data = 4,
    /// It cannot be read.
    ReadError = 5,
    /// A [`FromCard::DmaWrite`] is done.
    Written = 6,
    /// It cannot be.
    WriteError = 7,
}

/// What the card sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromCard {
    /// Of the register that was read.
    Value(u32),
    /// Bytes of host memory are wanted.
    DmaRead {
        /// The first one's.
        address: u64,
        /// How many.
        bytes: u16,
    },
    /// Bytes for host memory.
    DmaWrite {
        /// The first one's.
        address: u64,
        /// They.
        data: Vec<u8>,
    },
    /// An interrupt.
    Irq(u8),
    /// The card has given this stream up.
    Fault(Fault),
}

/// Why the card gave the stream up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub u8);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            1 => "a frame with a wrong CRC reached it",
            2 => "a frame out of sequence reached it: one was lost",
            3 => "a frame of a form that it does not know reached it",
            4 => "a byte on its line was lost or had no stop bit",
            5 => "an answer to nothing reached it",
            _ => "of something that this driver does not know",
        })
    }
}

/// What is wrong with a byte stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The CRC of a frame.
    Crc,
    /// Its number.
    Sequence,
    /// Its kind or length.
    Form,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Broken::Crc => "a frame with a wrong CRC came from it",
            Broken::Sequence => "a frame out of sequence came from it: one was lost",
            Broken::Form => "a frame of a form that there is not came from it",
        })
    }
}

/// A frame's bytes.
pub fn encode(kind: u8, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEAD + payload.len() + CRC);
    frame.extend([kind, sequence]);
    frame.extend((payload.len() as u16).to_le_bytes());
    frame.extend(payload);
    let crc = crc32c::crc32c(&frame);
    frame.extend(crc.to_le_bytes());
    frame
}

/// The beginning of the answer to a SYNC: up to the version.
pub fn sync_answer(nonce: u32) -> [u8; 8] {
    let [a, b, c, d] = nonce.to_le_bytes();
    [0x81, 0, 8, 0, a, b, c, d]
}

/// Bytes of the whole of it.
pub const SYNC_ANSWER: usize = HEAD + 8 + CRC;

/// Takes frames out of bytes.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    expected: u8,
}

impl Decoder {
    /// Behind the answer to a SYNC; `bytes` came with it.
    pub fn new(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            expected: 1,
        }
    }

    /// More bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame, if all of it is there.
    pub fn take(&mut self) -> Result<Option<FromCard>, Broken> {
        let Some(&[kind, sequence, low, high]) = self.bytes.get(..HEAD) else {
            return Ok(None);
        };
        let length = usize::from(u16::from_le_bytes([low, high]));
        if length > MAX_PAYLOAD {
            return Err(Broken::Form);
        }
        let Some(frame) = self.bytes.get(..HEAD + length + CRC) else {
            return Ok(None);
        };
        let (checked, crc) = frame.split_at(HEAD + length);
        if crc != crc32c::crc32c(checked).to_le_bytes() {
            return Err(Broken::Crc);
        }
        if sequence != self.expected {
            return Err(Broken::Sequence);
        }
        let frame = parse(kind, &checked[HEAD..]).ok_or(Broken::Form)?;
        self.expected = self.expected.wrapping_add(1);
        self.bytes.drain(..HEAD + length + CRC);
        Ok(Some(frame))
    }
}

fn parse(kind: u8, payload: &[u8]) -> Option<FromCard> {
    let address = || Some(u64::from_le_bytes(payload.get(..8)?.try_into().ok()?));
    match (kind, payload.len()) {
        (0x82, 4) => payload
            .try_into()
            .ok()
            .map(u32::from_le_bytes)
            .map(FromCard::Value),
        (0x83, 10) => Some(FromCard::DmaRead {
            address: address()?,
            bytes: u16::from_le_bytes([payload[8], payload[9]]),
        }),
        (0x84, 9..) => Some(FromCard::DmaWrite {
            address: address()?,
            data: payload[8..].to_vec(),
        }),
        (0x85, 1) => Some(FromCard::Irq(payload[0])),
        (0x86, 1) => Some(FromCard::Fault(Fault(payload[0]))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn card(kind: u8, sequence: u8, payload: &[u8]) -> Vec<u8> {
        encode(kind, sequence, payload)
    }

    #[test]
    fn a_frame_is_what_the_card_makes() {
        // From the RTL: SYNC with nonce 0x01020304.
        let frame = encode(ToCard::Sync as u8, 0, &0x0102_0304u32.to_le_bytes());
        assert_eq!(frame[..8], [1, 0, 4, 0, 4, 3, 2, 1]);
        assert_eq!(frame[8..], crc32c::crc32c(&frame[..8]).to_le_bytes());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        /// Cut anywhere, frames come out as they went in.
        #[test]
        fn frames_survive_any_cut(values in prop::collection::vec(any::<u32>(), 1..40), cut in 1usize..30) {
            let mut stream = Vec::new();
            for (n, value) in values.iter().enumerate() {
                stream.extend(card(0x82, n as u8 + 1, &value.to_le_bytes()));
            }
            let mut decoder = Decoder::new(&[]);
            let mut got = Vec::new();
            for part in stream.chunks(cut) {
                decoder.push(part);
                while let Some(frame) = decoder.take().expect("whole frames") {
                    got.push(frame);
                }
            }
            prop_assert_eq!(got, values.into_iter().map(FromCard::Value).collect::<Vec<_>>());
        }

        /// One byte lost, doubled or changed is noticed before anything of a frame behind it is believed.
        #[test]
        fn nothing_wrong_is_believed(values in prop::collection::vec(any::<u32>(), 2..20), at in any::<prop::sample::Index>(), how in 0..3, with in 1u8..) {
            let frames: Vec<_> = values.iter().enumerate().map(|(n, v)| card(0x82, n as u8 + 1, &v.to_le_bytes())).collect();
            let mut stream = frames.concat();
            let at = at.index(stream.len());
            match how {
                0 => { stream.remove(at); }
                1 => stream.insert(at, with),
                _ => stream[at] ^= with,
            }
            let mut decoder = Decoder::new(&stream);
            let mut good = 0;
            while let Ok(Some(frame)) = decoder.take() {
                prop_assert_eq!(frame, FromCard::Value(values[good]));
                good += 1;
            }
            // A doubled byte may be the first of what follows the frame, which is then the same.
            prop_assert!(good <= at / 12 + usize::from(how == 1 || how == 0));
        }
    }
}

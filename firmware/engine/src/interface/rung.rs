//! The partition ladder: how much of a queue pair's data path the card does, and how much the host (`docs/partitions.md`).

use core::fmt;
use core::str::FromStr;

/// Who does what for a queue pair. Each rung gives one thing more to the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// Software frames, computes and checks CRCs, and copies; the card moves TCP segments.
    Host,
    /// As `Host`, but the card computes the CRCs of what is sent.
    CrcSend,
    /// As `Host`, but the card computes and checks the CRCs.
    Crc,
    /// The card frames, checks and places without a copy; software does the rest.
    #[default]
    Placement,
    /// As `Placement`, with the control on a processor of the card.
    Firmware,
    /// As `Firmware`, with the usual case in RTL.
    Full,
}

/// What the card does for a queue pair; what it does not, software does. A row for each rung: [`Rung::duties`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duties {
    /// Computes the CRCs of FPDUs that are sent.
    pub makes_crc: bool,
    /// Follows the FPDUs that come, and checks them.
    pub checks_crc: bool,
    /// Frames what is sent from memory, and places what comes.
    pub places: bool,
    /// Has the engine on its processor.
    pub controls: bool,
    /// Has the usual case of the engine in RTL.
    pub controls_in_rtl: bool,
}

impl Duties {
    const NONE: Self = Self {
        makes_crc: false,
        checks_crc: false,
        places: false,
        controls: false,
        controls_in_rtl: false,
    };
}

impl Rung {
    /// All, from the lowest.
    pub const ALL: [Rung; 6] = [
        Rung::Host,
        Rung::CrcSend,
        Rung::Crc,
        Rung::Placement,
        Rung::Firmware,
        Rung::Full,
    ];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Rung::Host => "host",
            Rung::CrcSend => "crc-send",
            Rung::Crc => "crc",
            Rung::Placement => "placement",
            Rung::Firmware => "firmware",
            Rung::Full => "full",
        }
    }

    /// What the card does at it.
    pub const fn duties(self) -> Duties {
        match self {
            Rung::Host => Duties::NONE,
            Rung::CrcSend => Duties {
                makes_crc: true,
                ..Rung::Host.duties()
            },
            Rung::Crc => Duties {
                checks_crc: true,
                ..Rung::CrcSend.duties()
            },
            Rung::Placement => Duties {
                places: true,
                ..Rung::Crc.duties()
            },
            Rung::Firmware => Duties {
                controls: true,
                ..Rung::Placement.duties()
            },
            Rung::Full => Duties {
                controls_in_rtl: true,
                ..Rung::Firmware.duties()
            },
        }
    }

    /// Whether a queue pair can have it of an engine that runs on the card's processor (`on_card`) or on the host.
    pub fn check(self, on_card: bool) -> Result<(), RungError> {
        let duties = self.duties();
        match (duties.controls, on_card) {
            _ if duties.controls_in_rtl => Err(RungError::NoFastPath),
            (true, false) => Err(RungError::NoProcessor),
            (false, true) => Err(RungError::OnCard),
            (true, true) | (false, false) => Ok(()),
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No rung has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRung;

impl fmt::Display for UnknownRung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rung is one of")?;
        for rung in Rung::ALL {
            write!(f, " {rung}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownRung {}

impl FromStr for Rung {
    type Err = UnknownRung;

    fn from_str(name: &str) -> Result<Self, UnknownRung> {
        let found = Rung::ALL.into_iter().find(|rung| rung.name() == name);
        found.ok_or(UnknownRung)
    }
}

/// Why a queue pair cannot have a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RungError {
    /// The control of this device is on the host: the card has no processor for it, or that has no engine, or was not asked.
    NoProcessor,
    /// The control of this card is on its own processor.
    OnCard,
    /// The card has no control in RTL.
    NoFastPath,
    /// The host gave no memory for a send buffer.
    NoSendBuffer,
}

impl fmt::Display for RungError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RungError::NoProcessor => {
                "the card has no processor that has the control: the host has it. A device by the card's second port may have it there"
            }
            RungError::OnCard => "the control of this card is on its own processor",
            RungError::NoFastPath => "the card has no control in RTL",
            RungError::NoSendBuffer => "the host gave no memory for a send buffer",
        })
    }
}

impl core::error::Error for RungError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_are_read_back() {
        for rung in Rung::ALL {
            assert_eq!(rung.to_string().parse(), Ok(rung));
        }
        assert_eq!("Host".parse::<Rung>(), Err(UnknownRung));
        assert_eq!(
            UnknownRung.to_string(),
            "a rung is one of host crc-send crc placement firmware full"
        );
    }
}

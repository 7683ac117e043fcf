//! Which siw: its authors' constants, as parameters of the module (see `images/siw.sh`).

/// siw's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Siw {
    /// As initiator it asks for peer-to-peer mode and sends an RTR.
    pub peer_to_peer: bool,
    /// Which RTR it offers.
    pub rtr: Rtr,
    /// It asks for CRCs.
    pub crc_required: bool,
    /// With `crc_required` it refuses peers without, and without it peers with.
    pub crc_strict: bool,
    /// The MPA revision it asks for as initiator.
    pub revision: u8,
    /// It sends FPDUs of more than a segment.
    pub try_gso: bool,
}

/// RTR kinds that siw knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rtr {
    /// A Read of no bytes.
    Read,
    /// A Write of no bytes.
    Write,
    /// Both are offered.
    Both,
}

impl Siw {
    /// As its authors and Linux have it.
    pub const STOCK: Self = Self {
        peer_to_peer: false,
        rtr: Rtr::Both,
        crc_required: false,
        crc_strict: false,
        revision: 2,
        try_gso: false,
    };

    /// Built with peer-to-peer, and these RTR kinds.
    pub const fn peer_to_peer(rtr: Rtr) -> Self {
        Self {
            peer_to_peer: true,
            rtr,
            ..Self::STOCK
        }
    }

    /// The same, asking for CRCs.
    pub const fn with_crc(self) -> Self {
        Self {
            crc_required: true,
            ..self
        }
    }

    /// The command that makes a loaded siw this one.
    pub(super) fn set_command(&self) -> String {
        // The bits as they stand in siw's variable, which is in network order.
        let rtr = match self.rtr {
            Rtr::Read => 0x4000_u16.to_be(),
            Rtr::Write => 0x8000_u16.to_be(),
            Rtr::Both => 0xc000_u16.to_be(),
        };
        let parameters = [
            ("peer_to_peer", u16::from(self.peer_to_peer)),
            ("rtr_type", rtr),
            ("mpa_crc_required", u16::from(self.crc_required)),
            ("mpa_crc_strict", u16::from(self.crc_strict)),
            ("mpa_version", u16::from(self.revision)),
            ("try_gso", u16::from(self.try_gso)),
        ];
        let each = parameters
            .map(|(name, value)| format!("echo {value} > /sys/module/siw/parameters/{name}"));
        each.join(" && ")
    }
}

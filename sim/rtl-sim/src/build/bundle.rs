//! Bus protocols: which ports make up a channel, and where each goes in the channel's struct.

use super::ports::Port;

/// The protocol of a bundle of ports, and the side of it the design is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// AXI-Stream into the design.
    StreamIn,
    /// AXI-Stream out of the design.
    StreamOut,
    /// AXI4, the design is the master.
    AxiMaster,
    /// AXI4, the design is the slave.
    AxiSlave,
    /// AXI4-Lite, the design is the master.
    AxiLiteMaster,
    /// AXI4-Lite, the design is the slave.
    AxiLiteSlave,
}

/// How a port is stored in the channel's struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number of at most this many bits.
    Number(u32),
    /// The data bytes, first byte in bits 7:0.
    Bytes,
}

/// One signal of a protocol.
pub struct Signal {
    /// Its name in the protocol's specification, in small letters.
    pub name: &'static str,
    /// The field in the struct.
    pub field: &'static str,
    /// How it is stored.
    pub kind: Kind,
    /// Driven by the master (or stream source).
    pub from_master: bool,
    /// The value (C++) that stands for an absent port; none: the port must be there. `N` is the number of data bytes.
    pub absent: Option<&'static str>,
}

const fn signal(
    name: &'static str,
    field: &'static str,
    bits: u32,
    from_master: bool,
    absent: &'static str,
) -> Signal {
    Signal {
        name,
        field,
        kind: Kind::Number(bits),
        from_master,
        absent: Some(absent),
    }
}

const fn needed(name: &'static str, field: &'static str, bits: u32, from_master: bool) -> Signal {
    Signal {
        name,
        field,
        kind: Kind::Number(bits),
        from_master,
        absent: None,
    }
}

const fn bytes(name: &'static str, field: &'static str, from_master: bool) -> Signal {
    Signal {
        name,
        field,
        kind: Kind::Bytes,
        from_master,
        absent: None,
    }
}

const ALL_BYTES: &str = "(N == 16 * 8 ? ~u128(0) : (u128(1) << (N % 128)) - 1)";
const FULL_SIZE: &str = "__builtin_ctzll(N)";

const STREAM: &[Signal] = &[
    bytes("tdata", "data", true),
    signal("tkeep", "keep", 128, true, ALL_BYTES),
    signal("tuser", "user", 64, true, "0"),
    signal("tid", "id", 32, true, "0"),
    signal("tdest", "dest", 32, true, "0"),
    signal("tlast", "last", 1, true, "1"),
    needed("tvalid", "valid", 1, true),
    signal("tready", "ready", 1, false, "1"),
];

const AXI: &[Signal] = &[
    needed("awaddr", "aw.addr", 64, true),
    signal("awid", "aw.id", 32, true, "0"),
    signal("awuser", "aw.user", 32, true, "0"),
    signal("awlen", "aw.len", 8, true, "0"),
    signal("awsize", "aw.size", 8, true, FULL_SIZE),
    signal("awburst", "aw.burst", 8, true, "1"),
    signal("awcache", "aw.cache", 8, true, "0"),
    signal("awprot", "aw.prot", 8, true, "0"),
    signal("awqos", "aw.qos", 8, true, "0"),
    signal("awlock", "aw.lock", 1, true, "0"),
    needed("awvalid", "aw.valid", 1, true),
    needed("awready", "aw_ready", 1, false),
    bytes("wdata", "w.data", true),
    signal("wstrb", "w.strb", 128, true, ALL_BYTES),
    needed("wlast", "w.last", 1, true),
    needed("wvalid", "w.valid", 1, true),
    needed("wready", "w_ready", 1, false),
    signal("bid", "b.id", 32, false, "0"),
    signal("bresp", "b.resp", 8, false, "0"),
    needed("bvalid", "b.valid", 1, false),
    needed("bready", "b_ready", 1, true),
    needed("araddr", "ar.addr", 64, true),
    signal("arid", "ar.id", 32, true, "0"),
    signal("aruser", "ar.user", 32, true, "0"),
    signal("arlen", "ar.len", 8, true, "0"),
    signal("arsize", "ar.size", 8, true, FULL_SIZE),
    signal("arburst", "ar.burst", 8, true, "1"),
    signal("arcache", "ar.cache", 8, true, "0"),
    signal("arprot", "ar.prot", 8, true, "0"),
    signal("arqos", "ar.qos", 8, true, "0"),
    signal("arlock", "ar.lock", 1, true, "0"),
    needed("arvalid", "ar.valid", 1, true),
    needed("arready", "ar_ready", 1, false),
    bytes("rdata", "r.data", false),
    signal("rid", "r.id", 32, false, "0"),
    signal("rresp", "r.resp", 8, false, "0"),
    signal("rlast", "r.last", 1, false, "1"),
    needed("rvalid", "r.valid", 1, false),
    needed("rready", "r_ready", 1, true),
];

const AXI_LITE: &[Signal] = &[
    needed("awaddr", "aw_addr", 64, true),
    signal("awprot", "aw_prot", 8, true, "0"),
    needed("awvalid", "aw_valid", 1, true),
    needed("awready", "aw_ready", 1, false),
    needed("wdata", "w_data", 64, true),
    signal("wstrb", "w_strb", 8, true, "0xff"),
    needed("wvalid", "w_valid", 1, true),
    needed("wready", "w_ready", 1, false),
    signal("bresp", "b_resp", 8, false, "0"),
    needed("bvalid", "b_valid", 1, false),
    needed("bready", "b_ready", 1, true),
    needed("araddr", "ar_addr", 64, true),
    signal("arprot", "ar_prot", 8, true, "0"),
    needed("arvalid", "ar_valid", 1, true),
    needed("arready", "ar_ready", 1, false),
    needed("rdata", "r_data", 64, false),
    signal("rresp", "r_resp", 8, false, "0"),
    needed("rvalid", "r_valid", 1, false),
    needed("rready", "r_ready", 1, true),
];

impl Protocol {
    /// The signals of the protocol.
    pub fn signals(self) -> &'static [Signal] {
        match self {
            Protocol::StreamIn | Protocol::StreamOut => STREAM,
            Protocol::AxiMaster | Protocol::AxiSlave => AXI,
            Protocol::AxiLiteMaster | Protocol::AxiLiteSlave => AXI_LITE,
        }
    }

    /// Whether the design is the master (or stream source).
    pub fn design_is_master(self) -> bool {
        matches!(
            self,
            Protocol::StreamOut | Protocol::AxiMaster | Protocol::AxiLiteMaster
        )
    }

    /// The Rust and C++ types of the master's or the slave's half, for `n` data bytes.
    pub fn types(self, master: bool, n: usize) -> (String, String) {
        match (self.signals()[0].name, master) {
            ("tdata", true) => (
                format!("::rtl_sim::axis::Forward<{n}>"),
                format!("rtl_sim::AxisForward<{n}>"),
            ),
            ("tdata", false) => (
                "::rtl_sim::axis::Backward".into(),
                "rtl_sim::AxisBackward".into(),
            ),
            (_, true) if std::ptr::eq(self.signals(), AXI) => (
                format!("::rtl_sim::axi::FromMaster<{n}>"),
                format!("rtl_sim::AxiFromMaster<{n}>"),
            ),
            (_, false) if std::ptr::eq(self.signals(), AXI) => (
                format!("::rtl_sim::axi::FromSlave<{n}>"),
                format!("rtl_sim::AxiFromSlave<{n}>"),
            ),
            (_, true) => (
                "::rtl_sim::axil::FromMaster".into(),
                "rtl_sim::AxilFromMaster".into(),
            ),
            (_, false) => (
                "::rtl_sim::axil::FromSlave".into(),
                "rtl_sim::AxilFromSlave".into(),
            ),
        }
    }
}

/// Ports of the design that are one bus.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The name of the field in `Inputs` and `Outputs`.
    pub name: String,
    /// What the port names begin with.
    pub prefix: String,
    /// The protocol and side.
    pub protocol: Protocol,
}

/// A bundle whose ports were found.
pub struct Bound {
    /// The bundle.
    pub bundle: Bundle,
    /// Data bytes.
    pub n: usize,
    /// For each signal of the protocol, the port.
    pub ports: Vec<Option<Port>>,
}

/// Finds the ports of a bundle, and takes them out of the list. A port is called prefix + signal + suffix or prefix + signal;
/// in a stream the `t` may be missing.
pub fn bind(
    bundle: &Bundle,
    suffixes: &(String, String),
    ports: &mut Vec<Port>,
) -> Result<Bound, String> {
    let mut found = Vec::new();
    let mut n = 0;
    for signal in bundle.protocol.signals() {
        let input = signal.from_master != bundle.protocol.design_is_master();
        let suffix = if input { &suffixes.0 } else { &suffixes.1 };
        let short = match bundle.protocol {
            Protocol::StreamIn | Protocol::StreamOut => signal.name.strip_prefix('t'),
            _ => None,
        };
        let mut names = Vec::new();
        for name in [Some(signal.name), short].into_iter().flatten() {
            names.push(format!("{}{name}{suffix}", bundle.prefix));
            names.push(format!("{}{name}", bundle.prefix));
        }
        let at = ports
            .iter()
            .position(|port| port.input == input && names.contains(&port.name));
        let port = at.map(|at| ports.remove(at));
        if port.is_none() && signal.absent.is_none() {
            let have: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            let direction = if input { "input" } else { "output" };
            return Err(format!(
                "bundle `{}`: no {direction} port {} in the design (unclaimed ports: {})",
                bundle.name,
                names.join(" or "),
                have.join(", ")
            ));
        }
        if let Some(port) = &port {
            match signal.kind {
                Kind::Bytes if n == 0 => n = port.bytes(),
                Kind::Bytes if n != port.bytes() => {
                    return Err(format!(
                        "bundle `{}`: `{}` has another width than its twin",
                        bundle.name, port.name
                    ));
                }
                Kind::Bytes => {}
                Kind::Number(bits) if port.width > bits => {
                    return Err(format!(
                        "bundle `{}`: `{}` is wider than {bits} bits",
                        bundle.name, port.name
                    ));
                }
                Kind::Number(_) => {}
            }
        }
        found.push(port);
    }
    if n > 128 {
        return Err(format!(
            "bundle `{}`: data wider than 1024 bits",
            bundle.name
        ));
    }
    Ok(Bound {
        bundle: bundle.clone(),
        n,
        ports: found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, input: bool, width: u32) -> Port {
        Port {
            name: name.into(),
            input,
            width,
        }
    }

    #[test]
    fn names_with_and_without_suffix() {
        let bundle = Bundle {
            name: "rx".into(),
            prefix: "rx_".into(),
            protocol: Protocol::StreamIn,
        };
        let suffixes = ("_i".to_string(), "_o".to_string());
        let mut ports = vec![
            port("rx_tdata_i", true, 64),
            port("rx_valid", true, 1),
            port("rx_tready_o", false, 1),
        ];
        let bound = bind(&bundle, &suffixes, &mut ports).unwrap();
        assert_eq!(bound.n, 8);
        assert!(ports.is_empty());

        let mut ports = vec![port("rx_tdata_i", true, 64), port("other_i", true, 1)];
        let error = bind(&bundle, &suffixes, &mut ports).err().unwrap();
        assert!(
            error.contains("rx_tvalid_i") && error.contains("other_i"),
            "{error}"
        );
    }
}

//! What happened inside a card, from the waves of its RTL.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use wellen::simple::{self, Waveform};
use wellen::{Signal, SignalRef};

/// Cycles of the card's reset, which the world's clock does not count.
const RESET: u64 = 8;

/// A step: what it is, and the signals that are all high when it happens.
pub type Stage = (&'static str, &'static [&'static str]);

/// The way of a message job through the transmit path.
pub const SEND: &[Stage] = &[
    ("first beat of the job at the push port", &["push_valid_i"]),
    ("the job is there: taken", &["u_core.u_tx.u_jobs.push_take"]),
    (
        "its first beat out of the window",
        &[
            "u_core.u_tx.u_jobs.pushed_valid",
            "u_core.u_tx.u_jobs.pushed_ready",
        ],
    ),
    ("job whole, to the check", &["u_core.u_tx.job_valid"]),
    (
        "flow row read, job accepted",
        &["u_core.u_tx.checked_valid", "u_core.u_tx.checked_ready"],
    ),
    (
        "segmenter: the first FPDU",
        &[
            "u_core.u_tx.u_steps.cut_valid",
            "u_core.u_tx.u_steps.cut_ready",
        ],
    ),
    (
        "gather asks for the payload",
        &["u_core.u_tx.ga_req_valid_o", "u_core.u_tx.ga_req_ready_i"],
    ),
    ("AXI read address", &["m_axi_arvalid", "m_axi_arready"]),
    (
        "payload, first aligned beat",
        &["u_core.u_tx.ga_rsp_valid_i", "u_core.u_tx.ga_rsp_ready_o"],
    ),
    (
        "length and DDP header, ready to be sent",
        &["u_core.u_tx.piece_valid", "u_core.u_tx.piece_ready"],
    ),
    (
        "frame at the MAC, first beat",
        &["mac_tx_tvalid", "mac_tx_tready"],
    ),
    (
        "frame at the MAC, last beat",
        &["mac_tx_tvalid", "mac_tx_tready", "mac_tx_tlast"],
    ),
];

/// The way of a tagged FPDU through the receive path.
pub const RECEIVE: &[Stage] = &[
    ("frame from the MAC, first beat", &["mac_rx_tvalid"]),
    (
        "frame from the MAC, last beat",
        &["mac_rx_tvalid", "mac_rx_tlast"],
    ),
    (
        "parse: checksums good, into the store",
        &[
            "u_core.u_rx.u_front.beat_valid",
            "u_core.u_rx.u_front.beat_last",
        ],
    ),
    (
        "store: packet is whole",
        &["u_core.u_rx.u_front.packet_valid"],
    ),
    (
        "lookup: 4-tuple asked",
        &["u_core.u_rx.u_front.lookup_valid"],
    ),
    (
        "lookup: flow found",
        &[
            "u_core.u_rx.u_front.lookup_rsp",
            "u_core.u_rx.u_front.lookup_hit",
        ],
    ),
    (
        "FLOW_RX row and position fetched",
        &["u_core.u_rx.u_front.fetch_valid"],
    ),
    (
        "seq = rcv_nxt: the walk starts",
        &["u_core.u_rx.start_valid", "u_core.u_rx.start_ready"],
    ),
    (
        "payload to the walk, first beat",
        &["u_core.u_rx.pl_valid", "u_core.u_rx.pl_ready"],
    ),
    (
        "payload to the walk, last beat",
        &[
            "u_core.u_rx.pl_valid",
            "u_core.u_rx.pl_ready",
            "u_core.u_rx.pl_last",
        ],
    ),
    (
        "header known, to the checks",
        &[
            "u_core.u_rx.u_walk.head_valid",
            "u_core.u_rx.u_walk.head_ready",
        ],
    ),
    ("STAG row asked", &["u_core.u_rx.u_walk.lookup"]),
    (
        "CRC32C good",
        &[
            "u_core.u_rx.u_walk.crc_valid",
            "u_core.u_rx.u_walk.crc_ready",
            "u_core.u_rx.u_walk.crc_good",
        ],
    ),
    (
        "all checks passed: let through",
        &[
            "u_core.u_rx.u_walk.verdict_valid",
            "u_core.u_rx.u_walk.verdict_ready",
            "u_core.u_rx.u_walk.verdict_keep",
        ],
    ),
    ("segment done, position moves", &["u_core.u_rx.done_valid"]),
    (
        "write command: IOVA and bytes",
        &["u_core.u_rx.wr_cmd_valid_o", "u_core.u_rx.wr_cmd_ready_i"],
    ),
    ("AXI write address", &["m_axi_awvalid", "m_axi_awready"]),
    (
        "AXI write data, first beat",
        &["m_axi_wvalid", "m_axi_wready"],
    ),
    (
        "AXI write data, last beat",
        &["m_axi_wvalid", "m_axi_wready", "m_axi_wlast"],
    ),
    (
        "first report to the writer",
        &["u_core.u_rx.rpt_valid_o", "u_core.u_rx.rpt_ready_i"],
    ),
    ("interrupt", &["msix_valid_o", "msix_ready_i"]),
];

/// The waves of a card.
pub struct Waves {
    waves: Waveform,
    period: u64,
}

impl Waves {
    /// Reads them.
    pub fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let mut waves = simple::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let clock = high(&mut waves, "clk_i")?;
        let [first, second] =
            [0, 1].map(|n| clock.iter().filter(|(_, up)| *up).nth(n).map(|(at, _)| *at));
        let (Some(first), Some(second)) = (first, second) else {
            return Err("the clock stands still".into());
        };
        Ok(Self {
            waves,
            period: second - first,
        })
    }

    /// The stages with the cycle at which each first happens, from `from` on, in order; counted from `zero`.
    pub fn stages(
        &mut self,
        stages: &[Stage],
        from: u64,
        zero: u64,
    ) -> Result<String, Box<dyn Error>> {
        let mut found = Vec::new();
        for (what, names) in stages {
            found.push((self.first(names, from)? - zero, what));
        }
        found.sort_by_key(|(cycle, _)| *cycle);
        let mut text = String::new();
        for (cycle, what) in found {
            let _ = writeln!(text, "{cycle:>6}  {what}");
        }
        Ok(text)
    }

    /// The first cycle from `from` on at whose clock edge all of the signals are high.
    fn first(&mut self, names: &[&str], from: u64) -> Result<u64, Box<dyn Error>> {
        let signals: Result<Vec<_>, _> = names
            .iter()
            .map(|name| high(&mut self.waves, name))
            .collect();
        let signals = signals?;
        let is_high = |signal: &Vec<(u64, bool)>, time: u64| {
            let after = signal.partition_point(|(at, _)| *at <= time);
            after > 0 && signal[after - 1].1
        };
        let end = self.waves.time_table().last().copied().unwrap_or(0) / self.period;
        (from + RESET..=end)
            // What stands before the rising edge is what the edge takes.
            .find(|cycle| signals.iter().all(|s| is_high(s, cycle * self.period)))
            .map(|cycle| cycle - RESET)
            .ok_or_else(|| format!("{} never happens", names.join(" and ")).into())
    }
}

/// When a signal of one bit changed, and to what.
fn high(waves: &mut Waveform, name: &str) -> Result<Vec<(u64, bool)>, Box<dyn Error>> {
    let signal = find(waves, name).ok_or_else(|| format!("the card has no signal {name}"))?;
    waves.load_signals(&[signal]);
    let signal: &Signal = waves.get_signal(signal).ok_or("no waves")?;
    let times = waves.time_table();
    Ok(signal
        .iter_changes()
        .map(|(at, value)| {
            (
                times[at as usize],
                value.to_bit_string().as_deref() == Some("1"),
            )
        })
        .collect())
}

fn find(waves: &Waveform, name: &str) -> Option<SignalRef> {
    let hierarchy = waves.hierarchy();
    let (inside, port) = (format!(".weft_card.{name}"), format!("top.{name}"));
    let var = hierarchy.iter_vars().find(|var| {
        let full = var.full_name(hierarchy);
        full.ends_with(&inside) || full == port || full.to_lowercase() == port
    })?;
    Some(var.signal_ref())
}

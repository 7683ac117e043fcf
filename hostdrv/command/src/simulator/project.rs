//! `weft project`.

use clap::Args;
use weft_hostdrv::Rung;
use weft_sim::host::HostConfig;
use weft_sim::kind::CardKind;
use weft_sim::partitions::run::Place;
use weft_sim::partitions::workload::{self, Load};
use weft_sim::partitions::Name;
use weft_sim::project::{self, Host, Pcie, Question, Target};

use super::{card_kind, Kept, Seed};
use crate::about;
use crate::command::device::rung;
use crate::command::Failure;
use crate::output;
use crate::progress::Progress;

/// What is to be predicted, from which measurement. Lists are of values with commas between; each is combined with each.
#[derive(Args)]
pub struct Arguments {
    /// The workload: a file (TOML, see docs/partitions.md), or a ready one: sizes, default, echo, block, small-reads or bulk. Without loss.
    #[arg(default_value = "sizes")]
    workload: String,
    #[command(flatten)]
    seed: Seed,
    /// The card that is measured; the functional model has nothing to measure.
    #[arg(long, default_value_t = CardKind::widest(), value_parser = card_kind())]
    card: CardKind,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    /// Rungs of the partition ladder.
    #[arg(long, value_delimiter = ',', default_value = "placement", value_parser = rung())]
    rung: Vec<Rung>,
    /// Line rates in Gb/s.
    #[arg(long, value_delimiter = ',', default_value = "100,200,400,800", value_parser = positive)]
    line: Vec<f64>,
    /// PCIe ports: generation, x, lanes.
    #[arg(long, value_delimiter = ',', default_value = "5x16")]
    pcie: Vec<Pcie>,
    /// Hosts that post, at one that does not.
    #[arg(long, value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    hosts: Vec<u64>,
    /// Queue pairs of the one that does not.
    #[arg(long, value_delimiter = ',', default_value = "1,100,10000,100000", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    queue_pairs: Vec<u64>,
    /// How many times as fast the card is as the one that is measured (its width times its clock). Left out: as fast as each line needs, by its rate and the measured card's.
    #[arg(long, value_parser = positive)]
    card_speed: Option<f64>,
    /// Rows of flows on a card. Left out: those of the one that is measured.
    #[arg(long)]
    rows: Option<u64>,
    /// How long host memory takes to answer, in nanoseconds, where there are more queue pairs than rows. Left out: 400.
    #[arg(long, value_parser = positive)]
    memory_ns: Option<f64>,
    /// Processors of each host. Left out: 8.
    #[arg(long, value_parser = positive)]
    cores: Option<f64>,
    /// Their clock in GHz. Left out: 3.
    #[arg(long, value_parser = positive)]
    ghz: Option<f64>,
    /// Instructions of a cycle. Left out: 1.
    #[arg(long, value_parser = positive)]
    ipc: Option<f64>,
    /// Also simulates what can be simulated, and says whether it is as predicted.
    #[arg(long)]
    check: bool,
    /// Prints a JSON object instead of tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    kept: Kept,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err(format!("`{text}` is no number above 0")),
    }
}

impl Arguments {
    fn targets(&self) -> Vec<Target> {
        let host = Some(Host {
            cores: self.cores.unwrap_or(8.0),
            instructions_a_ns: self.ghz.unwrap_or(3.0) * self.ipc.unwrap_or(1.0),
        });
        let mut targets = Vec::new();
        for &line in &self.line {
            for &pcie in &self.pcie {
                for &hosts in &self.hosts {
                    for &queue_pairs in &self.queue_pairs {
                        targets.push(Target {
                            gbps: Some(line),
                            pcie: Some(pcie),
                            hosts,
                            queue_pairs,
                            depth: None,
                            card_speed: self
                                .card_speed
                                .unwrap_or((line / self.card.gbps() as f64).max(1.0)),
                            rows: self.rows(),
                            memory_ns: self.memory_ns.unwrap_or(400.0),
                            host,
                        });
                    }
                }
            }
        }
        targets
    }

    fn rows(&self) -> u64 {
        self.rows.unwrap_or(self.card.sizes().flows as u64)
    }

    /// Options that no figure would have in it.
    fn refuse_idle(&self) -> Result<(), Failure> {
        let most = self.queue_pairs.iter().max().copied().unwrap_or(0);
        if self.memory_ns.is_some() && most <= self.rows() {
            let rows = self.rows();
            return Err(format!("--memory-ns would change nothing: the card has rows for {rows} queue pairs, and --queue-pairs asks for no more").into());
        }
        let software = [
            ("--cores", self.cores),
            ("--ghz", self.ghz),
            ("--ipc", self.ipc),
        ];
        let is_counted = self.rung.iter().any(|rung| project::is_counted(*rung));
        match software.iter().find(|(_, given)| given.is_some()) {
            Some((option, _)) if !is_counted => Err(format!("{option} would change nothing: instructions are counted of rungs host and placement alone; name one of them by --rung").into()),
            _ => Ok(()),
        }
    }
}

/// A load that is measured as it is, without the time of software.
fn can_be_projected(load: &Load) -> Result<(), Failure> {
    let name = &load.name;
    if load.loss > 0 {
        return Err(format!("load `{name}` has loss: what that costs does not follow from what each message costs; `weft perf --loss` simulates it").into());
    }
    let own = [
        ("host", load.host.is_some()),
        ("cores", load.cores.is_some()),
        ("sleep", load.sleep.is_some()),
        ("costs", !load.costs.is_empty()),
    ];
    match own.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((key, _)) => Err(format!("load `{name}` has {key}: the card is measured without hosts that take time, and software is projected by --cores, --ghz and --ipc").into()),
    }
}

/// Measures, predicts and prints.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let loads = workload::read(&arguments.workload)?;
    loads.iter().try_for_each(can_be_projected)?;
    arguments.refuse_idle()?;
    if arguments.card == CardKind::Model {
        return Err("the functional model has no cycles to measure: take an RTL card, --card rtl512, rtl256 or rtl128".into());
    }
    let name = Name {
        version: about::VERSION.to_owned(),
        command: std::env::args()
            .skip(1)
            .fold("weft".to_owned(), |all, next| all + " " + &next),
    };
    let question = Question {
        place: Place {
            kind: arguments.card,
            seed: arguments.seed.seed,
            mtu: arguments.mtu,
            gbps: arguments.card.gbps(),
            host: HostConfig::free(),
        },
        rungs: arguments.rung.clone(),
        targets: arguments.targets(),
        check: arguments.check,
    };
    let mut bar = Progress::new((loads.len() * question.rungs.len()) as u64, !arguments.json);
    let projection = project::run(name, &question, &loads, |load, rung| {
        bar.step(&format!("{load}, {rung}"));
    });
    bar.finish();
    let projection = projection?;
    if let (true, Some(missing)) = (projection.loads.is_empty(), projection.missing.first()) {
        return Err(format!("--rung {}: {}", missing.rung, missing.reason).into());
    }
    let source = format!("{}; Weft {}", projection.command, projection.version);
    let mut out = output::stdout();
    if arguments.json {
        output::whole_json(&mut out, &projection)?;
    } else {
        project::print(&projection, &mut out)?;
    }
    arguments.kept.keep(&projection, &source)
}

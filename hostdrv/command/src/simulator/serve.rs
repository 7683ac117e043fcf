//! `weft serve`.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use weft_sim::kind::CardKind;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{self, CardConfig, ServeConfig, Served, Stats};

use crate::command::Failure;
use crate::output;

/// What is to be served. The first `--socket` is card 0, the second one card 1, and so on; the first `--port` and
/// `--capture` are card 0's.
#[derive(Args)]
pub struct Arguments {
    /// Socket of a card; once for each card.
    #[arg(long, required = true)]
    socket: Vec<PathBuf>,
    /// The card: rtl512, rtl256, rtl128 or model; once for all cards, or for each. [default: the widest one of this build]
    #[arg(long)]
    card: Vec<CardKind>,
    /// What its port is joined to.
    #[arg(
        long,
        help = "What its port is joined to: card:N, dgram:LOCAL[,PEER], tap:NAME, pcap:IN[,OUT] or none [default: none]"
    )]
    port: Vec<PortSpec>,
    /// A capture (pcapng) of its port; `-` for none.
    #[arg(long)]
    capture: Vec<PathBuf>,
    /// Decides every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Frames lost on the links, per million.
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = per_million)]
    loss: u32,
    /// Frames that arrive twice, per million.
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = per_million)]
    duplicate: u32,
    /// Frames that arrive late, per million.
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = per_million)]
    reorder: u32,
    /// Frames with a flipped bit, per million.
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = per_million)]
    corrupt: u32,
    /// TCP segments that are cut in two, per million.
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = per_million)]
    resegment: u32,
    /// Prints the numbers as a JSON object at the end.
    #[arg(long)]
    json: bool,
    /// Tells only what is wrong.
    #[arg(long)]
    quiet: bool,
}

/// A share of all frames.
fn per_million(text: &str) -> Result<u32, String> {
    let share = text.parse().ok().filter(|share| *share <= 1_000_000);
    share.ok_or_else(|| {
        let percent = text
            .strip_suffix('%')
            .and_then(|text| text.trim().parse().ok());
        let meant = percent.filter(|percent: &f64| (0.0..=100.0).contains(percent));
        let hint = meant.map_or(String::new(), |percent| {
            format!("; {text} are {}", percent * 1e4)
        });
        format!("it is frames per million, 0 to 1000000{hint}")
    })
}

impl Arguments {
    /// Is only to be told what is wrong?
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    fn config(&self) -> Result<ServeConfig, Failure> {
        let count = self.socket.len();
        if self.card.len() > 1 && self.card.len() != count {
            return Err(format!("{} cards for {count} sockets", self.card.len()).into());
        }
        if self.port.len() > count || self.capture.len() > count {
            return Err(format!("more ports or captures than the {count} sockets").into());
        }
        let cards = self.socket.iter().enumerate().map(|(n, socket)| {
            let kind = self.card.get(n).or(self.card.first());
            CardConfig {
                kind: kind.copied().unwrap_or_else(CardKind::widest),
                port: self.port.get(n).cloned().unwrap_or_default(),
                socket: socket.clone(),
                capture: self
                    .capture
                    .get(n)
                    .filter(|c| c.as_os_str() != "-")
                    .cloned(),
            }
        });
        Ok(ServeConfig {
            cards: cards.collect(),
            seed: self.seed,
            link: LinkConfig {
                faults: Faults {
                    loss: self.loss,
                    duplicate: self.duplicate,
                    reorder: self.reorder,
                    corrupt: self.corrupt,
                    resegment: self.resegment,
                },
                ..LinkConfig::default()
            },
        })
    }
}

/// Something the user did.
enum Wish {
    Line(String),
    End,
}

/// Serves until a signal comes, a line `quit`, or a card fails.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (wish, wishes) = channel();
    listen_to_signals(wish.clone())?;
    let served = serve::start(&arguments.config()?)?;
    listen_to_lines(wish);
    print_ready(&served)?;
    loop {
        match wishes.recv_timeout(Duration::from_millis(500)) {
            Ok(Wish::Line(line)) => {
                if obey(&served, line.trim())? {
                    break;
                }
            }
            Ok(Wish::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if !served.is_serving() => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    let stats = served.stop()?;
    if arguments.json {
        let mut out = output::stdout();
        serde_json::to_writer(&mut out, &stats)?;
        writeln!(out)?;
    } else {
        print_stats(&stats)?;
    }
    Ok(())
}

/// Threads that only listen; they end with the process.
fn listen_to_signals(wish: Sender<Wish>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            let _ = wish.send(Wish::End);
        }
    });
    Ok(())
}

fn listen_to_lines(wish: Sender<Wish>) {
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if wish.send(Wish::Line(line)).is_err() {
                return;
            }
        }
        // No more lines will come; serving goes on, so the sender must live on, too.
        loop {
            thread::park();
        }
    });
}

fn print_ready(served: &Served) -> io::Result<()> {
    let sockets: Vec<_> = served
        .sockets()
        .iter()
        .map(|s| s.display().to_string())
        .collect();
    let mut out = output::stdout();
    writeln!(out, "listening on {}", sockets.join(" "))?;
    out.flush()
}

/// A line of the user's. `true`: to end.
fn obey(served: &Served, line: &str) -> Result<bool, Failure> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next().map(str::parse::<usize>)) {
        (None, _) => {}
        (Some("quit"), _) => return Ok(true),
        (Some("stats"), _) => {
            let mut out = output::stdout();
            serde_json::to_writer(&mut out, &served.stats())?;
            writeln!(out)?;
            out.flush()?;
        }
        (Some("down"), Some(Ok(card))) => served.set_link(card, false),
        (Some("up"), Some(Ok(card))) => served.set_link(card, true),
        _ => eprintln!("weft: `{line}`: there are down CARD, up CARD, stats and quit"),
    }
    Ok(false)
}

fn print_stats(stats: &Stats) -> io::Result<()> {
    let mut out = output::stdout();
    for (number, card) in stats.cards.iter().enumerate() {
        writeln!(
            out,
            "card {number} ({}): {} clients, {} resets, {} cycles, {} reads, {} writes, {} interrupts, {} bytes read \
             and {} written by DMA, {} DMA refused, {} malformed messages",
            card.card,
            card.clients,
            card.resets,
            card.cycles,
            card.mmio_reads,
            card.mmio_writes,
            card.interrupts,
            card.dma_read_bytes,
            card.dma_written_bytes,
            card.dma_refused,
            card.malformed,
        )?;
    }
    Ok(())
}

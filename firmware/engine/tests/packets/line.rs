//! The lines of a script.

use weft_wire::tcp::flag;

/// A range of sequence numbers, options and the rest of a packet as a script writes it. `None`: whatever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub ecn: Option<u8>,
    pub flags: u8,
    pub seq: u32,
    pub length: u32,
    pub ack: Option<u32>,
    pub window: Option<u16>,
    pub options: Option<Vec<Item>>,
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Mss(Option<u16>),
    SackPermitted,
    Scale(Option<u8>),
    /// TSval, TSecr.
    Stamps(Option<u32>, Option<u32>),
    Sack(u32, u32),
    /// Octets behind the other options, a multiple of four.
    Octets(Vec<u8>),
}

/// Something that happens, or has to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The peer sends.
    Inject(Packet),
    /// The station has to send, so much later at most.
    Expect(Packet, u64),
    Listen,
    Connect,
    Read(usize),
    /// Nothing is left, and nothing will come.
    ReadEnd,
    Write(usize),
    NoDelay,
    Close,
    Abort,
    /// The stream is over, and why.
    Over(String),
    /// Time passes in silence.
    Quiet,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub number: usize,
    /// Nanoseconds since the one before.
    pub after: u64,
    pub what: What,
}

/// A script as written.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub settings: Vec<(String, String)>,
    /// It is known to fail, and why.
    pub fails: Option<String>,
    pub lines: Vec<Line>,
}

/// How exact a time has to be.
pub const TOLERANCE: u64 = 500_000;

type Result<T> = std::result::Result<T, String>;

fn seconds(text: &str) -> Result<u64> {
    let value: f64 = text.parse().map_err(|_| format!("{text:?} is no time"))?;
    Ok((value * 1e9).round() as u64)
}

fn number<T: std::str::FromStr>(text: Option<&str>) -> Result<T> {
    let text = text.ok_or("a number is missing")?;
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

/// `*` is anything.
fn maybe<T: std::str::FromStr>(text: Option<&str>) -> Result<Option<T>> {
    match text {
        Some("*") => Ok(None),
        text => number(text).map(Some),
    }
}

impl Script {
    pub fn parse(text: &str) -> Result<Self> {
        let mut script = Script::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let parsed = script.line(index + 1, line);
            parsed.map_err(|error| format!("line {}: {error}", index + 1))?;
        }
        Ok(script)
    }

    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        if let Some(setting) = line.strip_prefix("set ") {
            let (name, value) = setting.trim().split_once(' ').ok_or("set NAME VALUE")?;
            self.settings.push((name.into(), value.trim().into()));
            return Ok(());
        }
        if let Some(why) = line.strip_prefix("fails ") {
            self.fails = Some(why.trim().into());
            return Ok(());
        }
        let (time, rest) = line.split_once(' ').ok_or("TIME EVENT")?;
        let time = time.strip_prefix('+').ok_or("a time begins with +")?;
        let (from, to) = match time.split_once("..") {
            Some((from, to)) => (seconds(from)?, seconds(to)?),
            None => (seconds(time)?, seconds(time)? + TOLERANCE),
        };
        let rest = rest.trim();
        let (word, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let what = match (word, more.trim()) {
            ("<", packet) => What::Inject(packet_of(packet)?),
            (">", packet) => What::Expect(packet_of(packet)?, to - from),
            ("listen", _) => What::Listen,
            ("connect", _) => What::Connect,
            ("read", "end") => What::ReadEnd,
            ("read", count) => What::Read(self::number(Some(count))?),
            ("write", count) => What::Write(self::number(Some(count))?),
            ("nodelay", _) => What::NoDelay,
            ("close", _) => What::Close,
            ("abort", _) => What::Abort,
            ("over", why) => What::Over(why.into()),
            ("quiet", _) => What::Quiet,
            _ => return Err(format!("what is {word:?}?")),
        };
        self.lines.push(Line {
            number,
            after: from,
            what,
        });
        Ok(())
    }
}

/// `[ce] P. 1:101(100) ack 1 win 100 <mss 1460,sackOK>`
fn packet_of(text: &str) -> Result<Packet> {
    let (text, options) = match text.split_once('<') {
        Some((text, options)) => {
            let options = options.strip_suffix('>').ok_or("no >")?;
            (text, Some(options_of(options)?))
        }
        None => (text, None),
    };
    let mut words = text.split_whitespace().peekable();
    let mut packet = Packet {
        options,
        ..Packet::default()
    };
    if let Some(mark) = words.next_if(|word| word.starts_with('[')) {
        packet.ecn = Some(match mark {
            "[not]" => 0,
            "[ect0]" => 2,
            "[ce]" => 3,
            _ => return Err(format!("{mark:?} is no mark")),
        });
    }
    for letter in words.next().ok_or("no flags")?.chars() {
        packet.flags |= match letter {
            'S' => flag::SYN,
            'F' => flag::FIN,
            'R' => flag::RST,
            'P' => flag::PSH,
            'U' => flag::URG,
            'E' => flag::ECE,
            'W' => flag::CWR,
            '.' => flag::ACK,
            '-' => 0,
            _ => return Err(format!("{letter:?} is no flag")),
        };
    }
    let range = words.next().ok_or("no sequence numbers")?;
    let (from, rest) = range.split_once(':').ok_or("FROM:TO(LENGTH)")?;
    let (to, length) = rest.split_once('(').ok_or("FROM:TO(LENGTH)")?;
    packet.seq = number(Some(from))?;
    packet.length = number(length.strip_suffix(')'))?;
    if number::<u32>(Some(to))? != packet.seq.wrapping_add(packet.length) {
        return Err(format!("{range} has another length"));
    }
    while let Some(word) = words.next() {
        match word {
            "ack" => packet.ack = Some(number(words.next())?),
            "win" => packet.window = Some(number(words.next())?),
            _ => return Err(format!("what is {word:?}?")),
        }
    }
    Ok(packet)
}

fn options_of(text: &str) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for option in text.split(',').map(str::trim).filter(|o| !o.is_empty()) {
        let mut words = option.split_whitespace();
        match words.next() {
            Some("mss") => items.push(Item::Mss(maybe(words.next())?)),
            Some("sackOK") => items.push(Item::SackPermitted),
            Some("wscale") => items.push(Item::Scale(maybe(words.next())?)),
            Some("TS") => {
                let (val, value) = (words.next(), maybe(words.next())?);
                let (ecr, echo) = (words.next(), maybe(words.next())?);
                if (val, ecr) != (Some("val"), Some("ecr")) {
                    return Err("TS val N ecr N".into());
                }
                items.push(Item::Stamps(value, echo));
            }
            Some("sack") => {
                for block in words {
                    let (left, right) = block.split_once(':').ok_or("sack LEFT:RIGHT")?;
                    items.push(Item::Sack(number(Some(left))?, number(Some(right))?));
                }
            }
            Some("octets") => {
                let octets = words.map(|octet| number(Some(octet)));
                items.push(Item::Octets(octets.collect::<Result<_>>()?));
            }
            _ => return Err(format!("{option:?} is no option")),
        }
    }
    Ok(items)
}

//! The host's policy: who may connect to which port, by what name, how often. Asked before any program is.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;
use thiserror::Error;

use super::TransportKind;

/// The file of hosts that name none.
pub const POLICY_FILE: &str = "/etc/weft/policy.toml";
/// The environment variable that names another one; `off`: none.
pub const POLICY_VARIABLE: &str = "WEFT_POLICY";

/// Private data of a request that was rejected because too many wait, or came: the peer may try again.
pub const REJECTED_BUSY: &[u8] = b"weft: busy";
/// Private data of a request that the host's policy rejected without saying why.
pub const REJECTED_BY_POLICY: &[u8] = b"weft: not allowed";

/// Most bytes of a rule's reason: what every peer's CM passes on (InfiniBand's has 148).
const MAX_REASON: usize = 148;
/// Addresses whose requests are counted at a time.
const MAX_COUNTED: usize = 4096;
const SECOND: u64 = 1_000_000_000;

/// Why a file is no policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// It cannot be read.
    #[error("the policy {path}: {reason}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Not TOML, or not of this form.
    #[error("{0}")]
    Form(String),
    /// A value that says nothing.
    #[error("rule {rule}: {what} `{given}`: use {wanted}")]
    Value {
        /// Which rule, from 1 on.
        rule: usize,
        /// Its field.
        what: &'static str,
        /// As it stands there.
        given: String,
        /// What may stand there.
        wanted: &'static str,
    },
}

/// What is known of a request when the policy is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// Who asks.
    pub from: Ipv4Addr,
    /// The port that is listened on.
    pub port: u16,
    /// By what way.
    pub transport: TransportKind,
    /// What the peer's application sent along: its identity, if it begins with one.
    pub private_data: &'a [u8],
}

/// What the policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The listener may be asked.
    Approved,
    /// Rejected, with this private data.
    Rejected(Vec<u8>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    #[default]
    Accept,
    Reject,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    default: Action,
    #[serde(default)]
    rule: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PortText {
    One(u16),
    Several(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    action: Action,
    from: Option<String>,
    ports: Option<Vec<PortText>>,
    identity: Option<String>,
    transport: Option<String>,
    rate: Option<u32>,
    reason: Option<String>,
}

#[derive(Clone, Debug)]
struct Rule {
    action: Action,
    /// Address and mask.
    from: Option<(u32, u32)>,
    ports: Option<Vec<(u16, u16)>>,
    identity: Option<Vec<u8>>,
    transport: Option<TransportKind>,
    rate: Option<u32>,
    reason: Vec<u8>,
}

/// Rules, of which the first that fits decides:
///
/// ```
/// # let policy = weft_hostdrv::cm::Policy::parse(r#"
/// default = "reject"            # what no rule fits; "accept" unless it says so
///
/// [[rule]]
/// action = "reject"
/// from = "10.0.0.66"            # an address, or a network: 10.0.0.0/24
/// reason = "ask the operator"   # the peer's private data
///
/// [[rule]]
/// action = "accept"
/// from = "10.0.0.0/24"
/// ports = [7471, "4000-4999"]
/// identity = "backup:"          # the request's private data begin so
/// transport = "iwarp"           # or "loop"
/// rate = 100                    # of each address so many a second; others are told "busy"
/// # "#)?;
/// # assert_eq!(policy.rules(), 2);
/// # Ok::<(), weft_hostdrv::cm::PolicyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Policy {
    default: Action,
    rules: Vec<Rule>,
}

fn network(text: &str) -> Option<(u32, u32)> {
    let (ip, bits) = text.split_once('/').unwrap_or((text, "32"));
    let ip = u32::from(ip.parse::<Ipv4Addr>().ok()?);
    let bits: u32 = bits.parse().ok().filter(|bits| *bits <= 32)?;
    let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
    Some((ip & mask, mask))
}

fn port_range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (range.0 <= range.1).then_some(range)
}

impl RuleText {
    fn rule(self, number: usize) -> Result<Rule, PolicyError> {
        let wrong = |what, given: &str, wanted| PolicyError::Value {
            rule: number,
            what,
            given: given.to_owned(),
            wanted,
        };
        let from = self.from.map(|text| {
            let wanted = "10.0.0.1 or 10.0.0.0/24";
            network(&text).ok_or_else(|| wrong("from", &text, wanted))
        });
        let port = |port: PortText| match port {
            PortText::One(port) => Ok((port, port)),
            PortText::Several(text) => {
                port_range(&text).ok_or_else(|| wrong("ports", &text, "7471 or \"4000-4999\""))
            }
        };
        let ports = self.ports.map(|all| all.into_iter().map(port).collect());
        let transport = self.transport.map(|text| match text.as_str() {
            "iwarp" => Ok(TransportKind::Iwarp),
            "loop" => Ok(TransportKind::Loop),
            _ => Err(wrong("transport", &text, "\"iwarp\" or \"loop\"")),
        });
        if self.rate == Some(0) {
            return Err(wrong("rate", "0", "1 or more, or action = \"reject\""));
        }
        let reason = self.reason.map(String::into_bytes);
        let reason = reason.unwrap_or(REJECTED_BY_POLICY.to_vec());
        if reason.len() > MAX_REASON {
            let given = format!("{} bytes", reason.len());
            return Err(wrong("reason", &given, "148 bytes at most"));
        }
        Ok(Rule {
            action: self.action,
            from: from.transpose()?,
            ports: ports.transpose()?,
            identity: self.identity.map(String::into_bytes),
            transport: transport.transpose()?,
            rate: self.rate,
            reason,
        })
    }
}

impl Rule {
    fn fits(&self, asker: &Asker<'_>) -> bool {
        let from = u32::from(asker.from);
        let in_network = |(ip, mask)| from & mask == ip;
        let has_port = |ports: &Vec<(u16, u16)>| {
            let mut ports = ports.iter();
            ports.any(|(first, last)| (*first..=*last).contains(&asker.port))
        };
        let is_called = |identity: &Vec<u8>| asker.private_data.starts_with(identity);
        self.from.is_none_or(in_network)
            && self.ports.as_ref().is_none_or(has_port)
            && self.identity.as_ref().is_none_or(is_called)
            && self.transport.is_none_or(|way| way == asker.transport)
    }
}

impl Policy {
    /// From TOML.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let file: File =
            toml::from_str(text).map_err(|error| PolicyError::Form(error.to_string()))?;
        let rules = file.rule.into_iter().zip(1..);
        let rules: Result<_, _> = rules.map(|(rule, number)| rule.rule(number)).collect();
        Ok(Self {
            default: file.default,
            rules: rules?,
        })
    }

    /// How many rules it has.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }
}

/// Requests of one address under one rule: what is left of a second's, and since when.
#[derive(Clone, Copy)]
struct Bucket {
    left: u64,
    at: u64,
}

/// A policy at work: it counts, and follows its file. Clones are the same one.
#[derive(Clone)]
pub struct HostPolicy {
    inner: Arc<Mutex<AtWork>>,
}

struct AtWork {
    policy: Policy,
    /// The file, and when it was changed.
    file: Option<(PathBuf, Option<SystemTime>)>,
    counted: BTreeMap<(usize, Ipv4Addr), Bucket>,
    rejected: u64,
}

fn read(path: &Path) -> Result<Policy, PolicyError> {
    let text = fs::read_to_string(path).map_err(|error| PolicyError::File {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    Policy::parse(&text)
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

impl HostPolicy {
    /// Of these rules, which stay.
    pub fn new(policy: Policy) -> Self {
        Self::with(policy, None)
    }

    /// Of a file. It is read again when it has changed; what is no policy then is complained about, and the old one holds.
    pub fn from_file(path: &Path) -> Result<Self, PolicyError> {
        let at = changed(path);
        Ok(Self::with(read(path)?, Some((path.to_owned(), at))))
    }

    /// Of the file that [`POLICY_VARIABLE`] names, else of [`POLICY_FILE`] if there is one. `None`: everybody may ask.
    pub fn of_host() -> Result<Option<Self>, PolicyError> {
        match std::env::var_os(POLICY_VARIABLE) {
            Some(off) if off == "off" => Ok(None),
            Some(path) => Self::from_file(Path::new(&path)).map(Some),
            None => match fs::exists(POLICY_FILE) {
                Ok(false) => Ok(None),
                Ok(true) => Self::from_file(Path::new(POLICY_FILE)).map(Some),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(PolicyError::File {
                    path: POLICY_FILE.into(),
                    reason: error.to_string(),
                }),
            },
        }
    }

    fn with(policy: Policy, file: Option<(PathBuf, Option<SystemTime>)>) -> Self {
        Self {
            inner: Arc::new(Mutex::new(AtWork {
                policy,
                file,
                counted: BTreeMap::new(),
                rejected: 0,
            })),
        }
    }

    fn at_work(&self) -> MutexGuard<'_, AtWork> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that it rejected so far.
    pub fn rejected(&self) -> u64 {
        self.at_work().rejected
    }

    /// Judges a request that comes at this time (in nanoseconds).
    pub fn judge(&self, now: u64, asker: &Asker<'_>) -> Judgement {
        let mut at_work = self.at_work();
        at_work.reload();
        let judgement = at_work.judge(now, asker);
        if judgement != Judgement::Approved {
            at_work.rejected += 1;
        }
        judgement
    }
}

impl AtWork {
    fn reload(&mut self) {
        let Some((path, at)) = &mut self.file else {
            return;
        };
        let now = changed(path);
        if now == *at {
            return;
        }
        // Said once for each change.
        *at = now;
        match read(path) {
            Ok(policy) => {
                tracing::info!(path = %path.display(), rules = policy.rules(), "policy read again");
                self.policy = policy;
                self.counted.clear();
            }
            Err(error) => tracing::error!(%error, "the policy stays as it was"),
        }
    }

    fn judge(&mut self, now: u64, asker: &Asker<'_>) -> Judgement {
        let mut rules = self.policy.rules.iter().enumerate();
        let Some((number, rule)) = rules.find(|(_, rule)| rule.fits(asker)) else {
            return match self.policy.default {
                Action::Accept => Judgement::Approved,
                Action::Reject => Judgement::Rejected(REJECTED_BY_POLICY.to_vec()),
            };
        };
        match (rule.action, rule.rate) {
            (Action::Reject, _) => Judgement::Rejected(rule.reason.clone()),
            (Action::Accept, None) => Judgement::Approved,
            (Action::Accept, Some(rate)) => match self.count(now, (number, asker.from), rate) {
                true => Judgement::Approved,
                false => Judgement::Rejected(REJECTED_BUSY.to_vec()),
            },
        }
    }

    /// Counts a request; false: it is one too many.
    fn count(&mut self, now: u64, of: (usize, Ipv4Addr), rate: u32) -> bool {
        let full = u64::from(rate) * SECOND;
        if !self.counted.contains_key(&of) && self.counted.len() >= MAX_COUNTED {
            // Who has not asked for a second has a full bucket: nothing is forgotten with it.
            let idle = |bucket: &Bucket| now.saturating_sub(bucket.at) < SECOND;
            self.counted.retain(|_, bucket| idle(bucket));
            if self.counted.len() >= MAX_COUNTED {
                return false;
            }
        }
        let bucket = self.counted.entry(of).or_insert(Bucket {
            left: full,
            at: now,
        });
        let passed = now.saturating_sub(bucket.at).min(SECOND);
        bucket.left = bucket
            .left
            .saturating_add(passed * u64::from(rate))
            .min(full);
        bucket.at = now;
        match bucket.left.checked_sub(SECOND) {
            Some(left) => {
                bucket.left = left;
                true
            }
            None => false,
        }
    }
}

impl std::fmt::Debug for HostPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at_work = self.at_work();
        f.debug_struct("HostPolicy")
            .field("rules", &at_work.policy.rules())
            .field("file", &at_work.file)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(from: [u8; 4], port: u16, private_data: &[u8]) -> Asker<'_> {
        Asker {
            from: from.into(),
            port,
            transport: TransportKind::Iwarp,
            private_data,
        }
    }

    fn rejected(text: &[u8]) -> Judgement {
        Judgement::Rejected(text.to_vec())
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let policy = Policy::parse(
            r#"
            default = "reject"
            [[rule]]
            action = "reject"
            from = "10.0.0.66"
            reason = "not you"
            [[rule]]
            action = "accept"
            from = "10.0.0.0/24"
            ports = [7471, "4000-4999"]
            [[rule]]
            action = "accept"
            identity = "backup:"
            transport = "loop"
            "#,
        );
        let policy = HostPolicy::new(policy.expect("a policy"));
        let judge = |asker| policy.judge(0, &asker);
        let no = rejected(REJECTED_BY_POLICY);
        assert_eq!(
            judge(asker([10, 0, 0, 66], 7471, b"")),
            rejected(b"not you")
        );
        assert_eq!(judge(asker([10, 0, 0, 7], 7471, b"")), Judgement::Approved);
        assert_eq!(judge(asker([10, 0, 0, 7], 4999, b"")), Judgement::Approved);
        assert_eq!(judge(asker([10, 0, 0, 7], 5000, b"")), no);
        assert_eq!(judge(asker([10, 0, 1, 7], 7471, b"")), no);
        assert_eq!(judge(asker([10, 0, 1, 7], 1, b"backup:x")), no, "by iWARP");
        let inside = Asker {
            transport: TransportKind::Loop,
            ..asker([10, 0, 1, 7], 1, b"backup:x")
        };
        assert_eq!(judge(inside), Judgement::Approved);
        assert_eq!(policy.rejected(), 4);
    }

    #[test]
    fn rates_are_of_each_address_and_come_back() {
        let policy = Policy::parse("[[rule]]\naction = \"accept\"\nrate = 2\n");
        let policy = HostPolicy::new(policy.expect("a policy"));
        let judge = |now, host| policy.judge(now, &asker([10, 0, 0, host], 1, b""));
        let busy = rejected(REJECTED_BUSY);
        assert_eq!(judge(0, 1), Judgement::Approved);
        assert_eq!(judge(0, 1), Judgement::Approved);
        assert_eq!(judge(0, 1), busy);
        assert_eq!(judge(0, 2), Judgement::Approved);
        assert_eq!(judge(SECOND / 2 - 1, 1), busy);
        assert_eq!(judge(SECOND / 2, 1), Judgement::Approved);
        assert_eq!(judge(SECOND / 2, 1), busy);
        // So many addresses that they are not all counted: none passes uncounted.
        let mut approved = 0;
        for n in 0..2 * MAX_COUNTED as u32 {
            let from = Ipv4Addr::from(0x0b00_0000 + n);
            let mut one = asker([0; 4], 1, b"");
            one.from = from;
            approved += usize::from(policy.judge(SECOND, &one) == Judgement::Approved);
        }
        assert!(approved <= MAX_COUNTED, "{approved}");
    }

    #[test]
    fn what_is_no_policy_is_refused_with_the_place() {
        for (text, wanted) in [
            ("default = \"maybe\"", "maybe"),
            ("[[rule]]\naction = \"accept\"\nport = 3", "port"),
            (
                "[[rule]]\naction = \"accept\"\nfrom = \"10.0.0.0/33\"",
                "10.0.0.0/33",
            ),
            ("[[rule]]\naction = \"accept\"\nports = [\"9-8\"]", "9-8"),
            ("[[rule]]\naction = \"accept\"\nports = [70000]", "ports"),
            ("[[rule]]\naction = \"accept\"\ntransport = \"ib\"", "ib"),
            ("[[rule]]\naction = \"accept\"\nrate = 0", "rate"),
            ("[[rule]]\nfrom = \"10.0.0.1\"", "action"),
        ] {
            let error = Policy::parse(text).expect_err(text).to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        let long = format!(
            "[[rule]]\naction = \"reject\"\nreason = \"{}\"",
            "x".repeat(149)
        );
        assert!(Policy::parse(&long).is_err());
    }

    #[test]
    fn the_file_is_followed_and_the_old_one_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("policy.toml");
        assert!(matches!(
            HostPolicy::from_file(&path),
            Err(PolicyError::File { .. })
        ));
        let mut time = SystemTime::UNIX_EPOCH;
        let mut write = |text: &str| {
            fs::write(&path, text).expect("room");
            time += std::time::Duration::from_secs(1);
            let file = fs::File::options().write(true).open(&path).expect("there");
            file.set_modified(time).expect("possible");
        };
        write("default = \"reject\"");
        let policy = HostPolicy::from_file(&path).expect("a policy");
        let judge = || policy.judge(0, &asker([10, 0, 0, 1], 1, b""));
        assert_eq!(judge(), rejected(REJECTED_BY_POLICY));
        write("default = \"accept\"");
        assert_eq!(judge(), Judgement::Approved);
        write("nonsense");
        assert_eq!(judge(), Judgement::Approved);
        fs::remove_file(&path).expect("there");
        assert_eq!(judge(), Judgement::Approved);
        write("[[rule]]\naction = \"reject\"\nreason = \"\"");
        assert_eq!(judge(), rejected(b""));
    }
}

//! The rules of a policy, and how they are written.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::Deserialize;
use thiserror::Error;

use super::{Asker, PolicyDirection, REJECTED_BY_POLICY};
use crate::cm::TransportKind;

/// Most bytes of a rule's reason: what every peer's CM passes on (InfiniBand's has 148).
const MAX_REASON: usize = 148;

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

/// What a rule, or the lack of one, does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
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
    direction: Option<String>,
    user: Option<u32>,
    from: Option<String>,
    ports: Option<Vec<PortText>>,
    identity: Option<String>,
    transport: Option<String>,
    rate: Option<u32>,
    reason: Option<String>,
}

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) action: Action,
    direction: PolicyDirection,
    user: Option<u32>,
    /// Address and mask.
    from: Option<(u32, u32)>,
    ports: Option<Vec<(u16, u16)>>,
    identity: Option<Vec<u8>>,
    transport: Option<TransportKind>,
    pub(super) rate: Option<u32>,
    pub(super) reason: Vec<u8>,
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
///
/// [[rule]]
/// action = "reject"
/// direction = "out"             # a client of a broker asks `from`; "listen": it listens on `ports`; "in" unless it says so
/// user = 65534                  # a client of this user's; in each direction
/// # "#)?;
/// # assert_eq!(policy.rules(), 3);
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
        let direction = match self.direction.as_deref() {
            None | Some("in") => PolicyDirection::In,
            Some("out") => PolicyDirection::Out,
            Some("listen") => PolicyDirection::Listen,
            Some(text) => return Err(wrong("direction", text, "\"in\", \"out\" or \"listen\"")),
        };
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
            direction,
            user: self.user,
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
        self.direction == asker.direction
            && self.user.is_none_or(|user| asker.user == Some(user))
            && self.from.is_none_or(in_network)
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

    /// What holds where no rule fits.
    pub(super) fn default_action(&self, direction: PolicyDirection) -> Action {
        match direction {
            PolicyDirection::In => self.default,
            PolicyDirection::Out | PolicyDirection::Listen => Action::Accept,
        }
    }

    /// The first rule that fits, and its number.
    pub(super) fn first_that_fits(&self, asker: &Asker<'_>) -> Option<(usize, &Rule)> {
        let mut rules = self.rules.iter().enumerate();
        rules.find(|(_, rule)| rule.fits(asker))
    }

    /// How many rules it has.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("[[rule]]\naction = \"accept\"\ndirection = \"up\"", "up"),
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
}

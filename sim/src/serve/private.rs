//! `sim[:key=value,...]`: a card for this process alone, served on a socket that nobody else knows.

use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

use super::port::{PortSpec, PortSpecError};
use super::{start, CardConfig, ServeConfig, ServeError, Served};
use crate::kind::CardKind;
use crate::link::LinkConfig;

/// What a device specification `sim[:...]` asks for, without the `sim:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateSpec {
    /// `card=`: rtl512, rtl256, rtl128 or model. Without it, the widest card of this build.
    pub card: CardKind,
    /// `port=`: what its port is joined to. Without it, nothing.
    pub port: PortSpec,
    /// `seed=`: decides every random choice.
    pub seed: u64,
    /// `capture=`: where the frames of its port go.
    pub capture: Option<PathBuf>,
}

/// A specification that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PrivateSpecError {
    /// There is no such key.
    #[error("`{0}` is none of card=, port=, seed=, capture=")]
    Key(String),
    /// No such card, or no number.
    #[error("`{0}`: {1}")]
    Value(String, String),
    /// No such port.
    #[error(transparent)]
    Port(#[from] PortSpecError),
}

impl Default for PrivateSpec {
    fn default() -> Self {
        Self {
            card: CardKind::widest(),
            port: PortSpec::None,
            seed: 1,
            capture: None,
        }
    }
}

impl FromStr for PrivateSpec {
    type Err = PrivateSpecError;

    fn from_str(text: &str) -> Result<Self, PrivateSpecError> {
        let mut spec = Self::default();
        for (key, value) in pairs(text)? {
            let wrong = |why: String| PrivateSpecError::Value(format!("{key}={value}"), why);
            match key {
                "card" => spec.card = value.parse().map_err(wrong)?,
                "port" => spec.port = value.parse()?,
                "seed" => spec.seed = value.parse().map_err(|_| wrong("not a number".into()))?,
                _ => spec.capture = Some(value.into()),
            }
        }
        Ok(spec)
    }
}

/// Keys and values. A value may have commas, as ports do: a part that does not begin with a key belongs to
/// the value before it.
fn pairs(text: &str) -> Result<Vec<(&str, String)>, PrivateSpecError> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let pair = part
            .split_once('=')
            .filter(|(key, _)| matches!(*key, "card" | "port" | "seed" | "capture"));
        match (pair, pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key, value.to_owned())),
            (None, Some(("port" | "capture", value))) => {
                value.push(',');
                value.push_str(part);
            }
            (None, _) => return Err(PrivateSpecError::Key(part.to_owned())),
        }
    }
    Ok(pairs)
}

/// Serves one card on a socket in a folder of its own, which goes with it. The socket is the first of
/// [`Served::sockets`].
pub fn private(spec: &PrivateSpec) -> Result<Served, ServeError> {
    let folder = tempfile::Builder::new()
        .prefix("weft-")
        .tempdir()
        .map_err(ServeError::Start)?;
    let mut served = start(&ServeConfig {
        cards: vec![CardConfig {
            kind: spec.card,
            port: spec.port.clone(),
            socket: folder.path().join("card.sock"),
            capture: spec.capture.clone(),
        }],
        seed: spec.seed,
        link: LinkConfig::default(),
    })?;
    served.folder = Some(folder);
    Ok(served)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_may_have_ports_with_commas() {
        assert_eq!("".parse(), Ok(PrivateSpec::default()));
        let spec: PrivateSpec = "card=model,port=dgram:/tmp/a,/tmp/b,seed=7"
            .parse()
            .unwrap();
        assert_eq!(
            (spec.card, spec.seed, spec.port.to_string().as_str()),
            (CardKind::Model, 7, "dgram:/tmp/a,/tmp/b")
        );
        for text in [
            "card",
            "card=no",
            "seed=x",
            "port=x",
            "color=red",
            "seed=1,2",
        ] {
            assert!(text.parse::<PrivateSpec>().is_err(), "{text}");
        }
    }
}

//! A policy that is asked: it counts, and follows its file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::rate::Rates;
use super::rules::Action;
use super::{Asker, Judgement, Policy, PolicyError, REJECTED_BUSY, REJECTED_BY_POLICY};
use crate::bounded;

/// The file of hosts that name none.
pub const POLICY_FILE: &str = "/etc/weft/policy.toml";
// Environment (programs): `WEFT_POLICY`: the host's policy for listeners (docs/cm.md#the-hosts-policy), or `off`. Without it:
// `/etc/weft/policy.toml`, if it is there.
/// The environment variable that names another one; `off`: none.
pub const POLICY_VARIABLE: &str = "WEFT_POLICY";

/// A policy at work: it counts, and follows its file. Clones are the same one.
#[derive(Clone)]
pub struct HostPolicy {
    inner: Arc<Mutex<AtWork>>,
}

struct AtWork {
    policy: Policy,
    /// The file, and when it was changed.
    file: Option<(PathBuf, Option<SystemTime>)>,
    rates: Rates,
    rejected: u64,
}

fn read(path: &Path) -> Result<Policy, PolicyError> {
    let text = bounded::read_to_string(path).map_err(|error| PolicyError::File {
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
                rates: Rates::default(),
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
                self.rates.clear();
            }
            Err(error) => tracing::error!(%error, "the policy stays as it was"),
        }
    }

    fn judge(&mut self, now: u64, asker: &Asker<'_>) -> Judgement {
        let Some((number, rule)) = self.policy.first_that_fits(asker) else {
            return match self.policy.default_action(asker.direction) {
                Action::Accept => Judgement::Approved,
                Action::Reject => Judgement::Rejected(REJECTED_BY_POLICY.to_vec()),
            };
        };
        match (rule.action, rule.rate) {
            (Action::Reject, _) => Judgement::Rejected(rule.reason.clone()),
            (Action::Accept, None) => Judgement::Approved,
            (Action::Accept, Some(rate)) => match self.rates.count(now, (number, asker.from), rate)
            {
                true => Judgement::Approved,
                false => Judgement::Rejected(REJECTED_BUSY.to_vec()),
            },
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
    use std::net::Ipv4Addr;

    use super::super::rate::{MAX_COUNTED, SECOND};
    use super::*;
    use crate::cm::{PolicyDirection, TransportKind};

    fn asker(from: [u8; 4], port: u16, private_data: &[u8]) -> Asker<'_> {
        Asker {
            direction: PolicyDirection::In,
            user: None,
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

    /// Rules of one direction say nothing of another, nor those of one user of others.
    #[test]
    fn directions_and_users_are_apart() {
        let policy = Policy::parse(
            r#"
            default = "reject"
            [[rule]]
            action = "reject"
            direction = "out"
            from = "10.0.9.0/24"
            user = 7
            [[rule]]
            action = "reject"
            direction = "listen"
            ports = ["1-4999"]
            "#,
        );
        let policy = HostPolicy::new(policy.expect("a policy"));
        let judge = |direction, from, port, user| {
            let user = Some(user);
            let asker = Asker {
                direction,
                user,
                ..asker(from, port, b"")
            };
            policy.judge(0, &asker) == Judgement::Approved
        };
        let zero = [0; 4];
        assert!(!judge(PolicyDirection::Out, [10, 0, 9, 1], 80, 7));
        assert!(judge(PolicyDirection::Out, [10, 0, 9, 1], 80, 8));
        assert!(judge(PolicyDirection::Out, [10, 0, 8, 1], 80, 7));
        assert!(!judge(PolicyDirection::Listen, zero, 4999, 8));
        assert!(judge(PolicyDirection::Listen, zero, 5000, 8));
        assert!(!judge(PolicyDirection::In, [10, 0, 8, 1], 5000, 8));
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

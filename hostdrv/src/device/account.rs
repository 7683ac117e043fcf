//! What clients have, counted: by client, by user, and in all. Whoever is to have more takes a [`Charge`], which gives back what it counts when it goes.
//!
//! ```text
//!   account of all ◄── account of a user ◄── account of a client ◄── Charge: one region, 4096 bytes ..
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use thiserror::Error;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Clients, and threads that end one.
    Clients,
    /// Queue pairs: flows of the card.
    QueuePairs,
    /// Shared receive queues.
    SharedQueues,
    /// Handles of XRC targets.
    Targets,
    /// XRC domains opened.
    Domains,
    /// Regions: STags of the card.
    Regions,
    /// Ports listened on.
    Ports,
    /// Connections, and requests that wait for an answer.
    Connections,
    /// Bytes of memory, of queues as well.
    Memory,
    /// Open files.
    Files,
}

const COUNT: usize = Resource::ALL.len();

impl Resource {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Clients,
        Self::QueuePairs,
        Self::SharedQueues,
        Self::Targets,
        Self::Domains,
        Self::Regions,
        Self::Ports,
        Self::Connections,
        Self::Memory,
        Self::Files,
    ];

    /// In messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clients => "clients",
            Self::QueuePairs => "queue pairs",
            Self::SharedQueues => "shared receive queues",
            Self::Targets => "XRC targets",
            Self::Domains => "XRC domains",
            Self::Regions => "regions",
            Self::Ports => "ports",
            Self::Connections => "connections",
            Self::Memory => "bytes of memory",
            Self::Files => "files",
        }
    }
}

/// How much an account may have of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota([u64; COUNT]);

impl Quota {
    /// As much as there is.
    pub const UNLIMITED: Self = Self([u64::MAX; COUNT]);

    /// The same, with so much of one thing at most.
    pub fn with(mut self, resource: Resource, most: u64) -> Self {
        self.0[resource as usize] = most;
        self
    }

    /// How much of one thing.
    pub fn of(&self, resource: Resource) -> u64 {
        self.0[resource as usize]
    }
}

/// There is no more of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{asked} more of the {what}: {whose} has {used} of at most {limit}", what = resource.name())]
pub struct Exhausted {
    /// Of what.
    pub resource: Resource,
    /// Whose account is full.
    pub whose: String,
    /// How much was asked for.
    pub asked: u64,
    /// How much it has.
    pub used: u64,
    /// How much it may have.
    pub limit: u64,
}

/// Somebody who has things.
#[derive(Debug)]
pub struct Account {
    whose: String,
    quota: Quota,
    used: [AtomicU64; COUNT],
    above: Option<Arc<Account>>,
}

/// What is counted of one thing, until this goes.
#[derive(Debug)]
#[must_use = "what is counted is given back when this is dropped"]
pub struct Charge {
    account: Arc<Account>,
    resource: Resource,
    amount: u64,
}

impl Account {
    /// An account; what it has the one above has as well.
    pub fn new(whose: impl Into<String>, quota: Quota, above: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self {
            whose: whose.into(),
            quota,
            used: Default::default(),
            above,
        })
    }

    /// How much it has.
    pub fn used(&self, resource: Resource) -> u64 {
        self.used[resource as usize].load(Ordering::Relaxed)
    }

    /// What it has of everything that it has something of.
    pub fn table(&self) -> Vec<(&'static str, u64)> {
        let all = Resource::ALL.map(|resource| (resource.name(), self.used(resource)));
        all.into_iter().filter(|(_, used)| *used > 0).collect()
    }

    /// Counts so much more, here and in all accounts above; or nothing anywhere.
    pub fn charge(self: &Arc<Self>, resource: Resource, amount: u64) -> Result<Charge, Exhausted> {
        let mut counted = Vec::new();
        let mut next = Some(self);
        while let Some(account) = next {
            let limit = account.quota.of(resource);
            let more = |used: u64| used.checked_add(amount).filter(|sum| *sum <= limit);
            let used = &account.used[resource as usize];
            if let Err(used) = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
                for account in counted {
                    Self::give_back(account, resource, amount);
                }
                return Err(Exhausted {
                    resource,
                    whose: account.whose.clone(),
                    asked: amount,
                    used,
                    limit,
                });
            }
            counted.push(account);
            next = account.above.as_ref();
        }
        Ok(Charge {
            account: self.clone(),
            resource,
            amount,
        })
    }

    fn give_back(account: &Arc<Self>, resource: Resource, amount: u64) {
        account.used[resource as usize].fetch_sub(amount, Ordering::Relaxed);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let accounts = std::iter::successors(Some(&self.account), |account| account.above.as_ref());
        for account in accounts {
            Account::give_back(account, self.resource, self.amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_account_refuses_none_has() {
        let most = |most| Quota::UNLIMITED.with(Resource::Regions, most);
        let all = Account::new("all", most(5), None);
        let user = Account::new("user 7", most(4), Some(all.clone()));
        let [one, two] =
            ["one", "two"].map(|whose| Account::new(whose, most(3), Some(user.clone())));
        let other = Account::new("other", most(9), Some(all.clone()));
        let three = one.charge(Resource::Regions, 3).expect("allowed");
        let refused = |account: &Arc<Account>, amount| {
            let refused = account.charge(Resource::Regions, amount).expect_err("full");
            (refused.whose.clone(), refused.used)
        };
        assert_eq!(refused(&one, 1), ("one".into(), 3));
        assert_eq!(refused(&two, 2), ("user 7".into(), 3));
        assert_eq!(refused(&other, 3), ("all".into(), 3));
        assert_eq!(refused(&other, u64::MAX), ("other".into(), 0));
        let used = [&all, &user, &one, &two, &other].map(|account| account.used(Resource::Regions));
        assert_eq!(used, [3, 3, 3, 0, 0]);
        let said = two
            .charge(Resource::Regions, 2)
            .expect_err("full")
            .to_string();
        assert_eq!(said, "2 more of the regions: user 7 has 3 of at most 4");
        drop(three);
        let both = (
            two.charge(Resource::Regions, 3),
            one.charge(Resource::Regions, 1),
        );
        assert!(both.0.is_ok() && both.1.is_ok());
        assert_eq!(all.table(), [("regions", 4)]);
        drop(both);
        assert_eq!(all.table(), []);
    }
}

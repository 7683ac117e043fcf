//! What clients may have, and what they have: each one, all of a user, all together.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use rustix::process::{getrlimit, Resource as Rlimit};
use weft_hostdrv::device::{Account, Device, Quota, Resource};

/// Files that a broker has beside those of its clients.
const OWN_FILES: u64 = 128;
/// Files of a client: socket, control rings, line, and two of each queue pair or shared receive queue; one of each region.
const CLIENT_FILES: u64 = 8;

/// What clients may have at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Clients at a time; one more is turned away.
    pub clients: usize,
    /// Queue pairs of a client; likewise shared receive queues, XRC domains and targets.
    pub queue_pairs: usize,
    /// Regions of a client, and pieces of memory that it asked for.
    pub regions: usize,
    /// Ports of a client.
    pub ports: usize,
    /// Bytes of memory of a client, its queues as well.
    pub memory: u64,
    /// Per cent of all that one user's clients may have: of the clients, and of what the card has.
    pub user_share: u64,
    /// Clients may give files of memory of their own. Then the broker takes descriptors, and its process has pages that it has not made.
    pub trusted: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 32,
            queue_pairs: 16,
            regions: 256,
            ports: 16,
            memory: 64 << 20,
            user_share: 50,
            trusted: false,
        }
    }
}

impl Limits {
    fn of_client(&self) -> Quota {
        let [queue_pairs, regions] = [self.queue_pairs, self.regions].map(|most| most as u64);
        let connections = queue_pairs + 64;
        Quota::UNLIMITED
            .with(Resource::QueuePairs, queue_pairs)
            .with(Resource::SharedQueues, queue_pairs)
            .with(Resource::Targets, queue_pairs)
            .with(Resource::Domains, queue_pairs)
            .with(Resource::Regions, regions)
            .with(Resource::Ports, self.ports as u64)
            .with(Resource::Connections, connections)
            .with(Resource::Memory, self.memory)
            .with(Resource::Files, CLIENT_FILES + 4 * queue_pairs + regions)
    }

    fn of_all(&self, device: &Device) -> Quota {
        let caps = device.capabilities();
        let clients = self.clients as u64;
        let files = getrlimit(Rlimit::Nofile).current.unwrap_or(u64::MAX);
        Quota::UNLIMITED
            .with(Resource::Clients, clients)
            .with(Resource::QueuePairs, caps.flows.into())
            .with(Resource::Targets, caps.flows.into())
            .with(Resource::Connections, 2 * u64::from(caps.flows))
            .with(Resource::Regions, caps.stags.into())
            .with(Resource::Memory, self.memory.saturating_mul(clients))
            .with(Resource::Files, files.saturating_sub(OWN_FILES))
    }
}

/// The accounts of a broker.
pub(super) struct Accounts {
    limits: Limits,
    all_quota: Quota,
    all: Arc<Account>,
    users: BTreeMap<u32, Weak<Account>>,
}

impl Accounts {
    pub(super) fn new(device: &Device, limits: Limits) -> Self {
        let all_quota = limits.of_all(device);
        Self {
            limits,
            all_quota,
            all: Account::new("the card", all_quota, None),
            users: BTreeMap::new(),
        }
    }

    /// What all clients have.
    pub(super) fn all(&self) -> &Arc<Account> {
        &self.all
    }

    fn of_user(&self) -> Quota {
        let share = |quota: Quota, resource| {
            let whole = u128::from(self.all_quota.of(resource));
            let part = whole * u128::from(self.limits.user_share) / 100;
            let part = u64::try_from(part).unwrap_or(u64::MAX);
            // At least what one client may have.
            let own = Some(self.limits.of_client().of(resource));
            let own = own.filter(|most| *most != u64::MAX).unwrap_or(1);
            quota.with(resource, part.max(own))
        };
        // What is nowhere limited is not here, either.
        let limited = |resource: &Resource| self.all_quota.of(*resource) != u64::MAX;
        Resource::ALL
            .into_iter()
            .filter(limited)
            .fold(Quota::UNLIMITED, share)
    }

    /// The account of a new client of a user.
    pub(super) fn client(&mut self, user: u32) -> Arc<Account> {
        self.users.retain(|_, account| account.strong_count() > 0);
        let there = self.users.get(&user).and_then(Weak::upgrade);
        let of_user = there.unwrap_or_else(|| {
            let above = Some(self.all.clone());
            Account::new(format!("user {user}"), self.of_user(), above)
        });
        self.users.insert(user, Arc::downgrade(&of_user));
        Account::new("the client", self.limits.of_client(), Some(of_user))
    }
}

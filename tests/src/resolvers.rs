//! Resolvers of hosts, each with its table and socket, and devices that ask them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use weft_hostdrv::cm::{AddrHints, AddrInfo, CmError};
use weft_tools::resolver::{Resolver, ResolverConfig, ResolverError, ResolverReport};

use crate::bench::Bench;
use crate::ends::LIMIT;

/// A host's files.
pub struct Files {
    _folder: tempfile::TempDir,
    /// The cluster's table.
    pub table: PathBuf,
    /// Where the resolver is asked.
    pub socket: PathBuf,
}

impl Files {
    /// With this table.
    pub fn new(table: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cluster.toml");
        std::fs::write(&path, table).expect("written");
        Self {
            table: path,
            socket: folder.path().join("resolver.sock"),
            _folder: folder,
        }
    }

    /// A resolver of them.
    pub fn config(&self) -> ResolverConfig {
        ResolverConfig::new(&self.socket).table(&self.table)
    }

    /// Which reads its table and listens.
    pub fn start(&self) -> Result<Resolver, ResolverError> {
        Resolver::start(self.config())
    }

    /// A resolver answers while this is done; what it counted.
    pub fn served(&self, work: impl FnOnce()) -> ResolverReport {
        served(&self.start().expect("it starts"), work)
    }

    /// Asked here.
    pub fn hints(&self) -> AddrHints {
        hints(&self.socket)
    }
}

/// It answers while this is done; what it counted.
pub fn served(resolver: &Resolver, work: impl FnOnce()) -> ResolverReport {
    /// Also if the work panics.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| resolver.run(&stop).expect("it runs"));
        {
            let _stop = Stop(&stop);
            work();
        }
        running.join().expect("no panic")
    })
}

/// Asked at this socket, for a node that is no name.
pub fn hints(socket: &Path) -> AddrHints {
    AddrHints {
        resolver: Some(socket.to_owned()),
        numeric: true,
        ..AddrHints::default()
    }
}

/// What that device hears of this node.
pub fn ask(
    bench: &Bench,
    device: usize,
    node: &str,
    service: &str,
    hints: &AddrHints,
) -> Result<AddrInfo, CmError> {
    let device = bench.device(device);
    let mut query = device.query_addr_info(node, service, hints)?;
    let found = bench.run_until("an answer", LIMIT, || query.poll().transpose());
    let mut found = found.expect("it comes")?;
    assert_eq!(found.len(), 1, "{found:?}");
    Ok(found.remove(0))
}

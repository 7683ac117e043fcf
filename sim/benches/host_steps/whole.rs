//! Whole loads: what simulated hosts are charged, beside what callgrind counts of the same run.

use weft_hostdrv::Rung;
use weft_sim::host::HostConfig;
use weft_sim::kind::CardKind;
use weft_sim::partitions::{self, workload, AtRung, Counter, Name, Plan};

use crate::{row, OFF};

/// The workloads.
const WORKLOADS: [&str; 3] = ["book", "echo", "churn"];

fn plan(counter: Option<Counter>) -> Result<Plan, String> {
    let mut loads = Vec::new();
    for name in WORKLOADS {
        loads.extend(workload::read(name).map_err(|error| error.to_string())?);
    }
    Ok(Plan {
        kind: CardKind::Model,
        seed: 1,
        seeds: 1,
        mtu: 1500,
        host: HostConfig::default(),
        loads,
        rungs: vec![Rung::Host, Rung::Crc, Rung::Placement],
        to_be_counted: counter.is_none(),
        counter,
    })
}

fn name() -> Name {
    Name {
        version: String::new(),
        command: String::new(),
    }
}

fn after<'a>(args: &'a [String], flag: &str) -> Option<&'a String> {
    let at = args.iter().position(|arg| arg == flag)?;
    args.get(at + 1)
}

/// Runs a load at a rung, where a profiler counts.
pub fn counted(args: &[String]) -> Result<(), String> {
    let mut plan = plan(None)?;
    let load = after(args, "--load").ok_or("no load")?;
    plan.loads.retain(|one| one.name == *load);
    let rung = after(args, "--rung").ok_or("no rung")?;
    plan.rungs.retain(|one| one.name() == rung);
    let measured = partitions::run(name(), &plan, |_, _| {});
    let measured = measured.map_err(|error| error.to_string())?;
    println!("{}", serde_json::json!(measured));
    Ok(())
}

/// Instructions of both hosts for a message: counted, and charged.
fn both(at: &AtRung) -> Option<[f64; 2]> {
    let layers = &at.instructions.as_ref()?.layers;
    let hosts = at.figures.hosts.as_ref()?;
    let charged = hosts.iter().map(|host| host.instructions_per_message).sum();
    Some([layers.last()?.per_message, charged])
}

/// Prints the table; whether a load is off by more than it may be.
pub fn loads() -> Result<bool, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let command = vec![own.into()];
    let plan = plan(Some(Counter { command }))?;
    let measured = partitions::run(name(), &plan, |_, _| {});
    let measured = measured.map_err(|error| error.to_string())?;
    if let Some(why) = measured.not_counted {
        return Err(why);
    }
    let mut any = false;
    println!("\nwhole loads: for a message, both hosts");
    for measured in &measured.loads {
        for at in &measured.rungs {
            let both = both(at).ok_or("nothing was counted")?;
            any |= row(&measured.load.name, at.rung, both, OFF);
        }
    }
    Ok(any)
}

//! One RDMA Write through every layer, between two simulated cards. What it prints is what
//! `docs/life-of-a-write.md` quotes:
//!
//! ```text
//! cargo run -p weft-tests --example life_of_a_write                                       # print
//! cargo run -p weft-tests --example life_of_a_write -- --update docs/life-of-a-write.md   # renew the page
//! ```

mod diagram;
mod life;
mod page;
mod record;
mod show;
mod waves;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut page = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--update", Some(path)) => page = Some(PathBuf::from(path)),
            _ => return Err("the only option is --update PAGE".into()),
        }
    }
    let sections = life::live()?;
    match page {
        Some(path) => page::update(&path, &sections)?,
        None => page::print(&sections),
    }
    Ok(())
}

//! The sections of the output, and the page that quotes them.

use std::error::Error;
use std::path::Path;

/// A part of the output.
pub struct Section {
    /// Its name: in the page, the block after the line `<!-- output NAME -->`.
    pub name: &'static str,
    /// What it says.
    pub text: String,
}

/// Prints them all.
pub fn print(sections: &[Section]) {
    for section in sections {
        println!("== {} ==\n\n{}\n", section.name, section.text.trim_end());
    }
}

/// Puts them into the page, each into its block.
pub fn update(path: &Path, sections: &[Section]) -> Result<(), Box<dyn Error>> {
    let mut page = std::fs::read_to_string(path)?;
    for section in sections {
        let name = section.name;
        let marker = format!("<!-- output {name} -->\n```text\n");
        let Some(start) = page.find(&marker).map(|at| at + marker.len()) else {
            eprintln!("{}: nothing quotes `{name}`", path.display());
            continue;
        };
        let Some(end) = page[start..].find("```").map(|at| start + at) else {
            return Err(format!("{}: the block `{name}` does not end", path.display()).into());
        };
        page.replace_range(start..end, &format!("{}\n", section.text.trim_end()));
    }
    std::fs::write(path, page)?;
    Ok(())
}

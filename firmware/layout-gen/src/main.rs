//! Writes the generated files. Run it after a change of `rtl/pkg/card.toml`.

use weft_layout_gen::{outputs, source_root, Description};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = source_root();
    let description = Description::read(&root.join("rtl/pkg/card.toml"))?;
    for (path, contents) in outputs(&description) {
        std::fs::write(root.join(path), contents)?;
        println!("wrote {path}");
    }
    Ok(())
}

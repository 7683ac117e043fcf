//! The guide shows the example as it is.

#[test]
fn the_guide_has_the_example() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(folder.join("../../docs/testbench.md")).unwrap();
    let example = std::fs::read_to_string(folder.join("examples/first.rs")).unwrap();
    assert!(
        guide.contains(&example),
        "copy examples/first.rs into docs/testbench.md"
    );
}

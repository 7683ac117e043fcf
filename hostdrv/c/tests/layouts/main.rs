//! The structures of the bindings are where a C compiler has them.

mod table;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use table::LAYOUTS;

/// A program that prints a line for each structure and each field.
fn program() -> String {
    let mut text = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\nint main(void) {\n",
    );
    for (name, _, fields) in LAYOUTS {
        writeln!(text, "printf(\"{name} %zu\\n\", sizeof(struct {name}));").expect("text");
        for (field, _) in *fields {
            writeln!(
                text,
                "printf(\"{name}.{field} %zu\\n\", offsetof(struct {name}, {field}));"
            )
            .expect("text");
        }
    }
    text + "return 0; }\n"
}

/// As the bindings have it.
fn ours() -> String {
    let mut text = String::new();
    for (name, size, fields) in LAYOUTS {
        writeln!(text, "{name} {size}").expect("text");
        for (field, offset) in *fields {
            writeln!(text, "{name}.{field} {offset}").expect("text");
        }
    }
    text
}

/// What the lines of `other` say otherwise.
fn differences(other: &str) -> Vec<String> {
    let ours = ours();
    let pairs = ours.lines().zip(other.lines());
    let differ = pairs.filter(|(ours, other)| ours != other);
    differ
        .map(|(ours, other)| format!("{ours}, and in C {other}"))
        .collect()
}

#[test]
#[ignore = "wants the headers of Debian's rdma-core: make c-programs"]
fn each_structure_is_as_c_has_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::temp_dir().join(format!("weft-layouts-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let (source, binary) = (folder.join("layouts.c"), folder.join("layouts"));
    std::fs::write(&source, program()).expect("a file");
    // Environment (tests): `WEFT_C_HEADERS`: layouts of the C interface: other headers of rdma-core. Without it: Debian's.
    // Another version's headers, if the environment names them.
    // Environment (tests): `WEFT_C_HEADERS`: layouts of the C interface: headers of another version. Without it: those that setup fetches.
    let include = std::env::var_os("WEFT_C_HEADERS")
        .map_or(root.join("target/c-programs/usr/include"), Into::into);
    let made = Command::new("cc")
        .arg("-I")
        .arg(include)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .status();
    assert!(made.expect("a C compiler").success());
    let output = Command::new(&binary).output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    std::fs::remove_dir_all(&folder).expect("the folder");
    assert_eq!(said.lines().count(), ours().lines().count());
    let differ = differences(&said);
    assert!(differ.is_empty(), "{differ:#?}");
    assert!(LAYOUTS.len() > 40, "{}", LAYOUTS.len());
}

/// Version 65 (July 2026): every field is where it was, though some structures have grown: `verbs_context` at its front, as it is found by its last
/// field, the others at their end.
#[test]
fn a_later_version_has_every_field_where_it_was() {
    let later = include_str!("version_65.txt");
    let value = |line: &str| -> (String, usize) {
        let (name, number) = line.split_once(' ').expect("a name and a number");
        (name.to_owned(), number.parse().expect("a number"))
    };
    assert_eq!(later.lines().count(), ours().lines().count());
    let mut grown = 0;
    for (ours, later) in ours().lines().zip(later.lines()) {
        let ((name, old), (same, new)) = (value(ours), value(later));
        assert_eq!(name, same);
        match (name.contains('.'), name.starts_with("verbs_context")) {
            (false, _) => grown = new.checked_sub(old).expect("it has not shrunk"),
            (true, false) => assert_eq!(old, new, "{name}"),
            (true, true) => assert_eq!(old + grown, new, "{name}"),
        }
    }
}

//! Whether a text of SystemVerilog means the same in brackets, where it stands: so it is planted, and without a fault nothing may change.

/// Binary operators, from those that bind least (IEEE 1800-2017 table 11-2). `<=` stands for an assignment as well, and is no operator before a text.
const OPERATORS: [&[&str]; 11] = [
    &["->"],
    &["?"],
    &["||"],
    &["&&"],
    &["|"],
    &["^", "~^"],
    &["&"],
    &["==", "!=", "===", "!=="],
    &["<=", ">=", "<", ">", "inside"],
    &["<<", ">>", "<<<", ">>>"],
    &["+", "-"],
];
const PRODUCTS: [&str; 3] = ["*", "/", "%"];
/// Behind these it makes no difference where the brackets are.
const ASSOCIATIVE: [&str; 6] = ["||", "&&", "|", "^", "&", "+"];
const UNARY: [&str; 8] = ["!", "~", "-", "&", "|", "^", "~&", "~|"];

fn level(token: &str) -> Option<usize> {
    let product = PRODUCTS.contains(&token).then_some(OPERATORS.len());
    let of = OPERATORS.iter().position(|level| level.contains(&token));
    of.or(product)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_$'.".contains(c)
}

fn tokens(mut text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else {
            return found;
        };
        let long = OPERATORS
            .iter()
            .flat_map(|level| level.iter())
            .chain(&UNARY)
            .chain(&["+:", "-:"])
            .filter(|operator| !is_word(first) && text.starts_with(**operator))
            .map(|operator| operator.len())
            .max();
        let word = || text.find(|c| !is_word(c)).unwrap_or(text.len());
        let length = match (is_word(first), long) {
            (true, _) => word(),
            (false, Some(length)) => length,
            (false, None) => first.len_utf8(),
        };
        found.push(&text[..length]);
        text = &text[length..];
    }
}

/// Could an operand end with this?
fn ends_operand(token: Option<&&str>) -> bool {
    token.is_some_and(|token| {
        level(token).is_none() && token.ends_with(|c| is_word(c) || ")]}".contains(c))
    })
}

/// The level of what binds least outside of its brackets.
fn weakest(text: &str) -> Option<usize> {
    let (mut depth, mut weakest, mut before) = (0, None, None);
    for token in tokens(text) {
        match token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ if depth == 0 && ends_operand(before.as_ref()) => {
                weakest = weakest.into_iter().chain(level(token)).min();
            }
            _ => {}
        }
        before = Some(token);
    }
    weakest
}

/// Whether `find`, in the middle of these, is an operand of its own.
pub fn may_stand_around(before: &str, find: &str, after: &str) -> bool {
    let Some(weakest) = weakest(find) else {
        return true;
    };
    let line = tokens(before.rsplit("\n\n").next().unwrap_or(before));
    let (last, rest) = line
        .split_last()
        .map_or((None, &[][..]), |(last, rest)| (Some(*last), rest));
    let binary = ends_operand(rest.last());
    let left = last.is_none_or(|last| match level(last) {
        _ if !binary && UNARY.contains(&last) => false,
        _ if matches!(last, "?" | "<=") => true,
        Some(level) => level < weakest || level == weakest && ASSOCIATIVE.contains(&last),
        None => true,
    });
    let right = tokens(after.lines().next().unwrap_or_default())
        .first()
        .is_none_or(|next| {
            level(next).is_none_or(|level| level < weakest || level == weakest && *next != "?")
        });
    left && right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_binds_less_than_its_neighbours_is_no_operand() {
        let may = |text: &str| {
            let [before, find, after] = text.split('`').collect::<Vec<_>>().try_into().unwrap();
            may_stand_around(before, find, after)
        };
        for text in [
            "x = `a || b ? c : d`;",
            "x = a || `b` ? c : d;",
            "x = a && `b && c`;",
            "x <= `a == b && c`;",
            "x = a ? `b || c` : d;",
            "x = a ? b : `c ? d : e`;",
            "f(a, `b + 1'b1`)",
            "x = a || `(b ? c : d)`;",
            "x = !`done[3:0]` && a;",
            "x = `a` - b;",
            "x = `a - b` - c;",
        ] {
            assert!(may(text), "{text}");
        }
        for text in [
            "x = a || `b ? c : d`;",
            "x = a == `b && c`;",
            "x = `a || b` && c;",
            "x = `a ? b : c` ? d : e;",
            "x = !`a && b`;",
            "x = a - `b - c`;",
            "x = `a || b` == c;",
        ] {
            assert!(!may(text), "{text}");
        }
    }
}

//! Tables of Markdown: those of the book, and those that programs print.

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

/// All tables of a text. A blank cell of the first `key` columns says the same as the one above it.
pub fn tables(text: &str, key: usize) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let row = line
            .strip_prefix('|')
            .and_then(|line| line.strip_suffix('|'));
        let Some(row) = row else {
            inside = false;
            continue;
        };
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().to_owned()).collect();
        if cells
            .iter()
            .all(|cell| cell.chars().all(|c| c == '-') && !cell.is_empty())
        {
            continue;
        }
        match tables.last_mut().filter(|_| inside) {
            Some(table) => table.add(cells, key),
            None => tables.push(Table {
                head: cells,
                rows: Vec::new(),
            }),
        }
        inside = true;
    }
    tables
}

impl Table {
    fn add(&mut self, mut cells: Vec<String>, key: usize) {
        if let Some(above) = self.rows.last() {
            for (cell, above) in cells.iter_mut().zip(above).take(key) {
                if cell.is_empty() {
                    cell.clone_from(above);
                }
            }
        }
        self.rows.push(cells);
    }

    /// As CSV.
    ///
    /// # Errors
    /// What could not be written.
    pub fn csv(&self) -> Result<String, String> {
        let mut out = csv::WriterBuilder::new()
            .flexible(true)
            .from_writer(Vec::new());
        for row in std::iter::once(&self.head).chain(&self.rows) {
            out.write_record(row).map_err(|error| error.to_string())?;
        }
        let bytes = out.into_inner().map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

/// The table between a page's marks.
pub fn between(page: &str, mark: &str, key: usize) -> Option<Table> {
    let (_, from) = page.split_once(&format!("<!-- {mark} -->\n"))?;
    let (text, _) = from.split_once(&format!("<!-- end of {mark} -->"))?;
    tables(text, key).into_iter().next()
}

/// A cell that is a number, or one with its interval: `2.20 (2.13 to 2.25)`.
pub fn value(cell: &str) -> Option<(f64, Option<(f64, f64)>)> {
    let Some((median, rest)) = cell.split_once(" (") else {
        return Some((cell.parse().ok()?, None));
    };
    let (low, high) = rest.strip_suffix(')')?.split_once(" to ")?;
    let interval = (low.parse().ok()?, high.parse().ok()?);
    Some((median.parse().ok()?, Some(interval)))
}

/// A cell's numbers, and what is between them.
fn pieces(cell: &str) -> (Vec<f64>, Vec<&str>) {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    let mut rest = cell;
    while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[from..]
            .find(|c| !is_digit(c))
            .map_or(rest.len(), |n| from + n);
        texts.push(&rest[..from]);
        match rest[from..end].parse() {
            Ok(number) => numbers.push(number),
            Err(_) => texts.push(&rest[from..end]),
        }
        rest = &rest[end..];
    }
    texts.push(rest);
    (numbers, texts)
}

/// Whether a measured cell is as the book's, whose interval is the expected one, with `within` of it more.
pub fn agrees(book: &str, measured: &str, within: f64) -> bool {
    if book == measured || within == 0.0 {
        return book == measured;
    }
    let near = |low: f64, high: f64, found: f64| {
        let room = within * low.abs().max(high.abs());
        low - room <= found && found <= high + room
    };
    if let (Some((median, interval)), Some((found, _))) = (value(book), value(measured)) {
        let (low, high) = interval.unwrap_or((median, median));
        return near(low, high, found);
    }
    let ((wanted, around), (found, text)) = (pieces(book), pieces(measured));
    let pairs = || wanted.iter().zip(&found);
    around == text && wanted.len() == found.len() && pairs().all(|(w, f)| near(*w, *w, *f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_keys_are_those_above() {
        let text =
            "| a | b | c |\n|---|---|---|\n| x | 1 | 2 |\n| | 3 | |\n\n| d |\n|---|\n| y |\n";
        let found = tables(text, 1);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].rows[1], ["x", "3", ""]);
        assert_eq!(found[1].head, ["d"]);
        assert_eq!(found[0].csv().unwrap(), "a,b,c\nx,1,2\nx,3,\n");
        let page = format!("words\n<!-- m -->\n{text}<!-- end of m -->\n");
        assert_eq!(between(&page, "m", 1).as_ref(), found.first());
        assert_eq!(between(&page, "n", 1), None);
    }

    #[test]
    fn a_cell_agrees_within_what_is_allowed() {
        for (book, measured, within) in [
            ("10.0", "10.4", 0.05),
            ("2.20 (2.13 to 2.25)", "2.14 (1 to 3)", 0.001),
            ("485, 1.1 MB", "490, 1.1 MB", 0.02),
            ("-", "-", 0.1),
            ("rev 2", "rev 2", 0.0),
        ] {
            assert!(agrees(book, measured, within), "{book} {measured}");
        }
        for (book, measured, within) in [
            ("10.0", "10.6", 0.05),
            ("10.0", "-", 0.05),
            ("2.20 (2.13 to 2.25)", "2.10 (2.0 to 2.3)", 0.001),
            ("485, 1.1 MB", "485, 1.1 KB", 0.02),
            ("1 MB", "1, 2 MB", 0.02),
            ("rev 2", "rev 1", 0.0),
            ("1", "NaN", 0.5),
        ] {
            assert!(!agrees(book, measured, within), "{book} {measured}");
        }
    }
}

//! A page of figures and tables: one file, without scripts, that says what made it.

use std::fmt::Write;

use super::Figure;

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:74em;margin:2em auto;padding:0 1em;color:#223}\
table{border-collapse:collapse;margin:.6em 0 1.4em}td,th{padding:.15em .8em;text-align:right;white-space:nowrap}\
td:first-child,th:first-child,caption{text-align:left}caption{font-weight:bold}tr{border-bottom:1px solid #dde}\
.figures{display:flex;flex-wrap:wrap;gap:1em}.figures svg{max-width:100%;height:auto}.wide{overflow-x:auto}";

/// What makes an SVG a document of its own; inside a page it is none.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// A page that is being written.
#[derive(Clone, Debug)]
pub struct Page {
    out: String,
}

/// A table: the names of its columns, and its rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Above it.
    pub caption: String,
    /// Of each column.
    pub head: Vec<String>,
    /// Cells in the order of the columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// One without rows.
    pub fn new(caption: impl Into<String>, head: &[&str]) -> Self {
        Self {
            caption: caption.into(),
            head: head.iter().map(|name| (*name).to_owned()).collect(),
            rows: Vec::new(),
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

impl Page {
    /// A page with its title. `source` is what made it: command, seeds, version.
    pub fn new(title: &str, source: &str) -> Self {
        let (title, source) = (escaped(title), escaped(source));
        Self {
            out: format!(
                "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
                 <title>{title}</title><style>{STYLE}</style>\n<h1>{title}</h1>\n<p><code>{source}</code></p>\n"
            ),
        }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        self.add(&format!("<h2>{}</h2>", escaped(text)));
    }

    /// A paragraph; nothing, if the text is empty.
    pub fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.add(&format!("<p>{}</p>", escaped(text)));
        }
    }

    /// Figures, as many beside each other as there is room for.
    ///
    /// # Errors
    /// What could not be drawn.
    pub fn figures(&mut self, figures: &[Figure]) -> Result<(), String> {
        if figures.is_empty() {
            return Ok(());
        }
        self.add("<div class=figures>");
        for figure in figures {
            let svg = figure.svg()?.replacen(NAMESPACE, "", 1);
            self.add(&svg);
        }
        self.add("</div>");
        Ok(())
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        self.add("<div class=wide><table>");
        if !table.caption.is_empty() {
            self.add(&format!("<caption>{}</caption>", escaped(&table.caption)));
        }
        self.row("th", &table.head);
        for row in &table.rows {
            self.row("td", row);
        }
        self.add("</table></div>");
    }

    /// The page as HTML.
    pub fn html(self) -> String {
        self.out
    }

    fn row(&mut self, kind: &str, cells: &[String]) {
        let mut row = "<tr>".to_owned();
        for cell in cells {
            // Writing to a string does not fail.
            let _ = write!(row, "<{kind}>{}", escaped(cell));
        }
        self.add(&row);
    }

    fn add(&mut self, text: &str) {
        self.out += text;
        self.out.push('\n');
    }
}

/// What has figures and tables, and so a page.
pub trait Draws {
    /// Of the page.
    fn title(&self) -> String;
    /// What to know of all of it.
    fn about(&self) -> String;
    /// The figures. `source` is what they say of the run that made them.
    fn figures(&self, source: &str) -> Vec<Figure>;
    /// The tables.
    fn tables(&self) -> Vec<Table>;

    /// The page.
    ///
    /// # Errors
    /// A figure that could not be drawn.
    fn page(&self, source: &str) -> Result<String, String> {
        let mut page = Page::new(&self.title(), source);
        page.paragraph(&self.about());
        page.figures(&self.figures(source))?;
        for table in self.tables() {
            page.table(&table);
        }
        Ok(page.html())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Point, Series};
    use super::*;

    #[test]
    fn a_page_stands_alone_and_says_what_made_it() {
        let series = Series {
            name: "a < b".to_owned(),
            points: vec![Point {
                interval: Some((1.0, 3.0)),
                ..Point::new(1.0, 2.0)
            }],
        };
        let figure = Figure {
            title: "One".to_owned(),
            x: Axis::linear("load", ""),
            series: vec![series],
            ..Figure::default()
        };
        let mut page = Page::new("T & U", "weft perf --seed 7");
        page.figures(&[figure.clone(), figure]).unwrap();
        let mut table = Table::new("", &["a", "b"]);
        table.rows.push(vec!["<1".to_owned(), "2".to_owned()]);
        page.table(&table);
        let html = page.html();
        assert_eq!(html.matches("<svg").count(), 2);
        for part in ["T &amp; U", "--seed 7", "<tr><td>&lt;1<td>2", "a &lt; b"] {
            assert!(html.contains(part), "{part}");
        }
        for other in ["http", "<script", "src="] {
            assert!(!html.contains(other), "{other}");
        }
    }
}

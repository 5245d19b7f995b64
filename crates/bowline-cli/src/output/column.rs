//! Columns of lists, aligned by their widest cell.

use std::fmt::Display;

/// The space between two columns.
const GAP: usize = 2;

/// A column of a list, followed by another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    width: usize,
}

impl Column {
    /// Creates a column that is as wide as the widest of these cells.
    pub(crate) fn of<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Self {
        let widths = cells.into_iter().map(|cell| width(cell.as_ref()));
        Self {
            width: widths.max().unwrap_or_default(),
        }
    }

    /// Limits the width. Longer cells push what follows them aside.
    pub(crate) fn max_width(self, max: usize) -> Self {
        Self {
            width: self.width.min(max),
        }
    }

    /// Returns where the next column begins.
    pub(crate) fn end(self) -> usize {
        self.width + GAP
    }

    /// Returns a cell with the space after it.
    pub(crate) fn cell(self, text: &str) -> String {
        self.styled_cell(text, text)
    }

    /// Returns a cell with the space after it. `styled` is the text with colours, which
    /// take no space.
    pub(crate) fn styled_cell(self, text: &str, styled: impl Display) -> String {
        let padding = self.width.saturating_sub(width(text)) + GAP;
        format!("{styled}{:padding$}", "")
    }
}

/// The width of a text in a terminal, in characters. Its length in bytes is larger for
/// everything that is not ASCII.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_aligned() {
        let names = ["é", "two", "three"];
        let column = Column::of(names);
        let lines = names.map(|name| format!("{}|", column.cell(name)));
        assert_eq!(lines, ["é      |", "two    |", "three  |"]);
        assert_eq!(column.end(), 7);
    }

    #[test]
    fn colours_take_no_space() {
        let column = Column::of(["ab"]);
        assert_eq!(column.styled_cell("a", "<a>"), "<a>   ");
    }

    #[test]
    fn a_long_cell_makes_only_its_own_line_longer() {
        let column = Column::of(["a", "abcdef"]).max_width(3);
        assert_eq!(column.cell("a"), "a    ");
        assert_eq!(column.cell("abcdef"), "abcdef  ");
    }
}

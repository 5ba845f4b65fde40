//! Text whose user-supplied parts are known, and the marks that carry this knowledge through a
//! render.
//!
//! Inside the template engine a user's text stands between two private-use characters that occur
//! nowhere else in the render. String methods and filters see the text without them ([`Text`]) and
//! put them back around what is left of the user's part, so that trimming, splitting and searching
//! give what they would give without marks.

use std::ops::Range;

/// The two characters around a user's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    open: char,
    close: char,
}

impl Marks {
    /// Marks that occur in none of the texts; `None` when they use all private-use characters.
    pub(crate) fn absent_from<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Marks> {
        let mut used = std::collections::HashSet::new();
        for text in texts {
            // Private-use characters begin with one of these bytes in UTF-8; most texts have none.
            if text.bytes().any(|byte| matches!(byte, 0xee | 0xef | 0xf3 | 0xf4)) {
                used.extend(text.chars().filter(|c| is_private(*c)));
            }
        }
        let mut free = ('\u{e000}'..='\u{f8ff}')
            .chain('\u{f0000}'..='\u{ffffd}')
            .chain('\u{100000}'..='\u{10fffd}')
            .filter(|c| !used.contains(c));
        Some(Marks { open: free.next()?, close: free.next()? })
    }

    /// Whether `c` is one of the two.
    pub(crate) fn contain(self, c: char) -> bool {
        c == self.open || c == self.close
    }

    fn occur_in(self, text: &str) -> bool {
        text.contains(self.open) || text.contains(self.close)
    }

    /// `text` with marks around it.
    pub(crate) fn around_all(self, text: &str) -> String {
        self.around(text, std::slice::from_ref(&(0..text.len())))
    }

    /// `text` with marks around each of `ranges`, which are sorted and disjoint.
    pub(crate) fn around(self, text: &str, ranges: &[Range<usize>]) -> String {
        let mut out = String::with_capacity(text.len() + 8 * ranges.len());
        let mut at = 0;
        for range in ranges {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push(self.open);
            out.push_str(text.get(range.clone()).unwrap_or_default());
            out.push(self.close);
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}')
}

/// Text without marks, and which byte ranges of it are the user's (sorted, disjoint, not empty).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) plain: String,
    pub(crate) user: Vec<Range<usize>>,
    /// Whether a mark has lost its partner, so that `user` may be wrong.
    pub(crate) torn: bool,
}

impl Text {
    pub(crate) fn parse(text: &str, marks: Marks) -> Text {
        if !marks.occur_in(text) {
            return Text { plain: text.to_owned(), ..Text::default() };
        }
        let mut out = Text { plain: String::with_capacity(text.len()), ..Text::default() };
        let (mut depth, mut start) = (0_usize, 0);
        for c in text.chars() {
            if c == marks.open {
                if depth == 0 {
                    start = out.plain.len();
                }
                depth += 1;
            } else if c == marks.close {
                out.torn |= depth == 0;
                if depth == 1 {
                    out.claim(start..out.plain.len());
                }
                depth = depth.saturating_sub(1);
            } else {
                out.plain.push(c);
            }
        }
        if depth > 0 {
            out.torn = true;
            out.claim(start..out.plain.len());
        }
        out
    }

    /// Adds a range of the user's, joining it to the last where they touch.
    fn claim(&mut self, range: Range<usize>) {
        match self.user.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.user.push(range),
        }
    }

    /// A part of this text with its marks.
    pub(crate) fn slice(&self, range: Range<usize>) -> Text {
        let mut out = Text {
            plain: self.plain.get(range.clone()).unwrap_or_default().to_owned(),
            user: Vec::new(),
            torn: self.torn,
        };
        let first = self.user.partition_point(|user| user.end <= range.start);
        for user in self.user.iter().skip(first).take_while(|user| user.start < range.end) {
            let (start, end) = (user.start.max(range.start), user.end.min(range.end));
            out.claim(start - range.start..end - range.start);
        }
        out
    }

    pub(crate) fn append(&mut self, other: &Text) {
        let offset = self.plain.len();
        self.plain.push_str(&other.plain);
        self.torn |= other.torn;
        for user in &other.user {
            self.claim(user.start + offset..user.end + offset);
        }
    }

    /// Changes each run of the user's or the template's text alone.
    pub(crate) fn map(&self, change: impl Fn(&str) -> String) -> Text {
        let mut out = Text { torn: self.torn, ..Text::default() };
        let mut at = 0;
        for user in &self.user {
            out.plain += &change(&self.plain[at..user.start]);
            let start = out.plain.len();
            out.plain += &change(&self.plain[user.clone()]);
            out.claim(start..out.plain.len());
            at = user.end;
        }
        out.plain += &change(&self.plain[at..]);
        out
    }

    /// The text with its marks in place.
    pub(crate) fn to_marked(&self, marks: Marks) -> String {
        marks.around(&self.plain, &self.user)
    }
}

#[cfg(test)]
mod tests;

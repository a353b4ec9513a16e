//! Times during which a key certainly held one value.

use crate::value::Serial;

/// The key held this value from before `start` until after `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// It was there by then.
    pub start: u64,
    /// It was still there then.
    pub end: u64,
    /// The value.
    pub serial: Serial,
}

/// Spans of one key, sorted so that looking one up takes logarithmic time.
pub struct Spans {
    sorted: Vec<Span>,
    /// For each span, the one that ends last among it and those before.
    longest: Vec<usize>,
}

impl Spans {
    /// Sorts them by their starts.
    pub fn new(mut sorted: Vec<Span>) -> Spans {
        sorted.sort_unstable_by_key(|span| span.start);
        let mut longest: Vec<usize> = Vec::with_capacity(sorted.len());
        for (at, span) in sorted.iter().enumerate() {
            let before = longest.last().copied().unwrap_or(at);
            longest.push(if sorted[before].end > span.end {
                before
            } else {
                at
            });
        }
        Spans { sorted, longest }
    }

    /// A span that began before `begin` and ends after `end`.
    pub fn around(&self, begin: u64, end: u64) -> Option<Span> {
        let before = self.sorted.partition_point(|span| span.start < begin);
        let span = self.sorted[*self.longest.get(before.checked_sub(1)?)?];
        (span.end > end).then_some(span)
    }

    /// Two spans that overlap, for each that overlaps an earlier one: a key holds one value at a time.
    pub fn overlaps(&self) -> impl Iterator<Item = (Span, Span)> + '_ {
        (1..self.sorted.len()).filter_map(|at| {
            let (earlier, later) = (self.sorted[self.longest[at - 1]], self.sorted[at]);
            (earlier.end > later.start).then_some((earlier, later))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span {
            start,
            end,
            serial: start,
        }
    }

    #[test]
    fn it_finds_the_span_around_an_interval() {
        let spans = Spans::new(vec![span(50, 60), span(10, 40), span(15, 20)]);
        assert_eq!(spans.around(16, 18).map(|span| span.start), Some(10));
        assert_eq!(spans.around(30, 39).map(|span| span.start), Some(10));
        assert_eq!(spans.around(51, 59).map(|span| span.start), Some(50));
        for (begin, end) in [(10, 20), (30, 40), (5, 30), (45, 47), (45, 55), (5, 100)] {
            assert_eq!(spans.around(begin, end), None, "{begin}..{end}");
        }
    }

    #[test]
    fn spans_that_touch_do_not_overlap() {
        let spans = Spans::new(vec![span(10, 20), span(20, 30), span(29, 40), span(35, 36)]);
        let found: Vec<_> = spans
            .overlaps()
            .map(|(earlier, later)| (earlier.start, later.start))
            .collect();
        assert_eq!(found, [(20, 29), (29, 35)]);
    }
}

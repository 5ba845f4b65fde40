//! The mapped file in buffers: as few as can be, cut where one may not be longer.

use std::ops::Range;

use minfer_graph::WeightId;
use minfer_plan::PlacedWeight;

/// Memory is taken in place where it begins on a page of this size.
pub const PAGE: usize = if cfg!(target_vendor = "apple") { 16 << 10 } else { 4 << 10 };

/// Bytes between two weights from which on they are not worth having in one buffer.
const GAP: usize = 1 << 20;

/// Bytes of a region that become one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the region.
    pub region: usize,
    /// Bytes of it, from a page on.
    pub bytes: Range<usize>,
}

/// Where a weight is: its buffer, and bytes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which.
    pub id: WeightId,
    /// Index of the span.
    pub buffer: usize,
    /// Bytes of that.
    pub bytes: Range<usize>,
}

/// Buffers of a model's weights.
#[derive(Debug, Default)]
pub struct Spans {
    /// The buffers.
    pub spans: Vec<Span>,
    places: Vec<Place>,
}

impl Spans {
    /// Plans the buffers of weights that lie within their regions. Fails with the weight that is
    /// longer than `longest`, the length of a buffer at most.
    pub fn plan(weights: &[PlacedWeight], longest: usize) -> Result<Spans, &PlacedWeight> {
        let mut order: Vec<&PlacedWeight> = weights.iter().collect();
        order.sort_by_key(|weight| (weight.region, weight.offset));
        let (mut spans, mut places): (Vec<Span>, Vec<Place>) = (Vec::new(), Vec::new());
        for weight in order {
            let end = weight.offset + weight.decl.bytes();
            let page = weight.offset / PAGE * PAGE;
            if (end - page).next_multiple_of(PAGE) > longest {
                return Err(weight);
            }
            let joins = |span: &&mut Span| {
                span.region == weight.region
                    && weight.offset <= span.bytes.end.saturating_add(GAP)
                    && (end - span.bytes.start).next_multiple_of(PAGE) <= longest
            };
            let start = match spans.last_mut().filter(joins) {
                Some(span) => {
                    span.bytes.end = span.bytes.end.max(end);
                    span.bytes.start
                }
                None => {
                    spans.push(Span { region: weight.region, bytes: page..end });
                    page
                }
            };
            let bytes = weight.offset - start..end - start;
            places.push(Place { id: weight.id, buffer: spans.len() - 1, bytes });
        }
        Ok(Spans { spans, places })
    }

    /// Where a weight is.
    pub fn place(&self, id: WeightId) -> Option<&Place> {
        self.places.iter().find(|place| place.id == id)
    }
}

#[cfg(test)]
mod tests;

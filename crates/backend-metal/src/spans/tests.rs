use minfer_graph::WeightDecl;
use minfer_quant::Quant;

use super::*;

/// Weights of so many f32 each, at (region, byte).
fn placed(list: &[(usize, usize, usize)]) -> Vec<PlacedWeight> {
    let weight = |(index, &(region, offset, cols)): (usize, &(usize, usize, usize))| {
        let name = format!("weight {index}");
        let decl = WeightDecl { name, quant: Quant::F32, experts: 1, rows: 1, cols };
        PlacedWeight { id: WeightId(index as u32), decl, region, offset }
    };
    list.iter().enumerate().map(weight).collect()
}

#[test]
fn weights_of_a_region_are_one_buffer_from_a_page_on() {
    let weights = placed(&[(0, PAGE + 40, 10), (0, PAGE + 80, 100), (1, 0, 4)]);
    let planned = Spans::plan(&weights, 1 << 30).unwrap();
    let spans = [(0, PAGE..PAGE + 480), (1, 0..16)];
    assert_eq!(planned.spans, spans.map(|(region, bytes)| Span { region, bytes }));
    assert_eq!(planned.place(WeightId(1)).unwrap().bytes, 80..480);
    assert_eq!(planned.place(WeightId(2)).unwrap().buffer, 1);
    assert_eq!(planned.place(WeightId(3)), None);
}

#[test]
fn buffers_that_may_not_be_longer_overlap() {
    // The second weight begins in the page in which the first ends.
    let weights = placed(&[(0, 0, PAGE / 4 + 10), (0, PAGE + 40, PAGE / 4), (0, 3 * PAGE, 4)]);
    let planned = Spans::plan(&weights, 2 * PAGE).unwrap();
    let bytes: Vec<_> = planned.spans.iter().map(|span| span.bytes.clone()).collect();
    assert_eq!(bytes, [0..PAGE + 40, PAGE..2 * PAGE + 40, 3 * PAGE..3 * PAGE + 16]);
    assert_eq!(planned.place(WeightId(1)).unwrap().bytes, 40..PAGE + 40);
}

#[test]
fn a_weight_longer_than_a_buffer_is_named() {
    let weights = placed(&[(0, 0, 4), (0, 16, PAGE / 4)]);
    let refused = Spans::plan(&weights, PAGE).err().unwrap();
    assert_eq!(refused.id, WeightId(1));
    assert!(Spans::plan(&weights, 2 * PAGE).is_ok());
}

#[test]
fn what_other_devices_have_is_left_out() {
    let far = GAP + 10 * PAGE;
    let weights = placed(&[(0, 0, 4), (0, far, 4)]);
    let planned = Spans::plan(&weights, 1 << 30).unwrap();
    let bytes: Vec<_> = planned.spans.iter().map(|span| span.bytes.clone()).collect();
    assert_eq!(bytes, [0..16, far..far + 16]);
}

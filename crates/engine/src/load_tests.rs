use minfer_plan::{DeviceKind, TargetId};

use super::place;

const BOTH: [DeviceKind; 2] = [DeviceKind::Metal, DeviceKind::Cpu];

/// The targets of embedding, layers and head.
fn targets(gpu_layers: Option<usize>, kinds: &[DeviceKind]) -> String {
    let (placement, _) = place(3, kinds, gpu_layers);
    let digit = |target: TargetId| target.0.to_string();
    let layers: String = placement.layers.iter().copied().map(digit).collect();
    format!("{} {layers} {}", digit(placement.embed), digit(placement.head))
}

#[test]
fn all_or_nothing_unless_layers_are_counted() {
    assert_eq!(targets(None, &BOTH), "0 000 0");
    assert_eq!(targets(Some(0), &BOTH), "1 111 1");
    assert_eq!(targets(Some(2), &BOTH), "1 100 1");
    assert_eq!(targets(Some(3), &BOTH), "1 000 1");
    assert_eq!(targets(Some(99), &BOTH), "0 000 0");
    assert_eq!(targets(Some(2), &BOTH[1..]), "0 000 0");
}

#[test]
fn the_placement_says_why() {
    assert_eq!(place(3, &BOTH, Some(2)).1, "2 of 3 layers on metal, as asked for");
    assert_eq!(place(3, &BOTH[1..], None).1, "all 3 layers on cpu");
}

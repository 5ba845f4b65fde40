//! What the generator makes of sources.

use super::*;

fn made(text: &str) -> Generated {
    let mut columns = Columns::default();
    columns.add(text, "k.metal");
    match generate(text, "k.metal", &columns) {
        Ok(generated) => generated,
        Err(faults) => panic!("{faults:?}"),
    }
}

fn faults(text: &str) -> Vec<String> {
    match generate(text, "k.metal", &Columns::default()) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn attributes_go_and_columns_stay() {
    let text = "kernel void k(device float*  x [[buffer(3)]], uint t [[thread_position_in_grid]]) { x[t]  = 1; }";
    let made = made(text);
    let line = made.text.lines().find(|line| line.contains("kernel")).unwrap_or_default();
    assert_eq!(line.len(), text.len());
    assert!(!line.contains("[["), "{line}");
    assert_eq!(line.find("= 1"), text.find("= 1"));
    assert_eq!(made.signatures[0].parameters[0].binding, Slot::Buffer(Some("3".to_owned())));
}

//! Automation.

fn main() {}

//! Every kernel of the device, made ready.

use std::time::Instant;

use minfer_plan::Device;
use serde::Serialize;

use crate::output::{Style, rounded};

#[derive(Serialize)]
pub struct Kernels {
    seconds: f64,
    made: Vec<Kernel>,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    /// Threads of a threadgroup that it can have: fewer where it takes many registers.
    threads_max: usize,
}

/// Makes them; the second is what failed.
pub fn make(device: &mut dyn Device, style: Style) -> (Kernels, Option<String>) {
    let _progress = style.spinner("making kernels");
    let start = Instant::now();
    let made = device.kernels();
    let seconds = rounded(start.elapsed().as_secs_f64());
    let (made, failure) = match made {
        Ok(made) => (made, None),
        Err(error) => (Vec::new(), Some(format!("kernels: {error}"))),
    };
    let kernel =
        |made: minfer_plan::KernelInfo| Kernel { name: made.name, threads_max: made.threads_max };
    (Kernels { seconds, made: made.into_iter().map(kernel).collect() }, failure)
}

impl Kernels {
    pub fn text(&self) -> String {
        match self.made.len() {
            0 => "kernels: none that would be made on this machine".to_owned(),
            count => format!("kernels: {count} made in {:.1} s", self.seconds),
        }
    }
}

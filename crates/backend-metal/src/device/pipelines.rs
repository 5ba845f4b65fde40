//! Kernels made ready, each once: its module is compiled when the first of them is needed.

use std::collections::HashMap;

use crate::dispatch::Dispatch;
use crate::source::{Module, modules};
use crate::sys::{Gpu, Library, Pipeline};

#[derive(Default)]
pub(super) struct Pipelines {
    /// The device's modules; made at the first need.
    modules: Vec<Module>,
    libraries: HashMap<&'static str, Library>,
    ready: HashMap<String, Pipeline>,
}

impl Pipelines {
    /// Makes the kernel of a launch ready, and checks that it takes the launch's threads.
    pub(super) fn make(&mut self, gpu: &Gpu, launch: &Dispatch) -> Result<(), String> {
        if !self.ready.contains_key(&launch.kernel) {
            let pipeline = self.pipeline(gpu, &launch.kernel)?;
            self.ready.insert(launch.kernel.clone(), pipeline);
        }
        let allowed = self.ready[&launch.kernel].threads_max;
        if launch.threads as usize > allowed {
            return Err(format!(
                "{} threads in a threadgroup, but its pipeline takes {allowed}",
                launch.threads
            ));
        }
        Ok(())
    }

    fn pipeline(&mut self, gpu: &Gpu, kernel: &str) -> Result<Pipeline, String> {
        if self.modules.is_empty() {
            self.modules = modules();
        }
        let has = |module: &&Module| module.kernels.iter().any(|name| name == kernel);
        let module = self.modules.iter().find(has).ok_or("no module has it")?;
        if !self.libraries.contains_key(module.name) {
            self.libraries.insert(module.name, gpu.library(&module.text)?);
        }
        gpu.pipeline(&self.libraries[module.name], kernel)
    }

    /// A kernel that was made ready.
    pub(super) fn get(&self, kernel: &str) -> Option<&Pipeline> {
        self.ready.get(kernel)
    }
}

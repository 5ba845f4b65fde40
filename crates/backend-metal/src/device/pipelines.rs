//! Kernels made ready, each once: a module is compiled when the first of its kernels is needed.

use std::collections::HashMap;

use minfer_plan::KernelInfo;

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
    /// Makes the kernel of a launch ready, and checks that it takes the launch's threads. Fails
    /// with the kernel's name and the reason.
    pub(super) fn make(&mut self, gpu: &Gpu, launch: &Dispatch) -> Result<(), String> {
        let allowed = self.kernel(gpu, &launch.kernel)?.threads_max;
        if launch.threads as usize > allowed {
            return Err(format!(
                "kernel {}: {} threads in a threadgroup, but its pipeline takes {allowed}",
                launch.kernel, launch.threads
            ));
        }
        Ok(())
    }

    /// Makes every kernel of every module ready.
    pub(super) fn make_all(&mut self, gpu: &Gpu) -> Result<Vec<KernelInfo>, String> {
        let names: Vec<String> = modules().into_iter().flat_map(|module| module.kernels).collect();
        let made = names.into_iter().map(|name| {
            let threads_max = self.kernel(gpu, &name)?.threads_max;
            Ok(KernelInfo { name, threads_max })
        });
        made.collect()
    }

    fn kernel(&mut self, gpu: &Gpu, kernel: &str) -> Result<&Pipeline, String> {
        if !self.ready.contains_key(kernel) {
            let made = self.pipeline(gpu, kernel);
            let pipeline = made.map_err(|reason| format!("kernel {kernel}: {reason}"))?;
            self.ready.insert(kernel.to_owned(), pipeline);
        }
        Ok(&self.ready[kernel])
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

    /// Forgets what was made of a GPU that is gone.
    pub(super) fn clear(&mut self) {
        self.libraries.clear();
        self.ready.clear();
    }

    /// A kernel that was made ready.
    pub(super) fn get(&self, kernel: &str) -> Option<&Pipeline> {
        self.ready.get(kernel)
    }
}

//! Kernels made ready, each once: of a precompiled library where there is one, else of a module
//! that is compiled when the first of its kernels is needed.

use std::collections::HashMap;

use minfer_plan::KernelInfo;

use crate::dispatch::Dispatch;
use crate::options::Metallib;
use crate::source::{Module, modules};
use crate::sys::{Gpu, Library, Pipeline};

#[derive(Default)]
pub(super) struct Pipelines {
    precompiled: Option<Precompiled>,
    /// The device's modules; made at the first need.
    modules: Vec<Module>,
    libraries: HashMap<&'static str, Library>,
    ready: HashMap<String, Pipeline>,
}

/// A library that has all kernels, made anew for each GPU.
struct Precompiled {
    metallib: Metallib,
    library: Option<Library>,
}

impl Precompiled {
    fn library(&mut self, gpu: &Gpu) -> Result<&Library, String> {
        let made = match self.library.take() {
            Some(library) => library,
            None => {
                let made = gpu.precompiled(&self.metallib.bytes);
                made.map_err(|why| format!("{} is no library: {why}", self.metallib.name))?
            }
        };
        Ok(self.library.insert(made))
    }
}

impl Pipelines {
    /// Where kernels come from: this library, or the source. Fails with what is wrong with it.
    pub(super) fn new(gpu: &Gpu, metallib: Option<Metallib>) -> Result<Pipelines, String> {
        let mut precompiled = metallib.map(|metallib| Precompiled { metallib, library: None });
        if let Some(one) = &mut precompiled {
            one.library(gpu)?;
        }
        Ok(Pipelines { precompiled, ..Pipelines::default() })
    }

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
        if let Some(one) = &mut self.precompiled {
            let made = gpu.pipeline(one.library(gpu)?, kernel);
            return made.map_err(|why| format!("{}: {why}", one.metallib.name));
        }
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
        if let Some(one) = &mut self.precompiled {
            one.library = None;
        }
        self.libraries.clear();
        self.ready.clear();
    }

    /// A kernel that was made ready.
    pub(super) fn get(&self, kernel: &str) -> Option<&Pipeline> {
        self.ready.get(kernel)
    }
}

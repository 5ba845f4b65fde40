//! Compiles the kernels with Apple's tools, where the program is for macOS and they are there. What
//! comes of it, `minfer.metallib` in this script's folder, is embedded; else the source is.

#[expect(unused, reason = "only their declarations go into the source; the crate has the rest")]
#[path = "src/arguments.rs"]
mod arguments;
#[path = "src/instances.rs"]
mod instances;
#[path = "build/precompile.rs"]
mod precompile;
#[path = "src/source.rs"]
mod source;

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    for path in ["build.rs", "build", "src/arguments.rs", "src/instances.rs", "src/kernels"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-changed=src/source.rs");
    println!("cargo::rustc-check-cfg=cfg(precompiled)");
    let macos = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos");
    let device = env::var_os("CARGO_FEATURE_DEVICE").is_some();
    let Some(folder) = env::var_os("OUT_DIR").filter(|_| macos && device) else { return };
    let modules = source::modules();
    let sources: Vec<(&str, &str)> =
        modules.iter().map(|module| (module.name, module.text.as_str())).collect();
    match precompile::precompile(Path::new("xcrun"), &sources, &PathBuf::from(folder)) {
        Ok(Some(_)) => println!("cargo::rustc-cfg=precompiled"),
        Ok(None) => {}
        // Each start of the program compiles them then.
        Err(why) => println!("cargo::warning=the kernels are not precompiled: {why}"),
    }
}

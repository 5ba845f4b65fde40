//! The headers that kernels are compiled with, carried inside of this crate.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cache::{Hash, publish};

macro_rules! headers {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../shim/", $name)))),*]
    };
}

/// The headers, by their paths in `shim/`.
pub(crate) const HEADERS: &[(&str, &str)] = &headers![
    "abi.h",
    "msl/all.h",
    "msl/array.h",
    "msl/atomic.h",
    "msl/barrier.h",
    "msl/boolean.h",
    "msl/checked.h",
    "msl/common.h",
    "msl/config.h",
    "msl/construct.h",
    "msl/constructors.h",
    "msl/exchange.h",
    "msl/geometric.h",
    "msl/integer.h",
    "msl/lift.h",
    "msl/limits.h",
    "msl/math.h",
    "msl/matrix.h",
    "msl/matrix_gathered.h",
    "msl/matrix_spread.h",
    "msl/pack.h",
    "msl/packed.h",
    "msl/quadgroup.h",
    "msl/relational.h",
    "msl/rewritten.h",
    "msl/runtime.h",
    "msl/simdgroup.h",
    "msl/simdgroup_matrix.h",
    "msl/traits.h",
    "msl/types.h",
    "msl/wrap.h",
];

/// Names that a kernel may include. All are one library, which the generated text includes; so for
/// the preprocessor they are empty, and macros of the library do not hide what a kernel says.
pub(crate) const NAMES: [&str; 26] = [
    "metal_array",
    "metal_atomic",
    "metal_common",
    "metal_compute",
    "metal_config",
    "metal_extended_vector",
    "metal_geometric",
    "metal_integer",
    "metal_limits",
    "metal_logging",
    "metal_math",
    "metal_matrix",
    "metal_numeric",
    "metal_pack",
    "metal_packed_vector",
    "metal_quadgroup",
    "metal_relational",
    "metal_simdgroup",
    "metal_simdgroup_matrix",
    "metal_stdlib",
    "metal_tensor",
    "metal_type_traits",
    "metal_types",
    "metal_uniform",
    "metal_vector",
    "simd/simd.h",
];

/// The headers as files.
#[derive(Clone, Debug)]
pub(crate) struct Shim {
    /// For kernels' compilation.
    pub headers: PathBuf,
    /// For the preprocessor.
    pub empty: PathBuf,
    pub hash: Hash,
}

impl Shim {
    /// Writes the headers below `folder`, if they are not there yet.
    pub(crate) fn write(folder: &Path) -> io::Result<Self> {
        let mut hash = Hash::new();
        for (name, text) in HEADERS {
            hash.add(name);
            hash.add(text);
        }
        let root = folder.join(format!("shim-{hash}"));
        let (headers, empty) = (root.join("headers"), root.join("empty"));
        if !root.is_dir() {
            publish(&root, |root| {
                for (name, text) in HEADERS {
                    write(&root.join("headers").join(name), text)?;
                }
                NAMES.iter().try_for_each(|name| write(&root.join("empty").join(name), ""))
            })?;
        }
        Ok(Self { headers, empty, hash })
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}

#[cfg(test)]
#[path = "shim_tests.rs"]
mod tests;

//! For programs that link the stand-in for Metal: the libraries that `objc2` names for GNUstep,
//! empty, since what they would hold stands in this crate.

use std::path::Path;

/// An archive without members.
const EMPTY: &[u8] = b"!<arch>\n";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let apple = std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple");
    let (Some(_), Some(folder), false) =
        (std::env::var_os("CARGO_FEATURE_OBJC"), std::env::var_os("OUT_DIR"), apple)
    else {
        return Ok(());
    };
    let folder = Path::new(&folder);
    for name in ["libobjc.a", "libgnustep-base.a"] {
        std::fs::write(folder.join(name), EMPTY)?;
    }
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}

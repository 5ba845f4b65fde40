//! SHA-256 sums of files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use ring::digest::{Context, SHA256};

/// A sum in the making.
pub struct Sum(Context);

impl Sum {
    /// Of nothing.
    pub fn new() -> Sum {
        Sum(Context::new(&SHA256))
    }

    /// Takes bytes in.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Takes a file in, and gives its length.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn add_file(&mut self, path: &Path) -> Result<u64> {
        let mut file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
        let (mut buffer, mut length) = (vec![0; 1 << 20], 0);
        loop {
            match file.read(&mut buffer).with_context(|| format!("reading {}", path.display()))? {
                0 => return Ok(length),
                read => {
                    self.add(&buffer[..read]);
                    length += read as u64;
                }
            }
        }
    }

    /// The sum in lower-case hexadecimal.
    pub fn finish(self) -> String {
        self.0.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

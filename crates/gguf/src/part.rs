//! The bytes of one file of a model, and what can be asked of the memory under them.

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::{Mmap, MmapMut};

use crate::error::{Error, Result};
use crate::file::OpenOptions;
use crate::map::Mapping;

/// One file of a model: mapped, read into memory, or handed over as bytes. Shared by reference
/// count, so that a device can keep the bytes it computes from.
#[derive(Debug)]
pub struct Part {
    source: Source,
    disk: Option<Disk>,
}

#[derive(Debug)]
enum Source {
    Bytes(Vec<u8>),
    /// Page-aligned memory that the file was read into.
    Memory(Mmap),
    Mapped(Mapping),
}

/// The file a part came from, as it was when it was opened.
#[derive(Debug)]
struct Disk {
    path: PathBuf,
    file: fs::File,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Part {
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { source: Source::Bytes(bytes), disk: None }
    }

    pub(crate) fn open(path: &Path, options: OpenOptions) -> Result<Self> {
        // Asked before opening, since opening a pipe waits for its other end.
        if !fs::metadata(path).map_err(Error::io("open"))?.is_file() {
            return Err(Error::NotAFile);
        }
        let file = fs::File::open(path).map_err(Error::io("open"))?;
        let metadata = file.metadata().map_err(Error::io("open"))?;
        let bytes = metadata.len();
        let source = if bytes == 0 {
            Source::Bytes(Vec::new())
        } else if options.mmap {
            Source::Mapped(Mapping::new(&file).map_err(Error::io("map"))?)
        } else {
            Source::Memory(read_whole(&file, bytes)?)
        };
        let modified = metadata.modified().ok();
        let disk = Some(Disk { path: path.to_owned(), file, bytes, modified });
        let part = Self { source, disk };
        if options.mlock {
            part.lock()?;
        }
        Ok(part)
    }

    /// Where the part came from, when it came from a file.
    pub fn path(&self) -> Option<&Path> {
        self.disk.as_ref().map(|disk| disk.path.as_path())
    }

    /// Whether the bytes are a memory map of the file, which [`Part::release`] can give back.
    pub fn is_mapped(&self) -> bool {
        matches!(self.source, Source::Mapped(_))
    }

    /// Whether pages of the mapped file were lost (it was truncated, or its disk failed). From then
    /// on some bytes read as zero, and no result computed from them is to be used.
    pub fn faulted(&self) -> bool {
        match &self.source {
            Source::Mapped(mapping) => mapping.faulted(),
            Source::Bytes(_) | Source::Memory(_) => false,
        }
    }

    /// Whether the file under a mapped part has another length or modification time than when it
    /// was opened: its bytes may have changed without a fault. Asks the system each time.
    pub fn changed(&self) -> Result<bool> {
        match (&self.source, &self.disk) {
            (Source::Mapped(_), Some(disk)) => {
                let now = disk.file.metadata().map_err(Error::io("check"))?;
                Ok(now.len() != disk.bytes || now.modified().ok() != disk.modified)
            }
            _ => Ok(false),
        }
    }

    /// Gives back the memory of the mapped pages that lie whole inside `range` (bytes of the part):
    /// for when a device has its own copy. They stay readable, from the file. Nothing happens to
    /// bytes that are not mapped.
    pub fn release(&self, range: Range<u64>) -> Result<()> {
        match &self.source {
            Source::Mapped(mapping) => {
                mapping.release(in_memory(range)).map_err(Error::io("release pages of"))
            }
            Source::Bytes(_) | Source::Memory(_) => Ok(()),
        }
    }

    /// Asks the system to read mapped bytes of `range` before they are used. Returns at once.
    pub fn prefetch(&self, range: Range<u64>) -> Result<()> {
        match &self.source {
            Source::Mapped(mapping) => {
                mapping.prefetch(in_memory(range)).map_err(Error::io("prefetch"))
            }
            Source::Bytes(_) | Source::Memory(_) => Ok(()),
        }
    }

    fn lock(&self) -> Result<()> {
        match &self.source {
            Source::Mapped(mapping) => mapping.lock(),
            Source::Memory(memory) => memory.lock(),
            Source::Bytes(_) => Ok(()),
        }
        .map_err(Error::io("lock in memory"))
    }
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        match &self.source {
            Source::Bytes(bytes) => bytes,
            Source::Memory(memory) => memory,
            Source::Mapped(mapping) => mapping.bytes(),
        }
    }
}

fn in_memory(range: Range<u64>) -> Range<usize> {
    let bound = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    bound(range.start)..bound(range.end)
}

fn read_whole(mut file: &fs::File, bytes: u64) -> Result<Mmap> {
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut memory = MmapMut::map_anon(length).map_err(Error::io("find memory for"))?;
    // Fewer and larger pages are read faster; where the system has none, small ones do.
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    file.read_exact(&mut memory).map_err(Error::io("read"))?;
    memory.make_read_only().map_err(Error::io("read"))
}

//! A whole model file, or a split set of them, as one value.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::header::Header;
use crate::metadata::Metadata;
use crate::part::Part;
use crate::read::Cursor;
use crate::split::{self, Membership};
use crate::tensors::{self, Tensor};

/// How a file's bytes come into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// Map the file (pages come as they are used, and are shared with other processes) instead of
    /// reading it whole.
    pub mmap: bool,
    /// Keep all pages in memory; opening fails when the system does not allow it.
    pub mlock: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { mmap: true, mlock: false }
    }
}

/// The head of one file, checked against the file's length.
#[derive(Debug)]
pub(crate) struct Head {
    header: Header,
    metadata: Metadata,
    tensors: Vec<Tensor>,
    by_name: Vec<u32>,
}

impl Head {
    /// Parses a head from the beginning of a file of `file_bytes` bytes.
    pub(crate) fn parse(bytes: &[u8], file_bytes: u64) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        let header = Header::parse(&mut cursor)?;
        let metadata = Metadata::parse(&mut cursor, header.keys)?;
        let alignment = metadata.alignment()?;
        let tensors = tensors::parse(&mut cursor, header.tensors, alignment, file_bytes)?;
        let by_name = tensors::by_name(&tensors)?;
        Ok(Self { header, metadata, tensors, by_name })
    }
}

/// An open model: metadata, tensor table and bytes.
#[derive(Debug)]
pub struct File {
    header: Header,
    metadata: Metadata,
    tensors: Vec<Tensor>,
    by_name: Vec<u32>,
    parts: Vec<Arc<Part>>,
}

impl File {
    /// Opens a file by mapping it. A part of a split set opens the whole set.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::default())
    }

    /// [`File::open`], with a choice of how the bytes come into memory.
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let opened = load(path, options)?;
        let Some(member) = in_file(path, Membership::of(&opened.0.metadata))? else {
            return Self::assemble(vec![opened]);
        };
        let paths = in_file(path, split::sibling_paths(path, member))?;
        let mut opened = Some(opened);
        let mut parts = Vec::with_capacity(paths.len());
        for (number, path) in (0u64..).zip(paths) {
            let own = opened.take_if(|_| number == member.number);
            parts.push(match own {
                Some(own) => own,
                None => load(&path, options).map_err(|error| match error.root() {
                    Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                        let (part, count) = (number.saturating_add(1), member.count);
                        Error::SplitMissing { part, count, path }
                    }
                    _ => error,
                })?,
            });
        }
        in_file(path, Self::assemble(parts))
    }

    /// Reads a whole model from memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_parts(vec![bytes])
    }

    /// Reads a split set from memory, its parts in order.
    pub fn from_parts(parts: Vec<Vec<u8>>) -> Result<Self> {
        let mut loaded = Vec::with_capacity(parts.len());
        for bytes in parts {
            loaded.push((Head::parse(&bytes, bytes.len() as u64)?, Part::from_bytes(bytes)));
        }
        Self::assemble(loaded)
    }

    /// Joins the parts of a set, or takes the only one. Metadata are those of the first.
    fn assemble(loaded: Vec<(Head, Part)>) -> Result<Self> {
        let count = loaded.len() as u64;
        let total = loaded.iter().map(|(head, _)| head.tensors.len() as u64).sum();
        let (mut heads, mut parts) = (Vec::new(), Vec::new());
        for (number, (head, part)) in (0u64..).zip(loaded) {
            let expected = if count > 1 { total } else { 0 };
            split::check(&head.metadata, Membership { number, count, tensors: expected })?;
            heads.push(head);
            parts.push(Arc::new(part));
        }
        let mut heads = heads.into_iter();
        let Some(Head { header, metadata, mut tensors, mut by_name }) = heads.next() else {
            return Err(Error::Truncated { what: "a model", offset: 0, needed: 1, left: 0 });
        };
        for (part, head) in (1..).zip(heads) {
            tensors.extend(head.tensors.into_iter().map(|tensor| Tensor { part, ..tensor }));
        }
        if tensors.len() > by_name.len() {
            by_name = tensors::by_name(&tensors)?;
        }
        Ok(Self { header, metadata, tensors, by_name, parts })
    }

    /// The header of the file, of the first one in a split set.
    pub fn header(&self) -> Header {
        self.header
    }

    /// All metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// All tensors, in file order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The tensor of this name.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        let at = |position: u32| self.tensors.get(position as usize);
        let found = self.by_name.binary_search_by(|&position| {
            at(position).map(|tensor| tensor.name.as_str()).cmp(&Some(name))
        });
        at(*self.by_name.get(found.ok()?)?)
    }

    /// The files: one, or those of the split set in order.
    pub fn parts(&self) -> &[Arc<Part>] {
        &self.parts
    }

    /// The data of a tensor of this file; empty for a tensor that is not of this file.
    pub fn bytes(&self, tensor: &Tensor) -> &[u8] {
        let range = usize::try_from(tensor.offset)
            .ok()
            .and_then(|start| Some(start..start.checked_add(usize::try_from(tensor.bytes).ok()?)?));
        let part = self.parts.get(tensor.part).map(|part| part.as_ref().as_ref());
        part.zip(range).and_then(|(part, range): (&[u8], _)| part.get(range)).unwrap_or_default()
    }

    /// Whether bytes of any part were lost while in use: see [`Part::faulted`].
    pub fn faulted(&self) -> bool {
        self.parts.iter().any(|part| part.faulted())
    }
}

fn load(path: &Path, options: OpenOptions) -> Result<(Head, Part)> {
    let load = || {
        let part = Part::open(path, options)?;
        let bytes = part.as_ref();
        let head = Head::parse(bytes, bytes.len() as u64)?;
        if part.faulted() {
            return Err(Error::io("read")(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok((head, part))
    };
    in_file(path, load())
}

fn in_file<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::InFile { .. } => error,
        error => Error::InFile { path: path.to_owned(), error: Box::new(error) },
    })
}

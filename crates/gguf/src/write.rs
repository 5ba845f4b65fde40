//! Writes GGUF files: whole models, and split sets.
//!
//! A [`Writer`] collects metadata and tensors, lays the tensors out one after the other, and runs
//! the reader over the head it made before a byte leaves: what cannot be read is not written.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use minfer_quant::Quant;

use crate::error::{Error, Result};
use crate::file::{File, Head};
use crate::header::MAGIC;
use crate::limits::{ALIGNMENT_MAX, PARTS};
use crate::metadata::{ALIGNMENT_KEY, DEFAULT_ALIGNMENT};
use crate::split;
use crate::tensors::data_bytes;
use crate::value::{Value, write_string};

/// Builds a GGUF file. Nothing is checked before it is written.
///
/// ```
/// # use minfer_gguf::Writer;
/// # use minfer_quant::Quant;
/// let file = Writer::new()
///     .kv("general.architecture", "llama")
///     .tensor("output_norm.weight", Quant::F32, [32], vec![0; 128])
///     .to_bytes();
/// # assert!(file.is_ok());
/// ```
#[derive(Debug)]
pub struct Writer<'a> {
    version: u32,
    entries: Vec<(String, Value)>,
    index: HashMap<String, usize>,
    tensors: Vec<Pending<'a>>,
}

/// A tensor to be written.
#[derive(Debug)]
struct Pending<'a> {
    name: String,
    quant: Quant,
    dims: Vec<u64>,
    data: Data<'a>,
}

type Fill<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

enum Data<'a> {
    Bytes(Cow<'a, [u8]>),
    Fill(Fill<'a>),
}

impl std::fmt::Debug for Data<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(formatter, "Bytes({})", bytes.len()),
            Self::Fill(_) => formatter.write_str("Fill"),
        }
    }
}

impl Default for Writer<'_> {
    fn default() -> Self {
        Self { version: 3, entries: Vec::new(), index: HashMap::new(), tensors: Vec::new() }
    }
}

impl<'a> Writer<'a> {
    /// An empty file of version 3 and alignment 32.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file with the metadata and tensors of `file`; a split set is merged.
    pub fn copy_of(file: &'a File) -> Self {
        let mut writer = Self::new().version(file.header().version);
        for (key, value) in file.metadata().iter() {
            if ![split::NUMBER_KEY, split::COUNT_KEY, split::TENSORS_KEY].contains(&key) {
                writer = writer.kv(key, value.clone());
            }
        }
        for tensor in file.tensors() {
            let (name, dims) = (tensor.name.as_str(), tensor.dims.as_slice());
            writer = writer.tensor(name, tensor.quant, dims, file.bytes(tensor));
        }
        writer
    }

    /// Sets the version of the format, 2 or 3.
    #[must_use]
    pub fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// Sets the alignment of tensor data, and states it in the metadata.
    #[must_use]
    pub fn alignment(self, bytes: u32) -> Self {
        self.kv(ALIGNMENT_KEY, bytes)
    }

    /// Adds a metadata entry. A key that is set again keeps its place and takes the new value.
    #[must_use]
    pub fn kv(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let (key, value) = (key.into(), value.into());
        match self.index.get(&key).and_then(|&place| self.entries.get_mut(place)) {
            Some((_, old)) => *old = value,
            None => {
                self.index.insert(key.clone(), self.entries.len());
                self.entries.push((key, value));
            }
        }
        self
    }

    /// Adds a tensor with its data: as many bytes as format and dimensions say, `dims[0]` the
    /// length of a contiguous row.
    #[must_use]
    pub fn tensor(
        mut self,
        name: impl Into<String>,
        quant: Quant,
        dims: impl Into<Vec<u64>>,
        bytes: impl Into<Cow<'a, [u8]>>,
    ) -> Self {
        let (name, dims, data) = (name.into(), dims.into(), Data::Bytes(bytes.into()));
        self.tensors.push(Pending { name, quant, dims, data });
        self
    }

    /// Adds a tensor whose data `fill` writes when the file is written: for models that do not fit
    /// in memory. It must write as many bytes as format and dimensions say.
    #[must_use]
    pub fn tensor_with(
        mut self,
        name: impl Into<String>,
        quant: Quant,
        dims: impl Into<Vec<u64>>,
        fill: impl Fn(&mut dyn Write) -> io::Result<()> + 'a,
    ) -> Self {
        let (name, dims, data) = (name.into(), dims.into(), Data::Fill(Box::new(fill)));
        self.tensors.push(Pending { name, quant, dims, data });
        self
    }

    /// Writes the file.
    pub fn write_to(&self, out: impl Write) -> Result<()> {
        self.write_part(&[], 0..self.tensors.len(), out)
    }

    /// The file as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a split set `PREFIX-00001-of-0000N.gguf` … and gives the paths. A new part begins
    /// where the next tensor would take one past `part_bytes` bytes of data; a single tensor may be
    /// larger. The first part carries the metadata.
    pub fn write_split(&self, prefix: impl AsRef<Path>, part_bytes: u64) -> Result<Vec<PathBuf>> {
        let prefix = prefix.as_ref();
        let groups = self.groups(part_bytes)?;
        let stem = prefix.file_name().unwrap_or_default().to_string_lossy();
        let mut paths = Vec::with_capacity(groups.len());
        for (number, group) in groups.iter().enumerate() {
            let name = split::part_name(&stem, number as u64 + 1, groups.len() as u64);
            let path = prefix.with_file_name(name);
            let mut out = BufWriter::new(fs::File::create(&path).map_err(Error::io("write"))?);
            self.write_member(number, groups.len(), group.clone(), &mut out)?;
            out.flush().map_err(Error::io("write"))?;
            paths.push(path);
        }
        Ok(paths)
    }

    /// The parts of [`Writer::write_split`] as bytes.
    pub fn to_split_bytes(&self, part_bytes: u64) -> Result<Vec<Vec<u8>>> {
        let groups = self.groups(part_bytes)?;
        let member = |(number, group): (usize, &Range<usize>)| {
            let mut bytes = Vec::new();
            self.write_member(number, groups.len(), group.clone(), &mut bytes)?;
            Ok(bytes)
        };
        groups.iter().enumerate().map(member).collect()
    }

    /// Runs of tensors, one run a part.
    fn groups(&self, part_bytes: u64) -> Result<Vec<Range<usize>>> {
        self.refuse_duplicates()?;
        let (mut groups, mut start, mut filled) = (Vec::new(), 0, 0u64);
        for (position, tensor) in self.tensors.iter().enumerate() {
            let bytes = data_bytes(&tensor.name, tensor.quant, &tensor.dims)?;
            let grown = filled.saturating_add(bytes);
            if grown > part_bytes && position > start {
                groups.push(start..position);
                (start, filled) = (position, bytes);
            } else {
                filled = grown;
            }
        }
        groups.push(start..self.tensors.len());
        let found = groups.len() as u64;
        if found > PARTS.value {
            let (limit, what) = (PARTS, "the number of parts");
            return Err(Error::Limit { limit, what, found, offset: 0 });
        }
        Ok(groups)
    }

    /// A set's parts are checked one by one, so a name in two of them is looked for here.
    fn refuse_duplicates(&self) -> Result<()> {
        let mut seen = HashSet::with_capacity(self.tensors.len());
        match self.tensors.iter().find(|tensor| !seen.insert(&tensor.name)) {
            Some(tensor) => Err(Error::DuplicateTensor { name: tensor.name.clone() }),
            None => Ok(()),
        }
    }

    fn write_member(
        &self,
        number: usize,
        count: usize,
        group: Range<usize>,
        out: impl Write,
    ) -> Result<()> {
        // Both are at most the limit of parts, 1,024.
        let own = |key: &str, value: usize| (key.to_owned(), Value::U16(value as u16));
        let total = Value::I32(i32::try_from(self.tensors.len()).unwrap_or(i32::MAX));
        let place = [
            own(split::NUMBER_KEY, number),
            own(split::COUNT_KEY, count),
            (split::TENSORS_KEY.to_owned(), total),
        ];
        self.write_part(&place, group, out)
    }

    /// Writes a file of some of the tensors. `place` is empty for a whole model, and else says
    /// where in a split set the part belongs.
    fn write_part(
        &self,
        place: &[(String, Value)],
        group: Range<usize>,
        mut out: impl Write,
    ) -> Result<()> {
        let carries_metadata = place.is_empty() || group.start == 0;
        let stated = |(key, _): &&(String, Value)| carries_metadata || key == ALIGNMENT_KEY;
        let entries: Vec<_> = self.entries.iter().filter(stated).chain(place).collect();
        let tensors = self.tensors.get(group).unwrap_or_default();
        let (head, lengths) = self.head(&entries, tensors)?;
        out.write_all(&head).map_err(Error::io("write"))?;
        for (tensor, bytes) in tensors.iter().zip(lengths) {
            let mut counted = Counted { out: &mut out, bytes: 0 };
            match &tensor.data {
                Data::Bytes(bytes) => counted.write_all(bytes),
                Data::Fill(fill) => fill(&mut counted),
            }
            .map_err(Error::io("write"))?;
            if counted.bytes != bytes {
                let (name, found) = (tensor.name.clone(), counted.bytes);
                return Err(Error::DataLength { name, expected: bytes, found });
            }
            let padding = bytes.next_multiple_of(self.data_alignment()) - bytes;
            out.write_all(&vec![0; padding as usize]).map_err(Error::io("write"))?;
        }
        Ok(())
    }

    /// The head of a file, padded and proven readable, and the data length of each tensor.
    fn head(
        &self,
        entries: &[&(String, Value)],
        tensors: &[Pending<'_>],
    ) -> Result<(Vec<u8>, Vec<u64>)> {
        let alignment = self.data_alignment();
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&self.version.to_le_bytes());
        head.extend_from_slice(&(tensors.len() as u64).to_le_bytes());
        head.extend_from_slice(&(entries.len() as u64).to_le_bytes());
        for (key, value) in entries {
            write_string(key.as_bytes(), &mut head);
            value.write(&mut head);
        }
        let (mut lengths, mut offset) = (Vec::with_capacity(tensors.len()), 0u64);
        for Pending { name, quant, dims, data } in tensors {
            let expected = data_bytes(name, *quant, dims)?;
            if let Data::Bytes(bytes) = data
                && bytes.len() as u64 != expected
            {
                let (name, found) = (name.clone(), bytes.len() as u64);
                return Err(Error::DataLength { name, expected, found });
            }
            write_string(name.as_bytes(), &mut head);
            head.extend_from_slice(&(dims.len() as u32).to_le_bytes());
            dims.iter().for_each(|dim| head.extend_from_slice(&dim.to_le_bytes()));
            head.extend_from_slice(&quant.gguf_id().to_le_bytes());
            head.extend_from_slice(&offset.to_le_bytes());
            let end = offset.checked_add(expected);
            offset = end
                .and_then(|end| end.checked_next_multiple_of(alignment))
                .ok_or_else(|| Error::Dimensions { name: name.clone(), dims: dims.clone() })?;
            lengths.push(expected);
        }
        head.resize(head.len().next_multiple_of(alignment as usize), 0);
        Head::parse(&head, (head.len() as u64).saturating_add(offset))?;
        Ok((head, lengths))
    }

    /// The stated alignment when it is a legal one; the reader refuses the head of any other.
    fn data_alignment(&self) -> u64 {
        let stated = self.entries.iter().find(|(key, _)| key == ALIGNMENT_KEY);
        match stated {
            Some((_, Value::U32(bytes))) => u64::from(*bytes).clamp(1, ALIGNMENT_MAX.value),
            _ => DEFAULT_ALIGNMENT,
        }
    }
}

/// Counts what passes.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes = self.bytes.saturating_add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

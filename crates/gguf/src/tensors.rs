//! The tensor table: what is in the file, in which format, and where.
//!
//! A table entry becomes a [`Tensor`] only when its format is known, its shape is whole blocks, and
//! its bytes lie in the file right behind the tensor before it.

use minfer_quant::Quant;

use crate::error::{Error, Result};
use crate::limits::{DIMENSIONS, TENSOR_NAME_BYTES};
use crate::read::Cursor;

/// One tensor of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Unique name.
    pub name: String,
    /// Format of the data.
    pub quant: Quant,
    /// One to four dimensions; `dims[0]` is the length of a contiguous row.
    pub dims: Vec<u64>,
    /// Index into [`crate::File::parts`].
    pub part: usize,
    /// Where the data start, in bytes from the start of the part.
    pub offset: u64,
    /// Length of the data in bytes.
    pub bytes: u64,
}

impl Tensor {
    /// Values in the tensor: the product of its dimensions.
    pub fn elements(&self) -> u64 {
        self.dims.iter().product()
    }
}

/// Reads `count` entries and places them in a file of `file_bytes` bytes whose data start at the
/// next multiple of `alignment`. Tensors are given part 0.
pub(crate) fn parse(
    cursor: &mut Cursor<'_>,
    count: u64,
    alignment: u64,
    file_bytes: u64,
) -> Result<Vec<Tensor>> {
    let mut tensors = Vec::new();
    let mut expected = Some(0u64);
    for _ in 0..count {
        let tensor = parse_entry(cursor)?;
        let (found, expected_here) = (tensor.offset, expected.unwrap_or(u64::MAX));
        if found != expected_here {
            return Err(Error::TensorOffset { name: tensor.name, expected: expected_here, found });
        }
        let end = found.checked_add(tensor.bytes);
        expected = end.and_then(|end| end.checked_next_multiple_of(alignment));
        tensors.push(tensor);
    }
    let start = cursor.offset().checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
    for tensor in &mut tensors {
        let offset = start.saturating_add(tensor.offset);
        let end = offset.checked_add(tensor.bytes);
        if tensor.bytes > 0 && end.is_none_or(|end| end > file_bytes) {
            let (name, bytes) = (tensor.name.clone(), tensor.bytes);
            return Err(Error::TensorRange { name, offset, bytes, file_bytes });
        }
        tensor.offset = offset.min(file_bytes);
    }
    Ok(tensors)
}

/// Positions of the tensors in order of their names; an error names one that appears twice.
pub(crate) fn by_name(tensors: &[Tensor]) -> Result<Vec<u32>> {
    let name = |position: u32| tensors.get(position as usize).map(|tensor| tensor.name.as_str());
    let mut order: Vec<u32> = (0u32..).take(tensors.len()).collect();
    order.sort_by(|&left, &right| name(left).cmp(&name(right)));
    match order.windows(2).find(|pair| name(pair[0]) == name(pair[1])) {
        Some(pair) => {
            Err(Error::DuplicateTensor { name: name(pair[0]).unwrap_or_default().to_owned() })
        }
        None => Ok(order),
    }
}

/// Reads one entry; its offset counts from the start of the data, which is not known yet.
fn parse_entry(cursor: &mut Cursor<'_>) -> Result<Tensor> {
    let at = cursor.offset();
    let name = cursor.string(TENSOR_NAME_BYTES, "a tensor's name")?;
    let name = match std::str::from_utf8(name) {
        Ok(name) if !name.is_empty() => name.to_owned(),
        _ => return Err(Error::TensorName { offset: at }),
    };
    let at = cursor.offset();
    let count = cursor.u32("a tensor's number of dimensions")?;
    if u64::from(count) > DIMENSIONS.value {
        return Err(Error::Limit {
            limit: DIMENSIONS,
            what: "a tensor's number of dimensions",
            found: count.into(),
            offset: at,
        });
    }
    let mut dims = Vec::with_capacity(count as usize);
    for _ in 0..count {
        dims.push(cursor.u64("a tensor's dimension")?);
    }
    let id = cursor.u32("a tensor's type")?;
    let offset = cursor.u64("a tensor's offset")?;
    let Some(quant) = Quant::from_gguf_id(id) else {
        let format = Quant::unsupported_name(id);
        return Err(Error::TensorType { name, id, format });
    };
    let bytes = data_bytes(&name, quant, &dims)?;
    Ok(Tensor { name, quant, dims, part: 0, offset, bytes })
}

/// Bytes of a tensor's data: rows × blocks per row × bytes per block.
///
/// A zero dimension gives no bytes, and does not excuse the others from a countable product.
pub(crate) fn data_bytes(name: &str, quant: Quant, dims: &[u64]) -> Result<u64> {
    let dimensions = || Error::Dimensions { name: name.to_owned(), dims: dims.to_vec() };
    let row = *dims.first().ok_or_else(dimensions)?;
    let product = dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim.max(1)));
    if product.is_none_or(|product| product > i64::MAX as u64) {
        return Err(dimensions());
    }
    let block = quant.block_len() as u64;
    if !row.is_multiple_of(block) {
        return Err(Error::RowLength { name: name.to_owned(), quant, row, block });
    }
    let elements: u64 = dims.iter().product();
    (elements / block).checked_mul(quant.block_bytes() as u64).ok_or_else(dimensions)
}

//! Values that templates keep: every list made up, nothing nested deeper than a bound, and their
//! size paid for before the engine walks them.
//!
//! The engine's slices, sums and products of lists, and some of its filters, give lists that are
//! made up anew whenever something walks them. They may stand for any number of items, and may
//! nest in each other without bound. `source` puts the filters of this file around them.

use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Environment, Error, State};

use super::group::Group;
use super::invalid;
use super::meter::Meter;
use super::repr::{DEPTH_MAX, too_deep};
use crate::Limits;
use crate::source::{HOLD, OWN, PAY, PAY_TEXT};

/// Fuel for a value inside another that is looked at, in bytes of text.
const ITEM_BYTES: usize = 64;

/// Fuel for an item that is passed over.
const SKIPPED_BYTES: usize = 8;

/// Fuel for a value inside another that is written out, in bytes of text: the longest number has
/// over 300 digits.
const WRITTEN_BYTES: usize = 512;

/// Adds the filters that `source` writes.
pub(super) fn install(environment: &mut Environment<'static>, limits: &Limits) {
    type Filter = fn(Meter, Value) -> Result<Value, Error>;
    let filters: [(&str, Filter); 4] = [
        (OWN, own),
        (HOLD, hold),
        (PAY, |meter, value| pay(meter, &value).map(|()| value)),
        (PAY_TEXT, |meter, value| pay_for_text(meter, &value).map(|()| value)),
    ];
    for (name, filter) in filters {
        let limits = limits.clone();
        environment.add_filter(name, move |state: &State, value: Value| {
            filter(Meter::new(state, &limits), value)
        });
    }
}

/// How the engine keeps a value.
enum Shape {
    /// Nothing inside.
    Leaf,
    /// A list, a tuple or a group in memory.
    List,
    /// An object in memory.
    Map,
    /// A list that is made up when walked.
    Lazy,
    /// A namespace, a loop or a module: what it holds may change.
    Opaque,
}

fn shape(value: &Value) -> Shape {
    thread_local! {
        static LIST: &'static str = type_name(&Value::from(Vec::<Value>::new()));
        static MAP: &'static str = type_name(&Value::from_pairs([("", 0)]));
    }
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable if value.is_tuple() || Group::is(value) => Shape::List,
        ValueKind::Seq if type_name(value) == LIST.with(|name| *name) => Shape::List,
        ValueKind::Seq | ValueKind::Iterable => Shape::Lazy,
        ValueKind::Map if type_name(value) == MAP.with(|name| *name) => Shape::Map,
        ValueKind::Map if value.is_kwargs() => Shape::Map,
        ValueKind::Map => Shape::Opaque,
        _ => Shape::Leaf,
    }
}

fn type_name(value: &Value) -> &'static str {
    value.as_object().map_or("", |object| object.type_name())
}

/// The value, made up if it is a list that was not.
pub(super) fn own(meter: Meter, value: Value) -> Result<Value, Error> {
    match shape(&value) {
        Shape::Leaf => meter.charge(value.as_str().map_or(0, str::len))?,
        Shape::List => meter.charge(value.len().unwrap_or(0).saturating_mul(SKIPPED_BYTES))?,
        Shape::Lazy => return collect(meter, &value),
        Shape::Map | Shape::Opaque => {}
    }
    Ok(value)
}

/// A lazy list's items, paid for first if it knows how many they are.
fn collect(meter: Meter, value: &Value) -> Result<Value, Error> {
    let known = value.len();
    meter.charge(known.unwrap_or(0).saturating_mul(ITEM_BYTES))?;
    let mut items = Vec::with_capacity(known.unwrap_or(0));
    for item in value.try_iter()? {
        if known.is_none_or(|known| items.len() >= known) {
            meter.charge(ITEM_BYTES)?;
        }
        // An item that failed: its error ends the render, or the fuel is spent.
        if item.kind() == ValueKind::Invalid {
            meter.charge(0)?;
            return Err(invalid("an item of the list could not be made"));
        }
        items.push(item);
    }
    Ok(Value::from(items))
}

/// The value with every list in it made up.
///
/// # Errors
/// Where it nests deeper than [`DEPTH_MAX`] levels, or holds a namespace or a loop.
pub(super) fn hold(meter: Meter, value: Value) -> Result<Value, Error> {
    let mut bill = Bill { meter, bytes: 0, item: ITEM_BYTES, text: 1 };
    let held = bill.held(&value, DEPTH_MAX)?;
    bill.settle()?;
    Ok(held.unwrap_or(value))
}

/// Pays for walking the whole value once.
pub(super) fn pay(meter: Meter, value: &Value) -> Result<(), Error> {
    Bill { meter, bytes: 0, item: ITEM_BYTES, text: 1 }.pay(value)
}

/// Pays for writing the whole value out.
pub(super) fn pay_for_text(meter: Meter, value: &Value) -> Result<(), Error> {
    // A character may be written as an escape of ten. Texts by themselves are not.
    let text = if value.as_str().is_some() { 1 } else { 10 };
    Bill { meter, bytes: 0, item: WRITTEN_BYTES, text }.pay(value)
}

/// Fuel that is owed for a walk, in bytes of text, paid as it grows.
struct Bill<'m> {
    meter: Meter<'m>,
    bytes: usize,
    /// For each value.
    item: usize,
    /// For each byte of text.
    text: usize,
}

impl Bill<'_> {
    fn add(&mut self, value: &Value) -> Result<(), Error> {
        let text = value.as_str().map_or(0, str::len);
        self.bytes += self.item.saturating_add(text.saturating_mul(self.text));
        if self.bytes >= 4096 { self.settle() } else { Ok(()) }
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.meter.charge(std::mem::take(&mut self.bytes))
    }

    fn pay(mut self, value: &Value) -> Result<(), Error> {
        self.walk(value, DEPTH_MAX)?;
        self.settle()
    }

    fn walk(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        self.add(value)?;
        match shape(value) {
            Shape::Leaf => Ok(()),
            Shape::List | Shape::Lazy => {
                let deeper = depth.checked_sub(1).ok_or_else(too_deep)?;
                value.try_iter()?.try_for_each(|item| self.walk(&item, deeper))
            }
            Shape::Map | Shape::Opaque => {
                let deeper = depth.checked_sub(1).ok_or_else(too_deep)?;
                value.try_iter()?.try_for_each(|key| {
                    self.walk(&key, deeper)?;
                    self.walk(&value.get_item(&key)?, deeper)
                })
            }
        }
    }

    /// What stands for `value`, if it cannot stay.
    fn held(&mut self, value: &Value, depth: usize) -> Result<Option<Value>, Error> {
        self.add(value)?;
        let deeper = || depth.checked_sub(1).ok_or_else(too_deep);
        match shape(value) {
            Shape::Leaf => Ok(None),
            Shape::Opaque => Err(invalid("a namespace or a loop cannot be kept in another value")),
            Shape::Lazy => {
                let list = collect(self.meter, value)?;
                let deeper = deeper()?;
                Ok(Some(self.held_items(&list, deeper)?.unwrap_or(list)))
            }
            Shape::List => self.held_items(value, deeper()?),
            Shape::Map => self.held_fields(value, deeper()?),
        }
    }

    fn held_items(&mut self, list: &Value, deeper: usize) -> Result<Option<Value>, Error> {
        let mut changed: Option<Vec<Value>> = None;
        for (at, item) in list.try_iter()?.enumerate() {
            if let Some(new) = self.held(&item, deeper)? {
                let items = match &mut changed {
                    Some(items) => items,
                    None => changed.insert(list.try_iter()?.collect()),
                };
                items[at] = new;
            }
        }
        let list = |items| {
            if list.is_tuple() { Value::from(Tuple::from(items)) } else { Value::from(items) }
        };
        Ok(changed.map(list))
    }

    fn held_fields(&mut self, map: &Value, deeper: usize) -> Result<Option<Value>, Error> {
        let mut changed = false;
        let mut fields = Vec::with_capacity(map.len().unwrap_or(0));
        for key in map.try_iter()? {
            let field = map.get_item(&key)?;
            let (new_key, new_field) = (self.held(&key, deeper)?, self.held(&field, deeper)?);
            changed |= new_key.is_some() || new_field.is_some();
            fields.push((new_key.unwrap_or(key), new_field.unwrap_or(field)));
        }
        Ok(changed.then(|| Value::from_pairs(fields)))
    }
}

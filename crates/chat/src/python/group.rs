//! A group of `groupby`: Jinja2's named tuple of a key and the items that have it.

use std::fmt;
use std::sync::Arc;

use minijinja::Error;
use minijinja::value::{Enumerator, Object, ObjectRepr, Tuple, Value};

/// `group.grouper` or `group[0]`, and `group.list` or `group[1]`. The engine's own groups make up
/// their lists when walked; these have them in memory, so that a template may keep them.
#[derive(Debug)]
pub(super) struct Group {
    grouper: Value,
    list: Value,
}

impl Group {
    /// The group whose key and list are the items of `pair`.
    pub(super) fn of(pair: &Value) -> Result<Group, Error> {
        Ok(Group { grouper: pair.get_item_by_index(0)?, list: pair.get_item_by_index(1)? })
    }

    pub(super) fn is(value: &Value) -> bool {
        value.downcast_object_ref::<Group>().is_some()
    }
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_usize(), key.as_str()) {
            (Some(0), _) | (_, Some("grouper")) => Some(self.grouper.clone()),
            (Some(1), _) | (_, Some("list")) => Some(self.list.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(2)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = Tuple::from([self.grouper.clone(), self.list.clone()]);
        write!(f, "{}", Value::from(tuple))
    }
}

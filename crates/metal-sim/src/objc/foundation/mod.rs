//! The few classes of Foundation that Metal's methods take and return.

mod array;
mod error;
mod string;
mod url;

pub(super) use array::{List, NS_ARRAY};
pub(super) use error::{Domain, Failure, NS_ERROR, set_error};
pub(super) use string::{NS_STRING, Text};
pub(super) use url::{NS_URL, Url};

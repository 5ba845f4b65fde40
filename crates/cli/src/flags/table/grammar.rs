//! What an answer has to look like. At most one of these.

use super::{WRITE, flags};
use crate::flags::{Flag, Kind, Theme, Verb};

const GRAMMAR_THEME: (Theme, &[Verb]) = (Theme::Grammar, WRITE);

flags! { GRAMMAR_ROWS:
    JSON_SCHEMA = Flag::new("json-schema", GRAMMAR_THEME, Kind::Text("SCHEMA"), "",
        "The answer is JSON of this schema; {} for any JSON").short('j');
    JSON_SCHEMA_FILE = Flag::new("json-schema-file", GRAMMAR_THEME, Kind::Path("FILE"), "",
        "Read the schema from a file").dashed(&["jf"]);
    GRAMMAR = Flag::new("grammar", GRAMMAR_THEME, Kind::Text("LARK"), "",
        "The answer matches this Lark grammar");
    GRAMMAR_FILE = Flag::new("grammar-file", GRAMMAR_THEME, Kind::Path("FILE"), "",
        "Read the grammar from a file");
    REGEX = Flag::new("regex", GRAMMAR_THEME, Kind::Text("REGEX"), "",
        "The answer matches this regular expression as a whole");
}

//! The table of word-splitting rules: one row each.
//!
//! The expressions are those of the models' own `tokenizer.json` files, with the branch
//! `\s+(?!\S)|\s+` written as `\s+` and a [`Spaces`] that says the rest. Where the names of
//! several models mean one expression, they share a row.

use super::{Pass, Rule, Spaces};

const fn keep(pattern: &'static str) -> Pass {
    Pass { pattern, spaces: Spaces::Keep }
}

const fn leave_last(pattern: &'static str) -> Pass {
    Pass { pattern, spaces: Spaces::LeaveLast }
}

const fn leave_last_of_blanks(pattern: &'static str) -> Pass {
    Pass { pattern, spaces: Spaces::LeaveLastOfBlanks }
}

/// A rule with neither of the two habits that some have.
const fn plain(names: &'static [&'static str], passes: &'static [Pass]) -> Rule {
    Rule { names, passes, whole_words: false, add_bos: false }
}

/// GPT-2's own rule; many later ones split off digits or punctuation and then apply it.
const GPT_2: Pass = leave_last(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+");

const EACH_DIGIT: Pass = keep(r"\p{N}");

const DIGITS_BY_THREE: Pass = keep(r"\p{N}{1,3}");

/// Llama 3's rule: contractions in any case, digits by three, line breaks apart from blanks.
const LLAMA_3: Pass = leave_last_of_blanks(concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
));

/// Qwen 2's rule: Llama 3's with each digit apart.
const QWEN_2: Pass = leave_last_of_blanks(concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
));

/// Qwen 3.5's rule: Qwen 2's with combining marks in words.
const QWEN_35: Pass = leave_last_of_blanks(concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
));

/// The rule of o200k: capitals and then small letters make a word, its contraction included.
const O200K: Pass = leave_last_of_blanks(concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
));

/// Mistral's Tekken: o200k without contractions and with each digit apart.
const TEKKEN: Pass = leave_last_of_blanks(concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
));

/// DeepSeek V3's main pass: combining marks in words, and an ASCII mark may lead one.
const DEEPSEEK_V3: Pass = leave_last_of_blanks(concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+",
));

/// Chinese characters and the two Japanese syllabaries.
const CHINESE_JAPANESE: Pass = keep(r"[\u{4E00}-\u{9FA5}\u{3040}-\u{309F}\u{30A0}-\u{30FF}]+");

/// What the early DeepSeek models take for Chinese and Korean.
const CHINESE_KOREAN: Pass = keep(r"[\u{4E00}-\u{9FA5}\u{800}-\u{4E00}\u{AC00}-\u{D7FF}]+");

const LINE_BREAK: Pass = keep(r"[\r\n]");

/// The letters with case that DeepSeek LLM lists, after at most one space.
const CASED_LETTERS: Pass = keep(concat!(
    r"\s?[",
    r"A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿ\u{1C4}-\u{293}\u{295}-\u{2AF}\u{370}-\u{373}\u{376}\u{377}",
    r"\u{37B}-\u{37D}\u{37F}\u{386}\u{388}-\u{38A}\u{38C}\u{38E}-\u{3A1}\u{3A3}-\u{3F5}",
    r"\u{3F7}-\u{481}\u{48A}-\u{52F}\u{531}-\u{556}\u{10A0}-\u{10C5}\u{13A0}-\u{13F5}",
    r"\u{13F8}-\u{13FD}\u{1C90}-\u{1CBA}\u{1CBD}-\u{1CBF}\u{1D00}-\u{1D2B}\u{1D6B}-\u{1D77}",
    r"\u{1D79}-\u{1D9A}\u{1E00}-\u{1F15}\u{1F18}-\u{1F1D}\u{1F20}-\u{1F45}\u{1F48}-\u{1F4D}",
    r"\u{1F50}-\u{1F57}\u{1F59}\u{1F5B}\u{1F5D}\u{1F5F}-\u{1F7D}\u{1F80}-\u{1FB4}",
    r"\u{1FB6}-\u{1FBC}\u{1FBE}\u{1FC2}-\u{1FC4}\u{1FC6}-\u{1FCC}\u{1FD0}-\u{1FD3}",
    r"\u{1FD6}-\u{1FDB}\u{1FE0}-\u{1FEC}\u{1FF2}-\u{1FF4}\u{1FF6}-\u{1FFC}\u{2102}\u{2107}",
    r"\u{210A}-\u{2113}\u{2115}\u{2119}-\u{211D}\u{2124}\u{2126}\u{2128}\u{212A}-\u{212D}",
    r"\u{212F}-\u{2134}\u{2139}\u{213C}-\u{213F}\u{2145}-\u{2149}\u{214E}\u{2183}\u{2184}",
    r"\u{2C00}-\u{2C7B}\u{2C7E}-\u{2CE4}\u{2CEB}-\u{2CEE}\u{2CF2}\u{2CF3}\u{A640}-\u{A66D}",
    r"\u{A680}-\u{A69B}\u{A722}-\u{A76F}\u{A771}-\u{A787}\u{A78B}-\u{A78E}\u{AB70}-\u{ABBF}",
    r"\u{FB00}-\u{FB06}\u{FB13}-\u{FB17}\u{FF21}-\u{FF3A}\u{FF41}-\u{FF5A}",
    r"\u{10400}-\u{1044F}\u{104B0}-\u{104D3}\u{104D8}-\u{104FB}\u{10C80}-\u{10CB2}",
    r"\u{10CC0}-\u{10CF2}\u{118A0}-\u{118DF}\u{1E900}-\u{1E943}",
    r"]+",
));

/// The punctuation that DeepSeek LLM lists, after at most one space.
const PUNCTUATION: Pass = keep(concat!(
    r"\s?[!-/:-~\u{FF01}-\u{FF0F}\u{FF1A}-\u{FF5E}",
    r"\u{2018}-\u{201F}\u{3000}-\u{3002}]+",
));

/// The rules, the most common first.
pub(crate) static RULES: &[Rule] = &[
    Rule {
        names: &[
            "llama-bpe",
            "llama3",
            "llama-v3",
            "falcon3",
            "falcon-h1",
            "pixtral",
            "midm-2.0",
            "lfm2",
        ],
        passes: &[LLAMA_3],
        whole_words: true,
        add_bos: true,
    },
    plain(
        &[
            "qwen2",
            "deepseek-r1-qwen",
            "kormo",
            "f2llmv2",
            "megrez",
            "stablelm2",
            "hunyuan",
            "solar-open",
            "grok-2",
        ],
        &[QWEN_2],
    ),
    plain(&["qwen35"], &[QWEN_35]),
    plain(
        &[
            "smollm",
            "starcoder",
            "refact",
            "command-r",
            "codeshell",
            "exaone",
            "minerva-7b",
            "mellum2",
        ],
        &[EACH_DIGIT, GPT_2],
    ),
    plain(
        &[
            "gpt-2",
            "phi-2",
            "gigachat",
            "a.x-4.0",
            "mellum",
            "mpt",
            "olmo",
            "jais",
            "trillion",
            "granite-docling",
            "exaone4",
        ],
        &[GPT_2],
    ),
    plain(&["gpt-4o", "llama4", "kanana2", "minimax-m2"], &[O200K]),
    Rule { names: &["tekken"], passes: &[TEKKEN], whole_words: true, add_bos: true },
    plain(&["dbrx", "smaug-bpe", "chatglm-bpe"], &[LLAMA_3]),
    Rule { names: &["glm4", "glm5"], passes: &[LLAMA_3], whole_words: true, add_bos: false },
    plain(
        &["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"],
        &[DIGITS_BY_THREE, CHINESE_JAPANESE, DEEPSEEK_V3],
    ),
    plain(
        &["deepseek-llm"],
        &[LINE_BREAK, CASED_LETTERS, PUNCTUATION, keep(r"\s+$"), CHINESE_KOREAN, keep(r"\p{N}+")],
    ),
    plain(
        &["deepseek-coder"],
        &[LINE_BREAK, keep(r"\s?\p{L}+"), keep(r"\s?\p{P}+"), CHINESE_KOREAN, EACH_DIGIT],
    ),
    plain(&["falcon"], &[keep(r"[\p{P}\$\+<=>\^~\|`]+"), GPT_2, keep("[0-9][0-9][0-9]")]),
    plain(
        &["default"],
        &[keep(r"[\p{P}\$\+<=>\^~\|]+"), GPT_2, keep(r"\p{N}+"), keep("[0-9][0-9][0-9]")],
    ),
];

/// Gemma 4's rule, which its kind of vocabulary implies: runs of line breaks stand apart.
pub(crate) static GEMMA_4: Rule = plain(&["gemma4"], &[keep(r"[^\n]+|\n+")]);

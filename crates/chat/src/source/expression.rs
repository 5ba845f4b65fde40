//! Expressions: the engine's grammar once more, with the filters that are written around its parts.

use super::lexer::{Kind, Token};
use super::rewrite::{Refusal, Rewriter, unexpected};
use super::{ESCAPE, HOLD, OWN, PAY, PAY_TEXT};

/// Longest constant, in bytes, that costs nothing worth paying for.
const BRIEF_BYTES: usize = 256;

/// Sums of lists are made up after so many operands at the latest: the engine nests one in the
/// other, and flattens them by itself after 32.
const OPERANDS_MAX: usize = 8;

/// Filters whose result is no list.
const TEXT_FILTERS: [&str; 16] = [
    "trim",
    "tojson",
    "string",
    "upper",
    "lower",
    "title",
    "capitalize",
    "replace",
    "join",
    "safe",
    "escape",
    "e",
    "length",
    "count",
    "int",
    "float",
];

/// Filters that make markup, and those that leave markup what it is.
const MARKUP_FILTERS: [&str; 3] = ["safe", "escape", "e"];
pub(crate) const MARKUP_KEEPERS: [&str; 7] =
    ["trim", "string", "upper", "lower", "capitalize", "default", "d"];

/// What the engine's `loop`, a name that nothing else may take, counts.
const LOOP_COUNTS: [&str; 8] =
    ["index", "index0", "revindex", "revindex0", "length", "first", "last", "depth"];

/// A part of an expression that has been read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Levels of its syntax tree.
    pub(super) depth: usize,
    /// Whether a filter binds to all of it.
    pub(super) is_simple: bool,
    /// Whether its value may be a list, an object or a namespace.
    pub(super) may_be_list: bool,
    /// Whether comparing it is as cheap as any instruction.
    pub(super) is_brief: bool,
    /// Whether it is a number, if it is anything.
    is_number: bool,
    /// Whether it is a literal text or number.
    is_literal: bool,
    /// Whether it is certainly markup, which escapes what is added to it.
    is_markup: bool,
}

impl Part {
    /// A part of which nothing is known.
    pub(super) fn new(from: usize, to: usize) -> Part {
        Part {
            from,
            to,
            depth: 0,
            is_simple: true,
            may_be_list: true,
            is_brief: false,
            is_number: false,
            is_literal: false,
            is_markup: false,
        }
    }

    fn literal(from: usize, to: usize) -> Part {
        let is_brief = to - from <= BRIEF_BYTES;
        Part { may_be_list: false, is_brief, is_literal: true, ..Part::new(from, to) }
    }

    /// The same place of the source, where an operator gives a truth value.
    fn truth(self) -> Part {
        let Part { from, to, depth, is_simple, .. } = self;
        Part { depth, is_simple, may_be_list: false, is_brief: true, ..Part::new(from, to) }
    }

    fn number(self) -> Part {
        Part { is_number: true, ..self.truth() }
    }

    fn text(self) -> Part {
        Part { is_brief: false, ..self.truth() }
    }

    fn unknown(self) -> Part {
        let Part { from, to, depth, is_simple, .. } = self;
        Part { depth, is_simple, ..Part::new(from, to) }
    }
}

type Read<'s> = fn(&mut Rewriter<'s>) -> Result<Part, Refusal>;

impl<'s> Rewriter<'s> {
    /// Writes a filter behind a part.
    pub(super) fn wrap(&mut self, part: Part, filter: &'static str) {
        let (open, close) = if part.is_simple { ("(", "|") } else { ("((", ")|") };
        self.insert(part.from, open);
        for text in [close, filter, ")"] {
            self.insert(part.to, text);
        }
    }

    /// `left` and `right` under one operator.
    fn join(&self, left: Part, right: Part) -> Result<Part, Refusal> {
        let depth = self.check(1 + left.depth.max(right.depth))?;
        let may_be_list = left.may_be_list || right.may_be_list;
        let is_brief = left.is_brief && right.is_brief;
        let is_markup = left.is_markup && right.is_markup;
        let (from, to) = (left.from, right.to);
        let whole = Part { depth, may_be_list, is_brief, is_markup, ..Part::new(from, to) };
        Ok(Part { is_simple: false, ..whole })
    }

    /// What stands in brackets or after a prefix.
    fn deeper(&mut self, read: Read<'s>) -> Result<Part, Refusal> {
        self.level = self.check(self.level + 1)?;
        let part = read(self)?;
        self.level -= 1;
        Ok(part)
    }

    pub(super) fn expression(&mut self) -> Result<Part, Refusal> {
        self.deeper(Rewriter::conditional)
    }

    fn conditional(&mut self) -> Result<Part, Refusal> {
        let mut value = self.disjunction()?;
        while self.skip("if") {
            let test = self.disjunction()?;
            value.depth = self.check(1 + value.depth.max(test.depth))?;
            (value.to, value.is_simple, value.is_literal) = (test.to, false, false);
            if self.skip("else") {
                let other = self.expression()?;
                value = self.join(value, other)?;
            }
        }
        Ok(value)
    }

    pub(super) fn disjunction(&mut self) -> Result<Part, Refusal> {
        self.chain(Rewriter::conjunction, "or")
    }

    fn conjunction(&mut self) -> Result<Part, Refusal> {
        self.chain(Rewriter::negation, "and")
    }

    fn chain(&mut self, read: Read<'s>, sign: &str) -> Result<Part, Refusal> {
        let mut left = read(self)?;
        while self.skip(sign) {
            let right = read(self)?;
            left = self.join(left, right)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Part, Refusal> {
        let from = self.peek().map_or(0, |token| token.at);
        if !self.skip("not") {
            return self.comparison();
        }
        let operand = self.deeper(Rewriter::negation)?;
        let depth = self.check(operand.depth + 1)?;
        Ok(Part { from, depth, is_simple: false, ..operand.truth() })
    }

    fn comparison(&mut self) -> Result<Part, Refusal> {
        let mut left = self.sum()?;
        let mut whole = left;
        while let Some(sign) = self.comparison_sign()? {
            let right = self.sum()?;
            let is_membership = sign.text == "in";
            // A member is compared with each item; otherwise the smaller side ends a comparison.
            let is_cheap =
                left.is_brief || (right.is_brief && (is_membership || !right.may_be_list));
            if !is_cheap {
                self.wrap(left, PAY);
                if !matches!(sign.text, "==" | "!=") {
                    self.wrap(right, PAY);
                }
            }
            whole = self.join(whole, right)?.truth();
            left = right;
        }
        Ok(whole)
    }

    fn comparison_sign(&mut self) -> Result<Option<Token<'s>>, Refusal> {
        let Some(token) = self.peek() else { return Ok(None) };
        match (token.kind, token.text) {
            (Kind::Sign, "==" | "!=" | "<" | "<=" | ">" | ">=") | (Kind::Name, "in") => {
                self.take().map(Some)
            }
            (Kind::Name, "not") => {
                self.take()?;
                self.expect("in").map(Some)
            }
            _ => Ok(None),
        }
    }

    fn sum(&mut self) -> Result<Part, Refusal> {
        let mut whole = self.concatenation()?;
        let mut operands = vec![whole];
        let (mut is_list, mut is_markup) = (whole.may_be_list, whole.is_markup);
        // A number goes with numbers only.
        let mut is_number = whole.is_number;
        while self.is_next("+") || self.is_next("-") {
            let is_difference = self.take()?.text == "-";
            let operand = self.concatenation()?;
            if operands.len() <= OPERANDS_MAX {
                is_list &= operand.may_be_list && !is_difference;
            }
            is_number |= operand.is_number || is_difference;
            is_markup |= operand.is_markup;
            whole = self.join(whole, operand)?.text();
            operands.push(operand);
        }
        if operands.len() == 1 {
            return Ok(whole);
        }
        if is_markup {
            for operand in operands.into_iter().filter(|operand| !operand.is_markup) {
                self.wrap(operand, ESCAPE);
            }
            return Ok(Part { is_markup, ..whole });
        }
        if !is_list {
            return Ok(if is_number { whole.number() } else { whole });
        }
        for operand in operands.iter().skip(OPERANDS_MAX - 1).step_by(OPERANDS_MAX - 1) {
            if operand.to != whole.to {
                self.wrap(Part { to: operand.to, ..whole }, OWN);
            }
        }
        self.wrap(whole, OWN);
        Ok(Part { is_simple: true, ..whole.unknown() })
    }

    fn concatenation(&mut self) -> Result<Part, Refusal> {
        let mut whole = self.product()?;
        let mut operand = whole;
        let mut is_single = true;
        while self.skip("~") {
            if is_single {
                self.pay_for_text(operand);
            }
            is_single = false;
            operand = self.product()?;
            self.pay_for_text(operand);
            whole = self.join(whole, operand)?.text();
        }
        Ok(whole)
    }

    fn pay_for_text(&mut self, operand: Part) {
        if operand.may_be_list && !operand.is_brief {
            self.wrap(operand, PAY_TEXT);
        }
    }

    fn product(&mut self) -> Result<Part, Refusal> {
        let mut whole = self.power()?;
        while let Some(sign) = self.peek().filter(|t| matches!(t.text, "*" | "/" | "//" | "%")) {
            self.take()?;
            let operand = self.power()?;
            let product = self.join(whole, operand)?;
            whole = match (sign.text, product.may_be_list) {
                ("*", true) => {
                    self.wrap(product, OWN);
                    Part { is_simple: true, ..product.unknown() }
                }
                ("*", false) => product.text(),
                _ => product.number(),
            };
        }
        Ok(whole)
    }

    fn power(&mut self) -> Result<Part, Refusal> {
        let whole = self.chain(Rewriter::unary, "**")?;
        Ok(if whole.is_simple { whole } else { whole.number() })
    }

    fn unary(&mut self) -> Result<Part, Refusal> {
        let mut value = self.unfiltered()?;
        loop {
            if self.skip("|") {
                self.filter(&mut value)?;
            } else if self.skip("is") {
                value = self.test(value)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// A signed operand with its subscripts and calls.
    fn unfiltered(&mut self) -> Result<Part, Refusal> {
        let from = self.peek().map_or(0, |token| token.at);
        if !self.skip("-") {
            let primary = self.deeper(Rewriter::primary)?;
            return self.postfix(primary);
        }
        let operand = self.deeper(Rewriter::unfiltered)?;
        let depth = self.check(operand.depth + 1)?;
        let is_literal = operand.is_literal;
        Ok(Part { from, depth, is_literal, ..operand.number() })
    }

    fn postfix(&mut self, mut value: Part) -> Result<Part, Refusal> {
        let mut is_loop = self.last().is_some_and(|token| token.text == "loop");
        let mut attribute = "";
        loop {
            if self.skip(".") {
                let token = self.take()?;
                if !matches!(token.kind, Kind::Name | Kind::Number) {
                    return Err(unexpected(token, "an identifier or integer"));
                }
                attribute = token.text;
            } else if self.is_next("[") {
                value = self.subscript(value)?;
                attribute = "";
            } else if self.is_next("(") {
                let pays = attribute == "changed";
                value.depth = value.depth.max(self.arguments(pays)?);
                attribute = "";
            } else {
                return Ok(value);
            }
            value.depth = self.check(value.depth + 1)?;
            value = Part { to: self.last_end(), ..value.unknown() };
            if is_loop && LOOP_COUNTS.contains(&attribute) {
                value = value.number();
            }
            is_loop = false;
        }
    }

    fn subscript(&mut self, value: Part) -> Result<Part, Refusal> {
        self.expect("[")?;
        let first = self.peek();
        let mut depth = value.depth;
        let mut index = None;
        if !self.is_next(":") {
            let part = self.expression()?;
            depth = depth.max(part.depth);
            index = Some(part);
        }
        let is_slice = self.is_next(":");
        while self.skip(":") {
            if !self.is_next(":") && !self.is_next("]") {
                depth = depth.max(self.expression()?.depth);
            }
        }
        let whole = Part { to: self.expect("]")?.end(), depth, ..value.unknown() };
        if is_slice {
            self.wrap(value, OWN);
            self.wrap(whole, OWN);
            return Ok(whole);
        }
        let (Some(index), Some(first)) = (index, first) else {
            return Err(Refusal::syntax(whole.to, "empty subscript"));
        };
        // An index into a text is counted off from its beginning.
        let is_short = first.kind == Kind::Text || first.text.len() <= 3;
        if !(index.is_literal && first.text != "-" && is_short) {
            self.wrap(value, OWN);
        }
        if !index.is_brief {
            self.wrap(index, PAY);
        }
        Ok(whole)
    }

    /// A call's arguments with their brackets; how deep they are.
    fn arguments(&mut self, pays: bool) -> Result<usize, Refusal> {
        self.expect("(")?;
        let mut depth = 0;
        while !self.skip(")") {
            let is_spread = self.skip("**") || self.skip("*");
            let mut part = self.expression()?;
            if self.skip("=") {
                part = self.expression()?;
            }
            if is_spread {
                self.wrap(part, OWN);
            } else if pays && !part.is_brief {
                self.wrap(part, PAY);
            }
            depth = depth.max(part.depth);
            if !self.is_next(")") {
                self.expect(",")?;
            }
        }
        Ok(depth)
    }

    /// The name of a filter or a test; of one with dots, its beginning.
    fn filter_name(&mut self) -> Result<Token<'s>, Refusal> {
        let name = self.expect_name()?;
        let mut dots = 0;
        while self.skip(".") {
            self.expect_name()?;
            dots = self.check(dots + 1)?;
        }
        Ok(name)
    }

    /// A filter and its arguments; `value` becomes what it makes of it.
    pub(super) fn filter(&mut self, value: &mut Part) -> Result<(), Refusal> {
        let name = self.filter_name()?;
        let depth = if self.is_next("(") { self.arguments(false)? } else { 0 };
        let depth = self.check(1 + value.depth.max(depth))?;
        let whole = Part { to: self.last_end(), depth, is_simple: true, ..*value };
        let is_text = TEXT_FILTERS.contains(&name.text);
        let is_markup = MARKUP_FILTERS.contains(&name.text)
            || value.is_markup && MARKUP_KEEPERS.contains(&name.text);
        let filtered = if is_text { whole.text() } else { whole.unknown() };
        *value = Part { is_markup, ..filtered };
        Ok(())
    }

    fn test(&mut self, value: Part) -> Result<Part, Refusal> {
        self.skip("not");
        self.filter_name()?;
        let mut depth = 0;
        if self.is_next("(") {
            depth = self.arguments(false)?;
        } else if self.peek().is_some_and(|token| match token.kind {
            Kind::Name => !matches!(token.text, "and" | "or" | "else" | "is"),
            Kind::Text | Kind::Number => true,
            Kind::Sign => matches!(token.text, "+" | "-" | "[" | "{"),
        }) {
            let before = self.edited();
            let argument = self.unfiltered()?;
            depth = argument.depth;
            if self.edited() > before {
                self.insert(argument.from, "(");
                self.insert(argument.to, ")");
            }
        }
        let depth = self.check(2 + value.depth.max(depth))?;
        Ok(Part { to: self.last_end(), depth, is_simple: true, ..value.truth() })
    }

    fn primary(&mut self) -> Result<Part, Refusal> {
        let token = self.take()?;
        let (from, to) = (token.at, token.end());
        match (token.kind, token.text) {
            (Kind::Name, "true" | "True" | "false" | "False" | "none" | "None") => {
                Ok(Part::literal(from, to))
            }
            (Kind::Number, _) => Ok(Part { is_number: true, ..Part::literal(from, to) }),
            // An operator, which would turn into a prefix in the brackets of a filter.
            (Kind::Name, "not") => Err(unexpected(token, "an expression")),
            (Kind::Name, _) => Ok(Part::new(from, to)),
            (Kind::Text, _) => {
                while self.peek().is_some_and(|token| token.kind == Kind::Text) {
                    self.take()?;
                }
                Ok(Part::literal(from, self.last_end()))
            }
            (Kind::Sign, "(") => self.bracket(from),
            (Kind::Sign, "[") => self.items(from, Vec::new(), "]"),
            (Kind::Sign, "{") => self.items(from, Vec::new(), "}"),
            (Kind::Sign, _) => Err(unexpected(token, "an expression")),
        }
    }

    /// A tuple, or an expression in brackets.
    fn bracket(&mut self, from: usize) -> Result<Part, Refusal> {
        if self.is_next(")") {
            return self.items(from, Vec::new(), ")");
        }
        let first = self.expression()?;
        if self.is_next(",") {
            return self.items(from, vec![first], ")");
        }
        let to = self.expect(")")?.end();
        Ok(Part { from, to, is_simple: true, ..first })
    }

    /// The items of a list, a tuple or an object up to its closing bracket.
    fn items(&mut self, from: usize, first: Vec<Part>, close: &str) -> Result<Part, Refusal> {
        let mut depth = first.first().map_or(0, |item| item.depth);
        let mut is_literal = first.iter().all(|item| item.is_literal);
        let mut needs_comma = !first.is_empty();
        while !self.is_next(close) {
            if needs_comma {
                self.expect(",")?;
                if self.is_next(close) {
                    break;
                }
            }
            needs_comma = true;
            let mut item = self.expression()?;
            if close == "}" {
                self.expect(":")?;
                if !item.is_brief {
                    self.wrap(item, PAY);
                }
                is_literal &= item.is_literal;
                depth = depth.max(item.depth);
                item = self.expression()?;
            }
            is_literal &= item.is_literal;
            depth = depth.max(item.depth);
        }
        let to = self.expect(close)?.end();
        let whole = Part { depth: self.check(depth + 1)?, ..Part::new(from, to) };
        if is_literal && to - from <= BRIEF_BYTES {
            return Ok(Part { is_brief: true, ..whole });
        }
        self.wrap(whole, HOLD);
        Ok(whole)
    }
}

//! Calls of functions: the name found, the arguments counted and reconciled, the type decided.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_expr::beforehand::Standing;
use palisade_expr::compare::{aggregate_collations, domain_of, is_written, result_collation, text_collation};
use palisade_expr::func::control::{IF, NULLIF};
use palisade_expr::func::turns::{Read, Turn};
use palisade_expr::func::{self, Function, Purity, absent};
use palisade_expr::place::At;
use palisade_expr::{CastTarget, Coercibility, Domain, Expr, Node, SqlError, SqlResult};
use palisade_parser::ast;
use palisade_parser::lexer::Keyword;
use palisade_session::virtual_tables::SYS;

use super::compare::constants_to_order;
use super::json::adapt_documents;
use super::scope::Clause;
use super::types::{
    chosen_as_number, chosen_date_as_number, computed_as_integer, date_text_as_integer, date_text_as_number,
    sum_as_moment, text_column_as_integer, transcode_choice, transcode_to, transcode_when_met,
    variable_as_integer,
};
use super::{Binder, not_supported};

/// GROUPING()'s arguments, at most: a bit for each.
const MOST_GROUPED: usize = 64;

impl Binder<'_> {
    pub(super) fn function(&mut self, function: &ast::Function) -> SqlResult<Expr> {
        let lower = function.name.to_ascii_lowercase();
        if let Some(schema) = &function.schema {
            return self.stored_function(schema, function);
        }
        if function.is_generic && is_of_grammar(&function.name) {
            return Err(self.no_such_function(&function.name));
        }
        match lower.as_str() {
            "values" => {
                if let [ast::Expr::Column(column)] = function.arguments.as_slice() {
                    return self.expr_any(&ast::Expr::Values(column.clone()));
                }
            }
            func::control::GROUPING => {
                if self.scopes.last().is_some_and(|scope| scope.clause == Clause::Group) {
                    return Err(mysql_error!(ER_WRONG_GROUP_FIELD, "GROUPING function"));
                }
                let Some(scope) =
                    self.scopes.last().filter(|scope| scope.is_grouped && scope.aggregates_allowed)
                else {
                    return Err(mysql_error!(ER_INVALID_GROUP_FUNC_USE));
                };
                let count = function.arguments.len();
                if count > MOST_GROUPED {
                    return Err(mysql_error!(ER_INVALID_NO_OF_ARGS, "GROUPING", count, MOST_GROUPED));
                }
                if scope.in_aggregate {
                    return Err(not_supported("GROUPING in an aggregate function"));
                }
            }
            name if absent::is_not_yet(name) => return Err(not_supported(name.to_uppercase())),
            name if absent::is_internal(name) => {
                return Err(mysql_error!(ER_NO_ACCESS_TO_NATIVE_FCT, function.name));
            }
            _ => {}
        }
        // What has a dot in its name is a function of a schema.
        if func::find(&lower).is_none() || lower.contains('.') {
            return match self.session.database.clone() {
                Some(schema) => self.stored_function(&schema, function),
                None => Err(self.no_such_function(&function.name)),
            };
        }
        let arguments = self.all(&function.arguments)?;
        check_count(func::find(&lower), arguments.len(), &function.name)?;
        self.call(&lower, arguments)
    }

    /// 1210 for what JSON_SEARCH is given for ESCAPE, unless it is one constant character, or none.
    fn check_escape_of_search(&self, escape: &Expr) -> SqlResult<()> {
        let mut is_constant = true;
        escape.walk(&mut |part| {
            is_constant &= match &part.node {
                Node::Column { .. }
                | Node::UserVariable(_)
                | Node::AssignUserVariable(..)
                | Node::SystemVariable { .. }
                | Node::Subquery(_) => false,
                Node::Parameter(_) => self.session.constants_are_parameters,
                Node::Call { function, .. } => function.purity == Purity::Pure || function.name == "database",
                _ => true,
            };
        });
        match is_constant {
            true => self.check_escape(escape),
            false => Err(mysql_error!(ER_WRONG_ARGUMENTS, "ESCAPE")),
        }
    }

    /// A call of a function of a schema: those of sys are functions of the library.
    fn stored_function(&mut self, schema: &str, function: &ast::Function) -> SqlResult<Expr> {
        let qualified = format!("{schema}.{}", function.name.to_ascii_lowercase());
        let Some(known) = func::find(&qualified).filter(|_| schema == SYS && !function.name.contains('.'))
        else {
            return Err(no_such_function(schema, &function.name));
        };
        let count = function.arguments.len();
        if count != usize::from(known.least) {
            let name = format!("{schema}.{}", function.name);
            return Err(mysql_error!(ER_SP_WRONG_NO_OF_ARGS, "FUNCTION", name, known.least, count));
        }
        let arguments = self.all(&function.arguments)?;
        self.call(&qualified, arguments)
    }

    /// There is no function with that name in the session's database.
    fn no_such_function(&self, name: &str) -> SqlError {
        match &self.session.database {
            Some(schema) => no_such_function(schema, name),
            None => mysql_error!(ER_NO_DB_ERROR),
        }
    }

    /// A call of a function of the library.
    pub fn call(&mut self, name: &str, mut arguments: Vec<Expr>) -> SqlResult<Expr> {
        let Some(function) = func::find(name) else {
            return Err(not_supported(name.to_uppercase()));
        };
        check_count(Some(function), arguments.len(), name)?;
        if function.purity != Purity::Pure {
            self.cacheable = self.cacheable && is_cacheable(function);
        }
        // With an argument it changes what it answers.
        let sets_last_id = function.name == "last_insert_id" && !arguments.is_empty();
        self.has_effects |= function.purity == Purity::Effect || sets_last_id;
        for place in whole_arguments(function.name) {
            if let Some(argument) = arguments.get_mut(*place) {
                let taken = std::mem::replace(argument, Expr::null());
                // A text is one to these, and no number.
                let takes_texts = matches!(function.name, "bin" | "hex" | "oct");
                let taken = if takes_texts { taken } else { date_text_as_integer(taken) };
                *argument = variable_as_integer(taken);
            }
        }
        if let ("bit_count" | "export_set" | "make_set", Some(bits)) = (function.name, arguments.first_mut())
        {
            *bits = text_column_as_integer(std::mem::replace(bits, Expr::null()));
        }
        for (place, argument) in arguments.iter_mut().enumerate() {
            if is_read_as_integer(function, place) {
                *argument = computed_as_integer(std::mem::replace(argument, Expr::null()));
            }
        }
        if let ("json_search", Some(escape)) = (function.name, arguments.get(3)) {
            self.check_escape_of_search(escape)?;
        }
        if let ("format", Some(number)) = (function.name, arguments.first_mut()) {
            *number = date_text_as_number(std::mem::replace(number, Expr::null()));
        }
        if function.name == NULLIF
            && let [left, right] = arguments.as_mut_slice()
        {
            self.constant_beside(right, left)?;
        }
        if let ("strcmp", [left, right]) = (function.name, arguments.as_mut_slice()) {
            self.convert_beforehand(left, right, Standing::Alone);
            self.convert_beforehand(right, left, Standing::Alone);
            constants_to_order(left, right);
        }
        if function.name == IF
            && let Some(condition) = arguments.first_mut()
        {
            *condition = chosen_as_number(std::mem::replace(condition, Expr::null()));
        }
        if func::number::FUNCTIONS.iter().any(|known| known.name == function.name) {
            // BIT_COUNT takes binary strings as they are.
            let chosen = match function.name {
                "bit_count" => |argument| argument,
                _ => chosen_as_number,
            };
            let as_number = |argument| chosen_date_as_number(date_text_as_number(chosen(argument)));
            arguments = arguments.into_iter().map(as_number).collect();
        }
        for place in numbers_of_dates_read_by(function.name) {
            if let Some(argument) = arguments.get_mut(*place) {
                *argument = date_text_as_number(std::mem::replace(argument, Expr::null()));
            }
        }
        for place in dates_read_by(function.name) {
            if let Some(argument) = arguments.get_mut(*place) {
                *argument = sum_as_moment(std::mem::replace(argument, Expr::null()));
            }
        }
        self.note_constants_of_call(function.name, &arguments);
        adapt_documents(function, &mut arguments)?;
        self.reconcile_charsets(function, &mut arguments)?;
        let typed = (function.typing)(&arguments, self.collation_connection())?;
        let coercibility = coercibility(function, &arguments, &typed.ty);
        let node = match self.definer() {
            // Within a view whose definer's privileges count, that is who it means.
            Some(definer) if function.name == "current_user" => Node::Literal(Value::bytes(&**definer)),
            _ => Node::Call { function, arguments },
        };
        Ok(Expr { node, ty: typed.ty, nullable: typed.nullable, coercibility })
    }

    /// Texts of one call come in one character set.
    fn reconcile_charsets(&self, function: &Function, arguments: &mut [Expr]) -> SqlResult<()> {
        if matches!(
            function.name,
            "aes_decrypt"
                | "aes_encrypt"
                | "charset"
                | "collation"
                | "coercibility"
                | "hex"
                | "length"
                | "octet_length"
        ) || function.name.starts_with("json_")
        {
            return Ok(());
        }
        if let ("quote", [argument]) = (function.name, &mut *arguments) {
            if let SqlType::Bit { .. } = argument.ty {
                *argument = bit_as_bytes(std::mem::replace(argument, Expr::null()));
            }
            return match argument.ty.is_string() && argument.ty.collation() == CollationId::BINARY {
                true => transcode_to(argument, self.collation_connection()),
                false => Ok(()),
            };
        }
        if let Some(at) = subject(function, arguments) {
            return self.reconcile_with_subject(function, at, arguments);
        }
        if function.name == NULLIF {
            return reconcile_nullif(arguments);
        }
        let is_text = |ty: &SqlType| ty.is_string() || ty.is_temporal() || *ty == SqlType::Null;
        if function.name == "field" && !arguments.iter().all(|argument| is_text(&argument.ty)) {
            // Among numbers texts are numbers.
            return Ok(());
        }
        // What replaces a match is converted when it is put in.
        let end = if function.name == "regexp_replace" { 2 } else { arguments.len() };
        let Some(texts) = arguments.get_mut(texts_of(function).start..end) else { return Ok(()) };
        if texts.iter().filter(|argument| argument.ty.is_string()).count() < 2 {
            return Ok(());
        }
        let operands: Vec<&Expr> = texts.iter().collect();
        let collation = match result_collation(&operands, function.name) {
            _ if let ("find_in_set", [text, list]) = (function.name, &operands[..])
                && text.ty.collation() == list.ty.collation() =>
            {
                return Ok(());
            }
            _ if let ("find_in_set" | "strcmp", [left, right]) = (function.name, &operands[..]) => {
                match domain_of(left, right, function.name)? {
                    Domain::Text(collation) => collation,
                    _ => return Ok(()),
                }
            }
            Ok((collation, _)) => collation,
            Err(_) => return Ok(()),
        };
        let keeps_bytes = !joins_texts(function);
        let keeps_columns = function.name == "find_in_set";
        for argument in texts {
            if keeps_columns && !is_written(argument) {
                continue;
            }
            if function.name == IF {
                transcode_choice(argument, collation)?;
            } else if !keeps_bytes || argument.ty.is_text() {
                transcode_to(argument, collation)?;
            }
        }
        Ok(())
    }

    /// What is looked for in a text, or put into it, comes in the text's character set.
    fn reconcile_with_subject(
        &self,
        function: &Function,
        at: usize,
        arguments: &mut [Expr],
    ) -> SqlResult<()> {
        let subject = arguments.at(at)?;
        let collation = match &subject.ty {
            SqlType::Null | SqlType::Bit { .. } => CollationId::BINARY,
            _ => text_collation(subject).unwrap_or(self.collation_connection()),
        };
        let transcode = match function.name {
            "substring_index" | "trim" => transcode_when_met,
            _ => transcode_to,
        };
        for (position, argument) in arguments.iter_mut().enumerate() {
            if position != at && is_text_of_subject(function, position) {
                if matches!(argument.ty, SqlType::Bit { .. }) {
                    *argument = bit_as_bytes(std::mem::replace(argument, Expr::null()));
                }
                transcode(argument, collation)?;
            }
        }
        Ok(())
    }

    /// A word of the grammar as an argument: no text to reconcile the collations of others with.
    pub(super) fn keyword(word: &str) -> Expr {
        Expr {
            ty: SqlType::Null,
            coercibility: Coercibility::Null,
            ..Expr::literal(Value::bytes(word), SqlType::Null)
        }
    }
}

/// Which of a function's arguments is the text that it looks into or changes: its collation is that of the
/// call, whatever the collations of the others are.
fn subject(function: &Function, arguments: &[Expr]) -> Option<usize> {
    let is_text = |argument: &Expr| argument.ty.is_string() || argument.ty == SqlType::Null;
    match function.name {
        // Among numbers texts are numbers.
        "field" => arguments.iter().all(is_text).then_some(0),
        "insert" | "instr" | "lpad" | "replace" | "rpad" | "substring_index" => Some(0),
        "locate" | "position" => Some(1),
        "trim" => Some(2),
        _ => None,
    }
}

/// Which of a function's arguments alone decides how strongly the call insists on its collation: that of
/// nothing but NULL does not.
fn text_made_from(function: &Function, arguments: &[Expr]) -> Option<usize> {
    match function.name {
        "left" | "mid" | "repeat" | "right" | "substr" | "substring" => Some(0),
        _ => subject(function, arguments),
    }
}

/// Whether an argument beside a function's subject is a text, and not a position or a count.
fn is_text_of_subject(function: &Function, position: usize) -> bool {
    match function.name {
        "insert" => position == 3,
        "lpad" | "rpad" => position == 2,
        "locate" | "substring_index" => position < 2,
        _ => true,
    }
}

/// Whether bytes among the arguments of a function become texts: where texts are joined, chosen or compared.
/// Elsewhere a binary literal may be a number.
fn joins_texts(function: &Function) -> bool {
    matches!(
        function.name,
        IF | "coalesce"
            | "concat"
            | "concat_ws"
            | "elt"
            | "export_set"
            | "greatest"
            | "ifnull"
            | "least"
            | "make_set"
            | "strcmp"
    )
}

/// NULLIF compares in the collation that both agree on, which a constant then has, and nothing else.
fn reconcile_nullif(arguments: &mut [Expr]) -> SqlResult<()> {
    let [left, right] = arguments else { return Ok(()) };
    if !left.ty.is_text() || !right.ty.is_string() {
        return Ok(());
    }
    let (collation, _) = aggregate_collations(&[left, right], NULLIF)?;
    transcode_to(right, collation)?;
    let is_constant = matches!(left.node, Node::Literal(_));
    match &mut left.ty {
        SqlType::VarChar { length, collation: own } if is_constant && collation == CollationId::BINARY => {
            let bytes = own.get().charset.max_bytes();
            left.ty = SqlType::VarBinary { length: length.saturating_mul(bytes) };
        }
        SqlType::VarChar { collation: own, .. }
            if is_constant && own.get().charset == collation.get().charset =>
        {
            *own = collation;
        }
        _ => {}
    }
    Ok(())
}

/// Which arguments of a function are texts that meet each other.
fn texts_of(function: &Function) -> std::ops::RangeFrom<usize> {
    match function.name {
        IF | "elt" | "export_set" | "make_set" => 1..,
        _ => 0..,
    }
}

/// How strongly a call insists on its collation.
fn coercibility(function: &Function, arguments: &[Expr], ty: &SqlType) -> Coercibility {
    let strongest = |arguments: &[Expr]| {
        let texts = arguments.iter().filter(|argument| is_text_or_bits(&argument.ty));
        // a column of bits is a column of bytes
        let of = |argument: &Expr| match argument.ty {
            SqlType::Bit { .. } => Coercibility::Implicit,
            _ => argument.coercibility,
        };
        texts.map(of).min()
    };
    match function.name {
        // MySQL keeps here what it compares the arguments by.
        "field" => {
            let is_text = |argument: &Expr| argument.ty.is_string() || argument.ty == SqlType::Null;
            match arguments.first() {
                Some(first) if arguments.iter().all(is_text) => first.coercibility,
                _ => Coercibility::Numeric,
            }
        }
        "instr" => strongest(arguments.get(..1).unwrap_or_default()).unwrap_or(Coercibility::Literal),
        "locate" | "position" => {
            strongest(arguments.get(1..2).unwrap_or_default()).unwrap_or(Coercibility::Literal)
        }
        NULLIF => arguments.first().map_or(Coercibility::Null, |left| left.coercibility),
        "quote" => arguments.first().map_or(Coercibility::Literal, |argument| argument.coercibility),
        "regexp_instr" | "regexp_like" => {
            strongest(arguments.get(..2).unwrap_or(arguments)).unwrap_or(Coercibility::Numeric)
        }
        _ if *ty == SqlType::Null => Coercibility::Null,
        _ if !ty.is_string() => Coercibility::Numeric,
        _ if *ty == SqlType::Json => Coercibility::Implicit,
        "database" | "schema" | "user" | "current_user" | "session_user" | "system_user" | "version" => {
            Coercibility::SystemConstant
        }
        // texts that are not made of their arguments' characters
        "bin" | "char" | "charset" | "collation" | "conv" | "from_base64" | "hex" | "json_quote"
        | "json_unquote" | "md5" | "oct" | "sha" | "sha1" | "sha2" | "to_base64" | "unhex" | "uuid" => {
            Coercibility::Literal
        }
        "date_format" | "time_format" => {
            strongest(arguments.get(1..).unwrap_or_default()).unwrap_or(Coercibility::Literal)
        }
        _ if let Some(at) = text_made_from(function, arguments) => match arguments.get(at) {
            Some(text) if text.ty == SqlType::Null => Coercibility::Null,
            text => {
                strongest(text.map(std::slice::from_ref).unwrap_or_default()).unwrap_or(Coercibility::Literal)
            }
        },
        _ if has_conflict(arguments, ty) => {
            match arguments.iter().any(|argument| argument.ty == SqlType::Null) {
                true => Coercibility::Null,
                false => Coercibility::Conflict,
            }
        }
        _ => match strongest(arguments.get(texts_of(function)).unwrap_or_default()) {
            None if is_of_nulls(arguments.get(texts_of(function)).unwrap_or_default()) => Coercibility::Null,
            None => Coercibility::Literal,
            Some(Coercibility::Null) if arguments.iter().any(Expr::is_written_as_text) => {
                Coercibility::Literal
            }
            Some(strength) => strength,
        },
    }
}

/// Whether there are arguments, and all of them are NULL.
fn is_of_nulls(arguments: &[Expr]) -> bool {
    !arguments.is_empty() && arguments.iter().all(|argument| argument.ty == SqlType::Null)
}

fn is_text_or_bits(ty: &SqlType) -> bool {
    ty.is_string() || matches!(ty, SqlType::Bit { .. })
}

/// Whether a name that is called as stored functions are is one that only the grammar gives a meaning to: the
/// two other words are functions of the library, too.
fn is_of_grammar(name: &str) -> bool {
    !matches!(Keyword::of(name.as_bytes()), Keyword::None | Keyword::LOG | Keyword::REVERSE)
}

/// 1305, or 1630 for a word of the grammar: what was meant may be another way to write it.
fn no_such_function(schema: &str, name: &str) -> SqlError {
    let full = format!("{schema}.{name}");
    match Keyword::of(name.as_bytes()) {
        Keyword::None => mysql_error!(ER_SP_DOES_NOT_EXIST, "FUNCTION", full),
        _ => mysql_error!(ER_FUNC_INEXISTENT_NAME_COLLISION, full),
    }
}

/// Whether a text of a type is made of texts whose collations do not go together.
fn has_conflict(arguments: &[Expr], ty: &SqlType) -> bool {
    let found = result_collation(&arguments.iter().collect::<Vec<_>>(), "");
    found.is_ok_and(|found| found == (ty.collation(), Coercibility::Conflict))
}

/// 1582 if a function does not take so many arguments.
fn check_count(function: Option<&Function>, count: usize, written: &str) -> SqlResult<()> {
    let Some(function) = function else { return Ok(()) };
    let too_many = function.most != func::MANY && count > usize::from(function.most);
    if count < usize::from(function.least) || too_many {
        return Err(mysql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, written));
    }
    Ok(())
}

fn is_cacheable(function: &Function) -> bool {
    // Their typing does not depend on the session; their value is computed at every execution.
    !matches!(function.name, "database" | "schema")
}

/// Whether an argument of a function is read as a whole number, so that a double beyond BIGINT is none: its
/// turn says so, or the function has none.
fn is_read_as_integer(function: &Function, place: usize) -> bool {
    let is_integer = |turn: &Turn| turn.argument == place && matches!(turn.read, Read::Integer | Read::Bits);
    match function.name {
        "bit_count" | "elt" | "from_days" | "hex" | "inet_ntoa" | "make_set" | "rand" | "random_bytes"
        | "space" => place == 0,
        "week" | "yearweek" => place == 1,
        "char" => place > 0,
        "regexp_instr" => (2..5).contains(&place),
        "regexp_replace" => (3..5).contains(&place),
        "regexp_substr" => (2..4).contains(&place),
        _ => function.turns.iter().any(is_integer),
    }
}

/// Which arguments of a function are read as dates: a time is one of today there.
fn dates_read_by(function: &str) -> &'static [usize] {
    match function {
        "convert_tz" | "date" | "date_format" | "day" | "dayname" | "dayofmonth" | "dayofweek"
        | "dayofyear" | "last_day" | "month" | "monthname" | "quarter" | "timestamp" | "to_days"
        | "to_seconds" | "unix_timestamp" | "week" | "weekday" | "weekofyear" | "year" | "yearweek" => &[0],
        "datediff" => &[0, 1],
        "timestampdiff" => &[1, 2],
        _ => &[],
    }
}

/// A BIT as the bytes that it is.
fn bit_as_bytes(bit: Expr) -> Expr {
    let (target, nullable) = (CastTarget::Binary { length: None }, bit.nullable);
    let ty = target.result_type(&bit.ty);
    Expr::computed(Node::Cast { operand: Box::new(bit), target }, ty, nullable)
}

/// Which arguments of a function are numbers, where the text that a function has made of a date is its
/// number.
fn numbers_of_dates_read_by(function: &str) -> &'static [usize] {
    match function {
        "from_days" | "period_add" | "period_diff" => &[0],
        "timestampadd" => &[1],
        _ => &[],
    }
}

/// Which arguments of a function are whole numbers, though a double is no error.
fn whole_arguments(function: &str) -> &'static [usize] {
    match function {
        "bit_count" | "bin" | "elt" | "export_set" | "hex" | "make_set" | "oct" | "space" => &[0],
        "date_add" | "date_sub" | "format" | "left" | "lpad" | "makedate" | "period_add" | "repeat"
        | "right" | "round" | "rpad" | "truncate" => &[1],
        "insert" | "substr" | "substring" => &[1, 2],
        "locate" | "substring_index" => &[2],
        "maketime" => &[0, 1],
        _ => &[],
    }
}

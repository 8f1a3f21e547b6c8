use super::*;

#[test]
fn after_an_invalid_token_comes_the_end() {
    for text in ["'x", "/* x", "/*! x", "/*!50000", "`x", "1.e+", "x'1", "\u{1}"] {
        let mut lexer = Lexer::new(text.as_bytes(), &ParseOptions::default());
        let ends = (0..10).any(|_| lexer.next_token().kind == TokenKind::End);
        assert!(ends, "{text}");
    }
}

fn tokens_with(text: &str, options: &ParseOptions) -> String {
    let mut lexer = Lexer::new(text.as_bytes(), options);
    let mut out = Vec::new();
    loop {
        let token = lexer.next_token();
        let text = String::from_utf8_lossy(lexer.bytes(token)).into_owned();
        match token.kind {
            TokenKind::End => return out.join(" "),
            TokenKind::Invalid => {
                out.push(format!("INVALID[{text}]"));
                return out.join(" ");
            }
            TokenKind::Word if token.keyword != Keyword::None => out.push(token.keyword.text().to_owned()),
            TokenKind::Symbol(_) => out.push(text),
            kind => out.push(format!("{kind:?}[{text}]")),
        }
    }
}

fn check(text: &str, expect: &str) {
    assert_eq!(tokens_with(text, &ParseOptions::default()), expect, "{text}");
}

#[test]
fn numbers_and_names_that_look_like_numbers() {
    check(
        "1 1.5 .5 1. 1e5 1.e5 1E+5",
        "Integer[1] Decimal[1.5] Decimal[.5] Decimal[1.] Float[1e5] Float[1.e5] Float[1E+5]",
    );
    check("2b 1e 0x 0b2 0xg 0X1", "Word[2b] Word[1e] Word[0x] Word[0b2] Word[0xg] Word[0X1]");
    check("0x1F 0b101 x'1f' B'01'", "HexNumber[0x1F] BitNumber[0b101] HexString[x'1f'] BitString[B'01']");
    check(
        "t.1a t.1e5 t.select t . 5",
        "Word[t] . Word[1a] Word[t] . Word[1e5] Word[t] . Word[select] Word[t] . Integer[5]",
    );
    check("select.a", "Word[select] . Word[a]");
    check("1e+", "Word[1e] +");
    check("1.e+", "INVALID[1.e+]");
    check("x'1'", "INVALID[x'1']");
}

#[test]
fn strings() {
    check(
        r"'a''b' 'a\'b' N'x' _latin1'x' _nothing'x'",
        r"String['a''b'] String['a\'b'] NationalString[N'x'] Introducer[_latin1] String['x'] Word[_nothing] String['x']",
    );
    check(r#""a" `b``c`.d"#, r#"String["a"] QuotedName[`b``c`] . Word[d]"#);
    check("'a", "INVALID['a]");
    let ansi = ParseOptions { ansi_quotes: true, no_backslash_escapes: true, ..ParseOptions::default() };
    assert_eq!(tokens_with(r#""a" 'b\'"#, &ansi), r#"QuotedName["a"] String['b\']"#);
}

#[test]
fn comments() {
    check("1 -- x\n2 --3 # y\n/* z */ 4", "Integer[1] Integer[2] - - Integer[3] Integer[4]");
    check("1 --", "Integer[1]");
    check(
        "/*!40101 SET*/ /*!99999 x /* y */ z */ /*! 1 */ /*M! 2 */ /*+ 3 */ 4",
        "SET Integer[1] Integer[4]",
    );
    check("/*!080400 a */ /*!080401 b */", "Word[a]");
    check("/*!32311 a /* b */ c */ d", "Word[a] Word[c] Word[d]");
    check("1 /* x", "Integer[1] INVALID[/* x]");
    check("1 /*! x", "Integer[1] Word[x] INVALID[]");
    check("1 */ 2", "Integer[1] * / Integer[2]");
}

#[test]
fn variables() {
    check(
        "@a @a.b @`x y` @'z' @ @@a @@global.a @@`a`",
        "@ AtName[a] @ AtName[a.b] @ QuotedName[`x y`] @ String['z'] @ AtName[] AtAt[@@] Word[a] AtAt[@@] GLOBAL . Word[a] AtAt[@@] QuotedName[`a`]",
    );
    check("@a:=1", "@ AtName[a] Assign[:=] Integer[1]");
}

#[test]
fn functions_that_are_keywords_before_a_parenthesis() {
    check("count(*) count (*)", "COUNT ( * ) Word[count] ( * )");
    let spaced = ParseOptions { ignore_space: true, ..ParseOptions::default() };
    assert_eq!(tokens_with("count (*) count", &spaced), "COUNT ( * ) Word[count]");
}

#[test]
fn operators_and_ends() {
    check(
        "<=> <= <> != << >> && || := -> ->> ? a?",
        "NullSafeEqual[<=>] LessEqual[<=] NotEqual[<>] NotEqual[!=] ShiftLeft[<<] ShiftRight[>>] AndAnd[&&] OrOr[||] Assign[:=] Arrow[->] LongArrow[->>] Placeholder[?] Word[a] Placeholder[?]",
    );
    check("1;2\0\0", "Integer[1] ; Integer[2]");
    check("1\u{1}", "Integer[1] INVALID[\u{1}]");
}

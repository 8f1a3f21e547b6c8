//! Types of columns and parameters.

use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{DataType, TypeKind};
use crate::lexer::Keyword;

impl Parser<'_> {
    /// A type with its attributes: UNSIGNED, ZEROFILL, CHARACTER SET, BINARY. COLLATE is left to the caller, for whom
    /// it is a column's attribute.
    pub(super) fn data_type(&mut self) -> Parsed<DataType> {
        let keyword = self.token.keyword;
        let kind = self.type_kind(keyword)?;
        let mut data_type = DataType::new(kind);
        if matches!(keyword, Keyword::NCHAR | Keyword::NATIONAL | Keyword::NVARCHAR) {
            data_type.charset = Some("utf8mb3".to_owned());
            self.note(Deprecated::National);
        }
        match data_type.kind {
            TypeKind::TinyInt(_)
            | TypeKind::SmallInt(_)
            | TypeKind::MediumInt(_)
            | TypeKind::Int(_)
            | TypeKind::BigInt(_)
            | TypeKind::Decimal(..)
            | TypeKind::Float(..)
            | TypeKind::Double(_)
            | TypeKind::Real(_) => self.numeric_attributes(&mut data_type),
            TypeKind::Char(_)
            | TypeKind::VarChar(_)
            | TypeKind::TinyText
            | TypeKind::Text(_)
            | TypeKind::MediumText
            | TypeKind::LongText
            | TypeKind::Enum(_)
            | TypeKind::Set(_) => self.charset_attributes(&mut data_type)?,
            _ => {}
        }
        Ok(data_type)
    }

    fn numeric_attributes(&mut self, data_type: &mut DataType) {
        let mut says_unsigned = false;
        while let Some(keyword) = self.accept_any(&[Keyword::SIGNED, Keyword::UNSIGNED, Keyword::ZEROFILL]) {
            says_unsigned |= keyword == Keyword::UNSIGNED;
            data_type.unsigned |= keyword != Keyword::SIGNED;
            data_type.zerofill |= keyword == Keyword::ZEROFILL;
        }
        if data_type.zerofill {
            self.note(Deprecated::ZeroFill);
        }
        match data_type.kind {
            TypeKind::TinyInt(Some(_))
            | TypeKind::SmallInt(Some(_))
            | TypeKind::MediumInt(Some(_))
            | TypeKind::Int(Some(_))
            | TypeKind::BigInt(Some(_)) => self.note(Deprecated::DisplayWidth),
            TypeKind::Float(Some(_), Some(_)) | TypeKind::Double(Some(_)) | TypeKind::Real(Some(_)) => {
                self.note(Deprecated::FloatDigits);
            }
            _ => {}
        }
        let has_fraction = matches!(
            data_type.kind,
            TypeKind::Decimal(..) | TypeKind::Float(..) | TypeKind::Double(_) | TypeKind::Real(_)
        );
        if says_unsigned && has_fraction {
            self.note(Deprecated::UnsignedFraction);
        }
    }

    fn charset_attributes(&mut self, data_type: &mut DataType) -> Parsed<()> {
        loop {
            match self.token.keyword {
                Keyword::CHARACTER | Keyword::CHARSET => data_type.charset = Some(self.character_set()?),
                Keyword::CHAR if self.peek().keyword == Keyword::SET => {
                    data_type.charset = Some(self.character_set()?);
                }
                Keyword::ASCII | Keyword::UNICODE | Keyword::BYTE => {
                    let keyword = self.advance().keyword;
                    self.note_charset_word(keyword);
                    let charset = match keyword {
                        Keyword::ASCII => "latin1",
                        Keyword::UNICODE => "ucs2",
                        _ => "binary",
                    };
                    data_type.charset = Some(charset.to_owned());
                }
                Keyword::BINARY => {
                    self.advance();
                    self.note(Deprecated::BinaryAttribute);
                    data_type.binary = true;
                }
                _ => return Ok(()),
            }
        }
    }

    /// `CHARACTER SET name`, `CHAR SET name`, `CHARSET name`: the words and the name.
    pub(super) fn character_set(&mut self) -> Parsed<String> {
        if !self.accept(Keyword::CHARSET) {
            self.expect_any(&[Keyword::CHARACTER, Keyword::CHAR])?;
            self.expect(Keyword::SET)?;
        }
        self.charset_name()
    }

    fn type_kind(&mut self, keyword: Keyword) -> Parsed<TypeKind> {
        if keyword == Keyword::None {
            if self.is_word("vector") {
                self.advance();
                return Ok(TypeKind::Vector(self.optional_length()?));
            }
            return self.fail();
        }
        let start = self.token.start;
        self.advance();
        Ok(match keyword {
            Keyword::TINYINT | Keyword::INT1 => TypeKind::TinyInt(self.optional_length()?),
            Keyword::SMALLINT | Keyword::INT2 => TypeKind::SmallInt(self.optional_length()?),
            Keyword::MEDIUMINT | Keyword::MIDDLEINT | Keyword::INT3 => {
                TypeKind::MediumInt(self.optional_length()?)
            }
            Keyword::INT | Keyword::INTEGER | Keyword::INT4 => TypeKind::Int(self.optional_length()?),
            Keyword::BIGINT | Keyword::INT8 => TypeKind::BigInt(self.optional_length()?),
            Keyword::BOOL | Keyword::BOOLEAN => TypeKind::Bool,
            Keyword::SERIAL => TypeKind::Serial,
            Keyword::DECIMAL | Keyword::NUMERIC | Keyword::DEC | Keyword::FIXED => {
                let (precision, scale) = self.optional_precision()?;
                TypeKind::Decimal(precision, scale)
            }
            Keyword::FLOAT | Keyword::FLOAT4 => {
                let (precision, scale) = self.optional_precision()?;
                TypeKind::Float(precision, scale)
            }
            Keyword::DOUBLE | Keyword::FLOAT8 => {
                self.accept(Keyword::PRECISION);
                TypeKind::Double(self.optional_width_and_scale()?)
            }
            Keyword::REAL => TypeKind::Real(self.optional_width_and_scale()?),
            Keyword::BIT => TypeKind::Bit(self.optional_length()?),
            Keyword::DATE => TypeKind::Date,
            Keyword::TIME => TypeKind::Time(self.optional_length()?),
            Keyword::DATETIME => TypeKind::DateTime(self.optional_length()?),
            Keyword::TIMESTAMP => TypeKind::Timestamp(self.optional_length()?),
            Keyword::YEAR => {
                let width = self.optional_length()?;
                if width.is_some() {
                    self.note(Deprecated::YearWidth);
                }
                let attributes = &[Keyword::UNSIGNED, Keyword::SIGNED, Keyword::ZEROFILL];
                if self.accept_any(attributes) == Some(Keyword::UNSIGNED) {
                    self.note(Deprecated::UnsignedYear);
                }
                TypeKind::Year(width)
            }
            Keyword::JSON => TypeKind::Json,
            Keyword::ENUM => TypeKind::Enum(self.parenthesised_list(Self::text_literal)?),
            Keyword::SET => TypeKind::Set(self.parenthesised_list(Self::text_literal)?),
            spatial if spatial.is_geometry() => TypeKind::Geometry(spatial.text().to_ascii_lowercase()),
            _ => return self.string_kind(keyword, start),
        })
    }

    fn string_kind(&mut self, keyword: Keyword, start: usize) -> Parsed<TypeKind> {
        Ok(match keyword {
            Keyword::CHAR | Keyword::CHARACTER => self.char_or_varchar()?,
            Keyword::NCHAR => self.char_or_varchar()?,
            Keyword::NATIONAL => {
                match self.expect_any(&[Keyword::CHAR, Keyword::CHARACTER, Keyword::VARCHAR])? {
                    Keyword::VARCHAR => TypeKind::VarChar(self.length()?),
                    _ => self.char_or_varchar()?,
                }
            }
            Keyword::VARCHAR | Keyword::VARCHARACTER | Keyword::NVARCHAR => TypeKind::VarChar(self.length()?),
            Keyword::BINARY => TypeKind::Binary(self.optional_length()?),
            Keyword::VARBINARY => TypeKind::VarBinary(self.length()?),
            Keyword::TINYBLOB => TypeKind::TinyBlob,
            Keyword::BLOB => TypeKind::Blob(self.optional_length()?),
            Keyword::MEDIUMBLOB => TypeKind::MediumBlob,
            Keyword::LONGBLOB => TypeKind::LongBlob,
            Keyword::TINYTEXT => TypeKind::TinyText,
            Keyword::TEXT => TypeKind::Text(self.optional_length()?),
            Keyword::MEDIUMTEXT => TypeKind::MediumText,
            Keyword::LONGTEXT => TypeKind::LongText,
            Keyword::LONG => {
                match self.accept_any(&[Keyword::VARBINARY, Keyword::VARCHAR, Keyword::VARCHARACTER]) {
                    Some(Keyword::VARBINARY) => TypeKind::MediumBlob,
                    Some(_) => TypeKind::MediumText,
                    None => {
                        if self.accept_any(&[Keyword::CHAR, Keyword::CHARACTER]).is_some() {
                            self.expect(Keyword::VARYING)?;
                        }
                        TypeKind::MediumText
                    }
                }
            }
            _ => return Err(super::Rejected(start)),
        })
    }

    fn char_or_varchar(&mut self) -> Parsed<TypeKind> {
        if self.accept(Keyword::VARYING) {
            return Ok(TypeKind::VarChar(self.length()?));
        }
        Ok(TypeKind::Char(self.optional_length()?))
    }

    /// `(n)`.
    fn length(&mut self) -> Parsed<u64> {
        match self.optional_length()? {
            Some(length) => Ok(length),
            None => self.fail(),
        }
    }

    /// `[(precision[, scale])]`.
    fn optional_precision(&mut self) -> Parsed<(Option<u64>, Option<u64>)> {
        if !self.accept_symbol(b'(') {
            return Ok((None, None));
        }
        let precision = self.unsigned()?;
        let scale = if self.accept_symbol(b',') { Some(self.unsigned()?) } else { None };
        self.expect_symbol(b')')?;
        Ok((Some(precision), scale))
    }

    /// `[(width, scale)]`.
    fn optional_width_and_scale(&mut self) -> Parsed<Option<(u64, u64)>> {
        if !self.accept_symbol(b'(') {
            return Ok(None);
        }
        let width = self.unsigned()?;
        self.expect_symbol(b',')?;
        let scale = self.unsigned()?;
        self.expect_symbol(b')')?;
        Ok(Some((width, scale)))
    }
}

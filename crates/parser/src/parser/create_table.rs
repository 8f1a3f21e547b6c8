//! CREATE TABLE, its columns, indexes and options; CREATE INDEX, DROP INDEX.

use super::{Parsed, Parser};
use crate::ast::{
    CheckConstraint, ColumnAttribute, ColumnDefault, ColumnDefinition, CreateIndex, CreateTable, DropIndex,
    ForeignKey, Generated, IndexDefinition, IndexKey, IndexKind, IndexOption, IndexPart, MOST_COLUMNS, Name,
    OptionValue, ReferenceAction, References, Statement, TableConstraint, TableOption, TypeKind,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// Behind CREATE [TEMPORARY] TABLE.
    pub(super) fn create_table(&mut self, temporary: bool) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.table_name()?;
        let mut table = CreateTable {
            temporary,
            if_not_exists,
            name,
            like: None,
            columns: Vec::new(),
            constraints: Vec::new(),
            options: Vec::new(),
            partitioning: None,
            duplicates: None,
            query: None,
        };
        if self.accept(Keyword::LIKE) {
            table.like = Some(self.table_name()?);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.is_symbol(b'(') {
            let next = self.peek();
            if next.keyword == Keyword::LIKE {
                self.advance();
                self.advance();
                table.like = Some(self.table_name()?);
                self.expect_symbol(b')')?;
                return Ok(Statement::CreateTable(Box::new(table)));
            }
            let query =
                matches!(next.keyword, Keyword::SELECT | Keyword::WITH | Keyword::TABLE | Keyword::VALUES)
                    || next.kind == TokenKind::Symbol(b'(');
            if !query {
                self.table_elements(&mut table)?;
            }
        }
        table.options = self.table_options()?;
        if self.accept(Keyword::PARTITION) {
            table.partitioning = Some(Box::new(self.partitioning()?));
        }
        table.duplicates = self.optional_duplicates();
        if self.accept(Keyword::AS) || self.is_query_start() || self.is_symbol(b'(') {
            table.query = Some(Box::new(self.query()?));
        } else if table.duplicates.is_some() {
            return self.fail();
        }
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// The columns and constraints of a table. Of columns that no table can have so many of, the statement
    /// keeps [`MOST_COLUMNS`]: what is left out is freed while it is read, and not in one go at the end.
    fn table_elements(&mut self, table: &mut CreateTable) -> Parsed<()> {
        self.expect_symbol(b'(')?;
        loop {
            match self.optional_table_constraint()? {
                Some(constraint) => table.constraints.push(constraint),
                None => {
                    let (column, reference) = self.column_and_reference()?;
                    if table.columns.len() < MOST_COLUMNS {
                        table.columns.push(column);
                    }
                    table.constraints.extend(reference);
                }
            }
            if !self.accept_symbol(b',') {
                return self.expect_symbol(b')');
            }
        }
    }

    /// An index, foreign key or check, if one begins here.
    pub(super) fn optional_table_constraint(&mut self) -> Parsed<Option<TableConstraint>> {
        self.table_constraint(None)
    }

    /// The same. `condition` becomes true if MariaDB's IF NOT EXISTS is said, which is not looked for without
    /// it.
    pub(super) fn table_constraint(
        &mut self,
        mut condition: Option<&mut bool>,
    ) -> Parsed<Option<TableConstraint>> {
        let mut constraint_name = None;
        let named = self.accept(Keyword::CONSTRAINT);
        if named && (self.not_exists_said(&mut condition)? || self.is_name()) {
            constraint_name = Some(self.name()?);
        }
        match self.token.keyword {
            Keyword::FOREIGN => {
                let foreign_key = self.foreign_key(constraint_name, condition)?;
                return Ok(Some(TableConstraint::ForeignKey(foreign_key)));
            }
            Keyword::CHECK => return Ok(Some(TableConstraint::Check(self.check(constraint_name)?))),
            Keyword::PRIMARY | Keyword::UNIQUE => {}
            Keyword::INDEX | Keyword::KEY | Keyword::FULLTEXT | Keyword::SPATIAL if !named => {}
            _ if named => return self.fail(),
            _ => return Ok(None),
        }
        let kind = match self.advance().keyword {
            Keyword::PRIMARY => {
                self.expect(Keyword::KEY)?;
                IndexKind::Primary
            }
            Keyword::UNIQUE => IndexKind::Unique,
            Keyword::FULLTEXT => IndexKind::FullText,
            Keyword::SPATIAL => IndexKind::Spatial,
            _ => IndexKind::Plain,
        };
        if matches!(kind, IndexKind::Unique | IndexKind::FullText | IndexKind::Spatial) {
            self.accept_any(&[Keyword::INDEX, Keyword::KEY]);
        }
        let is_said = kind != IndexKind::Primary && self.not_exists_said(&mut condition)?;
        let own_name = if is_said || self.is_name() { Some(self.name()?) } else { None };
        let name = own_name.or(constraint_name);
        Ok(Some(TableConstraint::Index(self.index_definition(kind, name)?)))
    }

    /// Whether `IF NOT EXISTS` comes, where a condition is asked for.
    fn not_exists_said(&mut self, condition: &mut Option<&mut bool>) -> Parsed<bool> {
        let Some(condition) = condition.as_deref_mut() else { return Ok(false) };
        let is_said = self.if_not_exists()?;
        *condition |= is_said;
        Ok(is_said)
    }

    /// `[USING type] (parts) options`.
    fn index_definition(&mut self, kind: IndexKind, name: Option<Name>) -> Parsed<IndexDefinition> {
        let mut options = Vec::new();
        if self.accept_any(&[Keyword::USING, Keyword::TYPE]).is_some() {
            options.push(IndexOption::Using(self.index_type()?));
        }
        let parts = self.parenthesised_list(Self::index_part)?;
        while let Some(option) = self.optional_index_option()? {
            options.push(option);
        }
        Ok(IndexDefinition { kind, name, parts, options })
    }

    fn index_type(&mut self) -> Parsed<Name> {
        let keyword = self.expect_any(&[Keyword::BTREE, Keyword::HASH, Keyword::RTREE])?;
        Ok(keyword.text().to_owned())
    }

    fn index_part(&mut self) -> Parsed<IndexPart> {
        let key = if self.accept_symbol(b'(') {
            let expr = self.expr()?;
            self.expect_symbol(b')')?;
            IndexKey::Expr(expr)
        } else {
            IndexKey::Column(self.name()?, self.optional_length()?)
        };
        let descending = self.accept_any(&[Keyword::ASC, Keyword::DESC]) == Some(Keyword::DESC);
        Ok(IndexPart { key, descending })
    }

    fn optional_index_option(&mut self) -> Parsed<Option<IndexOption>> {
        let keyword = self.token.keyword;
        let option = match keyword {
            Keyword::USING | Keyword::TYPE => {
                self.advance();
                IndexOption::Using(self.index_type()?)
            }
            Keyword::KEY_BLOCK_SIZE => {
                self.advance();
                self.accept_equal();
                IndexOption::KeyBlockSize(self.unsigned()?)
            }
            Keyword::WITH => {
                self.advance();
                self.expect(Keyword::PARSER)?;
                IndexOption::WithParser(self.name()?)
            }
            Keyword::COMMENT => {
                self.advance();
                IndexOption::Comment(self.string()?)
            }
            Keyword::VISIBLE | Keyword::INVISIBLE => {
                self.advance();
                if keyword == Keyword::VISIBLE { IndexOption::Visible } else { IndexOption::Invisible }
            }
            Keyword::ENGINE_ATTRIBUTE | Keyword::SECONDARY_ENGINE_ATTRIBUTE => {
                self.advance();
                self.accept_equal();
                let text = self.string()?;
                match keyword {
                    Keyword::ENGINE_ATTRIBUTE => IndexOption::EngineAttribute(text),
                    _ => IndexOption::SecondaryEngineAttribute(text),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(option))
    }

    fn foreign_key(&mut self, name: Option<Name>, mut condition: Option<&mut bool>) -> Parsed<ForeignKey> {
        self.expect_all(&[Keyword::FOREIGN, Keyword::KEY])?;
        let is_said = self.not_exists_said(&mut condition)?;
        let index_name = if is_said || self.is_name() { Some(self.name()?) } else { None };
        let columns = self.parenthesised_list(Self::name)?;
        Ok(ForeignKey { name, index_name, columns, references: self.references()? })
    }

    fn references(&mut self) -> Parsed<References> {
        self.expect(Keyword::REFERENCES)?;
        let table = self.table_name()?;
        let columns = self.optional_names()?;
        let matching = if self.accept(Keyword::MATCH) {
            Some(self.expect_any(&[Keyword::FULL, Keyword::PARTIAL, Keyword::SIMPLE])?.text().to_owned())
        } else {
            None
        };
        let (mut on_delete, mut on_update) = (None, None);
        while self.is(Keyword::ON) {
            match self.peek().keyword {
                Keyword::DELETE if on_delete.is_none() => on_delete = Some(self.reference_action()?),
                Keyword::UPDATE if on_update.is_none() => on_update = Some(self.reference_action()?),
                _ => break,
            }
        }
        Ok(References { table, columns, matching, on_delete, on_update })
    }

    /// `ON DELETE action`, `ON UPDATE action`.
    fn reference_action(&mut self) -> Parsed<ReferenceAction> {
        self.advance();
        self.advance();
        Ok(match self.expect_any(&[Keyword::RESTRICT, Keyword::CASCADE, Keyword::SET, Keyword::NO])? {
            Keyword::RESTRICT => ReferenceAction::Restrict,
            Keyword::CASCADE => ReferenceAction::Cascade,
            Keyword::NO => {
                self.expect(Keyword::ACTION)?;
                ReferenceAction::NoAction
            }
            _ => match self.expect_any(&[Keyword::NULL, Keyword::DEFAULT])? {
                Keyword::NULL => ReferenceAction::SetNull,
                _ => ReferenceAction::SetDefault,
            },
        })
    }

    /// `CHECK (expr) [[NOT] ENFORCED]`.
    fn check(&mut self, name: Option<Name>) -> Parsed<CheckConstraint> {
        self.expect(Keyword::CHECK)?;
        self.expect_symbol(b'(')?;
        let expr = self.expr()?;
        self.expect_symbol(b')')?;
        let mut enforced = true;
        if self.is(Keyword::NOT) && self.peek().keyword == Keyword::ENFORCED {
            self.advance();
            enforced = false;
        }
        self.accept(Keyword::ENFORCED);
        Ok(CheckConstraint { name, expr, enforced })
    }

    /// `name type attributes [REFERENCES ...]` of a new column: the column, and a foreign key of its table.
    pub(super) fn column_and_reference(&mut self) -> Parsed<(ColumnDefinition, Option<TableConstraint>)> {
        let column = self.column_definition()?;
        if !self.is(Keyword::REFERENCES) {
            return Ok((column, None));
        }
        let columns = vec![column.name.clone()];
        let key = ForeignKey { name: None, index_name: None, columns, references: self.references()? };
        Ok((column, Some(TableConstraint::ForeignKey(key))))
    }

    /// `name type attributes`.
    pub(super) fn column_definition(&mut self) -> Parsed<ColumnDefinition> {
        let name = self.name()?;
        self.field_definition(name)
    }

    /// `type attributes` of a column.
    pub(super) fn field_definition(&mut self, name: Name) -> Parsed<ColumnDefinition> {
        let mut data_type = self.data_type()?;
        if self.accept(Keyword::COLLATE) {
            data_type.collation = Some(self.collation_name()?);
        }
        let mut generated = None;
        if self.accept(Keyword::GENERATED) {
            self.expect_all(&[Keyword::ALWAYS, Keyword::AS])?;
            generated = Some(self.generated()?);
        } else if self.accept(Keyword::AS) {
            generated = Some(self.generated()?);
        }
        let mut attributes = Vec::new();
        while let Some(attribute) = self.optional_column_attribute()? {
            if let ColumnAttribute::Collate(collation) = &attribute
                && !matches!(data_type.kind, TypeKind::Json)
            {
                data_type.collation = Some(collation.clone());
            }
            attributes.push(attribute);
        }
        Ok(ColumnDefinition { name, data_type, generated, attributes })
    }

    fn generated(&mut self) -> Parsed<Generated> {
        self.expect_symbol(b'(')?;
        let expr = self.expr()?;
        self.expect_symbol(b')')?;
        let stored = self.accept_any(&[Keyword::VIRTUAL, Keyword::STORED]) == Some(Keyword::STORED);
        Ok(Generated { expr, stored })
    }

    fn optional_column_attribute(&mut self) -> Parsed<Option<ColumnAttribute>> {
        let keyword = self.token.keyword;
        let attribute = match keyword {
            Keyword::NULL => {
                self.advance();
                ColumnAttribute::Null
            }
            Keyword::NOT => {
                self.advance();
                self.expect(Keyword::NULL)?;
                ColumnAttribute::NotNull
            }
            Keyword::DEFAULT => {
                self.advance();
                ColumnAttribute::Default(self.column_default()?)
            }
            Keyword::ON => {
                self.advance();
                self.expect(Keyword::UPDATE)?;
                ColumnAttribute::OnUpdateNow(self.now()?)
            }
            Keyword::AUTO_INCREMENT => {
                self.advance();
                ColumnAttribute::AutoIncrement
            }
            Keyword::SERIAL => {
                self.advance();
                self.expect_all(&[Keyword::DEFAULT, Keyword::VALUE])?;
                ColumnAttribute::SerialDefaultValue
            }
            Keyword::PRIMARY | Keyword::KEY => {
                if self.advance().keyword == Keyword::PRIMARY {
                    self.expect(Keyword::KEY)?;
                }
                ColumnAttribute::PrimaryKey
            }
            Keyword::UNIQUE => {
                self.advance();
                self.accept(Keyword::KEY);
                ColumnAttribute::Unique
            }
            Keyword::CONSTRAINT | Keyword::CHECK => {
                let mut name = None;
                if self.accept(Keyword::CONSTRAINT) && self.is_name() {
                    name = Some(self.name()?);
                }
                ColumnAttribute::Check(self.check(name)?)
            }
            _ => return self.optional_column_property(keyword),
        };
        Ok(Some(attribute))
    }

    fn optional_column_property(&mut self, keyword: Keyword) -> Parsed<Option<ColumnAttribute>> {
        let attribute = match keyword {
            Keyword::COMMENT => {
                self.advance();
                ColumnAttribute::Comment(self.string()?)
            }
            Keyword::COLLATE => {
                self.advance();
                ColumnAttribute::Collate(self.collation_name()?)
            }
            Keyword::COLUMN_FORMAT => {
                self.advance();
                let format = self.expect_any(&[Keyword::DEFAULT, Keyword::FIXED, Keyword::DYNAMIC])?;
                ColumnAttribute::ColumnFormat(format.text().to_owned())
            }
            Keyword::STORAGE => {
                self.advance();
                let medium = self.expect_any(&[Keyword::DEFAULT, Keyword::DISK, Keyword::MEMORY])?;
                ColumnAttribute::Storage(medium.text().to_owned())
            }
            Keyword::SRID => {
                self.advance();
                ColumnAttribute::Srid(self.unsigned()?)
            }
            Keyword::VISIBLE | Keyword::INVISIBLE => {
                self.advance();
                if keyword == Keyword::VISIBLE {
                    ColumnAttribute::Visible
                } else {
                    ColumnAttribute::Invisible
                }
            }
            Keyword::ENGINE_ATTRIBUTE | Keyword::SECONDARY_ENGINE_ATTRIBUTE => {
                self.advance();
                self.accept_equal();
                let text = self.string()?;
                match keyword {
                    Keyword::ENGINE_ATTRIBUTE => ColumnAttribute::EngineAttribute(text),
                    _ => ColumnAttribute::SecondaryEngineAttribute(text),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(attribute))
    }

    /// Behind DEFAULT.
    pub(super) fn column_default(&mut self) -> Parsed<ColumnDefault> {
        if self.accept_symbol(b'(') {
            let expr = self.expr()?;
            self.expect_symbol(b')')?;
            return Ok(ColumnDefault::Expr(expr));
        }
        if self.is_any(NOW) {
            return Ok(ColumnDefault::Now(self.now()?));
        }
        Ok(ColumnDefault::Literal(self.signed_literal()?))
    }

    /// `NOW()`, `CURRENT_TIMESTAMP[(n)]`: fractional digits.
    fn now(&mut self) -> Parsed<u8> {
        self.expect_any(NOW)?;
        if !self.accept_symbol(b'(') {
            return Ok(0);
        }
        if self.accept_symbol(b')') {
            return Ok(0);
        }
        let at = self.token.start;
        let digits = u8::try_from(self.unsigned()?).map_err(|_| super::Rejected(at))?;
        self.expect_symbol(b')')?;
        Ok(digits)
    }

    /// Options of a table, with or without commas between them.
    fn table_options(&mut self) -> Parsed<Vec<TableOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.optional_table_option()? {
            options.push(option);
            if self.accept_symbol(b',') && !self.is_table_option() {
                return self.fail();
            }
        }
        Ok(options)
    }

    fn is_table_option(&self) -> bool {
        self.is_any(PLAIN_OPTIONS)
            || self.is_any(&[
                Keyword::ENGINE,
                Keyword::AUTO_INCREMENT,
                Keyword::DEFAULT,
                Keyword::CHARACTER,
                Keyword::CHARSET,
                Keyword::CHAR,
                Keyword::COLLATE,
                Keyword::COMMENT,
                Keyword::ROW_FORMAT,
                Keyword::KEY_BLOCK_SIZE,
                Keyword::COMPRESSION,
                Keyword::ENCRYPTION,
                Keyword::TABLESPACE,
                Keyword::DATA,
                Keyword::INDEX,
                Keyword::UNION,
                Keyword::START,
            ])
            || self.other_option().is_some()
    }

    /// An option that MariaDB or this server has and MySQL has not, in upper case. MariaDB quotes such names
    /// itself.
    fn other_option(&self) -> Option<&'static str> {
        let is_name = matches!(self.token.kind, TokenKind::Word | TokenKind::QuotedName);
        let name = if is_name { self.name_text(self.token).ok()? } else { return None };
        OTHER_OPTIONS.into_iter().find(|known| known.eq_ignore_ascii_case(&name))
    }

    /// An option of a table, if one begins here.
    pub(super) fn optional_table_option(&mut self) -> Parsed<Option<TableOption>> {
        if !self.is_table_option() {
            return Ok(None);
        }
        if let Some(name) = self.other_option() {
            self.advance();
            self.accept_equal();
            return Ok(Some(TableOption::Other(name.to_owned(), self.option_value()?)));
        }
        let keyword = self.token.keyword;
        if matches!(
            keyword,
            Keyword::DEFAULT | Keyword::CHARACTER | Keyword::CHARSET | Keyword::CHAR | Keyword::COLLATE
        ) {
            return self.charset_option().map(Some);
        }
        self.advance();
        match keyword {
            Keyword::DATA | Keyword::INDEX => {
                self.expect(Keyword::DIRECTORY)?;
                self.accept_equal();
                let path = self.string()?;
                return Ok(Some(match keyword {
                    Keyword::DATA => TableOption::DataDirectory(path),
                    _ => TableOption::IndexDirectory(path),
                }));
            }
            Keyword::START => {
                self.expect(Keyword::TRANSACTION)?;
                return Ok(Some(TableOption::Other("START TRANSACTION".to_owned(), OptionValue::Default)));
            }
            _ => self.accept_equal(),
        }
        Ok(Some(match keyword {
            Keyword::ENGINE => TableOption::Engine(self.name_or_string()?),
            Keyword::AUTO_INCREMENT => TableOption::AutoIncrement(self.unsigned()?),
            Keyword::COMMENT => TableOption::Comment(self.string()?),
            Keyword::ROW_FORMAT => TableOption::RowFormat(self.expect_any(ROW_FORMATS)?.text().to_owned()),
            Keyword::KEY_BLOCK_SIZE => TableOption::KeyBlockSize(self.unsigned()?),
            Keyword::COMPRESSION => TableOption::Compression(self.string()?),
            Keyword::ENCRYPTION => TableOption::Encryption(self.string()?),
            Keyword::TABLESPACE => TableOption::Tablespace(self.name_or_string()?),
            Keyword::UNION => {
                self.expect_symbol(b'(')?;
                let tables = if self.is_symbol(b')') { Vec::new() } else { self.list(Self::object_name)? };
                self.expect_symbol(b')')?;
                TableOption::Union(tables)
            }
            _ if is_numeric_option(keyword) => {
                let default = self.accept(Keyword::DEFAULT);
                let value =
                    if default { OptionValue::Default } else { OptionValue::Number(self.unsigned()?) };
                TableOption::Other(keyword.text().to_owned(), value)
            }
            _ => TableOption::Other(keyword.text().to_owned(), self.option_value()?),
        }))
    }

    fn charset_option(&mut self) -> Parsed<TableOption> {
        self.accept(Keyword::DEFAULT);
        if self.accept(Keyword::COLLATE) {
            self.accept_equal();
            let default = self.accept(Keyword::DEFAULT);
            return Ok(TableOption::Collate(if default { None } else { Some(self.collation_name()?) }));
        }
        if !self.accept(Keyword::CHARSET) {
            self.expect_any(&[Keyword::CHARACTER, Keyword::CHAR])?;
            self.expect(Keyword::SET)?;
        }
        self.accept_equal();
        let default = self.accept(Keyword::DEFAULT);
        Ok(TableOption::Charset(if default { None } else { Some(self.charset_name()?) }))
    }

    /// The value of an option: a number, a word or a string.
    pub(super) fn option_value(&mut self) -> Parsed<OptionValue> {
        if self.accept(Keyword::DEFAULT) {
            return Ok(OptionValue::Default);
        }
        if self.accept(Keyword::NULL) {
            return Ok(OptionValue::Word("NULL".to_owned()));
        }
        match self.token.kind {
            TokenKind::String => Ok(OptionValue::Text(self.string()?)),
            TokenKind::Integer | TokenKind::HexNumber => Ok(OptionValue::Number(self.unsigned()?)),
            // 16M and the like.
            TokenKind::Word if self.bytes(self.token).first().is_some_and(u8::is_ascii_digit) => {
                Ok(OptionValue::Number(self.size()?))
            }
            _ => Ok(OptionValue::Word(self.name()?)),
        }
    }

    /// Behind CREATE [UNIQUE | FULLTEXT | SPATIAL] INDEX.
    pub(super) fn create_index(&mut self, kind: IndexKind) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        let mut using = None;
        if self.accept_any(&[Keyword::USING, Keyword::TYPE]).is_some() {
            using = Some(IndexOption::Using(self.index_type()?));
        }
        self.expect(Keyword::ON)?;
        let table = self.table_name()?;
        let mut index = self.index_definition(kind, Some(name))?;
        index.options.splice(0..0, using);
        let (algorithm, lock) = self.algorithm_and_lock()?;
        Ok(Statement::CreateIndex(Box::new(CreateIndex { if_not_exists, table, index, algorithm, lock })))
    }

    /// Behind DROP INDEX.
    pub(super) fn drop_index(&mut self) -> Parsed<Statement> {
        let if_exists = self.if_exists()?;
        let name = self.index_name()?;
        self.expect(Keyword::ON)?;
        let table = self.table_name()?;
        let (algorithm, lock) = self.algorithm_and_lock()?;
        Ok(Statement::DropIndex(DropIndex { if_exists, table, name, algorithm, lock }))
    }

    fn algorithm_and_lock(&mut self) -> Parsed<(Option<Name>, Option<Name>)> {
        let (mut algorithm, mut lock) = (None, None);
        while let Some(keyword) = self.accept_any(&[Keyword::ALGORITHM, Keyword::LOCK]) {
            self.accept_equal();
            let word = Some(self.name_or_default()?);
            if keyword == Keyword::LOCK { lock = word } else { algorithm = word }
        }
        Ok((algorithm, lock))
    }
}

const NOW: &[Keyword] =
    &[Keyword::NOW, Keyword::CURRENT_TIMESTAMP, Keyword::LOCALTIME, Keyword::LOCALTIMESTAMP];

const ROW_FORMATS: &[Keyword] = &[
    Keyword::DEFAULT,
    Keyword::DYNAMIC,
    Keyword::FIXED,
    Keyword::COMPRESSED,
    Keyword::REDUNDANT,
    Keyword::COMPACT,
];

/// Options whose value is a number, or DEFAULT.
fn is_numeric_option(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::MAX_ROWS
            | Keyword::MIN_ROWS
            | Keyword::AVG_ROW_LENGTH
            | Keyword::PACK_KEYS
            | Keyword::STATS_AUTO_RECALC
            | Keyword::STATS_PERSISTENT
            | Keyword::STATS_SAMPLE_PAGES
            | Keyword::CHECKSUM
            | Keyword::TABLE_CHECKSUM
            | Keyword::DELAY_KEY_WRITE
    )
}

/// Options that MySQL has not, MariaDB's and this server's own, kept as a name and a value.
const OTHER_OPTIONS: [&str; 3] = ["PAGE_COMPRESSED", "PAGE_COMPRESSION_LEVEL", "PAGE_SINK"];

/// Options kept as a name and a value.
const PLAIN_OPTIONS: &[Keyword] = &[
    Keyword::SECONDARY_ENGINE,
    Keyword::MAX_ROWS,
    Keyword::MIN_ROWS,
    Keyword::AVG_ROW_LENGTH,
    Keyword::PASSWORD,
    Keyword::PACK_KEYS,
    Keyword::STATS_AUTO_RECALC,
    Keyword::STATS_PERSISTENT,
    Keyword::STATS_SAMPLE_PAGES,
    Keyword::CHECKSUM,
    Keyword::TABLE_CHECKSUM,
    Keyword::DELAY_KEY_WRITE,
    Keyword::INSERT_METHOD,
    Keyword::STORAGE,
    Keyword::CONNECTION,
    Keyword::ENGINE_ATTRIBUTE,
    Keyword::SECONDARY_ENGINE_ATTRIBUTE,
    Keyword::AUTOEXTEND_SIZE,
];

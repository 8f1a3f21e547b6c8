//! The report as one JSON document. Its members are described in docs/check.md, which a test compares with
//! this.

use palisade_catalog::json::{Json, Members, Name};
use palisade_engine::check::{DirectoryReport, FileSummary, Finding, LogSummary, Severity, TableReport};

use super::{Outcome, Request};

/// The version of the document: it grows when a member changes its meaning or goes, not when one is added.
const FORMAT: u64 = 1;

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (Name(name.to_owned()), value)).collect::<Members>())
}

fn number(value: impl Into<u64>) -> Json {
    let value = value.into();
    i64::try_from(value).map_or(Json::UInt(value), Json::Int)
}

fn text(value: impl Into<String>) -> Json {
    Json::String(value.into())
}

fn optional<T>(value: Option<T>, shown: impl FnOnce(T) -> Json) -> Json {
    value.map_or(Json::Null, shown)
}

fn array<T>(items: &[T], shown: impl Fn(&T) -> Json) -> Json {
    Json::Array(items.iter().map(shown).collect())
}

/// The document, or the one that says why there is nothing to report.
pub(super) fn document(
    request: &Request,
    report: Result<&DirectoryReport, &String>,
    outcome: Outcome,
) -> String {
    let head = |problem: Json| {
        [
            ("format", number(FORMAT)),
            ("datadir", text(request.datadir.display().to_string())),
            ("outcome", text(outcome.name())),
            ("exit_code", number(outcome.code())),
            ("problem", problem),
        ]
    };
    let json = match report {
        Err(problem) => object(head(text(problem.clone()))),
        Ok(report) => {
            let Json::Object(mut members) = object(head(Json::Null)) else { return String::new() };
            if let Json::Object(more) = body(report) {
                members.extend(more);
            }
            Json::Object(members)
        }
    };
    let mut out = Vec::new();
    json.write_pretty(0, &mut out, &mut |_| true);
    out.push(b'\n');
    String::from_utf8_lossy(&out).into_owned()
}

fn body(report: &DirectoryReport) -> Json {
    let count = |severity: Severity| {
        number(report.findings.iter().filter(|finding| finding.severity == severity).count() as u64)
    };
    let counts = object([
        ("damage", count(Severity::Damage)),
        ("warning", count(Severity::Warning)),
        ("note", count(Severity::Note)),
        ("files", number(report.files.len() as u64)),
        ("pages", number(report.files.iter().map(|file| file.pages).sum::<u64>())),
        ("tables", number(report.tables.len() as u64)),
        ("rows", number(report.tables.iter().map(|table| table.check.rows).sum::<u64>())),
    ]);
    let undo = optional(report.undo, |undo| {
        object([
            ("segments", number(undo.segments)),
            ("pages", number(undo.pages)),
            ("records", number(undo.records)),
            ("active", number(undo.active)),
            ("prepared", number(undo.prepared)),
            ("history", number(undo.history)),
        ])
    });
    object([
        ("needs_recovery", Json::Bool(report.needs_recovery)),
        ("start_error", optional(report.start_error.clone(), text)),
        ("force_level", optional(report.level, number)),
        ("is_partial", Json::Bool(report.is_partial)),
        ("counts", counts),
        ("redo_log", log(&report.log)),
        ("undo", undo),
        ("files", array(&report.files, file)),
        ("tables", array(&report.tables, table)),
        ("findings", array(&report.findings, finding)),
        ("more_findings", number(report.more_findings)),
    ])
}

fn log(log: &LogSummary) -> Json {
    object([
        ("segments", number(log.segments)),
        ("bytes", number(log.bytes)),
        ("checkpoint_lsn", number(log.checkpoint_lsn.0)),
        ("end_lsn", number(log.end_lsn.0)),
        ("known_durable_lsn", number(log.known_durable_lsn.0)),
        ("mini_transactions", number(log.mini_transactions)),
        ("pages_to_redo", number(log.pages_to_redo)),
        ("is_torn", Json::Bool(log.is_torn)),
        ("is_damaged", Json::Bool(log.is_damaged)),
    ])
}

fn file(file: &FileSummary) -> Json {
    object([
        ("file", text(file.file.clone())),
        ("space", number(file.space.0)),
        ("schema", optional(file.table.as_ref(), |(schema, _)| text(schema.clone()))),
        ("table", optional(file.table.as_ref(), |(_, table)| text(table.clone()))),
        ("pages", number(file.pages)),
        ("zeroed", number(file.zeroed)),
        ("damaged", number(file.damaged)),
        ("newest_lsn", number(file.newest_lsn.0)),
        ("odd_bytes", number(file.odd_bytes)),
    ])
}

fn table(table: &TableReport) -> Json {
    let indexes = array(&table.check.indexes, |index| {
        object([
            ("name", text(index.name.clone())),
            ("rows", number(index.rows)),
            ("entries", number(index.entries)),
            ("pages", number(index.pages)),
            ("levels", number(index.levels)),
        ])
    });
    object([
        ("schema", text(table.schema.clone())),
        ("table", text(table.table.clone())),
        ("space", number(table.space.0)),
        ("rows", number(table.check.rows)),
        ("overflow_pages", number(table.check.overflow_pages)),
        ("free_pages", optional(table.check.free_pages, number)),
        ("indexes", indexes),
    ])
}

fn finding(finding: &Finding) -> Json {
    let place = &finding.place;
    object([
        ("severity", text(finding.severity.name())),
        ("kind", text(finding.kind.name())),
        ("file", optional(place.file.clone(), text)),
        ("space", optional(place.space, |space| number(space.0))),
        ("schema", optional(place.schema.clone(), text)),
        ("table", optional(place.table.clone(), text)),
        ("index", optional(place.index.clone(), text)),
        ("page", optional(place.page, |page| number(page.0))),
        ("offset", optional(place.offset, number)),
        ("what", text(finding.what.clone())),
        ("lost", text(finding.lost)),
        ("advice", text(finding.advice)),
    ])
}

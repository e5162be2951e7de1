//! herdtools7's digest of a test, the `Hash=` of its logs.
//!
//! mcompare7 and msum7 treat two logs as being about the same test only if their digests are equal.
//! The digest is the MD5 of the MD5s of the initial state, the program and the observed locations,
//! each printed in a canonical form (herdtools7 7.58: lib/testHash.ml, lib/CTestHash.ml). For C the
//! text of the program is used unchanged. Assembly is pretty-printed by herdtools7; only text
//! written by diy7 is known to be in that form, so only its digest is computed here. A test that
//! states its hash keeps that one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use md5::{Digest, Md5};

use super::outline::Outline;

/// Metadata that is part of the digest; diy7 writes none of it.
const DIGESTED: [&str; 2] = ["variant", "tthm"];

/// A register with its thread, or a location without: in the order in which they are digested.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Observed {
    Register(u64, String),
    Location(String),
}

/// herd7's hash of a test; None if it cannot be computed with certainty.
pub fn herd_hash(outline: &Outline<'_>) -> Option<String> {
    for line in outline.preamble.split('\n') {
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim_end_matches([' ', '\t']);
        if key.eq_ignore_ascii_case("hash") {
            return Some(value.trim_matches([' ', '\t']).to_owned());
        }
        if DIGESTED.iter().any(|name| key.eq_ignore_ascii_case(name)) {
            return None;
        }
    }
    let c = outline.dialect == "C";
    if outline.end.is_empty() || !c && !outline.preamble.contains("\nGenerator=diy") {
        return None;
    }
    let program = match c {
        true => functions(outline.program)?,
        false => columns(&bare(outline.program))?,
    };
    let parts = [
        initial(&bare(outline.initial))?,
        program,
        observed(&bare(outline.end))?,
    ];
    let mut whole = Md5::new();
    for part in parts {
        whole.update(Md5::digest(part));
    }
    let mut text = String::with_capacity(32);
    for byte in whole.finalize() {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    Some(text)
}

/// Without comments.
fn bare(text: &str) -> Cow<'_, str> {
    if !text.contains("(*") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find("(*") {
        let Some(length) = rest[begin + 2..].find("*)") else {
            break;
        };
        out.push_str(&rest[..begin]);
        out.push(' ');
        rest = &rest[begin + 2 + length + 2..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The longest prefix of word characters, and what follows it; None if it is empty.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let end = end.unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// `0:X1`, `x` or `[x]`.
fn place(written: &str) -> Option<Observed> {
    let outside = |c: &char| !matches!(c, '[' | ']' | '%') && !c.is_whitespace();
    let bare: String = written.chars().filter(outside).collect();
    Some(match bare.split_once(':') {
        Some((thread, register)) => Observed::Register(thread.parse().ok()?, register.to_owned()),
        None => Observed::Location(bare),
    })
}

impl Observed {
    fn print(&self, out: &mut String) {
        match self {
            Observed::Register(thread @ 0..=9, name) => {
                out.push(char::from(b'0' + *thread as u8));
                out.push(':');
                out.push_str(name);
            }
            Observed::Register(thread, name) => {
                let _ = write!(out, "{thread}:{name}");
            }
            Observed::Location(name) => out.push_str(name),
        }
    }
}

/// A declared type. What herd7 does with atomic ones varies.
fn declared(written: &str) -> Option<String> {
    let words: Vec<&str> = written.split_whitespace().collect();
    (!written.contains("tomic")).then(|| words.join(" "))
}

/// The initial state, sorted; the last of several declarations of a place counts.
fn initial(text: &str) -> Option<String> {
    let mut given = BTreeMap::new();
    for written in text.split(';').map(str::trim).filter(|one| !one.is_empty()) {
        let (place, printed) = declaration(written)?;
        given.insert(place, printed);
    }
    let printed: Vec<String> = given.into_values().collect();
    Some(printed.join("; "))
}

fn declaration(text: &str) -> Option<(Observed, String)> {
    let (left, value) = text.split_once('=').unwrap_or((text, ""));
    let (left, value) = (left.trim(), value.trim());
    for (of, rest) in types(left).filter(|(of, _)| !of.is_empty()) {
        if let Some((name, size)) = array(rest) {
            let name = place(name)?;
            let mut printed = format!("{} ", declared(of)?);
            name.print(&mut printed);
            let _ = write!(printed, "[{size}]");
            return Some((name, printed));
        }
    }
    for (of, rest) in types(left) {
        let rest = rest.trim_start();
        let (star, rest) = match rest.strip_prefix('*') {
            Some(rest) => ("*", rest.trim_start()),
            None => ("", rest),
        };
        if !is_place(rest) {
            continue;
        }
        if !value.chars().all(|c| is_word(c) || c == '-') {
            return None;
        }
        let mut printed = match of {
            "" => star.to_owned(),
            of => format!("{} {star}", declared(of)?),
        };
        let place = place(rest)?;
        place.print(&mut printed);
        printed.push('=');
        printed.push_str(if value.is_empty() { "0" } else { value });
        return Some((place, printed));
    }
    None
}

/// The ways to split a declaration after what may be its type, the shortest first.
fn types(left: &str) -> impl Iterator<Item = (&str, &str)> {
    let end = left.find(|c| !is_word(c) && c != ' ').unwrap_or(left.len());
    (0..=end)
        .filter(|at| left.is_char_boundary(*at))
        .map(|at| left.split_at(at))
}

/// `x[2]`: the name and the size.
fn array(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = word(text.trim_start())?;
    let size = rest.trim_start().strip_prefix('[')?.strip_suffix(']')?;
    matches!(number(size), Some((_, ""))).then_some((name, size))
}

/// Whether the text is `[x]`, `0:X1` or `x`.
fn is_place(text: &str) -> bool {
    let is_name = |text: &str| matches!(word(text), Some((_, "")));
    if let Some(inside) = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return is_name(inside);
    }
    is_name(text) || matches!(register(text), Some((_, "")))
}

/// A register with its thread at the beginning of the text, and what follows it.
fn register(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = number(text)?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let (_, rest) = word(rest.strip_prefix('%').unwrap_or(rest))?;
    Some(text.split_at(text.len() - rest.len()))
}

/// The threads of a C test, with their bodies unchanged.
fn functions(text: &str) -> Option<String> {
    let mut printed = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('P') {
        let begin = at + found;
        at = begin + 1;
        if text[..begin].ends_with(is_word) {
            continue;
        }
        let Some((thread, parameters, body)) = function(&text[begin + 1..]) else {
            continue;
        };
        let mut depth = 1;
        let end = body.find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        })?;
        at = text.len() - body.len();
        let body = &body[..end];
        if ["//", "/*", "(*", "\""]
            .iter()
            .any(|mark| body.contains(mark))
        {
            return None;
        }
        let given = parameters.split(',').map(str::trim);
        let given: Option<Vec<String>> =
            given.filter(|one| !one.is_empty()).map(parameter).collect();
        let parameters = given?.join(", ");
        printed.push(format!(" P{thread}({parameters}) {{\n{body}\n}}\n "));
    }
    Some(printed.join("|") + ";\n")
}

/// After the P: `0 (int* x) {`, as the thread, the parameters, and what follows the brace.
fn function(text: &str) -> Option<(&str, &str, &str)> {
    let (thread, rest) = number(text)?;
    let rest = rest.trim_start().strip_prefix('(')?;
    let end = rest.find(['(', ')'])?;
    let (parameters, rest) = rest.split_at(end);
    let rest = rest.strip_prefix(')')?.trim_start();
    Some((thread, parameters, rest.strip_prefix('{')?))
}

fn parameter(written: &str) -> Option<String> {
    let (of, rest) = word(written)?;
    let rest = rest.trim_start();
    let name = rest.trim_start_matches('*');
    let stars = &rest[..rest.len() - name.len()];
    let name = name.trim_start();
    let complete = !stars.is_empty() && matches!(word(name), Some((_, "")));
    let of = match of {
        "atomic_int" => "_Atomic int",
        of if of.starts_with("atomic_") => return None,
        of => of,
    };
    complete.then(|| format!("{of}{stars} {name}"))
}

/// An assembly program: one column per thread without padding, labels numbered in order.
fn columns(text: &str) -> Option<String> {
    let text = text.split_once(';').map_or("", |(_, rest)| rest);
    let labels = labels(text);
    let mut columns: Vec<Vec<Cow<'_, str>>> = Vec::new();
    for row in text.split(';') {
        if row.split('|').all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let count = row.split('|').count();
        if columns.is_empty() {
            columns.resize_with(count, Vec::new);
        }
        if columns.len() != count {
            return None;
        }
        let cells = row.split('|').map(str::trim);
        for (cell, column) in cells.zip(&mut columns) {
            if !cell.is_empty() {
                column.push(numbered(cell, &labels));
            }
        }
    }
    let length = |cell: &str| cell.chars().count();
    let width = |column: &Vec<Cow<'_, str>>| column.iter().map(|cell| length(cell)).max();
    let widths: Vec<usize> = columns.iter().map(|c| width(c).unwrap_or(0)).collect();
    let mut out = String::with_capacity(text.len());
    for at in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        for (number, (column, width)) in columns.iter().zip(&widths).enumerate() {
            let cell = column.get(at).map_or("", |cell| cell);
            out.push_str(if number > 0 { "| " } else { " " });
            out.push_str(cell);
            out.extend(std::iter::repeat_n(' ', width - length(cell) + 1));
        }
        out.push_str(";\n");
    }
    Some(out)
}

/// The labels of an assembly program, sorted.
fn labels(text: &str) -> Vec<&str> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(':') {
        let before = text[..at].trim_end();
        let name = &before[before.trim_end_matches(is_word).len()..];
        if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            found.insert(name);
        }
    }
    found.into_iter().collect()
}

/// A cell with the number of each label in place of its name.
fn numbered<'t>(cell: &'t str, labels: &[&str]) -> Cow<'t, str> {
    if labels.is_empty() {
        return Cow::Borrowed(cell);
    }
    let (mut out, mut rest) = (String::new(), cell);
    while !rest.is_empty() {
        let (piece, after) = match word(rest) {
            Some(found) => found,
            None => rest.split_at(rest.find(is_word).unwrap_or(rest.len())),
        };
        match labels.binary_search(&piece) {
            Ok(number) => {
                let _ = write!(out, "L{number:02}");
            }
            Err(_) => out.push_str(piece),
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// The locations that `locations` lists and the condition mentions, not those of `filter`.
fn observed(text: &str) -> Option<String> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    if let Some((listed, after)) = listed(text) {
        rest = after;
        for written in listed
            .split(';')
            .map(str::trim)
            .filter(|one| !one.is_empty())
        {
            let first = match written.contains(' ') {
                true => written.split_whitespace().next().unwrap_or(written),
                false => written,
            };
            found.insert(place(first)?);
        }
    }
    let starts = ["exists", "forall", "final"].map(|word| {
        let mut places = rest.match_indices(word).map(|(at, _)| at);
        places.find(|at| !rest[at + word.len()..].starts_with(is_word))
    });
    if let Some(start) = starts.into_iter().flatten().min() {
        mentioned(&rest[start..], &mut found)?;
    }
    let mut out = String::new();
    for (number, place) in found.iter().enumerate() {
        if number > 0 {
            out.push_str("; ");
        }
        place.print(&mut out);
    }
    Some(out)
}

/// What `locations [...]` lists, and what follows.
fn listed(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start().strip_prefix("locations")?.trim_start();
    let rest = rest.strip_prefix('[')?;
    let mut at = 0;
    loop {
        match rest[at..].chars().next()? {
            ']' => return Some((&rest[..at], &rest[at + 1..])),
            '[' => {
                let (_, after) = word(&rest[at + 1..])?;
                at = rest.len() - after.strip_prefix(']')?.len();
            }
            c => at += c.len_utf8(),
        }
    }
}

/// Adds the registers and locations that a condition mentions.
fn mentioned(text: &str, found: &mut BTreeSet<Observed>) -> Option<()> {
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let starts = first.is_ascii_alphabetic() || first == '_';
        let taken = if first.is_ascii_digit() {
            register(rest).map(|(taken, _)| taken)
        } else if first == '[' {
            word(&rest[1..])
                .filter(|(_, after)| after.starts_with(']'))
                .map(|(name, _)| &rest[..name.len() + 2])
        } else if starts && !text[..at].ends_with(is_word) {
            word(rest)
                .filter(|(_, after)| {
                    let after = after.trim_start();
                    after.strip_prefix('!').unwrap_or(after).starts_with('=')
                })
                .map(|(name, _)| name)
        } else {
            None
        };
        match taken {
            Some(taken) => {
                found.insert(place(taken)?);
                at += taken.len();
            }
            None => at += first.len_utf8(),
        }
    }
    Some(())
}

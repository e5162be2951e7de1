//! Splits a litmus test into its sections, as herd7 does: header, documentation, metadata, initial
//! state, threads, final condition.

use super::error::ParseError;
use memchr::memchr3_iter;

/// A part of the text, and the byte offset at which it starts.
#[derive(Clone, Copy, Debug)]
pub struct SourceSpan<'a> {
    pub text: &'a str,
    pub offset: usize,
}

#[derive(Debug)]
pub struct Sections<'a> {
    pub dialect: SourceSpan<'a>,
    pub name: SourceSpan<'a>,
    pub initial: SourceSpan<'a>,
    pub program: SourceSpan<'a>,
    pub condition: SourceSpan<'a>,
    /// A line of metadata asks for herd7's variant `mixed`.
    pub mixed: bool,
}

const KEYWORDS: [&str; 8] = [
    "exists",
    "~exists",
    "forall",
    "locations",
    "filter",
    "final",
    "observed",
    "~ exists",
];

pub fn split(text: &str) -> Result<Sections<'_>, ParseError> {
    let (dialect, name) = header(text)?;
    let mut at = skip_blank(text, line_end(text, dialect.offset))?;
    if text[at..].starts_with('"') {
        let end = text[at + 1..]
            .find('"')
            .ok_or_else(|| ParseError::new(at, "unterminated quoted text"))?;
        at += end + 2;
    }
    let mut mixed = false;
    loop {
        at = skip_blank(text, at)?;
        if text[at..].starts_with('{') {
            break;
        }
        if at >= text.len() {
            return Err(
                ParseError::new(at, "expected an initial state, found end of text")
                    .help("write it in braces; {} if everything is zero"),
            );
        }
        let end = line_end(text, at);
        let stop = text[at..end].find('{').map_or(end, |n| at + n);
        if text[at..stop].contains('=') {
            mixed |= variant_mixed(&text[at..end], at)?;
            at = end;
            continue;
        }
        // herd7 ignores lines that are not metadata
        if stop == end {
            at = end;
            continue;
        }
        if !text[at..stop].trim().is_empty() {
            return Err(
                ParseError::new(at, "expected metadata (key=value) or an initial state")
                    .help("write the initial state in braces before the threads"),
            );
        }
        at = stop;
    }
    let open = at;
    let close = matching_brace(text, open)
        .ok_or_else(|| ParseError::new(open, "unclosed brace of the initial state"))?;
    let initial = SourceSpan {
        text: &text[open + 1..close],
        offset: open + 1,
    };
    let begin = close + 1;
    let begin = match text[begin..].starts_with(';') {
        true => begin + 1,
        false => begin,
    };
    let end = final_start(text, begin);
    let stop = condition_end(text, end);
    Ok(Sections {
        dialect,
        name,
        initial,
        program: SourceSpan {
            text: &text[begin..end],
            offset: begin,
        },
        condition: SourceSpan {
            text: &text[end..stop],
            offset: end,
        },
        mixed,
    })
}

/// The variants of herd7 that change no test that is read without them.
const READ_VARIANTS: [&str; 2] = ["telechat", "s128"];

/// Whether a line of metadata asks for herd7's variant `mixed`; an error if it asks for one that is
/// not supported.
fn variant_mixed(line: &str, offset: usize) -> Result<bool, ParseError> {
    let Some((key, variants)) = line.split_once('=') else {
        return Ok(false);
    };
    if !key.trim().eq_ignore_ascii_case("variant") {
        return Ok(false);
    }
    let mut mixed = false;
    for name in variants.split([',', ' ']).map(str::trim) {
        let known = READ_VARIANTS.iter().any(|v| name.eq_ignore_ascii_case(v));
        if name.eq_ignore_ascii_case("mixed") {
            mixed = true;
        } else if !known && !name.is_empty() {
            let message = format!("the variant `{name}` of herd7 is not supported");
            return Err(ParseError::unsupported(offset, message)
                .help("tests of herd7's default mode and of mixed are read: no system level"));
        }
    }
    Ok(mixed)
}

/// The dialect, and the rest of the header, which is the name.
pub fn header(text: &str) -> Result<(SourceSpan<'_>, SourceSpan<'_>), ParseError> {
    let offset = skip_blank(text, 0)?;
    let line = text[offset..line_end(text, offset)].trim_end();
    let Some((dialect, rest)) = line.split_once(char::is_whitespace) else {
        return Err(ParseError::new(offset, "expected a dialect and a name")
            .help("a litmus test starts, for example, with: C SB+rlxs"));
    };
    let name = rest.trim_start();
    let span = |text, offset| SourceSpan { text, offset };
    Ok((
        span(dialect, offset),
        span(name, offset + line.len() - name.len()),
    ))
}

/// The text with a blank for each comment.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    while let Some(start) = text[rest..].find("(*").map(|at| rest + at) {
        let Some(end) = comment_end(text, start) else {
            break;
        };
        out.push_str(&text[rest..start]);
        out.push(' ');
        rest = end;
    }
    out.push_str(&text[rest..]);
    out
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |n| at + n)
}

/// The offset of the first character from `at` on that is neither blank nor in a comment.
fn skip_blank(text: &str, mut at: usize) -> Result<usize, ParseError> {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with("(*") {
            return Ok(at);
        }
        at = comment_end(text, at)
            .ok_or_else(|| ParseError::new(at, "unterminated comment").help("close it with *)"))?;
    }
}

/// The offset after the (possibly nested) comment that starts at `at`.
pub fn comment_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut i = at;
    while i + 1 < bytes.len() {
        match &bytes[i..i + 2] {
            b"(*" => {
                depth += 1;
                i += 2;
            }
            b"*)" => {
                depth -= 1;
                i += 2;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => i += 1,
        }
    }
    None
}

fn matching_brace(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut i = open;
    while i < bytes.len() {
        match bytes[i] {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            b'(' if bytes.get(i + 1) == Some(&b'*') => {
                i = comment_end(text, i)?;
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// Where the condition starts: the first line outside braces that starts with a condition's keyword.
fn final_start(text: &str, begin: usize) -> usize {
    if starts_condition(&text[begin..]) {
        return begin;
    }
    let mut depth = 0i64;
    for at in memchr3_iter(b'\n', b'{', b'}', &text.as_bytes()[begin..]) {
        let next = begin + at + 1;
        match text.as_bytes()[next - 1] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ if depth <= 0 && starts_condition(&text[next..]) => return next,
            _ => {}
        }
    }
    text.len()
}

/// Where the condition ends: before `<<`, after which older tests say how to draw their executions.
fn condition_end(text: &str, condition: usize) -> usize {
    let mut at = condition;
    while let Some(next) = text[at..].find(['(', '<']).map(|n| at + n) {
        let rest = &text[next..];
        if rest.starts_with("<<") {
            return next;
        }
        let comment = rest.starts_with("(*").then(|| comment_end(text, next));
        at = comment.flatten().unwrap_or(next + 1);
    }
    text.len()
}

/// Whether a line starts with a keyword of a condition.
fn starts_condition(line: &str) -> bool {
    let word = line.trim_start_matches([' ', '\t', '\r']);
    // the keywords' first letters
    let may_start = matches!(
        word.as_bytes().first(),
        Some(b'e' | b'~' | b'f' | b'l' | b'o')
    );
    may_start && KEYWORDS.iter().any(|w| starts_with_word(word, w))
}

fn starts_with_word(line: &str, word: &str) -> bool {
    line.strip_prefix(word).is_some_and(|rest| {
        !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '=')
    })
}

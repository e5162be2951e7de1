//! The outline of a litmus test: its header and its sections as text, for any dialect, without
//! reading the threads. For programs that pass tests on to other tools.

use super::error::LitmusError;
use super::sections::{self, without_comments, Sections, SourceSpan};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline<'t> {
    pub dialect: &'t str,
    /// The first word of the name.
    pub name: &'t str,
    /// What precedes the initial state: header, documentation, metadata.
    pub preamble: &'t str,
    /// What is between the braces of the initial state.
    pub initial: &'t str,
    pub program: &'t str,
    /// What follows the threads: `locations`, `filter`, and the condition.
    pub end: &'t str,
}

impl<'t> Outline<'t> {
    pub fn read(file: &str, text: &'t str) -> Result<Outline<'t>, LitmusError> {
        let sections = sections::split(text).map_err(|error| error.locate(file, text))?;
        Ok(Outline::of(text, &sections))
    }

    /// The outline of a text in these sections.
    pub fn of(text: &'t str, sections: &Sections<'t>) -> Outline<'t> {
        let brace = sections.initial.offset - 1;
        Outline {
            dialect: sections.dialect.text,
            name: first_word(sections.name).text,
            preamble: &text[..brace],
            initial: sections.initial.text,
            program: sections.program.text,
            end: sections.condition.text,
        }
    }

    /// The condition from its quantifier on, in one line without comments; empty if there is none.
    pub fn condition(&self) -> String {
        let text = without_comments(self.end);
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        let starts = ["exists", "forall"].map(|word| find_word(&line, word));
        let Some(start) = starts.into_iter().flatten().min() else {
            return String::new();
        };
        let before = line[..start].trim_end();
        match line[start..].starts_with("exists") && before.ends_with('~') {
            true => line[before.len() - 1..].to_owned(),
            false => line[start..].to_owned(),
        }
    }
}

/// The test under another name; none if the text has no header.
pub fn renamed(text: &str, name: &str) -> Option<String> {
    let (_, old) = sections::header(text).ok()?;
    let old = first_word(old);
    let (before, after) = (&text[..old.offset], &text[old.offset + old.text.len()..]);
    Some(format!("{before}{name}{after}"))
}

fn first_word(span: SourceSpan<'_>) -> SourceSpan<'_> {
    let end = span.text.find(char::is_whitespace);
    SourceSpan {
        text: &span.text[..end.unwrap_or(span.text.len())],
        ..span
    }
}

fn find_word(line: &str, word: &str) -> Option<usize> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let found = line.match_indices(word).map(|(at, _)| at);
    found.into_iter().find(|at| {
        let after = &line[at + word.len()..];
        !line[..*at].ends_with(inside) && !after.starts_with(inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "(* a (* nested *) comment *)\nLISA\tSB+x more\n\"exists in a text\"\n\
                        Key=value\n{ x=0; }\n P0 ;\nlocations [x;]\n~ exists (* no *)\n (x=1)\n";

    #[test]
    fn the_outline_of_a_test_needs_no_known_dialect() {
        let outline = Outline::read("t", TEST).expect("an outline");
        assert_eq!((outline.dialect, outline.name), ("LISA", "SB+x"));
        assert_eq!(outline.initial, " x=0; ");
        assert!(outline.preamble.ends_with("Key=value\n"));
        assert_eq!(outline.condition(), "~ exists (x=1)");
    }

    #[test]
    fn a_test_of_litmus_1_is_read() {
        let text = "X86 n4 (nFour)\nno metadata\n{x = 0};\n P0 ;\n mov [x], 1 ;\n\
                    exists (* << *) (x=1)\n<<\nshow 0 of ess 21\n>>\n";
        let outline = Outline::read("t", text).expect("an outline");
        assert_eq!(outline.condition(), "exists (x=1)");
        crate::Test::parse("t", text).expect("a test");
    }

    #[test]
    fn a_test_is_renamed_in_its_header_only() {
        let text = renamed(TEST, "t0").expect("a header");
        assert_eq!(text, TEST.replace("SB+x", "t0"));
        assert_eq!(renamed("hello\n", "t0"), None);
    }
}

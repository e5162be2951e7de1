//! Makes what follows the threads of a litmus test: observed locations, a filter, a condition.

use super::choices::Choices;

pub const NUMBERS: [&str; 8] = [
    "0",
    "1",
    "2",
    "-1",
    "3",
    "255",
    "4294967295",
    "9223372036854775807",
];

/// What follows the threads.
pub fn question(c: &mut Choices<'_>, observed: &dyn Fn(&mut Choices<'_>) -> String) -> String {
    let mut text = String::new();
    if c.rarely(4) {
        text.push_str(&format!("locations [{};]\n", observed(c)));
    }
    if c.rarely(6) {
        text.push_str(&format!("filter ({}={})\n", observed(c), c.of(&NUMBERS)));
    }
    text.push_str(c.of(&["exists", "~exists", "forall"]));
    let atom = |c: &mut Choices<'_>| format!("{}={}", observed(c), c.of(&NUMBERS));
    let mut prop = atom(c);
    for _ in 0..c.below(4) {
        prop = match c.below(4) {
            0 => format!("not ({prop})"),
            1 => format!("({prop} => {})", atom(c)),
            2 => format!("({prop} \\/ {})", atom(c)),
            _ => format!("({prop} /\\ {})", atom(c)),
        };
    }
    text.push_str(&format!(" ({prop})\n"));
    text
}

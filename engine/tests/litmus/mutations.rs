//! Texts that are almost litmus tests: read or refused, decided or given up, never a panic.

use std::time::Duration;

use _engine::enumerate::{decide, Limits};
use _engine::litmus::Test;
use proptest::prelude::*;

use crate::answers::{cases, model};

fn texts() -> Vec<Vec<u8>> {
    let read = |p: std::path::PathBuf| std::fs::read(p).expect("a case");
    cases().into_iter().map(read).collect()
}

fn try_one(text: &str, model: &_engine::cat::Model) {
    let limits = Limits {
        candidates: 2000,
        time: Duration::from_millis(200),
        ..Limits::default()
    };
    if let Ok(test) = Test::parse("t", text) {
        let _ = decide(&test, model, &limits);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn bytes_changed(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        thread_local! {
            static MODEL: _engine::cat::Model = model();
            static TEXTS: Vec<Vec<u8>> = texts();
        }
        let mut text = TEXTS.with(|all| all[which.index(all.len())].clone());
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        MODEL.with(|m| try_one(&String::from_utf8_lossy(&text), m));
    }

    #[test]
    fn pieces_moved(
        which in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        length in 1usize..40,
    ) {
        thread_local! {
            static MODEL: _engine::cat::Model = model();
            static TEXTS: Vec<Vec<u8>> = texts();
        }
        let mut text = TEXTS.with(|all| all[which.index(all.len())].clone());
        let from = from.index(text.len());
        let piece = text[from..(from + length).min(text.len())].to_vec();
        let to = to.index(text.len());
        text.splice(to..to, piece);
        MODEL.with(|m| try_one(&String::from_utf8_lossy(&text), m));
    }
}

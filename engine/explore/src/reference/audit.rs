//! Random descents of the reference, compared with what a search claims.
//!
//! A descent builds one consistent graph of the program, one event at a time, with no reduction. What
//! it shows the search must have found as well; a difference is a mistake of weakspot. Descents prove
//! nothing: a violation that few executions show is seldom met.

use super::explorer::Explorer;
use crate::evidence::Audit;
use crate::exploration::Options;
use crate::search::findings::name_misuses;
use crate::source::FaultKind;
use cat::Model;
use program::interpreter::Limits;
use program::ir::Program;
use std::time::{Duration, Instant};

/// An audit takes one part in so many of the time of the exploration, and at least this long.
const SHARE: u32 = 33;
/// So that an audit can be repeated.
const SEED: u64 = 1;
const LEAST: Duration = Duration::from_millis(1);

/// Audits an exploration that took so long and has found no violation, within the time that is left.
pub fn audit(
    program: &Program,
    model: &Model,
    limits: Limits,
    options: &Options,
    (took, left): (Duration, Duration),
) -> Audit {
    let begun = Instant::now();
    let time = options.audit.unwrap_or(LEAST.max(took / SHARE)).min(left);
    let end = begun.checked_add(time);
    let mut audit = Audit::default();
    if options.fails_once && program.has_weak_exchanges() {
        let why = "more than one spurious failure per site and thread was not to be explored";
        audit.refused = Some(why.to_owned());
        return audit;
    }
    let mut explorer = match Explorer::new(program, model, limits, options) {
        Ok(explorer) => explorer,
        Err(error) => {
            audit.refused = Some(error.to_string());
            return audit;
        }
    };
    // an operation may wait for ever where its specification does, which is not asked here
    let may_hang = program.specification().is_some();
    let mut random = SEED;
    loop {
        let complete = match explorer.descend(&mut random, end) {
            Ok(complete) => complete,
            Err(error) => {
                audit.refused = Some(error.to_string());
                return audit;
            }
        };
        audit.descents += u64::from(complete);
        let found = &mut explorer.found.violations;
        found.retain(|each| !may_hang || each.fault.kind != FaultKind::Hang);
        if !complete || !found.is_empty() {
            break;
        }
    }
    name_misuses(program, &mut explorer.found.violations);
    let missed = explorer.found.violations.into_iter();
    audit.missed = missed.map(|violation| violation.fault).collect();
    audit.seconds = begun.elapsed().as_secs_f64();
    audit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exploration::Acyclic;
    use std::path::Path;

    /// One thread writes 1 to x, which main reads 0 or 1 from, and fails if it is 1.
    const RARE: &str = r#"
target datalayout = "e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-musl"
@x = global i32 0, align 4
@text = constant [2 x i8] c"x\00"
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare void @__assert_fail(ptr, ptr, i32, ptr)
define ptr @one(ptr %unused) {
  store atomic i32 1, ptr @x monotonic, align 4
  ret ptr null
}
define i32 @main() {
  %h = alloca i64
  call i32 @pthread_create(ptr %h, ptr null, ptr @one, ptr null)
  %v = load atomic i32, ptr @x monotonic, align 4
  %is = icmp eq i32 %v, 1
  br i1 %is, label %bad, label %good
bad:
  call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)
  unreachable
good:
  ret i32 0
}
"#;

    #[test]
    fn a_violation_that_a_search_has_not_found_is_reported() {
        let program = Program::from_ir(RARE).expect("a program");
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let model = Model::load(&models.join("rc20.cat"), &[models]).expect("a model");
        let options = Options {
            acyclic: Some(Acyclic::ProgramOrder),
            audit: Some(Duration::from_secs(20)),
            ..Options::default()
        };
        let time = (Duration::ZERO, Duration::MAX);
        // as if a search had found nothing
        let found = audit(&program, &model, Limits::default(), &options, time);
        let kinds: Vec<FaultKind> = found.missed.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::Assertion]);
        assert!(found.refused.is_none());
        let again = audit(&program, &model, Limits::default(), &options, time);
        assert_eq!(
            (again.descents, again.missed),
            (found.descents, found.missed)
        );
    }
}

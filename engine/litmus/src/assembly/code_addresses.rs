//! Tests in which addresses of instructions are values: labels in the initial state, ADR, and the
//! return addresses of calls. A thread may jump into the code of another; it then has that code too.

use std::collections::BTreeMap;

use super::instruction::{place_of, AssemblyThread, Instruction, JumpTarget};
use crate::error::ParseError;
use crate::location_names::LocationNames;
use crate::value::Value;

/// Whether a test has such values, or instructions that take them.
pub fn are_used(threads: &[AssemblyThread], locations: &LocationNames) -> bool {
    let takes_one = |instruction: &Instruction| {
        matches!(
            instruction,
            Instruction::JumpTo { .. } | Instruction::LabelAddress { .. }
        )
    };
    locations.labels().next().is_some()
        || threads.iter().flat_map(|t| &t.instructions).any(takes_one)
}

/// Reads the threads again, each with the code of all and with the values of addresses. `read` adds
/// the code of one; the threads begin at `offset`.
pub fn threads(
    count: usize,
    offset: usize,
    locations: &mut LocationNames,
    read: impl Fn(usize, &mut AssemblyThread, &mut LocationNames) -> Result<(), ParseError>,
) -> Result<Vec<AssemblyThread>, ParseError> {
    // by label, its thread and the index of its instruction there
    let mut labels: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut starts = vec![0];
    let mut all = AssemblyThread::default();
    for column in 0..count {
        let start = all.instructions.len();
        let known = all.labels.len();
        read(column, &mut all, locations)?;
        for (label, at) in &all.labels[known..] {
            if labels.insert(label.clone(), (column, at - start)).is_some() {
                let offset = all.offsets.get(*at).copied().unwrap_or_default();
                let message = format!("there are two labels `{label}`");
                return Err(ParseError::unsupported(offset, message)
                    .help("labels that are values have different names in all threads"));
            }
        }
        separate(&mut all);
        starts.push(all.instructions.len());
    }
    let mut values = Vec::new();
    for (label, (thread, at)) in &labels {
        values.push((
            locations.label(*thread, label),
            place_of(starts[*thread] + at),
        ));
    }
    let unknown = locations.labels().find(|(_, name)| {
        let value = Value::Code(*name);
        values.iter().all(|(known, _)| *known != value)
    });
    if let Some((name, _)) = unknown {
        let message = format!("the threads have no {name}");
        return Err(ParseError::new(offset, message));
    }
    let mut returns = BTreeMap::new();
    for (at, instruction) in all.instructions.iter().enumerate() {
        let Instruction::JumpTo { link: Some(_), .. } = instruction else {
            continue;
        };
        let thread = starts.partition_point(|start| *start <= at) - 1;
        let next = at + 1 - starts[thread];
        // as herd7, the first by name
        let label = labels.iter().find(|(_, place)| **place == (thread, next));
        let value = match label {
            Some((label, _)) => locations.label(thread, label),
            None => {
                let value = locations.unlabelled(thread, next);
                values.push((value, place_of(at + 1)));
                value
            }
        };
        returns.insert(at, value);
    }
    let mut threads = Vec::new();
    for (number, start) in starts[..count].iter().enumerate() {
        let mut thread = all.clone();
        thread.own = *start..starts[number + 1] - 1;
        for (at, instruction) in thread.instructions.iter_mut().enumerate() {
            let own = thread.own.contains(&at);
            match instruction {
                Instruction::LabelAddress { .. } | Instruction::JumpTo { link: Some(_), .. }
                    if !own =>
                {
                    // herd7 has an address of the thread that executes it
                    *instruction = Instruction::Unsupported;
                }
                Instruction::LabelAddress { label, value, .. } => match labels.get(label) {
                    Some((of, _)) if *of == number => *value = locations.label(number, label),
                    _ => {
                        let message = format!("`{label}` is not a label of this thread");
                        return Err(ParseError::unsupported(thread.offsets[at], message));
                    }
                },
                Instruction::JumpTo { to, link, targets } => {
                    if let (Some((_, value)), Some(back)) = (link, returns.get(&at)) {
                        *value = *back;
                    }
                    if matches!(to, JumpTarget::Register(_)) {
                        targets.clone_from(&values);
                    }
                }
                _ => {}
            }
        }
        threads.push(thread);
    }
    Ok(threads)
}

/// Ends the code of a thread.
fn separate(all: &mut AssemblyThread) {
    let offset = all.offsets.last().copied().unwrap_or_default();
    all.instructions.push(Instruction::Exit);
    all.offsets.push(offset);
    all.access_bits.push(None);
}

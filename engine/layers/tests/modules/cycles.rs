//! The cycles among the modules of a crate.

use super::reader::{Crate, Segments};
use std::collections::{BTreeMap, BTreeSet};

/// The name of a module's own file among its children.
const OWN: &str = "(its own file)";

/// Which child of a module leads to which, with a path that shows it.
type Edges = BTreeMap<String, BTreeMap<String, String>>;

/// Each cycle of a crate as a line of text: the module in which it is, and the paths it consists of.
pub fn cycles(read: &Crate) -> Vec<String> {
    let mut levels: BTreeMap<Segments, Edges> = BTreeMap::new();
    for (from, module) in &read.modules {
        for path in &module.paths {
            let Some(to) = read.definition(path, 0) else {
                continue;
            };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            let child =
                |module: &Segments| module.get(common).map_or(OWN.to_owned(), String::clone);
            let (a, b) = (child(from), child(&to));
            if a != b {
                let edges = levels.entry(from[..common].to_vec()).or_default();
                let shown = format!("{} uses {}", name(from), path.join("::"));
                edges.entry(a).or_default().entry(b).or_insert(shown);
            }
        }
    }
    let mut found = Vec::new();
    for (module, edges) in &levels {
        let mut left: BTreeSet<&String> = edges.keys().collect();
        while let Some(start) = left.pop_first() {
            if let Some(cycle) = shortest(edges, start) {
                let pairs = cycle.iter().zip(cycle.iter().cycle().skip(1));
                let uses: Vec<&str> = pairs.map(|(a, b)| edges[a][b].as_str()).collect();
                found.push(format!("in {}: {}", name(module), uses.join("; ")));
                left.retain(|node| !cycle.contains(node));
            }
        }
    }
    found
}

fn name(module: &Segments) -> String {
    match module.is_empty() {
        true => "lib".to_owned(),
        false => module.join("::"),
    }
}

/// The shortest cycle through a node.
fn shortest(edges: &Edges, start: &String) -> Option<Vec<String>> {
    let mut paths = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    while !paths.is_empty() {
        let mut longer = Vec::new();
        for path in paths {
            let nexts = path.last().and_then(|last| edges.get(last));
            for next in nexts.into_iter().flat_map(BTreeMap::keys) {
                if next == start {
                    return Some(path);
                }
                if seen.insert(next.clone()) {
                    longer.push(path.iter().chain([next]).cloned().collect());
                }
            }
        }
        paths = longer;
    }
    None
}

impl Crate {
    /// The module that defines what a path names, re-exports followed.
    fn definition(&self, path: &[String], depth: usize) -> Option<Segments> {
        let mut at: Segments = Vec::new();
        for (index, segment) in path.iter().enumerate() {
            let inner: Segments = at.iter().chain([segment]).cloned().collect();
            if self.modules.contains_key(&inner) {
                at = inner;
                continue;
            }
            let module = self.modules.get(&at)?;
            if module.defines.contains(segment) || depth > 20 {
                return Some(at);
            }
            for (name, target) in &module.re_exports {
                if name == segment {
                    let rest = path[index + 1..].iter();
                    let target: Segments = target.iter().chain(rest).cloned().collect();
                    return self.definition(&target, depth + 1);
                }
            }
            for (_, target) in module.re_exports.iter().filter(|(name, _)| name == "*") {
                let inner = &target[..target.len() - 1];
                if let Some(module) = self.modules.get(inner) {
                    let offers = |(name, _): &(String, Segments)| name == segment;
                    if module.defines.contains(segment) || module.re_exports.iter().any(offers) {
                        let path: Segments = inner.iter().chain([segment]).cloned().collect();
                        return self.definition(&path, depth + 1);
                    }
                }
            }
            return Some(at);
        }
        Some(at)
    }
}

//! A model with what belongs to it: a cat file alone, or a configuration of herd7 (.cfg), such as
//! the Linux kernel's linux-kernel.cfg, that names a cat file, a bell file and macros.

use cat::{CatError, Model, LKMMV2};
use litmus::{Halves, LitmusError, Macros};
use std::path::{Path, PathBuf};

/// A model, and the macros that C tests under it may use.
pub struct Configuration {
    pub model: Model,
    pub macros: Option<Macros>,
}

#[derive(Debug)]
pub enum ConfigurationError {
    Model(CatError),
    Macros(LitmusError),
}

impl From<CatError> for ConfigurationError {
    fn from(error: CatError) -> ConfigurationError {
        ConfigurationError::Model(error)
    }
}

/// The options of herd7 that concern its drawings and its messages, not its answers.
const APPEARANCE: [&str; 66] = [
    "arrowsize",
    "boxscale",
    "brackets",
    "classes",
    "doshow",
    "dotcom",
    "dotheader",
    "dotmode",
    "dsiy",
    "edgeattr",
    "edgefontsizedelta",
    "edgemerge",
    "extrachars",
    "finalrfpos",
    "fixedsize",
    "fontname",
    "fontsize",
    "graph",
    "hexa",
    "initpos",
    "initrfpos",
    "labelbox",
    "labelinit",
    "margin",
    "mono",
    "movelabel",
    "noid",
    "nshow",
    "oneinit",
    "outcomereads",
    "overlap",
    "pad",
    "penwidth",
    "ptscale",
    "relabel",
    "scale",
    "sep",
    "shift",
    "shortlegend",
    "show",
    "showevents",
    "showfinalrf",
    "showflag",
    "showinitrf",
    "showinitwrites",
    "showkind",
    "showlegend",
    "showobserved",
    "showpo",
    "showraw",
    "showthread",
    "siwidth",
    "splines",
    "squished",
    "suffix",
    "symetric",
    "texmacros",
    "threadposy",
    "timeout",
    "unshow",
    "verbose",
    "view",
    "withbox",
    "xscale",
    "yscale",
    "debug",
];

impl Configuration {
    /// Reads a cat file, or a configuration, whose name ends in .cfg. Files that a configuration
    /// names are beside it or in `folders`, as those that cat files include.
    pub fn load(path: &Path, folders: &[PathBuf]) -> Result<Configuration, ConfigurationError> {
        if path.extension().is_none_or(|extension| extension != "cfg") {
            let model = Model::load(path, folders)?;
            return Ok(Configuration {
                model,
                macros: None,
            });
        }
        let text = text(path)?;
        let (mut model, mut bell, mut macros) = (None, None, None);
        let mut variants = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default().trim();
            let Some(option) = content.split_whitespace().next() else {
                continue;
            };
            let value = content[option.len()..].trim().to_owned();
            let fault = |message: String, advice: &str| CatError {
                file: path.display().to_string(),
                line: number + 1,
                column: 1,
                message,
                advice: advice.to_owned(),
                excerpt: line.to_owned(),
                limit: false,
            };
            match option {
                "model" | "cat" => model = Some(value),
                "bell" => bell = Some(value),
                "macros" => macros = Some(value),
                "variant" if value == "lkmmv1" => {}
                "variant" if value == LKMMV2 => variants.push(value),
                option if APPEARANCE.contains(&option) => {}
                _ => {
                    let message = format!("the option `{content}` is not supported");
                    let advice = "known are model, bell and macros, and options for drawings";
                    return Err(fault(message, advice).into());
                }
            }
        }
        let Some(model) = model else {
            let message = format!("{} names no model", path.display());
            return Err(CatError::placeless(message, "write: model linux-kernel.cat").into());
        };
        let beside = path.parent().unwrap_or(Path::new(""));
        let searched = || std::iter::once(beside).chain(folders.iter().map(PathBuf::as_path));
        let place = |name: &str| {
            let mut places = searched().map(|folder| folder.join(name));
            places
                .find(|path| path.is_file())
                .unwrap_or(beside.join(name))
        };
        let macros = match macros {
            None => None,
            Some(name) => {
                let path = place(&name);
                let halves = match variants.is_empty() {
                    true => Halves::ByMeaning,
                    false => Halves::AsWritten,
                };
                let read = Macros::parse(&path.display().to_string(), &self::text(&path)?, halves);
                Some(read.map_err(ConfigurationError::Macros)?)
            }
        };
        let model = match bell {
            None => Model::load(&place(&model), folders)?,
            Some(bell) => Model::load_with_bell(&place(&model), &place(&bell), folders)?,
        };
        let srcu_by_accesses = macros.as_ref().is_some_and(Macros::loads_in_srcu);
        let model = model.configured(variants, srcu_by_accesses);
        Ok(Configuration { model, macros })
    }
}

fn text(path: &Path) -> Result<String, CatError> {
    let read = std::fs::read(path);
    let bytes = read.map_err(|error| {
        let message = format!("cannot read {}: {error}", path.display());
        CatError::placeless(message, "expected a file that belongs to the model")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

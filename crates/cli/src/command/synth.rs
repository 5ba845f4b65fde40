//! `minfer synth`: a model file of random weights.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::{load, sampling};
use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub::disk;
use crate::hub::repository::size;
use crate::interrupt::Interruptible;
use crate::output::{self, Style};
use crate::synth::{self, MIXES, Mix, Recipe, SHAPES, Shape};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 4 << 20;

/// The command.
///
/// # Errors
/// No such shape or mix, or a file that cannot be written.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let Some(name) = settings.positional("SHAPE").first() else {
        let lines: Vec<String> = SHAPES.iter().map(|shape| format!("{}\n", shape.name)).collect();
        return output::print(&lines.concat());
    };
    let shape = Shape::find(name).ok_or_else(|| {
        let names: Vec<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        usage(format!("no shape {name:?}; there are {}", names.join(", ")))
    })?;
    let mix = settings.text(&table::QUANT).unwrap_or_default();
    let mix = Mix::find(mix).ok_or_else(|| {
        let names: Vec<&str> = MIXES.iter().map(|mix| mix.name).collect();
        usage(format!("--quant {mix:?}: expected one of {}", names.join(", ")))
    })?;
    let vocabulary = match settings.path(&table::TOKENIZER_FROM) {
        Some(path) => Some(load::open(&path, settings)?),
        None => None,
    };
    let seed = if settings.is_given(&table::SEED) { sampling::seed(settings) } else { 1 };
    let recipe = Recipe {
        shape,
        mix,
        layers: settings.some_count(&table::LAYERS),
        tokenizer: vocabulary.as_ref(),
        seed,
        threads: load::threads(settings),
    };
    let default = || PathBuf::from(format!("{}-{}.gguf", shape.name, mix.name));
    let path = settings.path(&table::OUT_FILE).unwrap_or_else(default);
    if path.as_os_str() == "-" {
        return Err(usage("--out -: expected a path: a model file is not written in one go"));
    }
    if path.exists() && !settings.on(&table::FORCE) {
        let shown = path.display();
        return Err(usage(format!("{shown} is there: --force writes over it, -o FILE elsewhere")));
    }
    write(&recipe, &path, style)
}

/// Writes beside the place and renames, so that no half of a file is taken for one.
fn write(recipe: &Recipe<'_>, path: &Path, style: Style) -> Result<()> {
    let (start, bytes, shown) = (Instant::now(), synth::bytes(recipe)?, path.display().to_string());
    let folder = path.parent().unwrap_or(Path::new(""));
    let way_out = "-o FILE names another place, --layers N makes a smaller file";
    disk::ensure_fits(&shown, folder, bytes, way_out)?;
    output::note(&format!("writing {} of random weights to {shown}", size(bytes)));
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.incomplete", std::process::id()));
    let partial = PathBuf::from(partial);
    let _removed_on_interrupt = Interruptible::removing(partial.clone());
    let create = || format!("creating {}", partial.display());
    let progress = style.bytes(recipe.shape.name.to_owned(), bytes);
    let result = File::create(&partial).with_context(create).and_then(|file| {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        let bytes = synth::write(recipe, &mut out, &|done| progress.at(done))?;
        out.into_inner().context("writing the last of the file")?;
        fs::rename(&partial, path).with_context(|| format!("renaming to {}", path.display()))?;
        Ok(bytes)
    });
    let bytes = match result {
        Ok(bytes) => bytes,
        Err(error) => {
            let _ = fs::remove_file(&partial);
            return Err(error);
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let speed = size((bytes as f64 / seconds) as u64);
    output::note(&format!("{shown}: {} in {seconds:.1} s, {speed}/s", size(bytes)));
    output::line(&shown)
}

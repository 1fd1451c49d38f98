//! `burnrank convert --to model`: imports the trees of LightGBM or XGBoost as a model folder.

use super::convert::Args;
use super::{Usage, input, output, protect, ui, warnings};
use anyhow::{Context, bail};
use burnrank::internal::files::Unfinished;
use burnrank::model::{Forest, ModelPlace};
use serde_json::json;
use std::io::Read;
use std::path::Path;

pub fn run(args: &Args) -> anyhow::Result<()> {
    if output::is_stdout(&args.out) {
        bail!(Usage("a model is a folder: add --out DIR".into()));
    }
    let place = ModelPlace::claim(&args.out)?;
    protect::check_holds_no_input(place.folder(), "--out")?;
    let made = place.created_folders().iter().map(|path| &**path).chain([place.lock_file()]);
    let _unfinished: Vec<Unfinished> = made.map(Unfinished::new).collect();
    if place.model()?.is_some() && !args.force {
        return Err(protect::exists(&args.out, "--out"));
    }
    let mut forest = Forest::read(&args.file)?;
    let file = input::name(&args.file);
    let mut notes = forest.notes().to_vec();
    if args.reading.first_index == 0 {
        forest = forest.without_first_column().with_context(|| format!("{file}: --first-index 0"))?;
    }
    let mut model = forest.into_model(format!("imported from {file}")).with_context(|| file.clone())?;
    model.info.sparse_missing &= !args.reading.fill_zeros;
    if place.model()?.is_some() && !args.force {
        return Err(protect::exists(&args.out, "--out"));
    }
    model.save_to(&place)?;
    notes.extend(model.missing_note());
    notes.iter().for_each(|note| ui::note(&format!("{file}: {note}")));
    warnings::print(&model, &args.out);
    let shape = &model.info.ranker;
    let folder = args.out.display().to_string();
    if args.json {
        let warnings: Vec<String> = notes.into_iter().chain(model.warnings()).collect();
        let shape_name = shape.architecture.to_string();
        let report = json!({ "model": folder, "features": shape.features, "shape": shape_name, "warnings": warnings });
        return ui::print_json(&report);
    }
    ui::print(&format!("{}: {}, {} features\n", ui::printable(&folder), shape.architecture, ui::count(shape.features)))
}

/// Whether a file begins like a model of LightGBM or XGBoost.
pub fn looks_like_a_model(file: &Path) -> bool {
    let mut start = [0; 64];
    let read =
        if file.is_file() { std::fs::File::open(file).and_then(|mut file| file.read(&mut start)) } else { Ok(0) };
    let start = start[..read.unwrap_or(0)].trim_ascii_start();
    start.starts_with(b"{") || start.starts_with(b"tree\n") || start.starts_with(b"tree\r\n")
}

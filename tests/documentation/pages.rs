//! The tables of the pages equal the registries, and links lead to existing files and headings.

use crate::support::Place;
use burnrank::data::{COLUMN_ROLES, INPUT_FORMATS};
use burnrank::device::Backend;
use burnrank::export::{FORMATS, Format};
use burnrank::model::Capability;
use burnrank::setting::models;
use burnrank::{Activation, Architecture, METRICS, OBJECTIVES, ScaleKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A table of a page: its header, and its rows in their order.
struct Table {
    page: &'static str,
    header: &'static str,
    rows: fn() -> Vec<String>,
}

/// Tables that list a registry.
const TABLES: [Table; 9] = [
    Table {
        page: "docs/metrics.md",
        header: "| name | description |",
        rows: || METRICS.iter().map(|metric| row(&metric.pattern(), metric.help)).collect(),
    },
    Table {
        page: "docs/objectives.md",
        header: "| name | description |",
        rows: || OBJECTIVES.iter().map(|objective| row(&objective.pattern(), objective.help)).collect(),
    },
    Table {
        page: "docs/models.md",
        header: "| name | description |",
        rows: || models().map(|model| row(&model.pattern(), model.help)).collect(),
    },
    Table {
        page: "docs/models.md",
        header: "| scaling | value of a feature x |",
        rows: || ScaleKind::WORDS.iter().map(|scaling| row(scaling.word, &scaling.help())).collect(),
    },
    Table {
        page: "docs/export.md",
        header: "| format | description |",
        rows: || FORMATS.iter().map(|format| row(format.name, format.help)).collect(),
    },
    Table { page: "docs/export.md", header: "| format | linear | nets | trees |", rows: scalings_of_formats },
    Table {
        page: "docs/gpu.md",
        header: "| backend | computes on |",
        rows: || Backend::WORDS.iter().map(|backend| row(backend.word, &backend.help())).collect(),
    },
    Table { page: "docs/data.md", header: "| format | extensions | build | content |", rows: input_formats },
    Table {
        page: "docs/distributed.md",
        header: "| weights | queries per batch | one process | two processes, shared memory | two processes, TCP |",
        rows: epochs,
    },
];

fn row(name: &str, help: &str) -> String {
    format!("| `{name}` | {help} |")
}

/// The scalings of each kind of model that each export format supports.
fn scalings_of_formats() -> Vec<String> {
    let quoted = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let cell = |capability: &Capability, architecture: Architecture| {
        let is_supported = |kind: &ScaleKind| capability.check(&architecture, *kind).is_ok();
        let (supported, others): (Vec<ScaleKind>, _) = ScaleKind::ALL.into_iter().partition(is_supported);
        let names = |kinds: Vec<ScaleKind>| quoted(kinds.into_iter().map(ScaleKind::name).collect()).join(", ");
        match (supported.len(), others.len()) {
            (0, _) => "-".to_owned(),
            (_, 0) => "any".to_owned(),
            (few, many) if few < many => names(supported),
            _ => format!("any but {}", names(others)),
        }
    };
    let rows = FORMATS.iter().map(|Format { name, capability, .. }| {
        let has = |activation: &Activation| capability.activations.contains(activation);
        let units: Vec<&str> = Activation::ALL.into_iter().filter(has).map(Activation::name).collect();
        let units = match units.len() == Activation::ALL.len() {
            true => String::new(),
            false => format!("; units: {}", quoted(units).join(", ")),
        };
        let net = Architecture::Mlp { hidden: vec![1], activation: Activation::Tanh };
        let trees = Architecture::Trees { trees: 1, leaves: 2 };
        let [linear, net, trees] = [Architecture::Linear, net, trees].map(|model| cell(capability, model));
        format!("| `{name}` | {linear} | {net}{units} | {trees} |")
    });
    rows.collect()
}

fn input_formats() -> Vec<String> {
    let rows = INPUT_FORMATS.iter().map(|format| {
        let extensions: Vec<String> = format.file_endings().map(|extension| format!("`.{extension}`")).collect();
        let build = format.feature.map_or("every".to_owned(), |feature| format!("`{feature}`"));
        format!("| {} | {} | {build} | {} |", format.name, extensions.join(", "), format.help)
    });
    rows.collect()
}

/// Stored epochs of each net with the larger batch.
fn epochs() -> Vec<String> {
    let results: serde_json::Value = serde_json::from_str(&text("experiments/results/processes/results.json")).unwrap();
    let runs = results["runs"].as_array().unwrap();
    let nets: BTreeSet<u64> = runs.iter().filter_map(|run| run["weights"].as_u64()).collect();
    let rows = nets.into_iter().map(|weights| {
        let of_net = || runs.iter().filter(move |run| run["weights"] == weights);
        let batch = of_net().filter_map(|run| run["batch"].as_u64()).max().unwrap();
        let seconds = |processes: u64, transport: &str| {
            let mut same = of_net().filter(|run| run["batch"] == batch && run["processes"] == processes);
            same.find(|run| run["transport"] == transport).unwrap()["seconds"].as_f64().unwrap()
        };
        let (one, shared, tcp) = (seconds(0, "shared memory"), seconds(2, "shared memory"), seconds(2, "TCP"));
        format!("| {weights} | {batch} | {one:.4} | {shared:.4} | {tcp:.4} |")
    });
    rows.collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the rows below a header.
fn table<'a>(page: &'a str, header: &str) -> Vec<&'a str> {
    page.lines().skip_while(|line| *line != header).skip(2).take_while(|line| line.starts_with('|')).collect()
}

/// Returns the texts in backticks of a cell of each row.
fn names<'a>(rows: &[&'a str], cell: usize) -> BTreeSet<&'a str> {
    let cells = rows.iter().filter_map(|row| row.split(" | ").nth(cell));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn tables_equal_the_registries() {
    for Table { page, header, rows } in TABLES {
        let (text, rows) = (text(page), rows());
        let table = table(&text, header);
        for row in &rows {
            assert!(table.contains(&row.as_str()), "{page} lacks this row of the table '{header}':\n{row}");
        }
        assert_eq!(table, rows, "{page}");
    }
}

#[test]
fn the_table_of_columns_has_every_option() {
    let page = text("docs/data.md");
    for role in COLUMN_ROLES {
        let start = format!("| `--{} COLUMN` | {}", role.key, role.holds);
        let line = page.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("docs/data.md lacks a line '{start}...'"));
        assert!(role.usual.iter().all(|name| line.contains(&format!("`{name}`"))), "{line}");
    }
}

#[test]
fn the_readme_is_short_and_its_counts_are_right() {
    let readme = text("README.md");
    let words = readme.split_whitespace().count();
    assert!(words <= 900, "{words} words");
    let baselines = models().filter(|model| !model.takes_objective()).count();
    for count in [
        format!("- {} [objectives]", OBJECTIVES.len()),
        format!("- {} [metrics]", METRICS.len()),
        format!("{baselines} baselines"),
    ] {
        assert!(readme.contains(&count), "README.md lacks '{count}'");
    }
}

#[test]
fn the_index_lists_every_page_command_and_feature() {
    let index = text("docs/README.md");
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&format!("]({name}) |")), "docs/README.md lacks {name}");
    }
    let commands = commands();
    let commands: BTreeSet<&str> = commands.iter().map(String::as_str).collect();
    assert_eq!(names(&table(&index, "| command | task |"), 0), commands);
    let manifest = text("Cargo.toml");
    let features = manifest.split_once("\n[features]\n").unwrap().1.split("\n[").next().unwrap();
    let features = features.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let features: BTreeSet<&str> = features.filter(|name| *name != "default").collect();
    assert_eq!(names(&table(&index, "| feature | what it adds | needs |"), 0), features);
}

/// The commands of the tool.
pub fn commands() -> Vec<String> {
    let place = Place::new(&[]);
    place.run("man --out pages").done();
    let pages = place.list().into_iter();
    pages.filter_map(|page| Some(page.split_once("burnrank-")?.1.strip_suffix(".1")?.to_owned())).collect()
}

#[test]
fn the_page_of_the_library_lists_every_example_and_existing_modules() {
    let (page, library) = (text("docs/library.md"), text("src/lib.rs"));
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(page.contains(&format!("](../examples/{name}) |")), "docs/library.md lacks {name}");
    }
    for module in names(&table(&page, "| module | content |"), 0) {
        assert!(library.contains(&format!("pub mod {module};")), "{module} is not a public module");
    }
}

/// Options that a page lists are those of the command, with the same defaults.
#[test]
fn listed_options_have_the_documented_defaults() {
    let place = Place::new(&[]);
    for (page, command) in [("docs/serving.md", "serve"), ("docs/certificates.md", "certify")] {
        let (text, help) = (text(page), place.run(&format!("{command} --help")).good());
        let rows = table(&text, "| option | default | what it sets |");
        assert!(rows.len() >= 6, "{page}: {rows:?}");
        for row in rows {
            let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let (option, default) = (cells[1], cells[2]);
            let start = help.lines().position(|line| {
                let line = line.trim_start();
                line.starts_with('-') && line.split([' ', ',']).any(|word| word == option)
            });
            let start = start.unwrap_or_else(|| panic!("{page}: {command} has no {option}"));
            let mut lines = help.lines().skip(start);
            let first = lines.next().unwrap();
            let rest = lines.take_while(|line| !line.trim_start().starts_with('-'));
            let words = std::iter::once(first).chain(rest).flat_map(str::split_whitespace);
            let entry = words.collect::<Vec<_>>().join(" ");
            let is_documented = default.is_empty() || entry.contains(&format!("[default: {default}]"));
            assert!(is_documented, "{page}: {option} {default}: {entry}");
        }
    }
}

#[test]
fn contributing_maps_the_source() {
    let page = text("CONTRIBUTING.md");
    let map = table(&page, "| folder | content |");
    let listed = names(&map, 0);
    for entry in std::fs::read_dir(root().join("src")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_root = ["lib.rs", "main.rs"].contains(&name.as_str());
        assert!(is_root || listed.contains(name.as_str()), "CONTRIBUTING.md lacks src/{name}");
    }
    let additions = table(&page, "| what | copy | add a row to |");
    assert!(additions.len() >= 8, "{additions:?}");
    for file in names(&additions, 1) {
        assert!(root().join(file).is_file(), "{file} is missing");
    }
    for addition in additions {
        let cell: Vec<&str> = addition.split(" | ").nth(2).unwrap().split('`').collect();
        let (registry, file) = (cell[1], cell[3]);
        assert!(text(file).contains(registry), "{file} has no {registry}");
    }
}

/// Returns every Markdown file at the root, and in `docs` and `models`, that is not generated.
fn pages() -> Vec<PathBuf> {
    let list = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect::<Vec<_>>()
    };
    ["", "docs", "models"].into_iter().flat_map(list).collect()
}

/// Returns the anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(|c: char| !c.is_alphanumeric() && !" -_".contains(c), "");
    kept.trim().replace(' ', "-")
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut links = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        // Every second part is a code block.
        for prose in text.split("```").step_by(2) {
            let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            let images = prose.split("<img src=\"").skip(1).filter_map(|rest| rest.split('"').next());
            for target in targets.chain(images).filter(|target| !target.contains("://")) {
                let (file, heading) = target.split_once('#').unwrap_or((target, ""));
                let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
                assert!(path.exists(), "{}: {target} does not exist", page.display());
                if !heading.is_empty() {
                    let text = std::fs::read_to_string(path).unwrap();
                    let mut headings = text.lines().filter(|line| line.starts_with('#'));
                    let exists = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
                    assert!(exists, "{}: {target} has no such heading", page.display());
                }
                links += 1;
            }
        }
    }
    assert!(links >= 60, "{links} links");
}

//! Formats c and rust: compiled and run on the documents.

use super::models::{self, Case};
use std::path::Path;
use std::process::Command;

fn run(program: &str, arguments: &[&str], folder: &Path) -> bool {
    let output = match Command::new(program).args(arguments).current_dir(folder).output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return false,
        Err(error) => panic!("{program}: {error}"),
    };
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{program} warns: {}", String::from_utf8_lossy(&output.stderr));
    true
}

fn identifier(case: &Case) -> String {
    case.name.replace('-', "_")
}

/// The documents as bytes, one file per model.
fn write_documents(cases: &[Case], folder: &Path) {
    for case in cases {
        let bytes: Vec<u8> = case.data.features().iter().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(folder.join(format!("{}.features", case.name)), bytes).unwrap();
    }
}

/// Compares the scores that a program wrote to one file per model.
fn compare(cases: &[Case], folder: &Path, format: &str) {
    for case in cases {
        let bytes = std::fs::read(folder.join(format!("{}.scores", case.name))).unwrap();
        let scores = bytes.chunks(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())));
        case.check(&scores.collect::<Vec<f64>>(), format);
    }
}

/// The documents of a query.
fn per_query(case: &Case) -> usize {
    case.data.n_documents() / case.data.n_queries()
}

#[test]
fn compiled_c_files_score() {
    let (folder, cases) = (tempfile::tempdir().unwrap(), models::all());
    write_documents(&cases, folder.path());
    let mut main = "#include <stdio.h>\n#include <stdlib.h>\n".to_owned();
    let mut arguments: Vec<String> = "-std=c99 -O1 -Wall -Wextra -o score main.c".split(' ').map(Into::into).collect();
    for case in &cases {
        let file = format!("{}.c", case.name);
        std::fs::write(folder.path().join(&file), case.export("c").unwrap().bytes).unwrap();
        arguments.push(file);
        main += &format!("void {}_score(const float *features, size_t documents, float *scores);\n", identifier(case));
    }
    main += "static float features[100000], scores[100000];\nint main(void)\n{\n    FILE *file;\n";
    for case in &cases {
        let (name, documents, width) = (&case.name, case.data.n_documents(), case.data.n_features());
        main += &format!(
            "    file = fopen(\"{name}.features\", \"rb\");\n    if (fread(features, 4, {}, file) != {}) exit(1);\n    fclose(file);\n",
            documents * width,
            documents * width
        );
        let step = per_query(case);
        main += &format!(
            "    for (int d = 0; d < {documents}; d += {step}) {}_score(features + d * {width}, {step}, scores + d);\n",
            identifier(case)
        );
        main += &format!(
            "    file = fopen(\"{name}.scores\", \"wb\");\n    fwrite(scores, 4, {documents}, file);\n    fclose(file);\n"
        );
    }
    std::fs::write(folder.path().join("main.c"), main + "    return 0;\n}\n").unwrap();
    arguments.push("-lm".into());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if !run("cc", &arguments, folder.path()) {
        println!("skipped: there is no C compiler");
        return;
    }
    run("./score", &[], folder.path());
    compare(&cases, folder.path(), "c");
}

#[test]
fn compiled_rust_files_score() {
    let (folder, cases) = (tempfile::tempdir().unwrap(), models::all());
    write_documents(&cases, folder.path());
    let mut main = "use std::fs;\n".to_owned();
    let mut calls = String::new();
    for case in &cases {
        let (name, module) = (&case.name, identifier(case));
        std::fs::write(folder.path().join(format!("{name}.rs")), case.export("rust").unwrap().bytes).unwrap();
        main += &format!("#[path = \"{name}.rs\"]\nmod {module};\n");
        calls += &format!("    score(\"{name}\", {}, {module}::FEATURES, {module}::score);\n", per_query(case));
    }
    main += "
fn score(name: &str, documents: usize, width: usize, score: fn(&[f32], &mut [f32])) {
    let bytes = fs::read(format!(\"{name}.features\")).unwrap();
    let features: Vec<f32> = bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let mut written = Vec::new();
    for query in features.chunks(documents * width) {
        let mut scores = vec![0.0; documents];
        score(query, &mut scores);
        written.extend(scores.iter().flat_map(|score| score.to_le_bytes()));
    }
    fs::write(format!(\"{name}.scores\"), written).unwrap();
}
";
    std::fs::write(folder.path().join("main.rs"), format!("{main}\nfn main() {{\n{calls}}}\n")).unwrap();
    if !run("rustc", &["--edition", "2021", "-O", "-o", "score", "main.rs"], folder.path()) {
        println!("skipped: there is no Rust compiler");
        return;
    }
    run("./score", &[], folder.path());
    compare(&cases, folder.path(), "rust");
}

//! Every export scores like the model: with an evaluator of the written file, a compiler, or the target program itself.

mod support;

#[path = "export/engines.rs"]
mod engines;
#[path = "export/files.rs"]
mod files;
#[path = "export/models.rs"]
mod models;
#[path = "export/programs.rs"]
mod programs;
#[path = "export/python.rs"]
mod python;
#[path = "export/tool.rs"]
mod tool;

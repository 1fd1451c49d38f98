//! Every export scores as the model does, by what its target documents: an evaluator of the written file, a compiler, or the
//! target itself.

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

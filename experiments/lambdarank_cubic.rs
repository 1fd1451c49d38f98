//! stub
use crate::plumbing::Experiment;
pub const EXPERIMENT: Experiment = Experiment { name: "lambdarank_cubic", paper: "", claim: "", time: "", protocol: |_| Ok(serde_json::Value::Null), run: |_| anyhow::bail!("not yet") };

//! The steps from files to an evaluated model, as separate functions so that a front end can show progress between
//! them.
//!
//! ```
//! use burnrank::train::{Ensemble, HoldOut, RunFiles, Split, Splits, report_metrics};
//! use burnrank::{ReadOptions, Stop, TrainConfig, device};
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let path = folder.path().join("train.txt");
//! # let line = |query: usize, label: usize| format!("{label} qid:{query} 1:{label} 2:{query}\n");
//! # let text: String = (0..10).flat_map(|query| [0, 1].map(|label| line(query, label))).collect();
//! # std::fs::write(&path, text).expect("a file");
//! let (config, device, stop) = (TrainConfig { epochs: 3, ..TrainConfig::default() }, device::open("auto")?, Stop::new());
//! let files = RunFiles { train: &path, valid: None, test: None, targets: None };
//! let read = |_, path: &_| Split::read(path, &ReadOptions::default());
//! let (mut splits, targets) = Splits::read(&files, HoldOut::Fifth { seed: config.seed, members: 1 }, read)?;
//! splits.fit_widths(None)?;
//! splits.check_pairs(&config, !targets.is_empty())?;
//! let data = splits.training_data(&config)?;
//! let metrics = report_metrics(&config.metric)?;
//! let run = Ensemble::of(&config, 1, &data, &targets, &device)?.with_stop(&stop).with_metrics(&metrics);
//! let mut model = run.train()?;
//! assert!(splits.describe(&mut model, &metrics, &stop).is_empty());
//! assert_eq!(model.info.data["valid"].queries, 2);
//! # Ok::<(), burnrank::Error>(())
//! ```

mod ensemble;
mod hold_out;
mod splits;

pub use hold_out::HoldOut;
pub use splits::{NotEvaluated, RunFiles, Split, Splits, Widened, report_metrics};

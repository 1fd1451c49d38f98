//! Measurements: exchanges between two processes, and epochs of one and two processes.

use super::netns::Cable;
use super::{DOCUMENTS, Exchange, FEATURES, Measurements, NETS, Net, Run, exchange};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Transport through the memory of one machine.
pub const SHARED: &str = "shared memory";
/// Transport between two network namespaces.
pub const TCP: &str = "TCP";

/// Runs all measurements; a quick run only checks that they work.
pub fn all(quick: bool) -> anyhow::Result<Measurements> {
    let folder = tempfile::tempdir()?;
    let bench = Bench { folder: folder.path(), tool: tool()?, cable: Cable::create(), quick };
    if bench.cable.is_none() {
        eprintln!("note: no network namespaces here: TCP is not measured");
    }
    let before = load();
    let mut measurements = Measurements {
        machine: crate::speed::machine::describe(),
        quick,
        load: [before, String::new()],
        exchanges: bench.exchanges()?,
        runs: Vec::new(),
    };
    let nets = if quick { &NETS[..1] } else { &NETS[..] };
    for net in nets {
        bench.epochs(net, &mut measurements.runs)?;
    }
    measurements.load[1] = load();
    Ok(measurements)
}

/// Path of the tool, which is built into the same folder as this program.
fn tool() -> anyhow::Result<PathBuf> {
    let tool = std::env::current_exe()?.with_file_name(format!("burnrank{}", std::env::consts::EXE_SUFFIX));
    ensure!(tool.exists(), "{}: build it first: cargo build --release --features mpi", tool.display());
    Ok(tool)
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

struct Bench<'a> {
    folder: &'a Path,
    tool: PathBuf,
    cable: Option<Cable>,
    quick: bool,
}

impl Bench<'_> {
    /// Returns a launcher of a number of processes.
    fn launcher(&self, processes: usize, transport: &str) -> anyhow::Result<Command> {
        let mut command = match &self.cable {
            Some(cable) if transport == TCP => cable.launcher(self.folder)?,
            _ => {
                let mut command = Command::new("mpirun");
                command.args(["-n", &processes.to_string()]);
                command
            }
        };
        command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        Ok(command)
    }

    fn transports(&self) -> impl Iterator<Item = &'static str> {
        [Some(SHARED), self.cable.as_ref().map(|_| TCP)].into_iter().flatten()
    }

    fn exchanges(&self) -> anyhow::Result<Vec<Exchange>> {
        let mut exchanges = Vec::new();
        for transport in self.transports() {
            let mut command = self.launcher(2, transport)?;
            command.arg(std::env::current_exe()?).args(["processes", "--child", transport]);
            exchanges.extend(exchange::parse(&output(&mut command)?)?);
        }
        Ok(exchanges)
    }

    /// Measures epochs of a net with one process that computes whole batches, and with one and two that compute shares.
    fn epochs(&self, net: &Net, runs: &mut Vec<Run>) -> anyhow::Result<()> {
        let queries = if self.quick { 24 } else { net.queries };
        let data = self.folder.join(format!("{queries}.txt"));
        for (path, queries) in [(&data, queries), (&self.folder.join("valid.txt"), 12)] {
            let sizes = format!("--queries {queries} --documents {DOCUMENTS} --features {FEATURES} --seed 3 --force");
            output(Command::new(&self.tool).args(["generate", "net"]).args(sizes.split(' ')).arg("--out").arg(path))?;
        }
        for batch in net.batches.into_iter().filter(|batch| *batch <= queries) {
            let mut start = vec![(0, SHARED), (1, SHARED)];
            start.extend(self.transports().map(|transport| (2, transport)));
            for (processes, transport) in start {
                let run = self.epoch(net, queries, batch, processes, transport)?;
                eprintln!(
                    "{}, batches of {batch}, {processes} processes, {transport}: {:.4} s",
                    net.hidden, run.seconds
                );
                runs.push(run);
            }
        }
        Ok(())
    }

    fn epoch(&self, net: &Net, queries: usize, batch: usize, processes: usize, transport: &str) -> anyhow::Result<Run> {
        let out = self.folder.join("model");
        let mut command = match processes {
            0 => Command::new(&self.tool),
            _ => {
                let mut command = self.launcher(processes, transport)?;
                command.arg(&self.tool);
                command
            }
        };
        let epochs = if self.quick { 3 } else { net.epochs };
        // Low learning rate: saturated units of a large net have subnormal gradients, which CPUs compute slowly.
        let settings = format!(
            "train --model mlp --hidden {} --epochs {epochs} --lr 0.0001 --patience 0 --batch-queries {batch} --threads 1 \
             --quiet --checkpoint-every 100000 --force",
            net.hidden
        );
        command.args(settings.split_whitespace()).arg("--out").arg(&out);
        command.arg("--train").arg(self.folder.join(format!("{queries}.txt")));
        output(command.arg("--valid").arg(self.folder.join("valid.txt")))?;
        let log = std::fs::read_to_string(out.join("training.jsonl"))?;
        let seconds = |line: &str| serde_json::from_str::<Value>(line).ok()?["seconds"].as_f64();
        let mut seconds: Vec<f64> = log.lines().skip(1).filter_map(seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let info: Value = serde_json::from_slice(&std::fs::read(out.join("model.json"))?)?;
        Ok(Run {
            hidden: net.hidden.into(),
            weights: weights(net.hidden)?,
            queries,
            batch,
            processes,
            transport: transport.into(),
            seconds: *seconds.get(seconds.len() / 2).context("no epoch")?,
            model: info["checksum"].as_str().unwrap_or_default().into(),
        })
    }
}

/// Number of weights of a net.
fn weights(hidden: &str) -> anyhow::Result<usize> {
    let mut units: Vec<usize> = vec![FEATURES];
    for layer in hidden.split(',') {
        units.push(layer.parse()?);
    }
    units.push(1);
    Ok(units.windows(2).map(|pair| pair[0] * pair[1] + pair[1]).sum())
}

/// Runs a command and returns its standard output.
fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

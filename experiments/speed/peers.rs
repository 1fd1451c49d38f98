//! Other tools on the same bytes, timed by a Python script in a virtual environment of its own.

use super::HIDDEN;
use super::row::Row;
use anyhow::{Context, bail};
use burnrank::internal::text::{Table, three_digits};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// One line of the script: a time, or why there is none.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Peer {
    pub peer: String,
    #[serde(default)]
    pub version: Option<String>,
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    pub objective: Option<String>,
    /// Hidden units of a net, 0 if it is linear.
    #[serde(default)]
    pub units: Option<usize>,
    #[serde(default)]
    pub batch: Option<usize>,
    #[serde(default)]
    pub seconds: Option<f64>,
    #[serde(default)]
    pub repeats: Option<usize>,
    /// `plain`, as the tool is used, or `tuned`, as fast as it was made to go.
    #[serde(default)]
    pub form: Option<String>,
    /// Whether no other batch size of this task and form was faster.
    #[serde(default)]
    pub best: bool,
    #[serde(default)]
    pub note: Option<String>,
    #[serde(default)]
    pub missing: Option<String>,
}

/// The Python of the environment, which is made if it does not exist.
fn python(venv: &Path, script: &Path) -> anyhow::Result<PathBuf> {
    let python = venv.join("bin/python");
    if !python.exists() {
        eprintln!("peers: making a virtual environment in {} (once; some minutes)", venv.display());
        let made = Command::new("python3").arg(script).arg("--make-venv").arg(venv).stdout(Stdio::null()).status();
        let made = made.context("cannot start python3: install it, or leave out the setting peers")?;
        if !made.success() {
            bail!(
                "the virtual environment {} could not be made: remove it, and see what pip said above",
                venv.display()
            );
        }
    }
    Ok(python)
}

/// Starts the script.
fn start(venv: &Path, data: &Path, quick: bool, more: &[&str]) -> anyhow::Result<Child> {
    let script = script()?;
    let python = python(venv, &script)?;
    let mut command = Command::new(&python);
    command.arg(&script).arg("--data").arg(data).args(more).stdin(Stdio::piped()).stdout(Stdio::piped());
    if quick {
        command.arg("--quick");
    }
    let remedy = || format!("cannot run {}: remove {} to have it made anew", python.display(), venv.display());
    command.spawn().with_context(remedy)
}

/// A peer that trains the nets it is asked for, in its own process.
pub struct NetPeer {
    name: &'static str,
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Peers that train nets.
pub const NETS: [&str; 2] = ["rax", "torch"];

impl NetPeer {
    pub fn start(name: &'static str, venv: &Path, data: &Path, quick: bool) -> anyhow::Result<NetPeer> {
        let mut child = start(venv, data, quick, &["--peer", name, "--ask"])?;
        let questions = child.stdin.take().context("no stdin")?;
        let answers = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(NetPeer { name, child, questions, answers })
    }

    /// Times an epoch of a net of one or two layers.
    pub fn epoch(&mut self, form: &str, units: usize, batch: usize) -> anyhow::Result<Peer> {
        writeln!(self.questions, "{}", json!({ "form": form, "units": units, "batch": batch }))?;
        self.questions.flush()?;
        let answer = self.answer()?.with_context(|| format!("{} ended early", self.name))?;
        Ok(Peer { form: Some(form.into()), units: Some(units), batch: Some(batch), ..answer })
    }

    /// Measures what the peer does besides training.
    pub fn finish(self) -> anyhow::Result<Vec<Peer>> {
        let NetPeer { mut child, questions, answers, .. } = self;
        drop(questions);
        let all = peers_of(answers);
        child.wait()?;
        all
    }

    fn answer(&mut self) -> anyhow::Result<Option<Peer>> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.answers.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if let Ok(peer) = serde_json::from_str(&line) {
                return Ok(Some(peer));
            }
        }
    }
}

/// All results in the output of the script.
fn peers_of(output: impl BufRead) -> anyhow::Result<Vec<Peer>> {
    let mut all = vec![];
    for line in output.lines() {
        // Libraries may print lines of their own.
        all.extend(serde_json::from_str::<Peer>(&line?).ok());
    }
    Ok(all)
}

/// Runs the peers that do not train nets.
pub fn run(venv: &Path, data: &Path, quick: bool) -> anyhow::Result<Vec<Peer>> {
    let mut child = start(venv, data, quick, &["--only", "lightgbm,xgboost,sklearn"])?;
    let all = child.stdout.take().map(|output| peers_of(BufReader::new(output))).transpose()?.unwrap_or_default();
    let status = child.wait()?;
    if !status.success() && all.is_empty() {
        bail!(
            "the script of the peers failed ({status}): see its messages above, or remove {} to have it made again",
            venv.display()
        );
    }
    if !status.success() {
        eprintln!("peers: the script ended early ({status}); what it said before counts");
    }
    Ok(all)
}

/// The script: beside the sources, here or where the program was built.
fn script() -> anyhow::Result<PathBuf> {
    const SCRIPT: &str = "experiments/speed/peers.py";
    let places = [PathBuf::from(SCRIPT), Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(SCRIPT)];
    let found = places.into_iter().find(|path| path.is_file());
    found.with_context(|| format!("{SCRIPT} is not there: run from the folder of the sources"))
}

/// Our own row that does what a peer did.
pub fn counterpart<'a>(rows: &'a [Row], peer: &Peer) -> Option<&'a Row> {
    let task = peer.task.as_deref()?;
    let fits = |row: &&Row| row.task == task && row.best && row.path.is_none_or(|path| path == "lambda");
    let same = rows.iter().filter(fits).find(|row| row.objective == peer.objective);
    // Tools name what they do in their own way: then it is compared with our first row, which is of LambdaRank for NDCG.
    same.or_else(|| rows.iter().find(fits))
}

/// The fastest epoch of a peer in one form, of trees or of the net with [`HIDDEN`] units.
pub fn fastest_epoch(peers: &[Peer], name: &str, form: &str) -> Option<f64> {
    let fits = |peer: &&Peer| peer.peer == name && peer.task.as_deref() == Some("epoch");
    let epochs = peers.iter().filter(fits).filter(|peer| peer.form.as_deref() == Some(form));
    let epochs = epochs.filter(|peer| peer.units.is_none_or(|units| units == HIDDEN));
    epochs.filter_map(|peer| peer.seconds).min_by(f64::total_cmp)
}

/// The epoch of a net by a peer in one form.
pub fn epoch(peers: &[Peer], (name, form): (&str, &str), units: usize, batch: usize) -> Option<f64> {
    let asked = (Some(form), Some(units), Some(batch));
    let fits = |peer: &&Peer| peer.peer == name && (peer.form.as_deref(), peer.units, peer.batch) == asked;
    peers.iter().find(fits)?.seconds
}

/// Marks the fastest batch size of each net.
pub fn mark_best(peers: &mut [Peer]) {
    for place in 0..peers.len() {
        let own = peers[place].clone();
        let same = |peer: &&Peer| (&peer.peer, &peer.form, peer.units) == (&own.peer, &own.form, own.units);
        if own.units.is_some() {
            let fastest = peers.iter().filter(same).filter_map(|peer| peer.seconds).min_by(f64::total_cmp);
            peers[place].best = own.seconds.is_some() && own.seconds == fastest;
        }
    }
}

/// The best of each peer and task beside ours, epochs of nets excepted.
pub fn table(peers: &[Peer], rows: &[Row]) -> Table {
    let columns = ["peer", "what", "form", "queries per batch", "seconds", "burnrank", "times as long", "note"];
    let mut table = Table::titled("Other work of peers on the same data in the same run:", &columns);
    // What others say must not end a cell or a line.
    let plain = |cells: [String; 8]| cells.map(|cell| cell.replace(['|', '\n'], " "));
    for peer in peers.iter().filter(|peer| peer.units.is_none()) {
        let name = format!("{} {}", peer.peer, peer.version.as_deref().unwrap_or("")).trim_end().to_owned();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let what = format!("{} {}", text(&peer.task), text(&peer.objective)).trim().to_owned();
        if let Some(reason) = &peer.missing {
            let dash = || "-".to_owned();
            table.row(plain([name, what, dash(), dash(), dash(), dash(), dash(), format!("missing: {reason}")]));
        } else if let (Some(seconds), true) = (peer.seconds, peer.best) {
            let own = counterpart(rows, peer).map(|row| row.timing.seconds);
            let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
            table.row(plain([
                name,
                what,
                text(&peer.form),
                or_dash(peer.batch.map(|batch| batch.to_string())),
                three_digits(seconds),
                or_dash(own.map(three_digits)),
                or_dash(own.map(|own| format!("{:.1}", seconds / own))),
                text(&peer.note),
            ]));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::timing::Timing;
    use super::*;

    fn peer(text: &str) -> Peer {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn peers_stand_beside_our_row_of_the_same_task() {
        let timing = Timing { seconds: 0.5, median: 0.5, repeats: 1 };
        let epoch = |objective: &str, path, best| Row {
            objective: Some(objective.into()),
            path: Some(path),
            best,
            ..Row::plain("epoch", timing, 10)
        };
        let rows = [
            epoch("lambdarank:ndcg", "tensor", true),
            epoch("lambdarank:ndcg", "lambda", false),
            epoch("lambdarank:ndcg", "lambda", true),
            Row { objective: Some("ndcg@10".into()), ..Row::plain("evaluate", timing, 10) },
        ];
        let rax =
            peer(r#"{"peer":"rax","task":"epoch","objective":"lambdarank:ndcg","batch":64,"seconds":5,"best":true}"#);
        let trees = peer(r#"{"peer":"lightgbm","task":"epoch","objective":"lambdarank","seconds":1,"best":true}"#);
        let judge = peer(r#"{"peer":"sklearn","task":"evaluate","seconds":1,"best":true}"#);
        assert_eq!(counterpart(&rows, &judge).unwrap().task, "evaluate");
        let gone = peer(r#"{"peer":"torch","missing":"no | module"}"#);
        for one in [&rax, &trees] {
            let found = counterpart(&rows, one).unwrap();
            assert!(found.best && found.path == Some("lambda"));
        }
        let table = table(&[rax, trees, gone.clone()], &rows);
        let page = table.markdown();
        let lines: Vec<&str> = page.lines().skip(4).collect();
        assert!(lines[0].contains("| 10.0 |") && lines[2].contains("| missing: no   module |"), "{page}");
        assert!(counterpart(&rows, &gone).is_none());
    }

    #[test]
    fn the_fastest_epoch_is_over_all_batch_sizes() {
        let line = |batch, seconds| {
            let text = format!(
                r#"{{"peer":"rax","task":"epoch","form":"plain","units":{HIDDEN},"batch":{batch},"seconds":{seconds}}}"#
            );
            peer(&text)
        };
        let mut all = [line(1, 3.0), line(4, 2.0), line(8, 2.5), Peer { units: Some(64), ..line(1, 1.0) }];
        mark_best(&mut all);
        assert_eq!(all.map(|peer| peer.best), [false, true, false, true]);
        assert_eq!(epoch(&[line(1, 3.0), line(4, 2.0)], ("rax", "plain"), HIDDEN, 1), Some(3.0));
        assert_eq!(epoch(&[line(1, 3.0)], ("rax", "tuned"), HIDDEN, 1), None);
        assert_eq!(fastest_epoch(&[line(1, 3.0), line(4, 2.0)], "rax", "plain"), Some(2.0));
        assert_eq!(fastest_epoch(&[line(1, 3.0)], "rax", "tuned"), None);
        assert_eq!(fastest_epoch(&[line(1, 3.0)], "torch", "plain"), None);
    }
}

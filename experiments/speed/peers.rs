//! Other tools on the same bytes, timed by a Python script in a virtual environment of its own.

use super::row::Row;
use anyhow::{Context, bail};
use burnrank::internal::text::{Table, three_digits};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// Makes the environment if it is not there, and runs all peers.
pub fn run(venv: &Path, data: &Path, quick: bool) -> anyhow::Result<Vec<Peer>> {
    let script = script()?;
    let python = venv.join("bin/python");
    if !python.exists() {
        eprintln!("peers: making a virtual environment in {} (once; some minutes)", venv.display());
        let made = Command::new("python3").arg(&script).arg("--make-venv").arg(venv).stdout(Stdio::null()).status();
        let made = made.context("cannot start python3: install it, or leave out the setting peers")?;
        if !made.success() {
            bail!(
                "the virtual environment {} could not be made: remove it, and see what pip said above",
                venv.display()
            );
        }
    }
    let mut command = Command::new(&python);
    command.arg(&script).arg("--data").arg(data).stdout(Stdio::piped());
    if quick {
        command.arg("--quick");
    }
    let remedy = || format!("cannot run {}: remove {} to have it made anew", python.display(), venv.display());
    let mut child = command.spawn().with_context(remedy)?;
    let mut all = vec![];
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            // Lines of libraries that talk on stdout are not ours.
            if let Ok(peer) = serde_json::from_str::<Peer>(&line?) {
                all.push(peer);
            }
        }
    }
    let status = child.wait()?;
    if !status.success() && all.is_empty() {
        bail!(
            "{} failed ({status}): see what it said above, or remove {} to have it made anew",
            script.display(),
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

/// The fastest epoch of a peer in one form.
pub fn fastest_epoch(peers: &[Peer], name: &str, form: &str) -> Option<f64> {
    let fits = |peer: &&Peer| peer.peer == name && peer.task.as_deref() == Some("epoch");
    let epochs = peers.iter().filter(fits).filter(|peer| peer.form.as_deref() == Some(form));
    epochs.filter_map(|peer| peer.seconds).min_by(f64::total_cmp)
}

/// The best of each peer and task beside ours.
pub fn table(peers: &[Peer], rows: &[Row]) -> Table {
    let columns = ["peer", "what", "form", "queries per batch", "seconds", "burnrank", "times as long", "note"];
    let mut table = Table::titled("Peers on the same data in the same run, each at its best batch size:", &columns);
    // What others say must not end a cell or a line.
    let plain = |cells: [String; 8]| cells.map(|cell| cell.replace(['|', '\n'], " "));
    for peer in peers {
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
            let text = format!(r#"{{"peer":"rax","task":"epoch","form":"plain","batch":{batch},"seconds":{seconds}}}"#);
            peer(&text)
        };
        assert_eq!(fastest_epoch(&[line(1, 3.0), line(4, 2.0)], "rax", "plain"), Some(2.0));
        assert_eq!(fastest_epoch(&[line(1, 3.0)], "rax", "tuned"), None);
        assert_eq!(fastest_epoch(&[line(1, 3.0)], "torch", "plain"), None);
    }
}

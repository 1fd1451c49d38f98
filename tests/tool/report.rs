//! `burnrank report`: a self-contained page that fits every width.

use super::explain::place;
use super::support::Place;
use std::collections::HashSet;
use std::process::Command;

/// HTML elements without an end tag.
const EMPTY: [&str; 5] = ["meta", "br", "hr", "img", "!DOCTYPE"];

/// Asserts that tags are balanced and attributes are quoted, and returns the names of all elements.
fn well_formed(page: &str) -> HashSet<String> {
    let (mut open, mut all, mut rest) = (Vec::new(), HashSet::new(), page);
    while let Some(start) = rest.find('<') {
        let tag = &rest[start + 1..];
        let mut quoted = false;
        let end = tag.find(|c: char| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let end = end.unwrap_or_else(|| panic!("no end: {}", &tag[..tag.len().min(80)]));
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        assert!(!inside.contains('<'), "{inside}");
        let name = inside.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        match inside.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name.trim()), "at {}", &after[..after.len().min(80)]),
            None if inside.ends_with('/') || EMPTY.contains(&name) => {}
            None => open.push(name.to_owned()),
        }
        all.insert(name.to_owned());
        // The contents of a style are not HTML.
        rest =
            if name == "style" && !inside.starts_with('/') { &after[after.find("</style>").unwrap()..] } else { after };
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

/// Returns the values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    page.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Returns a page about two models and a baseline.
fn full(place: &Place) -> String {
    place.run("train --train data.txt --model mlp --hidden 4 --epochs 6 --out net --feature-names names.txt").done();
    place.run("report model net --data data.txt --baseline single --out page.html").good();
    place.read("page.html")
}

#[test]
fn the_page_is_complete_and_self_contained() {
    let place = place();
    let page = full(&place);
    let elements = well_formed(&page);
    for element in
        ["h1", "h2", "h3", "table", "caption", "figure", "figcaption", "svg", "title", "details", "nav", "main"]
    {
        assert!(elements.contains(element), "{element}");
    }
    assert!(!elements.contains("script") && !elements.contains("link") && !elements.contains("img"));
    assert!(!page.contains("http:") && !page.contains("https:"), "nothing from elsewhere");
    let ids: Vec<&str> = values(&page, "id");
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
    for link in values(&page, "href") {
        assert!(link.strip_prefix('#').is_some_and(|anchor| ids.contains(&anchor)), "{link}");
    }
    assert_eq!(page.matches("<svg").count(), page.matches("role=\"img\" aria-label=\"").count());
    assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
    // Colours follow the preferences of the browser.
    assert!(page.contains("prefers-color-scheme:dark") && page.contains("var(--blue, #0072B2)"));
    assert!(!page.contains("fill=\"#") && !page.contains("stroke=\"#"));
    for words in [
        "Metrics",
        "Comparison",
        "Explanation of model",
        "Explanation of net",
        "Training",
        "Configuration",
        "Conventions",
        "How to reproduce",
        "ndcg@10",
        "query&lt;b&gt;",
        "burnrank train --train data.txt --model linear",
        "fingerprint",
        "burnrank report model net --data data.txt --baseline single --out page.html",
        "is significantly ",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_page_without_data_shows_the_model_folder() {
    let place = place();
    let text = place.run("report model -o page.html").good();
    assert!(text.starts_with("page.html: 1 model, "), "{text}");
    let page = place.read("page.html");
    well_formed(&page);
    assert!(page.contains("Model model") && page.contains("Training") && !page.contains("Conventions</a>"), "{page}");
    // An existing page is kept without --force.
    assert!(place.run("report model -o page.html").bad(1).contains("--force"));
    let json = place.run("report model -o page.html --force --data data.txt --title A<b --json").json();
    assert_eq!(
        (&json["file"], &json["models"][0], &json["data"]),
        (&"page.html".into(), &"model".into(), &"data.txt".into())
    );
    let page = place.read("page.html");
    well_formed(&page);
    assert!(page.contains("<h1>A&lt;b</h1>") && page.contains("relevance alone"), "{page}");
    assert_eq!(place.run("report model -o -").good().matches("<h1>").count(), 1);
    for (arguments, code) in [
        ("report -o other.html", 2),
        ("report model", 2),
        ("report model --baseline single -o other.html", 2),
        ("report model model -o other.html", 2),
        ("report nothing -o other.html", 1),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments}: {ran:?}");
    }
}

/// An ensemble, and an imported model without a training log.
#[test]
fn ensembles_and_imported_models_have_pages() {
    let place = place();
    place.run("train --train data.txt --model linear --ensemble 2 --epochs 3 --out two").done();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/src/model/trees/tests/sample.txt");
    place.run(&format!("convert {sample} --to model --out trees")).done();
    place.run("report two trees -o page.html").good();
    let page = place.read("page.html");
    well_formed(&page);
    assert!(page.contains("--ensemble 2") && page.contains("No training log") && page.contains("member 1"), "{page}");
}

#[test]
fn a_page_runs_no_script_and_loads_nothing() {
    let place = place();
    place.run("report model --data data.txt -o page.html").good();
    let page = place.read("page.html");
    let head = page.split("</head>").next().unwrap();
    let policy = head.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline'"), "{policy}");
}

#[test]
fn commands_name_files_from_the_folder_of_the_report() {
    let place = place();
    std::fs::create_dir(place.path().join("elsewhere")).unwrap();
    let mut command = place.command("report ../model --data ../data.txt -o page.html");
    command.current_dir(place.path().join("elsewhere"));
    assert!(command.output().unwrap().status.success());
    let page = place.read("elsewhere/page.html");
    assert!(page.contains("burnrank train --train ../data.txt --model linear"), "{page}");
    assert!(page.contains("--out ../model") && page.contains("relative to the folder"), "{page}");
    // The training data is missing: the page has its name and a note.
    std::fs::rename(place.path().join("data.txt"), place.path().join("moved.txt")).unwrap();
    place.run("report model -o page.html").good();
    let page = place.read("page.html");
    assert!(page.contains("--train data.txt") && page.contains("Files not found: data.txt"), "{page}");
}

#[cfg(feature = "trees")]
#[test]
fn commands_train_the_same_trees() {
    let place = place();
    place.run("train --train data.txt --model trees --patience 3 --trees 7 --out grown").done();
    place.run("report grown -o page.html").good();
    assert!(place.read("page.html").contains("--model trees --patience 3 --trees 7 --out grown"));
}

#[test]
fn long_logs_take_little_memory() {
    let place = place();
    let log = place.path().join("model/training.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let line = text.lines().next().unwrap();
    let record = |epoch: usize| line.replacen("\"epoch\":1,", &format!("\"epoch\":{epoch},"), 1) + "\n";
    assert_ne!(record(7).trim(), line);
    let mut all: String = (1..=600_000).map(record).collect();
    // A very long line, as of a file that is not a log.
    all += &"x".repeat(50_000_000);
    std::fs::write(&log, &all).unwrap();
    place.run("report model -o page.html --max-memory 120MB").good();
    let page = place.read("page.html");
    assert!(page.len() < 2_000_000 && page.contains("600,000 epochs"), "{} bytes", page.len());
}

/// Sets the page's title to the overflow of elements that do not scroll.
const PROBE: &str = r#"<script>
window.addEventListener('load', function () {
  var width = document.documentElement.clientWidth, worst = 0, what = '';
  document.querySelectorAll('body *').forEach(function (element) {
    if (element.closest('svg') && element.tagName !== 'svg') return;
    var scroller = element.closest('.scroll');
    if (scroller && scroller !== element) return;
    var over = element.getBoundingClientRect().right - width;
    if (over > worst) { worst = over; what = element.tagName; }
  });
  var texts = [], small = 0;
  document.querySelectorAll('svg').forEach(function (svg) {
    var edge = svg.getBoundingClientRect();
    svg.querySelectorAll('text').forEach(function (text) {
      var box = text.getBoundingClientRect();
      if (box.left < edge.left - 1 || box.right > edge.right + 1) texts.push(text.textContent);
      if (parseFloat(getComputedStyle(text).fontSize) * edge.width / svg.viewBox.baseVal.width < 10.5) small++;
    });
  });
  document.title = 'PROBE width=' + width + ' over=' + Math.ceil(worst) + ' ' + what + ' scroll=' +
    (document.documentElement.scrollWidth - width) + ' cut=' + texts.length + ' ' + texts.join('|') + ' small=' + small + ' END';
});
</script>"#;

fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

#[test]
fn pages_fit_phones_and_desktops() {
    let Some(chromium) = chromium() else {
        println!("skipped: no Chromium is installed");
        return;
    };
    let place = place();
    // The page's policy blocks scripts; it is relaxed for this one.
    let page = full(&place).replace("</head>", &format!("{PROBE}</head>")).replace("default-src 'none'; ", "");
    // Headless windows have a minimum width above a phone's, so the page is shown in a frame, high enough for no scroll bar.
    std::fs::write(place.path().join("probed.html"), page).unwrap();
    for width in [390, 1280] {
        let frame = format!(
            "<!DOCTYPE html><html><body style=\"margin:0\"><iframe id=\"f\" src=\"probed.html\" \
             style=\"width:{width}px;height:40000px;border:0\"></iframe><script>\
             document.getElementById('f').addEventListener('load', function () {{ setTimeout(function () {{ \
             document.title = document.getElementById('f').contentDocument.title; }}, 300); }});</script></body></html>"
        );
        std::fs::write(place.path().join("frame.html"), frame).unwrap();
        let profile = place.path().join("profile");
        let output = Command::new(chromium)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--allow-file-access-from-files",
                "--window-size=1400,900",
            ])
            .args(["--virtual-time-budget=5000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}", place.path().join("frame.html").display()))
            .output()
            .expect("Chromium runs");
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let found = dom.split("PROBE ").nth(1).and_then(|rest| rest.split(" END").next());
        let found = found.unwrap_or_else(|| panic!("{dom}\n{}", String::from_utf8_lossy(&output.stderr)));
        println!("{width} pixels: {found}");
        assert!(found.starts_with(&format!("width={width} over=0 ")), "{found}");
        assert!(found.contains(" scroll=0 cut=0 ") && found.ends_with("small=0"), "{found}");
    }
}

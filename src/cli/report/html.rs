//! Pieces of a self-contained HTML page, without scripts or external resources.

use burnrank::internal::program::figure;
use burnrank::internal::program::palette::{THEME, hex};
use std::fmt::Write;

pub use figure::escape;

/// Style sheet; the page sets the colours of figures before it.
const STYLE: &str = "\
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:var(--ink);background:var(--paper)}
main,header,footer{max-width:76rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
footer{padding-bottom:2rem;color:var(--grey)}
h1{font-size:1.7rem;line-height:1.25;margin:.2rem 0 .6rem;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.4rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--grid);overflow-wrap:anywhere}
h4{font-size:1rem;margin:1.4rem 0 .3rem;overflow-wrap:anywhere}
h3{font-size:1.08rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}
p,li,dd{max-width:46rem;overflow-wrap:anywhere}
.verdict{font-size:1.1rem}
.quiet{color:var(--grey)}
a{color:var(--blue)}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;margin:.8rem 0;padding:0}
nav a{display:inline-block;padding:.35rem 0}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,24rem),1fr));gap:1rem;align-items:start}
figure{margin:0;min-width:0;max-width:32rem}
figure svg{display:block;width:100%;height:auto}
.beside{display:flex;flex-wrap:wrap;gap:.5rem 2rem;align-items:flex-start}
.beside figure{flex:1 1 min(100%,22rem);max-width:27rem}
.beside .scroll{flex:0 1 auto}
figcaption{font-size:.92rem;color:var(--grey)}
.scroll{overflow-x:auto;max-width:100%;margin:.6rem 0}
.scroll:focus-visible{outline:2px solid var(--blue)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--grey);font-size:.92rem;padding-bottom:.3rem}
caption span{position:sticky;left:0;display:inline-block;max-width:min(46rem,calc(100vw - 2rem))}
th,td{padding:.3rem .7rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--grid)}
th.number,td.number{text-align:right;white-space:nowrap}
tbody th{font-weight:inherit}
th.word,td.word{min-width:5rem;overflow-wrap:break-word}
td.word{min-width:8rem}
pre{overflow-x:auto;padding:.7rem .9rem;border:1px solid var(--grid);border-radius:.3rem;font-size:.9rem;max-width:100%;white-space:pre-wrap;overflow-wrap:anywhere}
code{font-family:ui-monospace,'Cascadia Mono',Menlo,Consolas,monospace;overflow-wrap:anywhere}
details{margin:.6rem 0}
summary{cursor:pointer;padding:.3rem 0}
@media print{nav{display:none}figure{break-inside:avoid}}
";

/// Content security policy of the page: its inline styles, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A page with a title, a header `before` the sections, the sections, and a footer.
pub fn page(title: &str, before: &str, sections: &[Section], after: &str) -> String {
    let colours = |dark: bool| -> String {
        let colour =
            |(name, light, shade): &(&str, _, _)| format!("--{name}:{};", hex(if dark { *shade } else { *light }));
        THEME.iter().map(colour).collect()
    };
    let title = escape(title);
    let links: String = sections
        .iter()
        .map(|section| format!("<li><a href=\"#{}\">{}</a></li>\n", section.anchor, escape(&section.title)))
        .collect();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{title}</title>\n<style>\n\
         :root{{color-scheme:light dark;{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n{before}<nav aria-label=\"Sections\">\n<ul>\n{links}</ul>\n</nav>\n</header>\n<main>\n",
        colours(false),
        colours(true)
    );
    for section in sections {
        // Writing to a string does not fail.
        let _ = write!(
            page,
            "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
            section.anchor,
            escape(&section.title),
            section.content
        );
    }
    page + "</main>\n<footer>\n" + after + "</footer>\n</body>\n</html>\n"
}

/// A section of a page.
pub struct Section {
    pub anchor: String,
    pub title: String,
    /// HTML.
    pub content: String,
}

impl Section {
    pub fn new(anchor: &str, title: &str, content: String) -> Self {
        Section { anchor: anchor.to_owned(), title: title.to_owned(), content }
    }
}

/// A paragraph of text.
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A paragraph in the colour of remarks.
pub fn aside(text: &str) -> String {
    format!("<p class=\"quiet\">{}</p>\n", escape(text))
}

/// A heading within a section.
pub fn heading(text: &str) -> String {
    format!("<h3>{}</h3>\n", escape(text))
}

/// A figure and a table, next to each other if they fit.
pub fn beside(pieces: &[String; 2]) -> String {
    format!("<div class=\"beside\">\n{}</div>\n", pieces.concat())
}

/// A grid of pictures with their captions.
pub fn figures(pictures: &[(String, String)]) -> String {
    let pieces: String = pictures.iter().map(|(picture, caption)| captioned(picture, caption)).collect();
    format!("<div class=\"figures\">\n{pieces}</div>\n")
}

/// A picture with its caption.
pub fn captioned(picture: &str, caption: &str) -> String {
    let (picture, caption) = (figure::inline(picture, caption), escape(caption));
    format!("<figure>{picture}<figcaption>{caption}</figcaption></figure>\n")
}

/// A table with a caption. The first `words` columns are text, the others numbers.
pub fn table(caption: &str, words: usize, headings: &[&str], rows: &[Vec<String>]) -> String {
    let class = |place: usize| if place < words { "word" } else { "number" };
    let cells = |row: &[String], is_head: bool| -> String {
        let cell = |(place, cell): (usize, &String)| {
            let (tag, scope) = match (is_head, place) {
                (true, _) => ("th", " scope=\"col\""),
                // The subject of the row.
                (false, 0) => ("th", " scope=\"row\""),
                _ => ("td", ""),
            };
            format!("<{tag}{scope} class=\"{}\">{}</{tag}>", class(place), escape(cell))
        };
        row.iter().enumerate().map(cell).collect()
    };
    let headings: Vec<String> = headings.iter().map(|heading| heading.to_string()).collect();
    let head = cells(&headings, true);
    let body: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row, false))).collect();
    // A wide table scrolls within the page, also with the keyboard.
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n<caption><span>{0}</span></caption>\n\
         <thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n",
        escape(caption)
    )
}

/// A block of shell commands.
pub fn commands(text: &str) -> String {
    format!("<pre><code>{}</code></pre>\n", escape(text))
}

/// Collapsed content.
pub fn details(summary: &str, content: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{content}</details>\n", escape(summary))
}

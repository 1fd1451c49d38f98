//! What the programs of this project share, and libraries do without: the answer to Ctrl-C, figures, leaderboards,
//! errors in words.

pub mod figure;
pub mod interrupt;
pub mod leaderboard;
pub mod palette;

/// An error and its causes, as far as they say something new.
pub fn message(error: &anyhow::Error) -> String {
    message_by(error, crate::Error::to_string)
}

/// As [`message`], with the program's own text of this library's errors, as with `--` before the key of a setting.
pub fn message_by(error: &anyhow::Error, text: impl Fn(&crate::Error) -> String) -> String {
    let mut causes = error.chain().map(|cause| cause.downcast_ref().map_or_else(|| cause.to_string(), &text));
    let mut text = causes.next().unwrap_or_default();
    for cause in causes {
        if !text.ends_with(&cause) {
            text.push_str(&format!(": {cause}"));
        }
    }
    text
}

/// Whether the command line is at fault, and not the data or the machine.
pub fn is_bad_usage(error: &anyhow::Error) -> bool {
    use crate::Error::{Config, Setting};
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(Setting { .. } | Config(_))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let error = crate::Error::io("a.txt", "read", std::io::Error::other("gone"));
        assert_eq!(message(&error.into()), "a.txt: cannot read: gone");
        assert_eq!(message(&anyhow::anyhow!("deep").context("high")), "high: deep");
    }
}

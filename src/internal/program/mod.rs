//! Code shared by the programs of this project: handling of Ctrl-C, figures, leaderboards, and error messages.

pub mod figure;
pub mod interrupt;
pub mod leaderboard;
pub mod palette;

/// Formats an error with its causes, without repetitions.
pub fn message(error: &anyhow::Error) -> String {
    message_by(error, crate::Error::to_string)
}

/// Formats an error as [`message`] does, with a custom text for errors of this library, for example with `--` before options.
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

/// Whether the error is caused by the command line, and not by the data or the machine.
pub fn is_bad_usage(error: &anyhow::Error) -> bool {
    use crate::Error::{Config, Setting};
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(Setting { .. } | Config(_))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_not_repeated() {
        let error = crate::Error::io("a.txt", "read", std::io::Error::other("gone"));
        assert_eq!(message(&error.into()), "a.txt: cannot read: gone");
        assert_eq!(message(&anyhow::anyhow!("deep").context("high")), "high: deep");
    }
}

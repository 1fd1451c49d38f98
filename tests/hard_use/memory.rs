//! Whatever a user's input sizes is refused before memory runs out.

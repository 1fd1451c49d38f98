//! A document's score does not depend on what is scored with it.

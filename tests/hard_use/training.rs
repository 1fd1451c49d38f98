//! Training that is interrupted, refused or diverges loses nothing and says so.

//! Both gradient paths agree where scores are extreme and lists are long.

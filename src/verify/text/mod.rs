//! Plain small readers of text artifacts. They share nothing with the importers, so that an error there shows here: each
//! reads the common form of its tool and says so where a file has another one.

pub mod calls;
pub mod counters;
pub mod heap;
pub mod manifest;
pub mod series;
pub mod stacks;
pub mod summary;

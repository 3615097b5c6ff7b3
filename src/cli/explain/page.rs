//! Lines of bounded width.

use crate::emit::words;

/// A text that grows line by line.
pub struct Page {
    text: String,
    width: usize,
}

impl Page {
    pub fn new(width: usize) -> Page {
        Page { text: String::new(), width }
    }

    /// Prose, `indent` blanks in front; what goes on stands two further in. The text must have been made visible.
    pub fn line(&mut self, indent: usize, text: &str) {
        let text = format!("{}{text}", " ".repeat(indent));
        self.text.push_str(&words::wrap(&text, self.width, indent + 2));
        self.text.push('\n');
    }

    /// What must stay on one line to be copied: a command, a place.
    pub fn whole(&mut self, indent: usize, text: &str) {
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    pub fn into_text(self) -> String {
        self.text
    }
}

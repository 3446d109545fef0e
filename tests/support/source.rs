//! Reads Rust source just well enough to say which paths it names.
//!
//! Comments, literals and what is compiled for tests alone are left out; imports are spelled out, and what an import
//! made short is made long again. Types are not known, so a path that starts at a type stays as it is written; and
//! `super` in a module without a file of its own is taken for the file's.

use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A path that a file names, such as `std::io::Write` or `std::println!`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The line, from 1.
    pub line: usize,
    /// Its segments; the first is `crate`, a crate, or what could not be traced to either.
    pub path: Vec<String>,
}

/// What a file names.
#[derive(Debug, Default)]
pub struct Source {
    /// The paths, in order.
    pub named: Vec<Named>,
    /// Modules in files of their own that are compiled for tests alone, as paths from `crate`.
    pub test_modules: Vec<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Path,
    Sign(char),
    Literal,
}

/// What looks like a crate in `#[expect(clippy::…)]`, and is none.
const TOOLS: [&str; 3] = ["clippy", "rustdoc", "rustfmt"];

type Tokens = Vec<(usize, Token)>;

/// The path of the module in a file of `src/`, from `crate`.
pub fn module_of(file: &Path) -> Vec<String> {
    let mut path = vec!["crate".to_owned()];
    path.extend(file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()));
    if path.len() > 1 && ["mod", "lib", "main"].contains(&path[path.len() - 1].as_str()) {
        path.pop();
    }
    path
}

/// Reads the source of a module.
pub fn read(text: &str, module: &[String]) -> Source {
    let mut source = Source::default();
    let tokens = without_tests(&tokens(text), module, &mut source.test_modules);
    let mut reader = Reader { tokens: &tokens, module, local: HashSet::new(), short: HashMap::new() };
    reader.declarations();
    let uses = reader.uses();
    for import in &uses {
        let path = reader.long(&import.path);
        reader.short.insert(import.name.clone(), path);
    }
    // An import may be short for what another one brings; no chain is longer than there are imports.
    source.named = uses.iter().map(|import| Named { line: import.line, path: reader.long(&import.path) }).collect();
    source.named.extend(reader.inline());
    source.named.sort_by_key(|named| named.line);
    source
}

/// Cuts a text into tokens, with the line of each.
fn tokens(text: &str) -> Tokens {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, token) = token(rest, first);
        if let Some(token) = token {
            tokens.push((line, token));
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

fn token(rest: &str, first: char) -> (usize, Option<Token>) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), None);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), None);
    }
    if let Some(length) = literal(rest) {
        return (length, Some(Token::Literal));
    }
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    if word > 0 {
        return (word, Some(Token::Word(rest[..word].to_owned())));
    }
    match first {
        space if space.is_whitespace() => (space.len_utf8(), None),
        // A lifetime; a character has been seen to be a literal.
        '\'' => (1 + rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len() - 1), None),
        ':' if rest.starts_with("::") => (2, Some(Token::Path)),
        sign => (sign.len_utf8(), Some(Token::Sign(sign))),
    }
}

/// The length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of a string or character literal, if one is here.
fn literal(rest: &str) -> Option<usize> {
    let mut bodies =
        ["br", "cr", "r", "b", "c", ""].into_iter().filter_map(|prefix| Some((prefix, rest.strip_prefix(prefix)?)));
    bodies.find_map(|(prefix, body)| {
        let length = if prefix.ends_with('r') { raw(body) } else { escaped(body) };
        Some(prefix.len() + length?)
    })
}

/// The length of a raw string behind its prefix.
fn raw(body: &str) -> Option<usize> {
    let text = body.trim_start_matches('#');
    let hashes = body.len() - text.len();
    let end = format!("\"{}", &body[..hashes]);
    let text = text.strip_prefix('"')?;
    Some(hashes + 1 + text.find(&end).map_or(text.len(), |at| at + end.len()))
}

/// The length of a string or character; `'a'` and `'\n'` are characters, `'a` is a lifetime.
fn escaped(body: &str) -> Option<usize> {
    let mut characters = body.chars();
    match (characters.next()?, characters.next(), characters.next()) {
        ('"', ..) => Some(quoted(body, '"')),
        ('\'', Some('\\'), _) | ('\'', _, Some('\'')) => Some(quoted(body, '\'')),
        _ => None,
    }
}

/// The length of a text in quotes with escapes.
fn quoted(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in body.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            end if end == quote => return at + 1,
            _ => {}
        }
    }
    body.len()
}

fn word(token: Option<&(usize, Token)>) -> Option<&str> {
    match token {
        Some((_, Token::Word(word))) => Some(word),
        _ => None,
    }
}

fn is_sign(token: Option<&(usize, Token)>, sign: char) -> bool {
    matches!(token, Some((_, Token::Sign(found))) if *found == sign)
}

/// The tokens without the items, fields and statements under `#[cfg(test)]`.
fn without_tests(tokens: &[(usize, Token)], module: &[String], test_modules: &mut Vec<Vec<String>>) -> Tokens {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let Some(item) = after_cfg_test(tokens, at) else {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        };
        at = end_of_item(tokens, item);
        let words: Vec<_> = tokens[item..at].iter().filter_map(|token| word(Some(token))).collect();
        if let (true, Some(name)) = (is_sign(tokens.get(at - 1), ';'), words.windows(2).find(|pair| pair[0] == "mod")) {
            test_modules.push([module, &[name[1].to_owned()]].concat());
        }
    }
    kept
}

/// Where what is under a `#[cfg(test)]` here begins.
fn after_cfg_test(tokens: &[(usize, Token)], at: usize) -> Option<usize> {
    let signs = [(0, '#'), (1, '['), (3, '('), (5, ')'), (6, ']')];
    let shaped = signs.iter().all(|&(after, sign)| is_sign(tokens.get(at + after), sign));
    let words = word(tokens.get(at + 2)) == Some("cfg") && word(tokens.get(at + 4)) == Some("test");
    (shaped && words).then_some(at + 7)
}

/// Where an item, field or statement ends: behind its `;`, `,` or block, or before what closes its surroundings.
fn end_of_item(tokens: &[(usize, Token)], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut attribute = false;
    for (at, (_, token)) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::Sign('#') if depth == 0 => attribute = true,
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') if depth == 0 => return at,
            Token::Sign(closing @ (')' | ']' | '}')) => {
                depth -= 1;
                if depth == 0 && *closing == '}' {
                    return at + 1;
                }
                attribute &= depth > 0;
            }
            Token::Sign(';' | ',') if depth == 0 && !attribute => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// One name that a `use` brings.
struct Import {
    line: usize,
    name: String,
    path: Vec<String>,
}

struct Reader<'a> {
    tokens: &'a [(usize, Token)],
    module: &'a [String],
    /// Modules declared here.
    local: HashSet<String>,
    /// What names stand for.
    short: HashMap<String, Vec<String>>,
}

impl Reader<'_> {
    fn declarations(&mut self) {
        let declared = |pair: &[(usize, Token)]| match (word(pair.first()), word(pair.get(1))) {
            (Some("mod"), Some(name)) => Some(name.to_owned()),
            _ => None,
        };
        self.local = self.tokens.windows(2).filter_map(declared).collect();
    }

    /// All that is imported. `+ use<'a>` in a type is no import.
    fn uses(&self) -> Vec<Import> {
        let mut uses = Vec::new();
        for at in 0..self.tokens.len() {
            if word(self.tokens.get(at)) == Some("use") && !is_sign(self.tokens.get(at + 1), '<') {
                self.tree(at + 1, &[], &mut uses);
            }
        }
        uses
    }

    /// Reads one tree of a `use` behind a prefix; gives where it ends.
    fn tree(&self, mut at: usize, prefix: &[String], uses: &mut Vec<Import>) -> usize {
        let mut path = prefix.to_vec();
        let line = self.tokens.get(at).map_or(0, |(line, _)| *line);
        let mut name = None;
        loop {
            match self.tokens.get(at) {
                Some((_, Token::Word(word))) if word == "as" => {
                    name = self::word(self.tokens.get(at + 1)).map(str::to_owned);
                    at += 2;
                }
                Some((_, Token::Word(word))) if word == "self" && !path.is_empty() => at += 1,
                Some((_, Token::Word(word))) => {
                    path.push(word.clone());
                    at += 1;
                }
                Some((_, Token::Path)) => at += 1,
                Some((_, Token::Sign('*'))) => {
                    path.push("*".to_owned());
                    at += 1;
                }
                Some((_, Token::Sign('{'))) => {
                    at += 1;
                    while at < self.tokens.len() && !is_sign(self.tokens.get(at), '}') {
                        at = self.tree(at, &path, uses);
                        at += usize::from(is_sign(self.tokens.get(at), ','));
                    }
                    return at + 1;
                }
                _ => break,
            }
        }
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        uses.push(Import { line, name, path });
        at
    }

    /// The paths outside of imports, and macros by their bare names.
    fn inline(&self) -> Vec<Named> {
        let mut named = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if word(self.tokens.get(at)) == Some("use") && !is_sign(self.tokens.get(at + 1), '<') {
                while at < self.tokens.len() && !is_sign(self.tokens.get(at), ';') {
                    at += 1;
                }
            }
            let (line, path, after) = self.path(at);
            let tool = path.first().is_some_and(|first| TOOLS.contains(&first.as_str()));
            if !tool && (path.len() > 1 || path.last().is_some_and(|last| last.ends_with('!'))) {
                named.push(Named { line, path: self.long(&path) });
            }
            at = after.max(at + 1);
        }
        named
    }

    /// The path that starts here; a macro's ends with `!`.
    fn path(&self, at: usize) -> (usize, Vec<String>, usize) {
        let line = self.tokens.get(at).map_or(0, |(line, _)| *line);
        let mut path = Vec::new();
        let mut after = at;
        while let Some(segment) = word(self.tokens.get(after)) {
            path.push(segment.to_owned());
            after += 1;
            match self.tokens.get(after) {
                Some((_, Token::Path)) if word(self.tokens.get(after + 1)).is_some() => after += 1,
                _ => break,
            }
        }
        let opens = ['(', '[', '{'].iter().any(|&sign| is_sign(self.tokens.get(after + 1), sign));
        if let (Some(last), true) = (path.last_mut(), is_sign(self.tokens.get(after), '!') && opens) {
            last.push('!');
        }
        (line, path, after)
    }

    /// A path from `crate` or a crate's name on, where it leads to one.
    fn long(&self, path: &[String]) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let start = match first.as_str() {
            "crate" | "ssectl" => vec!["crate".to_owned()],
            "self" => self.module.to_vec(),
            "super" => {
                let supers = path.iter().take_while(|segment| *segment == "super").count();
                let kept = self.module.len().saturating_sub(supers).max(1);
                return [&self.module[..kept], &path[supers..]].concat();
            }
            // Of an import that repeats its own name, such as `use memchr::memchr`, the crate is meant.
            name => match self.short.get(name) {
                Some(long) if long.first() != Some(first) => long.clone(),
                Some(long) if path.len() == 1 => long.clone(),
                _ if self.local.contains(name) => [self.module, std::slice::from_ref(first)].concat(),
                _ => vec![first.clone()],
            },
        };
        [&start[..], rest].concat()
    }
}

//! The nearest known word to one that is not known.

/// How alike two words must be, from 0 to 1 (Jaro-Winkler), to be offered as what was meant.
const ALIKE_MIN: f64 = 0.75;

/// The known word that is most like `word`, if one is like it at all.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    all_near(word, known).into_iter().next()
}

/// The known words that are like `word`, the most alike first; at most three.
pub fn all_near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, candidate)| *score >= ALIKE_MIN || (!word.is_empty() && candidate.contains(word)))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

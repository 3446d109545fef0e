//! Which of two ids is the later one, where that can be known (rule 9).
//!
//! Serves evidence and reports only. It never decides how far a cursor moves: within an epoch that is the order
//! of arrival. It must never fall back to comparing text (`"9" > "10"`).

use std::cmp::Ordering;

/// Compares two ids if both are plainly of one scheme that sorts in time; `None` otherwise.
///
/// The schemes: decimals of any length, `ms-seq` (two decimals joined by `-`, as Redis streams have them), ULID
/// (26 characters of Crockford's base32, at most `7ZZ…`) and UUID version 7 (RFC 9562, section 5.7), the last
/// two in any case. A text of digits alone is always a decimal, even with the 26 characters of a ULID: a ULID
/// without one letter practically does not occur, whereas a stream of integers that became ULIDs must not compare.
///
/// `Equal` means the same position in the scheme; the texts may still differ (`01` and `1`).
#[must_use]
pub fn compare(a: &str, b: &str) -> Option<Ordering> {
    match (Scheme::of(a)?, Scheme::of(b)?) {
        (Scheme::Decimal(a), Scheme::Decimal(b)) => Some(a.cmp(&b)),
        (Scheme::MsSeq(a), Scheme::MsSeq(b)) => Some(a.cmp(&b)),
        (Scheme::Ulid(a), Scheme::Ulid(b)) | (Scheme::Uuid7(a), Scheme::Uuid7(b)) => Some(same_width(a, b)),
        _ => None,
    }
}

/// An id read as what it plainly is.
enum Scheme<'a> {
    Decimal(Decimal<'a>),
    MsSeq((Decimal<'a>, Decimal<'a>)),
    Ulid(&'a str),
    Uuid7(&'a str),
}

impl<'a> Scheme<'a> {
    fn of(id: &'a str) -> Option<Self> {
        if let Some(decimal) = Decimal::parse(id) {
            return Some(Self::Decimal(decimal));
        }
        if is_ulid(id) {
            return Some(Self::Ulid(id));
        }
        if is_uuid7(id) {
            return Some(Self::Uuid7(id));
        }
        let (ms, seq) = id.split_once('-')?;
        Some(Self::MsSeq((Decimal::parse(ms)?, Decimal::parse(seq)?)))
    }
}

/// A whole number without leading zeros: the field order makes the derived order numeric.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Decimal<'a> {
    len: usize,
    digits: &'a str,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = text.trim_start_matches('0');
        Some(Self { len: digits.len(), digits })
    }
}

fn is_ulid(id: &str) -> bool {
    let base32 = |byte: u8| byte.is_ascii_alphanumeric() && !b"ILOU".contains(&byte.to_ascii_uppercase());
    id.len() == 26 && id.as_bytes()[0] <= b'7' && id.bytes().all(base32)
}

/// Version nibble `7` and the variant bits `10` of RFC 9562.
fn is_uuid7(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'7',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The order of two texts of one fixed-width alphabet whose letters come after its digits.
fn same_width(a: &str, b: &str) -> Ordering {
    let lower = |byte: u8| byte.to_ascii_lowercase();
    a.bytes().map(lower).cmp(b.bytes().map(lower))
}

#[cfg(test)]
mod tests {
    use super::compare;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn decimals_compare_as_numbers() {
        assert_eq!(compare("9", "10"), Some(Less));
        assert_eq!(compare("53990", "53989"), Some(Greater));
        assert_eq!(compare("007", "7"), Some(Equal));
        assert_eq!(compare("0", "00"), Some(Equal));
        assert_eq!(compare("0", "1"), Some(Less));
        assert_eq!(compare("099", "100"), Some(Less));
        let (small, large) = (format!("1{}", "0".repeat(400)), format!("1{}1", "0".repeat(399)));
        assert_eq!(compare(&small, &large), Some(Less));
        assert_eq!(compare(&"9".repeat(400), &small), Some(Less));
    }

    #[test]
    fn what_only_looks_like_a_number_does_not_compare() {
        for odd in ["", "-1", "+1", "1.5", "1e3", " 1", "1 ", "0x10", "٣", "1_000"] {
            assert_eq!(compare(odd, "2"), None, "{odd:?}");
            assert_eq!(compare("2", odd), None, "{odd:?}");
        }
    }

    #[test]
    fn ms_seq_compares_part_by_part() {
        assert_eq!(compare("1718000000000-9", "1718000000000-10"), Some(Less));
        assert_eq!(compare("1718000000001-0", "1718000000000-10"), Some(Greater));
        assert_eq!(compare("1718-0", "1718-00"), Some(Equal));
        assert_eq!(compare("1718-0", "1718"), None);
        assert_eq!(compare("1718-", "1718-1"), None);
        assert_eq!(compare("2024-05-01", "2024-05-02"), None);
    }

    #[test]
    fn ulids_compare_in_any_case() {
        let (older, newer) = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ");
        assert_eq!(compare(older, newer), Some(Less));
        assert_eq!(compare(&older.to_lowercase(), newer), Some(Less));
        assert_eq!(compare(&newer.to_lowercase(), older), Some(Greater));
        assert_eq!(compare(&older.to_lowercase(), older), Some(Equal));
        assert_eq!(compare("01ARZ3NDEKTSV4RRFFQ69G5FA9", "01ARZ3NDEKTSV4RRFFQ69G5FAa"), Some(Less));
    }

    #[test]
    fn what_is_no_ulid_does_not_compare_as_one() {
        let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        for odd in ["81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAU"] {
            assert_eq!(compare(odd, ulid), None, "{odd:?}");
        }
    }

    #[test]
    fn integers_that_became_ulids_do_not_compare() {
        assert_eq!(compare("53990", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), None);
        let digits = "01234567890123456789012345";
        assert_eq!(compare(digits, "01ARZ3NDEKTSV4RRFFQ69G5FAV"), None);
        assert_eq!(compare("99", digits), Some(Less));
        assert_eq!(compare(digits, "01234567890123456789012346"), Some(Less));
    }

    #[test]
    fn uuids_compare_in_version_7_alone() {
        let (older, newer) = ("018f3b2e-7c1d-7abc-8def-0123456789ab", "018f3b2e-7c1e-7000-8000-000000000000");
        assert_eq!(compare(older, newer), Some(Less));
        assert_eq!(compare(&older.to_uppercase(), newer), Some(Less));
        assert_eq!(compare(newer, &older.to_uppercase()), Some(Greater));
        assert_eq!(compare("018f3b2e-7c1d-4abc-8def-0123456789ab", newer), None);
        assert_eq!(compare("018f3b2e-7c1d-7abc-7def-0123456789ab", newer), None);
        assert_eq!(compare("018f3b2e07c1d-7abc-8def-0123456789ab", newer), None);
    }

    #[test]
    fn other_texts_never_compare() {
        assert_eq!(compare("abc", "abd"), None);
        assert_eq!(compare("same", "same"), None);
        assert_eq!(compare("é", "1"), None);
    }
}

//! The words of choices that clap lists in help and completions.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::settings::values::{ColorChoice, ListFormat, OnDrop, OnExpired};

impl ValueEnum for OnDrop {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Recover, Self::Warn, Self::Exit]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Recover => PossibleValue::new("recover").help("Read the window again and deliver what is missing"),
            Self::Warn => PossibleValue::new("warn").help("Say and count it, and go on; the gap is `ignored`"),
            Self::Exit => {
                PossibleValue::new("exit").help("End with exit code 5; the gap stays open for the next `resume`")
            }
        })
    }
}

impl ValueEnum for OnExpired {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Stop, Self::Live]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Stop => PossibleValue::new("stop").help("End with exit code 5 and say how to go on"),
            Self::Live => PossibleValue::new("live").help("Go on from now, and say so"),
        })
    }
}

impl ValueEnum for ColorChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Auto, Self::Always, Self::Never]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Auto => PossibleValue::new("auto"),
            Self::Always => PossibleValue::new("always"),
            Self::Never => PossibleValue::new("never"),
        })
    }
}

impl ValueEnum for ListFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Pretty, Self::Json]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Pretty => PossibleValue::new("pretty").help("For a person"),
            Self::Json => PossibleValue::new("json").help("For a program"),
        })
    }
}

//! Whether the settings of a field fit its type and each other, as far as both
//! are written out.

use proc_macro2::TokenStream;
use syn::{Lit, LitFloat, LitInt, LitStr, Token, parse::ParseStream, parse::Parser as _};

use super::kind::Kind;
use crate::{
    attributes::{Setting, Settings},
    errors::Errors,
};

/// A value that is written out.
pub(super) enum Literal {
    Text(LitStr),
    Integer { negative: bool, digits: LitInt },
    Float { negative: bool, digits: LitFloat },
    Boolean,
}

impl Literal {
    /// The literal that the tokens are, if they are one.
    pub(super) fn read(tokens: &TokenStream) -> Option<Self> {
        let parse = |input: ParseStream<'_>| {
            let negative = input.parse::<Option<Token![-]>>()?.is_some();
            Ok((negative, input.parse::<Lit>()?))
        };
        match parse.parse2(tokens.clone()).ok()? {
            (false, Lit::Str(text)) => Some(Self::Text(text)),
            (false, Lit::Bool(_)) => Some(Self::Boolean),
            (negative, Lit::Int(digits)) => Some(Self::Integer { negative, digits }),
            (negative, Lit::Float(digits)) => Some(Self::Float { negative, digits }),
            _ => None,
        }
    }

    fn in_words(&self) -> &'static str {
        match self {
            Self::Text(_) => Kind::Text.in_words(),
            Self::Integer { .. } => Kind::Integer.in_words(),
            Self::Float { .. } => Kind::Float.in_words(),
            Self::Boolean => Kind::Boolean.in_words(),
        }
    }

    /// Whether a field of this kind can have this value.
    fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Text(_) => kind == Kind::Text,
            Self::Integer { .. } => matches!(kind, Kind::Integer | Kind::Float),
            Self::Float { .. } => kind == Kind::Float,
            Self::Boolean => kind == Kind::Boolean,
        }
    }

    fn number(&self) -> Option<f64> {
        let (negative, digits) = match self {
            Self::Integer { negative, digits } => (negative, digits.base10_digits()),
            Self::Float { negative, digits } => (negative, digits.base10_digits()),
            _ => return None,
        };
        let number: f64 = digits.parse().ok()?;
        Some(if *negative { -number } else { number })
    }
}

/// The settings that bound a value, each with the kinds that have it.
const BOUNDS: &[(&str, &[Kind])] = &[
    ("min", &[Kind::Integer, Kind::Float]),
    ("max", &[Kind::Integer, Kind::Float]),
    ("min_length", &[Kind::Text]),
    ("max_length", &[Kind::Text]),
    ("format", &[Kind::Text]),
    ("min_items", &[Kind::List]),
    ("max_items", &[Kind::List]),
];

/// Notes what does not fit.
pub(super) fn check(settings: &Settings, kind: Kind, errors: &mut Errors) {
    for (name, kinds) in BOUNDS {
        if let Some(setting) = settings.get(name)
            && kind != Kind::Other
            && !kinds.contains(&kind)
        {
            let message = format!(
                "`{name}` does not fit {}: {}",
                kind.in_words(),
                kind.bounds_in_words()
            );
            errors.push(setting.name.span(), message);
        }
    }
    for (least, greatest) in [
        ("min", "max"),
        ("min_length", "max_length"),
        ("min_items", "max_items"),
    ] {
        check_order(settings, least, greatest, errors);
    }
    if matches!(kind, Kind::Integer | Kind::Float) {
        check_literal(settings.get("min"), kind, errors);
        check_literal(settings.get("max"), kind, errors);
    }
    if let Some(default) = settings.get("default") {
        check_literal(Some(default), kind, errors);
        check_default(settings, default, errors);
    }
}

/// The least value is not above the greatest.
fn check_order(settings: &Settings, least: &str, greatest: &str, errors: &mut Errors) {
    let number = |name| Literal::read(&settings.get(name)?.value)?.number();
    if let (Some(low), Some(high), Some(setting)) =
        (number(least), number(greatest), settings.get(greatest))
        && low > high
    {
        let message = format!("`{greatest}` is less than `{least}`: no answer would be right");
        errors.push_at(&setting.value, message);
    }
}

/// A value that is written out is of the kind of the field.
fn check_literal(setting: Option<&Setting>, kind: Kind, errors: &mut Errors) {
    let Some(setting) = setting else { return };
    if let Some(literal) = Literal::read(&setting.value)
        && kind != Kind::Other
        && !literal.fits(kind)
    {
        let message = format!(
            "`{}` is {}, and the field is {}",
            setting.name,
            literal.in_words(),
            kind.in_words()
        );
        errors.push_at(&setting.value, message);
    }
}

/// A default that is written out is within the bounds that are.
fn check_default(settings: &Settings, default: &Setting, errors: &mut Errors) {
    let (least, greatest, value) = match Literal::read(&default.value) {
        Some(Literal::Text(text)) => {
            let length = text.value().chars().count();
            ("min_length", "max_length", length as f64)
        }
        Some(literal) => match literal.number() {
            Some(number) => ("min", "max", number),
            None => return,
        },
        None => return,
    };
    let bound = |name| Literal::read(&settings.get(name)?.value)?.number();
    let mut refuse = |bound: &str, side: &str| {
        let message = format!("the default is {side} `{bound}`: nobody could leave it as it is");
        errors.push_at(&default.value, message);
    };
    if bound(least).is_some_and(|bound| value < bound) {
        refuse(least, "below");
    }
    if bound(greatest).is_some_and(|bound| value > bound) {
        refuse(greatest, "above");
    }
}

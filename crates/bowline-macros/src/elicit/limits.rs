//! Checks that the settings of a field fit its type and each other, as far as
//! both are spelled out.

use proc_macro2::TokenStream;
use syn::{Lit, LitFloat, LitInt, LitStr, Token, parse::ParseStream, parse::Parser as _};

use super::kind::FieldKind;
use crate::{
    attributes::{Setting, Settings},
    errors::Errors,
};

/// A literal value.
pub(super) enum Literal {
    String(LitStr),
    Integer { negative: bool, digits: LitInt },
    Float { negative: bool, digits: LitFloat },
    Boolean,
}

impl Literal {
    /// Parses the tokens, if they are a literal.
    pub(super) fn read(tokens: &TokenStream) -> Option<Self> {
        let parse = |input: ParseStream<'_>| {
            let negative = input.parse::<Option<Token![-]>>()?.is_some();
            Ok((negative, input.parse::<Lit>()?))
        };
        match parse.parse2(tokens.clone()).ok()? {
            (false, Lit::Str(text)) => Some(Self::String(text)),
            (false, Lit::Bool(_)) => Some(Self::Boolean),
            (negative, Lit::Int(digits)) => Some(Self::Integer { negative, digits }),
            (negative, Lit::Float(digits)) => Some(Self::Float { negative, digits }),
            _ => None,
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Self::String(_) => FieldKind::String.describe(),
            Self::Integer { .. } => FieldKind::Integer.describe(),
            Self::Float { .. } => FieldKind::Float.describe(),
            Self::Boolean => FieldKind::Boolean.describe(),
        }
    }

    /// Returns whether a field of this kind can have this value.
    fn is_valid_for(&self, kind: FieldKind) -> bool {
        match self {
            Self::String(_) => kind == FieldKind::String,
            Self::Integer { .. } => matches!(kind, FieldKind::Integer | FieldKind::Float),
            Self::Float { .. } => kind == FieldKind::Float,
            Self::Boolean => kind == FieldKind::Boolean,
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

/// The settings that bound a value, with the kinds that support them.
const BOUNDS: &[(&str, &[FieldKind])] = &[
    ("min", &[FieldKind::Integer, FieldKind::Float]),
    ("max", &[FieldKind::Integer, FieldKind::Float]),
    ("min_length", &[FieldKind::String]),
    ("max_length", &[FieldKind::String]),
    ("format", &[FieldKind::String]),
    ("min_items", &[FieldKind::List]),
    ("max_items", &[FieldKind::List]),
];

/// Reports settings that do not fit.
pub(super) fn check(settings: &Settings, kind: FieldKind, errors: &mut Errors) {
    for (name, kinds) in BOUNDS {
        if let Some(setting) = settings.get(name)
            && kind != FieldKind::Other
            && !kinds.contains(&kind)
        {
            let message = format!(
                "`{name}` is not supported for {}: {}",
                kind.describe(),
                kind.describe_bounds()
            );
            errors.push(setting.name.span(), message);
        }
    }
    for (lower, upper) in [
        ("min", "max"),
        ("min_length", "max_length"),
        ("min_items", "max_items"),
    ] {
        check_order(settings, lower, upper, errors);
    }
    if matches!(kind, FieldKind::Integer | FieldKind::Float) {
        check_literal(settings.get("min"), kind, errors);
        check_literal(settings.get("max"), kind, errors);
    }
    if let Some(default) = settings.get("default") {
        check_literal(Some(default), kind, errors);
        check_default(settings, default, errors);
    }
}

/// Checks that the minimum is not above the maximum.
fn check_order(settings: &Settings, lower: &str, upper: &str, errors: &mut Errors) {
    let number = |name| Literal::read(&settings.get(name)?.value)?.number();
    if let (Some(low), Some(high), Some(setting)) =
        (number(lower), number(upper), settings.get(upper))
        && low > high
    {
        let message = format!("`{upper}` is less than `{lower}`: no value would be valid");
        errors.push_spanned(&setting.value, message);
    }
}

/// Checks that a literal is of the field's kind.
fn check_literal(setting: Option<&Setting>, kind: FieldKind, errors: &mut Errors) {
    let Some(setting) = setting else { return };
    if let Some(literal) = Literal::read(&setting.value)
        && kind != FieldKind::Other
        && !literal.is_valid_for(kind)
    {
        let message = format!(
            "`{}` is {}, but the field is {}",
            setting.name,
            literal.describe(),
            kind.describe()
        );
        errors.push_spanned(&setting.value, message);
    }
}

/// Checks that a literal default is within the literal bounds.
fn check_default(settings: &Settings, default: &Setting, errors: &mut Errors) {
    let (lower, upper, value) = match Literal::read(&default.value) {
        Some(Literal::String(text)) => {
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
    let mut report = |bound: &str, side: &str| {
        let message = format!("the default is {side} `{bound}`");
        errors.push_spanned(&default.value, message);
    };
    if bound(lower).is_some_and(|bound| value < bound) {
        report(lower, "below");
    }
    if bound(upper).is_some_and(|bound| value > bound) {
        report(upper, "above");
    }
}

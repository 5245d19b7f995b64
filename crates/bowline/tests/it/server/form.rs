//! Forms as they look on the wire, and their answers: first those that are
//! structs, then those that are built at run time.

use bowline::{
    proto::{
        model::{Adapt, ElicitParams, ElicitSchema},
        revision::Revision,
    },
    server::form::{
        self, Choice, ChoiceOption, ChoiceSchema, Elicit, FormAnswer, FormBuilder, FormError,
        StringFormat,
    },
};
use serde_json::{Value, json};

/// Everything that a form can have.
#[derive(Debug, PartialEq, Elicit)]
#[elicit(key = "booking")]
struct Booking {
    /// The name as it stands
    /// in the passport.
    ///
    /// No nicknames.
    #[elicit(title = "Name", min_length = 1, max_length = 40)]
    name: String,
    #[elicit(format = "email", rename = "e-mail")]
    mail: Option<String>,
    #[elicit(min = 1, max = 9, default = 2)]
    bags: u8,
    #[elicit(max = 1)]
    discount: Option<f64>,
    /// Tell others?
    #[elicit(default = false)]
    public: bool,
    seat: Seat,
    #[elicit(default = Meal::Vegan)]
    meal: Option<Meal>,
    #[elicit(min_items = 1, max_items = 2, default = [Meal::Fish, Meal::Vegan])]
    snacks: Vec<Meal>,
    r#type: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Elicit)]
#[elicit(rename_all = "snake_case")]
enum Seat {
    WindowSeat,
    #[elicit(rename = "gang")]
    Aisle,
}

#[derive(Clone, Copy, Debug, PartialEq, Elicit)]
#[elicit(rename_all = "kebab-case")]
enum Meal {
    /// Caught today,
    /// says the cook
    ///
    /// (who may say so)
    Fish,
    #[elicit(title = "No animals")]
    Vegan,
    NotHungry,
}

fn form_of<T: Elicit>() -> Value {
    serde_json::to_value(T::form()).expect("a form is JSON")
}

#[test]
fn a_form_has_what_the_struct_says() {
    let meals = json!([
        {"const": "fish", "title": "Caught today, says the cook"},
        {"const": "vegan", "title": "No animals"},
        {"const": "not-hungry", "title": "not-hungry"},
    ]);
    assert_eq!(
        form_of::<Booking>(),
        json!({
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "title": "Name",
                    "description": "The name as it stands in the passport.\n\nNo nicknames.",
                    "minLength": 1,
                    "maxLength": 40,
                },
                "e-mail": {"type": "string", "format": "email"},
                "bags": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
                "discount": {"type": "number", "maximum": 1.0},
                "public": {"type": "boolean", "description": "Tell others?", "default": false},
                "seat": {"type": "string", "enum": ["window_seat", "gang"]},
                "meal": {"type": "string", "oneOf": meals, "default": "vegan"},
                "snacks": {
                    "type": "array",
                    "items": {"anyOf": meals},
                    "minItems": 1,
                    "maxItems": 2,
                    "default": ["fish", "vegan"],
                },
                "type": {"type": "boolean"},
            },
            "required": ["name", "seat", "type"],
        })
    );
    assert_eq!(Booking::KEY, Some("booking"));
}

#[test]
fn an_answer_is_read() {
    let booking: Booking = form::read(&json!({
        "name": "Ada",
        "e-mail": "ada@post.example",
        "bags": 3.0,
        "discount": 0.5,
        "public": true,
        "seat": "gang",
        "meal": "fish",
        "snacks": ["not-hungry"],
        "type": true,
    }))
    .unwrap();
    assert_eq!(
        booking,
        Booking {
            name: "Ada".to_owned(),
            mail: Some("ada@post.example".to_owned()),
            bags: 3,
            discount: Some(0.5),
            public: true,
            seat: Seat::Aisle,
            meal: Some(Meal::Fish),
            snacks: vec![Meal::NotHungry],
            r#type: true,
        }
    );
}

#[test]
fn what_is_left_out_has_its_default_or_is_none() {
    let expected = Booking {
        name: "Ada".to_owned(),
        mail: None,
        bags: 2,
        discount: None,
        public: false,
        seat: Seat::WindowSeat,
        meal: None,
        snacks: vec![Meal::Fish, Meal::Vegan],
        r#type: false,
    };
    let short = json!({"name": "Ada", "seat": "window_seat", "type": false});
    assert_eq!(form::read::<Booking>(&short).unwrap(), expected);
    let nulls = json!({
        "name": "Ada", "e-mail": null, "bags": null, "discount": null, "public": null,
        "seat": "window_seat", "meal": null, "snacks": null, "type": false,
    });
    assert_eq!(form::read::<Booking>(&nulls).unwrap(), expected);
}

#[test]
fn wrong_answers_are_refused_with_the_field() {
    let right = json!({"name": "Ada", "seat": "gang", "type": true});
    for (field, value, message) in [
        ("name", json!(""), "name: 0 characters; the minimum is 1"),
        ("name", json!(null), "name: an answer is required"),
        (
            "e-mail",
            json!("x"),
            "e-mail: this is not an e-mail address",
        ),
        ("bags", json!(0), "bags: 0 is less than 1"),
        ("bags", json!(1.5), "bags: 1.5 is not a whole number"),
        (
            "seat",
            json!("Aisle"),
            "seat: this is not one of the choices",
        ),
        ("snacks", json!([]), "snacks: 0 choices; the minimum is 1"),
        (
            "snacks",
            json!(["fish", "x"]),
            "snacks[1]: this is not one of the choices",
        ),
        (
            "mail",
            json!("x"),
            "mail: the form has no such field; did you mean `e-mail`?",
        ),
    ] {
        let mut answer = right.clone();
        answer[field] = value;
        let fault = form::read::<Booking>(&answer).unwrap_err();
        assert_eq!(fault.to_string(), message);
    }
}

#[test]
fn an_unchecked_answer_is_read_with_care() {
    let right = json!({"name": "Ada", "seat": "gang", "type": true});
    assert!(Booking::from_answer(&right).is_ok());
    for (field, value, message) in [
        ("name", json!(1), "name: expected a string"),
        ("name", json!(null), "name: an answer is required"),
        ("bags", json!(256), "bags: 256 is out of range"),
        ("bags", json!("1"), "bags: expected an integer"),
        ("discount", json!("1"), "discount: expected a number"),
        ("type", json!("yes"), "type: expected a boolean"),
        ("seat", json!("x"), "seat: expected one of the choices"),
        (
            "snacks",
            json!("fish"),
            "snacks: expected a list of choices",
        ),
        (
            "snacks",
            json!(["fish", 1]),
            "snacks[1]: expected one of the choices",
        ),
    ] {
        let mut answer = right.clone();
        answer[field] = value;
        let fault = Booking::from_answer(&answer).unwrap_err();
        assert_eq!(fault.to_string(), message);
    }
    let fault = Booking::from_answer(&json!([])).unwrap_err();
    assert_eq!(fault.to_string(), "expected an object");
}

#[derive(Debug, PartialEq, Elicit)]
#[elicit(rename_all = "camelCase")]
struct Numbers {
    one_byte: u8,
    signed_byte: i8,
    two: u16,
    four: i32,
    eight: u64,
    signed_eight: i64,
    sixteen: u128,
    #[elicit(min = 0, max = 0.5, default = 0.1)]
    narrow: f32,
    #[elicit(min = -1, default = -0)]
    wide: f64,
    #[elicit(min = -1)]
    maybe: Option<i16>,
    #[elicit(max = 18_446_744_073_709_551_615)]
    size: usize,
}

#[test]
fn integers_have_the_bounds_of_their_type() {
    assert_eq!(
        form_of::<Numbers>()["properties"],
        json!({
            "oneByte": {"type": "integer", "minimum": 0, "maximum": 255},
            "signedByte": {"type": "integer", "minimum": -128, "maximum": 127},
            "two": {"type": "integer", "minimum": 0, "maximum": 65535},
            "four": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
            "eight": {"type": "integer", "minimum": 0},
            "signedEight": {"type": "integer"},
            "sixteen": {"type": "integer", "minimum": 0},
            "narrow": {"type": "number", "minimum": 0.0, "maximum": 0.5, "default": 0.1},
            "wide": {"type": "number", "minimum": -1.0, "default": -0.0},
            "maybe": {"type": "integer", "minimum": -1, "maximum": 32767},
            "size": {"type": "integer", "minimum": 0, "maximum": u64::MAX},
        })
    );
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let right = json!({
        "oneByte": 255, "signedByte": -128, "two": 1e3, "four": -7.0, "eight": u64::MAX,
        "signedEight": i64::MIN, "sixteen": 1e20, "size": 3,
    });
    let numbers: Numbers = form::read(&right).unwrap();
    assert_eq!(
        numbers,
        Numbers {
            one_byte: 255,
            signed_byte: -128,
            two: 1000,
            four: -7,
            eight: u64::MAX,
            signed_eight: i64::MIN,
            sixteen: 100_000_000_000_000_000_000,
            narrow: 0.1,
            wide: 0.0,
            maybe: None,
            size: 3,
        }
    );
    for (field, value, message) in [
        ("oneByte", json!(256), "oneByte: 256 is greater than 255"),
        (
            "signedEight",
            json!(u64::MAX),
            "signedEight: 18446744073709551615 is out of range",
        ),
        ("sixteen", json!(-1), "sixteen: -1 is less than 0"),
        ("narrow", json!(0.6), "narrow: 0.6 is greater than 0.5"),
    ] {
        let mut answer = right.clone();
        answer[field] = value;
        let fault = form::read::<Numbers>(&answer).unwrap_err();
        assert_eq!(fault.to_string(), message);
    }
    let mut answer = right.clone();
    answer["sixteen"] = json!(1e300);
    let fault = Numbers::from_answer(&answer).unwrap_err();
    assert_eq!(fault.to_string(), "sixteen: expected an integer");
    let mut answer = right;
    answer["narrow"] = json!(1e300);
    let fault = Numbers::from_answer(&answer).unwrap_err();
    assert_eq!(fault.to_string(), "narrow: this number is out of range");
}

/// What is left of a form in each revision, the oldest first.
fn adapted(form: &ElicitSchema) -> [Value; 5] {
    Revision::ALL.map(|revision| {
        let mut form = form.clone();
        form.adapt(&revision.rules().features);
        serde_json::to_value(form).expect("a form is JSON")
    })
}

#[derive(Debug, PartialEq, Elicit)]
struct Plain {
    #[elicit(default = "here")]
    place: String,
    #[elicit(default = Meal::Fish)]
    meal: Meal,
    #[elicit(default = true)]
    sure: bool,
}

#[derive(Debug, PartialEq, Elicit)]
struct Several {
    meals: Vec<Meal>,
    #[elicit(min_items = 1)]
    seats: Vec<Seat>,
    #[elicit(min_items = 1)]
    spare: Option<Vec<Seat>>,
}

#[test]
fn a_list_is_required_where_something_must_be_chosen() {
    assert_eq!(form_of::<Several>()["required"], json!(["seats"]));
    let several = form::read::<Several>(&json!({"seats": ["gang"]})).unwrap();
    let expected = Several {
        meals: Vec::new(),
        seats: vec![Seat::Aisle],
        spare: None,
    };
    assert_eq!(several, expected);
    let fault = form::read::<Several>(&json!({"seats": ["gang"], "spare": []})).unwrap_err();
    assert_eq!(fault.to_string(), "spare: 0 choices; the minimum is 1");
}

#[test]
fn every_revision_gets_what_it_can_carry() {
    let [_, _, older, newer, newest] = adapted(&Plain::form());
    let older_way = json!({
        "type": "object",
        "properties": {
            "place": {"type": "string"},
            "meal": {
                "type": "string",
                "enum": ["fish", "vegan", "not-hungry"],
                "enumNames": ["Caught today, says the cook", "No animals", "not-hungry"],
            },
            "sure": {"type": "boolean", "default": true},
        },
    });
    assert_eq!(older, older_way);
    assert_eq!(newer["properties"]["place"]["default"], "here");
    assert_eq!(newer["properties"]["meal"]["default"], "fish");
    assert_eq!(newer["properties"]["meal"]["oneOf"][1]["const"], "vegan");
    assert_eq!(newer, form_of::<Plain>());
    assert_eq!(newest, newer);
}

#[test]
fn revisions_say_what_they_cannot_carry() {
    let why = |form: ElicitSchema| {
        let params = ElicitParams::form("Please", form);
        Revision::ALL.map(|revision| params.unsupported_reason(&revision.rules().features))
    };
    let none = Some("this protocol version does not support elicitation");
    let one = Some("this protocol version does not support multiple choice");
    assert_eq!(why(Plain::form()), [none, none, None, None, None]);
    assert_eq!(why(Several::form()), [none, none, one, None, None]);
}

#[test]
fn an_answer_reads_alike_whatever_the_revision() {
    let answer = json!({"meal": "vegan"});
    let expected = Plain {
        place: "here".to_owned(),
        meal: Meal::Vegan,
        sure: true,
    };
    for form in adapted(&Plain::form()) {
        let form: ElicitSchema = serde_json::from_value(form).unwrap();
        assert_eq!(form::check_answer(&form, &answer), Ok(()));
    }
    assert_eq!(Plain::from_answer(&answer).unwrap(), expected);
}

#[test]
fn a_choice_knows_its_values() {
    for meal in [Meal::Fish, Meal::Vegan, Meal::NotHungry] {
        assert_eq!(Meal::from_wire(meal.as_wire()), Some(meal));
    }
    assert_eq!(Meal::from_wire("Fish"), None);
    assert_eq!(Seat::WindowSeat.as_wire(), "window_seat");
}

mod elsewhere {
    //! The derive needs nothing in scope but itself, and follows a re-export.

    pub(crate) mod toolkit {
        pub(crate) use ::bowline::server;
    }

    #[derive(bowline::server::form::Elicit)]
    #[elicit(crate = "crate::server::form::elsewhere::toolkit")]
    pub(crate) struct Consent {}

    #[derive(bowline::server::form::Elicit)]
    #[elicit(crate = "crate::server::form::elsewhere::toolkit")]
    pub(crate) enum Answer {
        Yes,
        No,
    }
}

#[test]
fn a_form_may_be_empty_and_the_crate_elsewhere() {
    assert_eq!(
        form_of::<elsewhere::Consent>(),
        json!({"type": "object", "properties": {}})
    );
    assert_eq!(elsewhere::Consent::KEY, None);
    assert!(form::read::<elsewhere::Consent>(&json!({})).is_ok());
    assert!(form::read::<elsewhere::Consent>(&json!({"a": 1})).is_err());
    assert!(matches!(
        elsewhere::Answer::from_wire("No"),
        Some(elsewhere::Answer::No)
    ));
    assert_eq!(elsewhere::Answer::Yes.as_wire(), "Yes");
}

#[test]
fn a_form_is_built_field_by_field() {
    let titled =
        [("s", "Slow"), ("f", "Fast")].map(|(value, title)| ChoiceOption::new(value, title));
    let form = FormBuilder::new()
        .string("name", |f| {
            f.title("Name")
                .description("Yours")
                .min_length(1)
                .max_length(9)
                .default("Ada".to_owned())
        })
        .string("site", |f| f.format(StringFormat::Uri).optional())
        .number("share", |f| f.min(0.0).max(1.0))
        .integer("bags", |f| f.title("Bags").min(0).default(1))
        .boolean("sure", |f| f.description("Really?"))
        .choice("speed", ChoiceSchema::titled(titled.clone()), |f| {
            f.default_choice("f")
        })
        .choice("seat", ChoiceSchema::untitled(["w", "a"]), |f| {
            f.title("Seat")
        })
        .choices("days", ChoiceSchema::untitled(["sa", "su"]), |f| {
            f.title("Days")
                .description("Free ones")
                .min_items(1)
                .max_items(2)
        })
        .choices("speeds", ChoiceSchema::titled(titled), |f| {
            f.default_choices(["s"])
        })
        .field::<Option<u8>>("floor", |f| f.max(9))
        .build()
        .unwrap();
    let titled = json!([{"const": "s", "title": "Slow"}, {"const": "f", "title": "Fast"}]);
    assert_eq!(
        serde_json::to_value(&form).unwrap(),
        json!({
            "type": "object",
            "properties": {
                "name": {
                    "type": "string", "title": "Name", "description": "Yours",
                    "minLength": 1, "maxLength": 9, "default": "Ada",
                },
                "site": {"type": "string", "format": "uri"},
                "share": {"type": "number", "minimum": 0.0, "maximum": 1.0},
                "bags": {"type": "integer", "title": "Bags", "minimum": 0, "default": 1},
                "sure": {"type": "boolean", "description": "Really?"},
                "speed": {"type": "string", "oneOf": titled, "default": "f"},
                "seat": {"type": "string", "title": "Seat", "enum": ["w", "a"]},
                "days": {
                    "type": "array", "title": "Days", "description": "Free ones",
                    "minItems": 1, "maxItems": 2,
                    "items": {"type": "string", "enum": ["sa", "su"]},
                },
                "speeds": {"type": "array", "items": {"anyOf": titled}, "default": ["s"]},
                "floor": {"type": "integer", "minimum": 0, "maximum": 9},
            },
            "required": ["share", "sure", "seat", "days"],
        })
    );
}

#[test]
fn a_form_that_cannot_be_answered_is_refused() {
    let nothing: [&str; 0] = [];
    for (form, message) in [
        (
            FormBuilder::new()
                .string("a", |f| f)
                .integer("b", |f| f)
                .boolean("a", |f| f),
            "duplicate field `a` in the form",
        ),
        (
            FormBuilder::new().choice("a", ChoiceSchema::untitled(nothing), |f| f),
            "the choice `a` has no values",
        ),
        (
            FormBuilder::new().choices("a", ChoiceSchema::untitled(nothing), |f| f),
            "the choice `a` has no values",
        ),
        (
            FormBuilder::new().integer("a", |f| f.max(3).default(4)),
            "the default of `a` is not valid: 4 is greater than 3",
        ),
        (
            FormBuilder::new().choice("a", ChoiceSchema::untitled(["x"]), |f| {
                f.default_choice("y")
            }),
            "the default of `a` is not valid: this is not one of the choices",
        ),
        (
            FormBuilder::new().string("a", |f| f.min_length(2).default("x".to_owned())),
            "the default of `a` is not valid: 1 characters; the minimum is 2",
        ),
    ] {
        assert_eq!(form.build().unwrap_err().to_string(), message);
    }
    assert_eq!(
        FormBuilder::new()
            .string("a", |f| f)
            .string("a", |f| f)
            .build(),
        Err(FormError::Duplicate("a".to_owned()))
    );
}

#[test]
fn unchecked_the_later_of_two_fields_stays() {
    let form = FormBuilder::new()
        .string("a", |f| f)
        .boolean("b", |f| f)
        .boolean("a", |f| f.title("A").optional())
        .into_schema();
    assert_eq!(
        serde_json::to_value(form).unwrap(),
        json!({
            "type": "object",
            "properties": {"a": {"type": "boolean", "title": "A"}, "b": {"type": "boolean"}},
            "required": ["b"],
        })
    );
}

#[test]
fn its_answer_is_read_by_name() {
    let answer: Value = json!({"name": "Ada", "bags": 2, "empty": null});
    let answer = FormAnswer::new(&answer).unwrap();
    assert_eq!(answer.read::<String>("name").unwrap(), "Ada");
    assert_eq!(answer.read::<i64>("bags").unwrap(), 2);
    assert_eq!(answer.read::<Option<i64>>("empty").unwrap(), None);
    assert_eq!(answer.read_or::<i64>("empty", || 7).unwrap(), 7);
    assert_eq!(answer.read_or::<Option<i64>>("empty", || 7).unwrap(), None);
    let fault = answer.read::<bool>("gone").unwrap_err();
    assert_eq!(fault.to_string(), "gone: an answer is required");
}

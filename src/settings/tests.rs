use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;

fn file(source: SettingSource, text: &str) -> SettingsFile {
    let path =
        if source == SettingSource::Home { "/home/settings.json" } else { "/project/.leftoff/settings.json" };
    SettingsFile { path: path.into(), source, text: Some(text.into()), problem: None }
}

fn of<'r>(read: &'r EffectiveSettings, key: &str) -> &'r str {
    read.all.iter().find(|one| one.key == key).map_or("", |one| &one.value)
}

fn ranks(read: &EffectiveSettings) -> Vec<usize> {
    read.all.iter().zip(&SETTING_SPECS).map(|(one, known)| known.rank(&one.value)).collect()
}

// Checks the values in force from one file, and its problems: one with these words, or none.
fn check(text: &str, held: &[(&str, &str)], words: &str) {
    let file = file(SettingSource::Home, text);
    let read = read(core::slice::from_ref(&file));
    for known in &SETTING_SPECS {
        let expected =
            held.iter().find(|(key, _)| *key == known.key).map_or(known.default, |(_, value)| value);
        assert_eq!(of(&read, known.key), expected, "{text}: {}", known.key);
    }
    assert_eq!(read.problems.is_empty(), words.is_empty(), "{text}: {:?}", read.problems);
    assert!(
        read.problems.iter().any(|problem| problem.contains(words)) || words.is_empty(),
        "{text}: {:?}",
        read.problems
    );
    assert!(read.problems.iter().all(|problem| problem.contains(&file.path)), "{text}: {:?}", read.problems);
}

const STRICTEST: [(&str, &str); 2] = [("redact", "\"replace\""), ("record", "false")];

#[test]
fn what_cannot_be_used_is_reported_and_what_stands_beside_it_holds() {
    for (said, words) in [
        (
            "\"idleMinute\":7",
            "\"; known are autoPersist, idleMinutes, outputs, recall, record, redact, agent, ask",
        ),
        ("\"autoPersist.enabled\":false", "unknown setting \"autoPersist.enabled\" in"),
        ("\"autoPersist\":{\"x\":1}", "unknown setting \"autoPersist.x\" in"),
        ("\"__proto__\":{}", "\"__proto__\""),
        ("\"idleMinutes\":\"7\"", " must be a number, not \"7\""),
        ("\"idleMinutes\":null", " must be a number, not null"),
        ("\"idleMinutes\":-1", " must be 0 or more, not -1"),
        ("\"idleMinutes\":1e999", " must be 0 or more"),
        ("\"autoPersist\":true", " must be an object"),
        ("\"autoPersist\":{\"enabled\":1}", " must be true or false"),
    ] {
        check(&["{", said, ",\"agent\":\"pi\"}"].concat(), &[("agent", "\"pi\"")], words);
    }
}

#[test]
fn numbers_stay_as_they_are_written() {
    for number in [
        "0",
        "-0",
        "-0.0e5",
        "7",
        "0.50",
        "1e3",
        "12345678901234567890",
        "1e307",
        "0.0001e300",
        "1e-999999999999999999999",
    ] {
        check(&["{\"idleMinutes\":", number, "}"].concat(), &[("idleMinutes", number)], "");
    }
    for number in ["-0.1", "-1e-9", "1e308", "10e307", "1e99999999999999999999", "100000e305"] {
        check(&["{\"idleMinutes\":", number, "}"].concat(), &[], " must be 0 or more");
    }
}

#[test]
fn what_a_file_may_have_forbidden_stays_forbidden() {
    for (text, words) in [
        ("[]", "found an array"),
        ("", "found the end at line 1, column 1"),
        (
            "{\n  \"redact\": \"replace\",\n}",
            "found \"}\" at line 3, column 1; until that is fixed, \"redact\" is \"replace\" and \"record\" is false",
        ),
    ] {
        check(text, &STRICTEST, words);
    }
    for text in [
        "{\"redact\":\"replce\"}",
        "{\"redact\":true}",
        "{\"redact\":\"off\",\"redact\":\"off\"}",
        "{\"Redact\":\"off\"}",
        "{\"reduct\":\"off\"}",
    ] {
        check(text, &STRICTEST[..1], "does not say clearly what \"redact\" is");
    }
    for text in ["{\"record\":\"false\"}", "{\"recrod\":false}", "{\"re_cord\":1}", "{\"recording\":false}"] {
        check(text, &STRICTEST[1..], "\"record\" is false");
    }
    let unreadable = SettingsFile {
        text: None,
        problem: Some("/home/settings.json: no".into()),
        ..file(SettingSource::Home, "")
    };
    assert_eq!(ranks(&read(&[unreadable])), ranks(&read(&[file(SettingSource::Home, "{")])));
}

#[test]
fn the_projects_file_counts_more_key_by_key_but_forbids_only() {
    let home = file(
        SettingSource::Home,
        r#"{"redact":"report","autoPersist":{"debounceMs":1,"enabled":false},"record":false}"#,
    );
    let project =
        file(SettingSource::Project, r#"{"redact":"off","autoPersist":{"debounceMs":2},"record":true}"#);
    let found = read(&[home.clone(), project]);
    let held =
        ["redact", "record", "autoPersist.debounceMs", "autoPersist.enabled"].map(|key| of(&found, key));
    assert_eq!(held, ["\"report\"", "false", "2", "false"]);
    assert_eq!(found.problems.len(), 2);
    let debounce = found.all.iter().find(|one| one.key == "autoPersist.debounceMs").expect("a setting");
    assert_eq!(
        (debounce.source, debounce.path.as_deref()),
        (SettingSource::Project, Some("/project/.leftoff/settings.json"))
    );
    let stricter = file(SettingSource::Project, "\u{feff}{\"redact\":\"re\\u0070lace\"}");
    assert_eq!(of(&read(&[home, stricter]), "redact"), "\"replace\"");
}

#[test]
fn only_what_could_be_read_again_may_be_written() {
    let there = file(SettingSource::Home, r#"{"theirs":1,"autoPersist":{"odd":2}}"#);
    assert_eq!(check_writing("autoPersist.enabled", Some("false"), &there), Ok(()));
    assert_eq!(check_writing("autoPersist.enabled", None, &there), Ok(()));
    let of_project =
        |value: &str| check_writing("ask.prompt", Some(value), &file(SettingSource::Project, "{}"));
    assert_eq!(of_project("\"Answer in verse.\"").map_err(|error| error.code), Err(Code::InvalidSetting));
    assert_eq!(
        check_writing("ask.prompt", Some("\"Answer in verse.\""), &file(SettingSource::Home, "{}")),
        Ok(())
    );
    let unknown = check_writing("askk", None, &there).expect_err("nobody knows it").message;
    assert!(unknown.contains("idleMinutes") && unknown.contains("ask.prompt"), "{unknown}");
    assert_eq!(check_writing("agent", Some("\"x\""), &SettingsFile { text: None, ..there.clone() }), Ok(()));
    let refused = |key: &str, value: Option<&str>, file: &SettingsFile| {
        assert_eq!(
            check_writing(key, value, file).map_err(|error| error.code),
            Err(Code::InvalidSetting),
            "{key} {value:?}"
        );
    };
    for (key, value) in [
        ("color", "1"),
        ("", "1"),
        ("autoPersist", "{}"),
        ("idleMinutes", "\"5\""),
        ("idleMinutes", "-1"),
        ("redact", "\"on\""),
    ] {
        refused(key, Some(value), &there);
    }
    for text in ["{ torn", "[]", r#"{"autoPersist":"all"}"#] {
        refused("autoPersist.enabled", Some("true"), &file(SettingSource::Home, text));
        refused("autoPersist.enabled", None, &file(SettingSource::Home, text));
    }
}

#[test]
fn a_programs_configuration_is_held_to_the_same_rules() {
    let config = auto_persist(r#"{"debounceMs":5}"#).expect("a configuration");
    let held: Vec<_> = config.iter().map(|one| (one.key, one.value.as_str())).collect();
    let defaults =
        ["enabled", "saveAfterAssistantMessage", "saveAfterToolExecution"].map(|key| (key, "true"));
    let numbers = [
        ("debounceMs", "5"),
        ("updateMetadataIntervalMs", "5000"),
        ("maxSessionsPerProject", "50"),
        ("autoArchiveAfterDays", "30"),
    ];
    assert_eq!(held, [&defaults[..], &numbers].concat());
    for given in [
        "[]",
        r#"{"debounceMs":"5"}"#,
        r#"{"debounce":5}"#,
        r#"{"enabled":1}"#,
        r#"{"agent":"x"}"#,
        r#"{"debounceMs":null}"#,
    ] {
        assert_eq!(auto_persist(given).map_err(|error| error.code), Err(Code::InvalidSetting), "{given}");
    }
}

fn texts() -> impl Strategy<Value = String> {
    let entry = prop::sample::select(vec![
        r#""redact":"off""#,
        r#""redact":"report""#,
        r#""redact":"replace""#,
        r#""redact":"x""#,
        r#""Redact":"off""#,
        r#""record":true"#,
        r#""record":false"#,
        r#""recrod":false"#,
        r#""agent":"a""#,
        r#""idleMinutes":1"#,
        r#""x":[{}]"#,
    ]);
    prop::collection::vec(entry, 0..4).prop_map(|entries| ["{", &entries.join(","), "}"].concat())
}

proptest! {
    #[test]
    fn no_second_file_opens_what_the_first_has_shut(home in texts(), project in texts(), cut: prop::sample::Index, is_cut: bool) {
        let project = if is_cut { project[..cut.index(project.len())].to_string() } else { project };
        let alone = ranks(&read(&[file(SettingSource::Home, &home)]));
        let both = ranks(&read(&[file(SettingSource::Home, &home), file(SettingSource::Project, &project)]));
        prop_assert!(alone.iter().zip(&both).all(|(before, after)| before <= after), "{} {}", home, project);
    }

    #[test]
    fn no_damage_opens_what_a_file_has_shut(text in texts(), cut: prop::sample::Index) {
        let whole = ranks(&read(&[file(SettingSource::Home, &text)]));
        let torn = ranks(&read(&[file(SettingSource::Home, &text[..cut.index(text.len())])]));
        prop_assert!(whole.iter().zip(&torn).all(|(before, after)| before <= after), "{}", text);
    }

    #[test]
    fn any_text_is_answered_with_values_of_every_setting(text: String) {
        let read = read(&[file(SettingSource::Project, &text)]);
        prop_assert_eq!(read.all.len(), SETTING_SPECS.len());
        prop_assert!(serde_json::to_string(&read).is_ok());
    }
}

#[test]
fn to_write_one_setting_opens_nothing_that_is_shut_until_it_is_mended() {
    for text in [
        r#"{"redact":"replace","redact":"off","record":false,"record":true}"#,
        r#"{"redact":"off","record":true,"redact":"report"}"#,
        r#"{"mine":1,"Redact":"off","mine":2}"#,
    ] {
        for (key, value) in
            [("idleMinutes", Some("7")), ("autoPersist.debounceMs", Some("900")), ("agent", None)]
        {
            let file = file(SettingSource::Home, text);
            let before = read(core::slice::from_ref(&file));
            let next = write_setting(key, value, &file).expect("written").expect("a text");
            let after = read(&[SettingsFile { text: Some(next), ..file }]);
            assert_eq!(after.problems, before.problems, "{text} {key}");
            assert_eq!(
                [of(&after, "redact"), of(&after, "record")],
                [of(&before, "redact"), of(&before, "record")]
            );
        }
        // A value of the wrong kind is replaced by writing a right one.
        let file = file(SettingSource::Home, text);
        let next = write_setting("redact", Some("\"report\""), &file).expect("written").expect("a text");
        assert_eq!(next.matches("\"redact\"").count(), 1, "{next}");
    }
}

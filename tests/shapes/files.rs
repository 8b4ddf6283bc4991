//! Files: each is sent as its provider takes it, and named where it would be refused.
//! Tries: src/shapes/file.rs

use super::{SHAPES, calling};
use leftoff::record::message::{Attachment, Message, Role, Tool};
use leftoff::shapes::{Format, read, write};
use serde_json::Value;

fn with_files(role: Role) -> Message {
    let file = |mime: &str, data: Option<&str>, path: Option<&str>| Attachment {
        mime: mime.into(),
        data: data.map(Into::into),
        path: path.map(Into::into),
        name: Some("name".into()),
        ..Attachment::default()
    };
    Message {
        role: Some(role),
        attachments: vec![
            file("image/*", Some("iVBORw0KGgo="), None),
            file("image/jpeg", None, Some("https://example.com/a.jpg")),
            file("application/pdf", Some("JVBERg=="), None),
            file("text/plain", Some("aGVsbG8="), None),
            file("image/png", None, Some("/home/ann/a.png")),
            file("image/png", Some("no base64"), None),
        ],
        tool: (role == Role::Tool).then(|| Tool { call_id: "c".into(), ..Tool::default() }),
        ..Message::default()
    }
}

#[test]
fn a_file_is_sent_as_its_provider_takes_it_and_named_where_it_cannot_be() {
    let messages =
        [with_files(Role::User), calling("c", "shot"), with_files(Role::Tool), with_files(Role::Assistant)];
    for format in SHAPES {
        let json = write(&messages, format).json;
        assert_eq!(json.matches("iVBORw0KGgo=").count(), image_place_count(format), "{json}");
        assert!(!json.contains("image/*"), "{json}");
        assert_eq!(json.matches("/home/ann/a.png").count(), 3, "{json}");
        assert!(!json.contains("no base64"), "{json}");
        let drafts = read(&json, format).unwrap();
        let first = &drafts.iter().find(|draft| !draft.attachments.is_empty()).unwrap().attachments;
        assert!(
            first.iter().any(|file| file.data.as_deref() == Some("iVBORw0KGgo=") && file.mime == "image/png")
        );
        assert!(first.iter().any(|file| file.path.as_deref() == Some("https://example.com/a.jpg")));
    }
}

#[test]
fn a_file_that_a_provider_would_refuse_is_named() {
    let of = |mime: &str, address: &str| {
        let (data, path) = if address.is_empty() { (Some("UEsDBA=="), None) } else { (None, Some(address)) };
        let file = Attachment {
            mime: mime.into(),
            data: data.map(Into::into),
            path: path.map(Into::into),
            ..Attachment::default()
        };
        [Message {
            role: Some(Role::User),
            content: "see".into(),
            attachments: vec![file],
            ..Message::default()
        }]
    };
    let (chat, responses, anthropic, gemini) =
        (Format::OpenaiChat, Format::OpenaiResponses, Format::Anthropic, Format::Gemini);
    // Each with those that take it, by what the vendors document.
    let cases: [(&str, &str, &[Format]); 16] = [
        ("application/zip", "", &[]),
        ("", "", &[]),
        ("image/svg+xml", "", &[]),
        ("image/heic", "", &[gemini]),
        ("video/mp4", "", &[gemini]),
        ("text/csv", "", &[responses, gemini]),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "", &[responses]),
        ("application/pdf", "", &[chat, responses, anthropic, gemini]),
        ("image/png", "https://example.com/a.png", &[chat, responses, anthropic, gemini]),
        ("image/png", "http://example.com/a.png", &[chat, responses, gemini]),
        ("image/png", "gs://bucket/a.png", &[gemini]),
        ("image/svg+xml", "https://example.com/a.svg", &[]),
        ("", "https://example.com/a", &[responses]),
        ("image/svg+xml", "data:image/svg+xml,<svg/>", &[]),
        ("application/pdf", "gs://bucket/a.pdf", &[gemini]),
        ("image/png", "data:image/png;base64,UEsDBA==", &[chat, responses, anthropic, gemini]),
    ];
    for (mime, address, takers) in cases {
        for format in [chat, responses, anthropic, gemini] {
            let json = write(&of(mime, address), format).json;
            let is_named = ["[Not sent: ", "[File]"].iter().any(|words| json.contains(words));
            assert_eq!(!is_named, takers.contains(&format), "{mime} {address}: {json}");
        }
        // The kit's own providers say what they take.
        for format in [Format::AiSdk, Format::AiSdkUi] {
            assert!(!write(&of(mime, address), format).json.contains("[Not sent: "), "{mime} {address}");
        }
    }
}

// In how many of the three messages an image can stand.
fn image_place_count(format: Format) -> usize {
    match format {
        Format::OpenaiChat => 1,
        Format::OpenaiResponses | Format::Anthropic | Format::AiSdkUi => 2,
        Format::Gemini | Format::AiSdk | Format::Leftoff => 3,
    }
}

#[test]
fn a_result_that_is_an_error_names_its_files() {
    let mut failed = with_files(Role::Tool);
    failed.tool = Some(Tool { call_id: "c".into(), is_error: true, ..Tool::default() });
    let json = write(&[calling("c", "t"), failed], Format::Anthropic).json;
    let value: Value = serde_json::from_str(&json).expect("valid JSON");
    let blocks = value[2]["content"][0]["content"].as_array().expect("blocks");
    assert!(blocks.iter().all(|block| block["type"] == "text"), "{json}");
    assert_eq!(json.matches("[Not sent: ").count(), 5, "{json}");
}

//! A provider's limits hold, whatever messages have images: their number, bytes, pixels and types, and the size of the request.
//! Tries: src/shapes/limits.rs

use super::{SHAPES, calling};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leftoff::record::message::{Attachment, Message, Role, Tool};
use leftoff::shapes::{Format, Recipient, report_unsent, write};
use proptest::prelude::*;
use serde_json::Value;

/// Written from what the providers document: images, bytes of one as base64, bytes of a request, types.
fn limits(format: Format) -> (usize, usize, usize, &'static [&'static str]) {
    const USUAL_IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
    match format {
        Format::OpenaiChat | Format::OpenaiResponses => (500, 20_000_000, 50_000_000, USUAL_IMAGE_TYPES),
        Format::Gemini => (3000, 9_400_000, 20_000_000, &["image/png", "image/jpeg", "image/webp"]),
        Format::Anthropic => (100, 5 << 20, 32_000_000, USUAL_IMAGE_TYPES),
        // The AI SDK's providers know the types.
        _ => (100, 5 << 20, 20_000_000, &KINDS),
    }
}

#[derive(Clone, Debug)]
struct Image {
    kind: usize,
    side: u32,
    bytes: usize,
    mime: &'static str,
}

const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/bmp"];

// Its first bytes are those of its kind, the next its number, by which it is known again.
fn bytes_of(image: &Image, number: usize) -> String {
    let side = image.side;
    let mut bytes = match image.kind {
        0 => [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &side.to_be_bytes(), &side.to_be_bytes()].concat(),
        1 => {
            let short = (side as u16).to_be_bytes();
            [b"\xff\xd8\xff\xc2\0\x11\x08".as_slice(), &short, &short, b"\x03"].concat()
        }
        2 => {
            let short = (side as u16).to_le_bytes();
            [b"GIF89a".as_slice(), &short, &short].concat()
        }
        _ => b"BM no provider reads this".to_vec(),
    };
    bytes.extend((number as u32).to_be_bytes());
    bytes.resize(image.bytes.max(bytes.len()), 0);
    STANDARD.encode(bytes)
}

fn message(role: Role, image: &Image, number: usize) -> Vec<Message> {
    let file =
        Attachment { mime: image.mime.into(), data: Some(bytes_of(image, number)), ..Attachment::default() };
    let id = format!("m{number}");
    let said = Message {
        id,
        role: Some(role),
        content: "see".into(),
        attachments: vec![file],
        ..Message::default()
    };
    match role {
        Role::Tool => {
            let call_id = format!("c{number}");
            let tool = Tool { call_id: call_id.clone(), name: "shot".into(), ..Tool::default() };
            vec![calling(&call_id, "shot"), Message { tool: Some(tool), ..said }]
        }
        _ => vec![said],
    }
}

// The images in what is sent, as type and base64, wherever they stand.
fn images(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| images(one, found)),
        Value::Object(fields) => {
            let word = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key)?.as_str());
            let mime = word(&["media_type", "mediaType", "mimeType"]);
            let data = word(&["data", "url", "image_url"]);
            if let Some(data) = data {
                match data.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
                    Some((mime, data)) => found.push((mime.into(), data.into())),
                    None => found.extend(mime.map(|mime| (mime.into(), data.into()))),
                }
            }
            fields.values().filter(|value| !value.is_string()).for_each(|one| images(one, found));
        }
        _ => {}
    }
}

fn number_of(messages: &[Message], data: &str) -> Option<usize> {
    let is_it = |message: &Message| message.attachments.iter().any(|file| file.data.as_deref() == Some(data));
    messages.iter().position(is_it)
}

fn check(given: &[(Role, Image)]) {
    let messages: Vec<Message> =
        given.iter().enumerate().flat_map(|(number, (role, image))| message(*role, image, number)).collect();
    for format in SHAPES {
        let json = write(&messages, format).json;
        let (count, bytes, request, types) = limits(format);
        let mut sent = Vec::new();
        images(&serde_json::from_str(&json).expect("valid JSON"), &mut sent);
        assert!(json.len() <= request, "{format:?} {}", json.len());
        assert!(sent.len() <= count, "{format:?} {}", sent.len());
        let places: Vec<usize> =
            sent.iter().map(|(_, data)| number_of(&messages, data).expect("one that was given")).collect();
        for ((mime, data), place) in sent.iter().zip(&places) {
            assert!(data.len() <= bytes && types.contains(&&**mime), "{format:?} {mime} {}", data.len());
            let number: usize = messages[*place].id[1..].parse().expect("a number");
            let image = &given[number].1;
            assert_eq!(mime, KINDS[image.kind], "{format:?}");
            let many = matches!(format, Format::Anthropic | Format::AiSdk | Format::AiSdkUi);
            let most = match (many, sent.len() > 20) {
                (false, _) => u32::MAX,
                (true, false) => 8000,
                (true, true) => 2000,
            };
            assert!(image.side <= most || image.kind > 2, "{format:?} {} of {}", image.side, sent.len());
        }
        // Each that is not there is report_unsent, and none that is.
        let (unsent, _) = report_unsent(&messages, format, Recipient::Anybody);
        let is_told = |id: &str| unsent.iter().any(|one| one.id == id);
        for place in &places {
            assert!(!is_told(&messages[*place].id), "{format:?}");
        }
        let is_all = !matches!(format, Format::OpenaiChat | Format::AiSdkUi);
        if is_all {
            assert_eq!(sent.len() + unsent.len(), given.len(), "{format:?} {unsent:?}");
        }
        // Of images that differ in nothing the newest stay.
        for one in unsent
            .iter()
            .filter(|one| one.why == "count" && !given.iter().any(|(_, image)| image.side > 2000))
        {
            let at = messages.iter().position(|message| message.id == one.id).expect("one that was given");
            assert!(places.iter().all(|place| *place > at), "{format:?}");
        }
    }
}

fn image() -> impl Strategy<Value = Image> {
    let side = prop_oneof![6 => 1u32..2000, 1 => 2001u32..8000, 1 => 8001u32..60_000];
    let bytes = prop_oneof![8 => 1usize..2000, 1 => 500_000usize..8_000_000];
    let mime =
        prop::sample::select(vec!["image/png", "image/jpeg", "image/webp", "image/*", "", "application/pdf"]);
    (prop_oneof![8 => 0usize..3, 1 => Just(3usize)], side, bytes, mime)
        .prop_map(|(kind, side, bytes, mime)| Image { kind, side, bytes, mime })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_providers_limits_hold_whatever_is_given(
        given in prop::collection::vec((prop_oneof![Just(Role::User), Just(Role::Tool)], image()), 0..40)
    ) {
        check(&given);
    }
}

#[test]
fn of_more_images_than_a_provider_takes_the_newest_stay() {
    let small = Image { kind: 0, side: 100, bytes: 100, mime: "image/png" };
    for count in [20, 21, 100, 101, 130, 501] {
        check(&vec![(Role::User, small.clone()); count]);
        check(&vec![(Role::Tool, Image { side: 3000, ..small.clone() }); count]);
    }
    // Thirty screenshots of two megabytes made a request of sixty.
    check(&vec![(Role::User, Image { bytes: 1_500_000, ..small }); 30]);
}

#[test]
fn what_is_left_out_is_a_line_of_text() {
    let wide = Image { kind: 0, side: 9000, bytes: 100, mime: "image/jpeg" };
    let json = write(&message(Role::User, &wide, 0), Format::Anthropic).json;
    assert!(json.contains("[Not sent: image/png, more pixels than the provider takes]"), "{json}");
}

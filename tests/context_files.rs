//! What files cost a context: as much as is sent of them, in each shape; and whose counts of messages are believed.
//! Tries: src/context/price.rs, src/tokens/cost.rs, src/tokens/images.rs
#![cfg(all(feature = "interop", not(target_arch = "wasm32")))]
#![allow(missing_docs)]

use crate::common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{append, build, call_message, result_message, text_message};
use crc::{CRC_32_ISCSI, Crc};
use leftoff::context::{Action, Context};
use leftoff::record::message::{Attachment, Message, Role};
use leftoff::session::handle::Session;
use leftoff::shapes::Format;
use leftoff::shapes::write;
use leftoff::tokens::estimate;

// A square that the providers' pages have as an example: 4 tiles of 170 and 85, 1092 * 1092 / 750, 4 squares of 728.
const SIDE_PIXELS: u32 = 1092;
const OPENAI_TOKENS: u32 = 765;
const ANTHROPIC_TOKENS: u32 = 1590;
const GEMINI_TOKENS: u32 = 1032;
const IMAGE_URL: &str = "https://example.com/a.png";

fn costs(format: Format) -> u32 {
    match format {
        Format::OpenaiChat | Format::OpenaiResponses => OPENAI_TOKENS,
        Format::Gemini => GEMINI_TOKENS,
        // Where it may be anybody's model, the dearest.
        Format::Anthropic | Format::AiSdk | Format::AiSdkUi | Format::Leftoff => ANTHROPIC_TOKENS,
    }
}

fn png(wide: u32, high: u32) -> Vec<u8> {
    let head = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &wide.to_be_bytes(), &high.to_be_bytes()].concat();
    [&head[..], &[0xff; 900]].concat()
}

fn file(mime: &str, bytes: &[u8]) -> Attachment {
    Attachment { mime: mime.into(), data: Some(STANDARD.encode(bytes)), ..Attachment::default() }
}

fn with_attachments(message: Message, attachments: Vec<Attachment>) -> Message {
    Message { attachments, ..message }
}

fn context(messages: Vec<Message>, request: &str) -> Context {
    let (mut session, mut log) = (Session::new(None), Vec::new());
    append(&mut session, &mut log, messages);
    build(session.source(), &log, request, None).unwrap()
}

fn request(format: Format, window: u32) -> String {
    format!(r#"{{"window":{window},"reserve":0,"encoding":"estimate-1","format":"{}"}}"#, format.as_str())
}

// The JSON that is sent, where a file that is no text costs what is said here, each time that it stands there.
fn count_sent(context: &Context, format: Format, files: &[(&Attachment, u32)]) -> u32 {
    let mut json = write(&context.messages, format).json;
    let mut sum = 0;
    for (file, cost) in files {
        let data = file.data.as_deref().unwrap();
        sum += json.matches(data).count() as u32 * cost;
        json = json.replace(data, "AAAA");
    }
    estimate(&json) + sum
}

#[test]
fn a_file_costs_what_is_sent_of_it_in_every_shape() {
    let image = file("image/png", &png(SIDE_PIXELS, SIDE_PIXELS));
    let pdf = file("application/pdf", &[b"%PDF-1.7 ".repeat(900), Vec::from([0xff])].concat());
    let text = "one line of a log, and another one\n".repeat(300);
    let notes = file("text/plain", text.as_bytes());
    // Those say neither what they are nor a text's type.
    let (bare, code) = (
        file("", &[&png(SIDE_PIXELS, SIDE_PIXELS)[..30], &[0xfe; 600]].concat()),
        file("application/x-sh", text.as_bytes()),
    );
    let url = Attachment { mime: "image/png".into(), path: Some(IMAGE_URL.into()), ..Attachment::default() };
    let all = vec![image.clone(), pdf.clone(), notes.clone(), bare.clone(), code.clone()];
    let messages = vec![
        with_attachments(text_message(Role::System, "Be brief."), vec![notes.clone()]),
        with_attachments(text_message(Role::User, "See these."), [&all[..], &[url]].concat()),
        call_message("Let me look.", &[("1", "look")]),
        with_attachments(result_message("1", "look", "Found."), all.clone()),
        with_attachments(text_message(Role::Assistant, "So it is."), vec![image.clone()]),
        text_message(Role::User, "And now?"),
    ];
    for format in Format::ALL {
        let built = context(messages.clone(), &request(format, 500_000));
        assert_eq!(built.included_message_count, 6, "{format:?}");
        // By its bytes: 8,101 of them.
        let (tokens, pdf_cost) = (costs(format), 85);
        if format == Format::Leftoff {
            let texts = [
                "Be brief.",
                "See these.",
                "Let me look.",
                "1",
                "look",
                "{}",
                "Found.",
                "So it is.",
                "And now?",
            ];
            let said: u32 = texts.iter().map(|text| estimate(text)).sum::<u32>() + 6 * 4;
            let files = 5 * tokens + 2 * pdf_cost + 5 * estimate(&text) + 85;
            assert_eq!(built.tokens_used, said + files);
            continue;
        }
        // What stands there in base64 as a file is read as the text that it is.
        let json = write(&built.messages, format).json;
        let escaped = text.replace('\n', "\\n");
        let whole = |data: &Attachment| json.matches(data.data.as_deref().unwrap()).count();
        let mut counted = json.clone();
        let mut files = 85 * u32::from(!json.contains("[Not sent: image/png at"));
        for (one, cost) in [(&image, tokens), (&bare, tokens), (&pdf, pdf_cost)] {
            files += whole(one) as u32 * cost;
            counted = counted.replace(one.data.as_deref().unwrap(), "AAAA");
        }
        for one in [&notes, &code] {
            counted = counted.replace(one.data.as_deref().unwrap(), &escaped);
        }
        assert_eq!(built.tokens_used, estimate(&counted) + files, "{format:?}");
    }
}

#[test]
fn forty_screenshots_cost_what_their_provider_says() {
    let image = file("image/png", &png(SIDE_PIXELS, SIDE_PIXELS));
    let messages: Vec<Message> =
        (0..40).map(|_| with_attachments(text_message(Role::User, "see"), vec![image.clone()])).collect();
    let built = context(messages.clone(), &request(Format::Anthropic, 200_000));
    assert_eq!(built.tokens_used, count_sent(&built, Format::Anthropic, &[(&image, ANTHROPIC_TOKENS)]));
    assert!(built.tokens_used > 63_600);
    let leftoff = context(messages, r#"{"window":200000,"reserve":0,"model":"claude-sonnet-4-5"}"#);
    assert_eq!(leftoff.tokens_used, 63_600 + 40 * (4 + estimate("see")));
}

#[test]
fn the_model_says_what_an_image_costs_whatever_the_shape_is() {
    let image = file("image/png", &png(SIDE_PIXELS, SIDE_PIXELS));
    let check = |model: &str, format: Format, cost: u32| {
        let message = with_attachments(text_message(Role::User, "see"), vec![image.clone()]);
        let asked = format!(
            r#"{{"window":50000,"encoding":"estimate-1","model":"{model}","format":"{}"}}"#,
            format.as_str()
        );
        let built = context(vec![message], &asked);
        assert_eq!(built.tokens_used, count_sent(&built, format, &[(&image, cost)]), "{model} {format:?}");
    };
    check("gpt-4o", Format::AiSdk, OPENAI_TOKENS);
    check("gpt-5", Format::AiSdkUi, 70 + 4 * 140);
    // 35 by 35 patches at 1.62.
    check("gpt-5-mini", Format::OpenaiResponses, 1985);
    check("anthropic/claude-sonnet-4-5", Format::OpenaiChat, ANTHROPIC_TOKENS);
    check("gemini-2.5-pro", Format::AiSdk, GEMINI_TOKENS);
    check("gemini-3-pro", Format::Gemini, 1120);
    // Of a model that sees nothing nobody says anything: the shape's.
    check("deepseek-chat", Format::OpenaiChat, OPENAI_TOKENS);
}

#[test]
fn the_newest_user_message_is_there_without_the_files_that_do_not_fit() {
    let image = file("image/png", &png(200, 200));
    let long = Attachment {
        name: Some("build.log".into()),
        ..file("text/plain", &b"a line of the build\n".repeat(1500))
    };
    for format in Format::ALL {
        let newest = with_attachments(
            text_message(Role::User, "Why does it fail?"),
            vec![long.clone(), image.clone()],
        );
        let built = context(vec![text_message(Role::Assistant, "Hello."), newest], &request(format, 3000));
        assert!(built.tokens_used <= built.token_budget, "{format:?}");
        let last = built.messages.last().unwrap();
        assert_eq!(last.content.as_str(), "Why does it fail?", "{format:?}");
        let kept: Vec<bool> = last.attachments.iter().map(|file| file.data.is_some()).collect();
        assert_eq!(kept, [false, true], "{format:?}");
        assert_eq!(last.attachments[0].bytes, Some(30_000), "{format:?}: it says how large it was");
        let decision = built.report.messages.last().unwrap();
        assert_eq!((decision.action, decision.rule), (Action::Shortened, "cut-to-fit"));
        let written = write(&built.messages, format).json;
        assert!(written.contains("build.log"), "{written}");
    }
    // And cut, where its text alone is too long.
    let newest = with_attachments(text_message(Role::User, &"word and ".repeat(4000)), vec![long, image]);
    let built = context(vec![newest], &request(Format::OpenaiChat, 3000));
    assert!(built.tokens_used <= built.token_budget && built.messages[0].content.as_str().len() > 4000);
}

fn line(id: &str, count: &str, content: &str) -> String {
    format!(r#"{{"v":1,"id":"{id}","role":"user","content":"{content}","tokens":{count}}}"#)
}

fn seal_line(line: &str) -> String {
    let open = line.strip_suffix('}').unwrap();
    let crc = Crc::<u32>::new(&CRC_32_ISCSI).checksum(open.as_bytes());
    format!(r#"{open},"crc":"{crc:08x}"}}"#)
}

#[test]
fn a_count_is_believed_under_a_right_checksum_by_a_counter_that_is_known() {
    let content = "word and ".repeat(500);
    let real = estimate(&content) + 4;
    let by = |by: &str| format!(r#"{{"count":10,"by":"{by}"}}"#);
    let right = seal_line(&line("a", &by("estimate-1"), &content));
    let check = |line: &str, cost: u32, format: Format| {
        let log = format!("{line}\n").into_bytes();
        let mut session = Session::new(None);
        let found = session.messages().observe(&log, 0).unwrap();
        session.take_messages(found);
        let built = build(session.source(), &log, &request(format, 50_000), None).unwrap();
        let expected = match format {
            Format::Leftoff => cost,
            _ => estimate(&write(&built.messages, format).json),
        };
        assert_eq!(built.tokens_used, expected, "{format:?} {line}");
        // What a list says of all.
        assert_eq!(session.checkpoint().unwrap().tokens, u64::from(cost), "{line}");
    };
    for format in Format::ALL {
        check(&right, 10, format);
        check(&right.replace(r#""count":10"#, r#""count":11"#), real, format);
        check(&line("a", &by("estimate-1"), &content), real, format);
        check(&seal_line(&line("a", &by("mine"), &content)), real, format);
        check(&seal_line(&line("a", r#"{"count":10}"#, &content)), real, format);
    }
    // Nobody says that it was the host's.
    let line = seal_line(&line("a", &by("mine"), &content));
    let mut session = Session::new(None);
    let log = format!("{line}\n").into_bytes();
    let found = session.messages().observe(&log, 0).unwrap();
    session.take_messages(found);
    let built = build(session.source(), &log, r#"{"window":50000,"encoding":"mine"}"#, None).unwrap();
    assert_eq!(built.tokens_used, estimate(&content) + 1 + 4);
}

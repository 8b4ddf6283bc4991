//! The patterns of a shape: one for each kind of content, under the shape's own names.

use crate::shapes::file::{File, FileSource, UNKNOWN_MEDIA_TYPE};
use crate::shapes::json::JsonWriter;
use crate::shapes::steps::{Call, Step};

/// The patterns of a shape. An empty one says that the shape has no such content: a file is then described in a text.
/// The words of a file are its bytes or address, its type, the address, and the name.
///
/// Each shape lists the file types and the address schemes that its provider documents; any other file is named in a
/// text, since a refused one would fail every later turn.
pub(super) struct Forms {
    pub text: &'static str,
    /// With the bytes inline, and with their address; the same holds for the next pairs.
    pub image: [&'static str; 2],
    pub pdf: [&'static str; 2],
    pub sound: &'static str,
    pub other: [&'static str; 2],
    /// The prefixes of other accepted types. A file at an address, whose type is unknown, is left to the provider.
    pub other_types: &'static [&'static str],
    /// The prefixes of accepted addresses.
    pub addresses: &'static [&'static str],
    /// The words are the id, the name, and the arguments.
    pub call: &'static str,
    pub arguments: Arguments,
}

/// The form of a call's arguments.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Arguments {
    /// The text as the model wrote it.
    Text,
    /// The JSON value.
    Value,
    /// An object, whatever the model wrote.
    Object,
}

/// Writes a content's text and files.
pub(super) fn write_content(text: &str, files: &[File<'_>], forms: &Forms, json: &mut JsonWriter) {
    if !text.is_empty() {
        json.put(forms.text, &[text]);
    }
    for file in files {
        let place = match file.source {
            FileSource::Data(place) | FileSource::Url(place) => place,
            FileSource::Away(_) => "",
        };
        let pattern = file_pattern(file, forms);
        if pattern.is_empty() {
            json.put(forms.text, &[&file.describe()]);
            continue;
        }
        let stand_in = json.stand_in(file);
        let place = stand_in.as_deref().unwrap_or(place);
        let url = match &stand_in {
            Some(data) => File { source: FileSource::Data(data), ..*file }.url(),
            None => file.url(),
        };
        let words = [place, file.mime, &url, file.name.unwrap_or("file"), audio_format(file.mime)];
        // A missing name is made up only if the provider requires one, which is never at the pattern's end.
        match pattern.strip_suffix(r#","filename":?3}"#).filter(|_| file.name.is_none()) {
            Some(nameless) => {
                json.put(nameless, &words);
                json.put("}", &[]);
            }
            None => json.put(pattern, &words),
        }
    }
}

/// Returns the pattern for a file; empty if the provider would refuse it.
pub(super) fn file_pattern(file: &File<'_>, forms: &Forms) -> &'static str {
    if file.exceeded_limit.is_some() {
        return "";
    }
    let is_one_of = |word: &str, begins: &[&str]| begins.iter().any(|begin| word.starts_with(begin));
    // A pattern without a type leaves the type to the provider.
    let is_open = file.mime == UNKNOWN_MEDIA_TYPE && !forms.other[1].contains("?1");
    let other = if is_one_of(file.mime, forms.other_types) { forms.other } else { ["", ""] };
    let [data, url] = match file.mime {
        // SVG counts as an image nowhere; some shapes take any type.
        "image/svg+xml" if !forms.other_types.contains(&"") => ["", ""],
        _ if is_open && other[0].is_empty() => ["", forms.other[1]],
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => forms.image,
        "application/pdf" => forms.pdf,
        "audio/wav" | "audio/mpeg" | "audio/mp3" if !forms.sound.is_empty() => [forms.sound, ""],
        // The type of a file at an address is left to the provider.
        mime if mime.starts_with("image/") => [other[0], forms.image[1]],
        _ => other,
    };
    match file.source {
        FileSource::Data(_) => data,
        FileSource::Url(place) if is_one_of(place, forms.addresses) => url,
        FileSource::Url(_) | FileSource::Away(_) => "",
    }
}

/// Writes the calls of a step.
pub(super) fn write_calls(step: &Step<'_>, forms: &Forms, json: &mut JsonWriter) {
    step.calls.iter().for_each(|one| write_call(one, "", forms, json));
}

/// Writes a call; the pattern of a signed one has the signature as its fourth word.
pub(super) fn write_call(call: &Call<'_>, signature: &str, forms: &Forms, json: &mut JsonWriter) {
    let arguments = match forms.arguments {
        Arguments::Text => (&*call.arguments).into(),
        Arguments::Value => call.value(),
        Arguments::Object => call.object(),
    };
    json.put(forms.call, &[&call.id, &call.name, &arguments, signature]);
}

fn audio_format(mime: &str) -> &'static str {
    if mime == "audio/wav" { "wav" } else { "mp3" }
}

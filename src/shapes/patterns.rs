//! How a shape looks: a pattern for each thing that is said. Each shape has them under names of its own.

use crate::shapes::file::{File, FileSource, UNKNOWN};
use crate::shapes::json::JsonWriter;
use crate::shapes::steps::{Call, Step};

/// The patterns of a shape. One that is empty says that the shape has no such thing: a file is described in a text then.
/// Words of a file are its bytes or address, its type, the address, and the name.
pub(super) struct Forms {
    pub text: &'static str,
    /// With the bytes in it, or with the address of them; so are the next.
    pub image: [&'static str; 2],
    pub pdf: [&'static str; 2],
    pub sound: &'static str,
    pub other: [&'static str; 2],
    /// What the types of others begin with. What an address gives whose type is not known is the provider's to find out.
    pub other_types: &'static [&'static str],
    /// What addresses begin with.
    pub addresses: &'static [&'static str],
    /// Words are the id, the name, and the arguments.
    pub call: &'static str,
    pub arguments: Arguments,
}

/// What arguments are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Arguments {
    /// The text that the model wrote.
    Text,
    /// The JSON that it is.
    Value,
    /// An object, whatever was written.
    Object,
}

/// A content's text and files.
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
        // A name is made up only where the provider asks for one, which is never at the end.
        match pattern.strip_suffix(r#","filename":?3}"#).filter(|_| file.name.is_none()) {
            Some(nameless) => {
                json.put(nameless, &words);
                json.put("}", &[]);
            }
            None => json.put(pattern, &words),
        }
    }
}

/// How the shape has a file; empty where the provider would refuse it.
pub(super) fn file_pattern(file: &File<'_>, forms: &Forms) -> &'static str {
    if file.exceeded_limit.is_some() {
        return "";
    }
    let is_one_of = |word: &str, begins: &[&str]| begins.iter().any(|begin| word.starts_with(begin));
    // What says no type leaves it to the provider to find out.
    let is_open = file.mime == UNKNOWN && !forms.other[1].contains("?1");
    let other = if is_one_of(file.mime, forms.other_types) { forms.other } else { ["", ""] };
    let [data, url] = match file.mime {
        // What is drawn by lines is an image to nobody; some take whatever there is.
        "image/svg+xml" if !forms.other_types.contains(&"") => ["", ""],
        _ if is_open && other[0].is_empty() => ["", forms.other[1]],
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => forms.image,
        "application/pdf" => forms.pdf,
        "audio/wav" | "audio/mpeg" | "audio/mp3" if !forms.sound.is_empty() => [forms.sound, ""],
        // What an address gives is the provider's to find out.
        mime if mime.starts_with("image/") => [other[0], forms.image[1]],
        _ => other,
    };
    match file.source {
        FileSource::Data(_) => data,
        FileSource::Url(place) if is_one_of(place, forms.addresses) => url,
        FileSource::Url(_) | FileSource::Away(_) => "",
    }
}

/// The calls of a step.
pub(super) fn write_calls(step: &Step<'_>, forms: &Forms, json: &mut JsonWriter) {
    step.calls.iter().for_each(|one| write_call(one, "", forms, json));
}

/// A call; where it is signed, its pattern has the signature as the fourth word.
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

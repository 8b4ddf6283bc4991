//! leftoff's own rules for secrets that no other rules know: data of the same form.

use super::rules::{Except, ExceptionTarget, Rule};

/// The first characters of JSON objects in base64, with a blank, a tab or a line's end behind the brace or without.
const BASE64_OBJECT_BEGINNINGS: &[&str] = &["eya", "eyj", "ew0k", "ewog", "ewoi", "ewoj", "ewki", "ewkj"];

/// A place where the secret is, and not the secret.
const REFERENCES: Except = Except {
    patterns: &[
        "^[a-z]{2,12}://",
        "^arn:",
        "^/(?:mnt|run|secrets?|vault)/",
        "/secrets?/",
        r"^[A-Za-z_]+\d{0,2}(?:\.[A-Za-z_]+\d{0,2})+$",
    ],
    words: &["example", "your", "placeholder"],
    of: ExceptionTarget::Secret,
};

pub(super) const RULES: &[Rule] = &[
    // The last part has a digit or a capital, unlike a word in its place.
    Rule {
        and: &["-[a-z]*[A-Z0-9][A-Za-z0-9]*$"],
        ..rule(
            "tailscale-key",
            "(?:^|[^A-Za-z0-9])(tskey-(?:[a-z]{2,12}-)?[A-Za-z0-9]{5,40}-[A-Za-z0-9]{16,64})",
            &["tskey-"],
            3.3,
        )
    },
    rule(
        "cloudflare-token",
        "(?:^|[^A-Za-z0-9])(cf(?:at|ut|k)_[A-Za-z0-9]{40}[a-f0-9]{8})(?:[^A-Za-z0-9]|$)",
        &["cfat_", "cfut_", "cfk_"],
        3.3,
    ),
    // Azure's, and others' of this name, with characters that no word has.
    Rule {
        and: &[r"\d", "[a-z]", "[A-Z]"],
        except: &[REFERENCES],
        ..rule(
            "client-secret",
            r#"(?:client|Client|CLIENT)[_-]?(?:secret|Secret|SECRET)(?:[_-]?(?:value|Value|VALUE))?[\s"'\x60\]]{0,4}(?:=>|:=|[=:,\s])[\s"'\x60]{0,4}([\w~.+/=@:?*!#%^\[\]-][^\s"'\x60&,;]{19,199})"#,
            &["clientsecret", "client_secret", "client-secret"],
            3.8,
        )
    },
    rule(
        "azure-account-key",
        "(?:Access|Account)Key=([A-Za-z0-9+/]{43,86}={1,2})",
        &["accesskey=", "accountkey="],
        3.8,
    ),
    rule("azure-shared-access-signature", r"\bsig=([A-Za-z0-9%/+]{43,90}(?:%3[Dd]|=))", &["sig="], 3.8),
    // A user's number in base64, a time, and a signature of both: two parts have a digit, unlike most programs' names.
    Rule {
        and: &[r"^[\w-]*\d[\w-]*\.", r"\.[\w-]*\d[\w-]*$"],
        ..rule(
            "discord-bot-token",
            r"(?:^|[^\w.-])([MNO][\w-]{22,27}\.[\w-]{5,7}\.[\w-]{27,40})(?:[^\w-]|$)",
            &[],
            4.0,
        )
    },
    rule(
        "discord-webhook",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{17,20}/([\w-]{60,80})",
        &["webhooks/"],
        3.8,
    ),
    rule("telegram-token", r"(?:^|\D)(\d{8,10}:AA[\w-]{33})(?:[^\w-]|$)", &[":aa"], 3.8),
    // Signed or not, encrypted, and as GitHub gives them to an app.
    rule(
        "json-web-token",
        r"(?:^|[^A-Za-z0-9])((?:gh[a-z]_\d{1,20}_)?(?:ey[AJ]|ew0K|ewo[giJ]|ewk[iJ])[\w-]{8,1000}={0,2}\.(?:[\w-]{0,2000}\.[\w-]{10,60}\.[\w-]{4,}\.[\w-]{16,}|(?:ey[AJ]|ew0K|ewo[giJ]|ewk[iJ])[\w-]{4,}={0,2}(?:\.[\w-]*={0,2})?))",
        BASE64_OBJECT_BEGINNINGS,
        3.0,
    ),
    rule("mailchimp-key", r"(?:^|[^\w-])([0-9a-f]{32})-us\d{1,2}(?:\W|$)", &["-us"], 3.0),
    rule("pypi-token", r"(?:^|[^A-Za-z0-9])(pypi-AgE[\w-]{50,1000})", &["pypi-age"], 3.8),
    rule("square-secret", r"(?:^|[^A-Za-z0-9])(sq0csp-[\w-]{43})(?:[^\w-]|$)", &["sq0csp-"], 3.8),
    rule("openai-key", r"(?:^|[^A-Za-z0-9])(sk-[\w-]{16,200}T3BlbkFJ[\w-]{16,200})", &["t3blbkfj"], 3.8),
];

const fn rule(id: &'static str, pattern: &'static str, words: &'static [&'static str], entropy: f64) -> Rule {
    Rule { id, pattern, entropy, words, is_near: true, group: None, and: &[], except: &[] }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_rule_has_a_name_of_its_own_that_placeholders_can_have() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        assert!(names.iter().all(|name| name.chars().all(is_plain)));
    }

    #[test]
    fn the_words_of_a_rule_are_small_letters() {
        let words = RULES.iter().flat_map(|rule| rule.words);
        assert!(words.into_iter().all(|word| word.to_lowercase() == *word));
    }
}

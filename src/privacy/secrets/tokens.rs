//! Finds tokens by how they begin: a table of services' prefixes. They are found also when glued to a word.

use core::ops::Range;

use super::random::is_random;
use crate::privacy::SecretSpan;

use Letters::{Alphanumeric, Base64, Dotted, Hash, Hex, Url};
use Start::{Anywhere, Apart};

/// The characters that a token goes on with.
#[derive(Clone, Copy, Debug)]
enum Letters {
    Hex,
    Alphanumeric,
    /// Those of base64 in URLs.
    Url,
    /// The same and full stops, between parts.
    Dotted,
    /// Those of either base64, also where a URL escapes them.
    Base64,
    /// The same, and the characters between the parts of a hash.
    Hash,
}

/// Whether a word may stand right before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Anywhere,
    /// It may not: the prefix is as short as the end of a word.
    Apart,
}

/// A token: its rule's name, its prefixes, the characters that follow and their least number, and where it may begin.
#[derive(Debug)]
pub(super) struct Token(&'static str, &'static [&'static str], Letters, usize, Start);

const TOKENS: &[Token] = &[
    Token("age-key", &["AGE-SECRET-KEY-1"], Alphanumeric, 50, Anywhere),
    Token("age-key", &["AGE-PLUGIN-"], Dotted, 30, Anywhere),
    Token("aiven", &["AVNS_"], Url, 15, Apart),
    Token("alibaba", &["LTAI"], Alphanumeric, 20, Apart),
    Token("anthropic", &["sk-ant-"], Url, 30, Anywhere),
    Token("apify", &["apify_api_"], Alphanumeric, 30, Anywhere),
    Token("artifactory", &["AKCp", "cmVmd"], Alphanumeric, 59, Apart),
    Token("atlassian", &["ATATT3", "ATCTT3"], Base64, 40, Anywhere),
    Token("atlassian", &["ATBB"], Base64, 24, Apart),
    Token("authress", &["sc_", "ext_", "scauth_", "authress_"], Base64, 60, Apart),
    Token("aws", &["AKIA", "ASIA"], Alphanumeric, 16, Apart),
    Token("axiom", &["xaat-", "xapt-"], Url, 30, Anywhere),
    Token("braintree", &["access_token$"], Dotted, 20, Anywhere),
    Token("brevo", &["xkeysib-", "xsmtpsib-"], Url, 40, Anywhere),
    Token("browserbase", &["bb_live_"], Url, 16, Anywhere),
    Token("buildkite", &["bkua_", "bkct_"], Alphanumeric, 30, Anywhere),
    Token("cerebras", &["csk-"], Alphanumeric, 30, Apart),
    Token("circleci", &["CCIPAT_", "CCIPRJ_"], Url, 30, Anywhere),
    Token("cloudflare", &["cfat_", "cfut_", "cfk_"], Alphanumeric, 40, Apart),
    Token("contentful", &["CFPAT-"], Url, 30, Anywhere),
    Token("crates-io", &["cio"], Alphanumeric, 32, Apart),
    Token("cursor", &["crsr_"], Alphanumeric, 32, Apart),
    Token("databricks", &["dapi"], Hex, 32, Apart),
    Token("dbt", &["dbtc_", "dbtu_"], Url, 20, Anywhere),
    Token("dify", &["dataset-"], Alphanumeric, 24, Apart),
    Token("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 40, Anywhere),
    Token("docker", &["dckr_pat_", "dckr_oat_"], Url, 20, Anywhere),
    Token("docker-swarm", &["SWMTKN-1-"], Url, 50, Anywhere),
    Token(
        "doppler",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.said.", "dp.scim.", "dp.audit."],
        Dotted,
        30,
        Apart,
    ),
    Token("dropbox", &["sl."], Dotted, 60, Apart),
    Token("e2b", &["e2b_"], Alphanumeric, 32, Apart),
    Token("expo", &["expo_pat_"], Url, 20, Anywhere),
    Token("facebook", &["EAAM", "EAAC", "EAAG"], Alphanumeric, 60, Apart),
    Token("figma", &["figd_", "figo_"], Url, 30, Anywhere),
    Token("firecrawl", &["fc-"], Hex, 32, Apart),
    Token("firebase", &["APA91b"], Url, 100, Anywhere),
    Token("fireworks", &["fw_"], Alphanumeric, 20, Apart),
    Token("fly", &["fm1a_", "fm1r_", "fm2_"], Base64, 40, Anywhere),
    Token("fly", &["fo1_"], Url, 30, Apart),
    Token("github", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alphanumeric, 30, Anywhere),
    Token("github", &["github_pat_"], Url, 40, Anywhere),
    Token(
        "gitlab",
        &[
            "glpat-", "glptt-", "glrt-", "glrtr-", "glcbt-", "gldt-", "glft-", "glffct-", "glimt-",
            "glagent-", "gloas-", "glsoat-", "glwt-",
        ],
        Dotted,
        16,
        Anywhere,
    ),
    Token("gitlab", &["GR1348941"], Url, 16, Anywhere),
    Token("google", &["AIza"], Url, 35, Anywhere),
    Token("google", &["AQ.Ab8"], Url, 30, Apart),
    Token("google-oauth", &["GOCSPX-"], Url, 20, Anywhere),
    Token("google-oauth", &["ya29."], Dotted, 30, Anywhere),
    Token("google-oauth", &["1//0"], Url, 40, Apart),
    Token("grafana", &["glsa_"], Url, 30, Anywhere),
    Token("grafana", &["glc_"], Base64, 30, Anywhere),
    Token("groq", &["gsk_"], Alphanumeric, 40, Anywhere),
    Token("harness", &["pat."], Dotted, 50, Apart),
    Token("hashicorp-vault", &["hvs.", "hvb.", "hvr."], Url, 20, Anywhere),
    Token("helicone", &["sk-helicone-", "pk-helicone-"], Url, 20, Anywhere),
    Token("heroku", &["HRKU-"], Url, 30, Anywhere),
    Token("honeycomb", &["hcaik_", "hcbik_", "hcamk_"], Alphanumeric, 30, Anywhere),
    Token("huggingface", &["hf_"], Alphanumeric, 30, Apart),
    Token("huggingface", &["api_org_"], Alphanumeric, 30, Anywhere),
    Token("hubspot", &["pat-na", "pat-eu"], Url, 30, Apart),
    Token("inngest", &["signkey-"], Url, 32, Anywhere),
    Token("jina", &["jina_"], Url, 40, Apart),
    Token("langfuse", &["sk-lf-"], Url, 30, Anywhere),
    Token("langsmith", &["lsv2_"], Url, 30, Anywhere),
    Token("linear", &["lin_api_", "lin_oauth_"], Alphanumeric, 30, Anywhere),
    Token("linear", &["lin_wh_"], Alphanumeric, 20, Anywhere),
    Token("liveblocks", &["sk_prod_", "sk_dev_"], Url, 24, Anywhere),
    Token("llamacloud", &["llx-"], Alphanumeric, 40, Apart),
    Token("mailersend", &["mlsn."], Alphanumeric, 40, Anywhere),
    Token("mailgun", &["key-"], Hex, 32, Apart),
    Token("mapbox", &["sk.eyJ"], Dotted, 40, Apart),
    Token("mem0", &["m0-"], Alphanumeric, 32, Apart),
    Token("modal", &["ak-", "as-"], Alphanumeric, 22, Apart),
    Token("neon", &["napi_"], Alphanumeric, 40, Anywhere),
    Token("netlify", &["nfp_", "nfo_", "nfc_"], Alphanumeric, 30, Anywhere),
    Token("newrelic", &["NRAK-"], Alphanumeric, 20, Anywhere),
    Token("newrelic", &["NRJS-"], Alphanumeric, 16, Anywhere),
    Token("newrelic", &["NRII-", "NRIQ-"], Url, 20, Anywhere),
    Token("notion", &["ntn_"], Alphanumeric, 40, Anywhere),
    Token("notion", &["secret_"], Alphanumeric, 40, Apart),
    Token("npm", &["npm_"], Alphanumeric, 30, Anywhere),
    Token("nuget", &["oy2"], Alphanumeric, 43, Apart),
    Token("nvidia", &["nvapi-"], Url, 40, Anywhere),
    Token("openai", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], Url, 30, Anywhere),
    Token("openrouter", &["sk-or-"], Url, 30, Anywhere),
    Token("paddle", &["pdl_"], Url, 40, Anywhere),
    Token("packagist", &["packagist_"], Alphanumeric, 40, Anywhere),
    Token("perplexity", &["pplx-"], Alphanumeric, 30, Anywhere),
    Token("pinecone", &["pcsk_"], Url, 30, Anywhere),
    Token("planetscale", &["pscale_"], Dotted, 30, Anywhere),
    Token("polar", &["polar_"], Url, 30, Anywhere),
    Token("posthog", &["phx_", "phs_"], Alphanumeric, 30, Anywhere),
    Token("postman", &["PMAK-"], Url, 40, Anywhere),
    Token("prefect", &["pnu_", "pnb_"], Alphanumeric, 30, Anywhere),
    Token("pulumi", &["pul-"], Hex, 40, Apart),
    Token("pypi", &["pypi-"], Url, 50, Anywhere),
    Token("razorpay", &["rzp_live_"], Alphanumeric, 14, Anywhere),
    Token("render", &["rnd_"], Alphanumeric, 20, Apart),
    Token("replicate", &["r8_"], Alphanumeric, 30, Apart),
    Token("resend", &["re_"], Url, 30, Apart),
    Token("retool", &["retool_"], Url, 24, Anywhere),
    Token("rubygems", &["rubygems_"], Hex, 40, Anywhere),
    Token("runpod", &["rpa_"], Alphanumeric, 30, Apart),
    Token("secret-key", &["sk-"], Alphanumeric, 32, Apart),
    Token("secret-key", &["sk_"], Alphanumeric, 40, Apart),
    Token("secret-key", &["esecret_"], Alphanumeric, 20, Anywhere),
    Token("sendgrid", &["SG."], Dotted, 50, Apart),
    Token("sentry", &["sntrys_"], Base64, 40, Anywhere),
    Token("sentry", &["sntryu_", "sntrya_"], Alphanumeric, 40, Anywhere),
    Token("shippo", &["shippo_live_"], Alphanumeric, 30, Anywhere),
    Token("shopify", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], Alphanumeric, 30, Anywhere),
    Token("slack", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-"], Url, 20, Anywhere),
    Token("slack", &["xoxd-"], Base64, 20, Anywhere),
    Token("slack", &["xoxe."], Dotted, 40, Anywhere),
    Token("slack", &["xoxe-"], Url, 40, Anywhere),
    Token("slack", &["xapp-"], Url, 30, Anywhere),
    Token("sonar", &["squ_", "sqp_", "sqa_"], Alphanumeric, 40, Apart),
    Token("sourcegraph", &["sgp_"], Url, 40, Apart),
    Token("square", &["sq0atp-"], Url, 20, Anywhere),
    Token("square", &["sq0csp-"], Url, 40, Anywhere),
    Token("stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], Alphanumeric, 16, Anywhere),
    Token("stripe", &["whsec_"], Base64, 24, Anywhere),
    Token("stytch", &["secret-live-", "secret-test-"], Base64, 24, Anywhere),
    Token("supabase", &["sbp_"], Url, 32, Anywhere),
    Token("supabase", &["sb_secret_"], Url, 20, Anywhere),
    Token("tailscale", &["tskey-"], Url, 30, Anywhere),
    Token("tavily", &["tvly-"], Url, 24, Anywhere),
    Token("together", &["tgp_v1_"], Url, 30, Anywhere),
    Token("trigger", &["tr_prod_", "tr_dev_", "tr_stg_"], Alphanumeric, 16, Apart),
    Token("typeform", &["tfp_"], Dotted, 40, Apart),
    Token("unkey", &["unkey_"], Alphanumeric, 20, Anywhere),
    Token("vercel", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], Alphanumeric, 24, Apart),
    Token("vercel", &["vercel_blob_rw_"], Url, 30, Anywhere),
    Token("voyage", &["pa-"], Url, 40, Apart),
    Token("wandb", &["wandb_v1_"], Url, 40, Anywhere),
    Token("xai", &["xai-"], Alphanumeric, 60, Apart),
    Token("xata", &["xau_"], Alphanumeric, 30, Apart),
    // Hashes of passwords, as /etc/shadow, htpasswd and databases keep them.
    Token("password-hash", &["$2a$", "$2b$", "$2y$"], Hash, 50, Apart),
    Token("password-hash", &["$6$"], Hash, 80, Apart),
    Token("password-hash", &["$y$"], Hash, 50, Apart),
    Token("password-hash", &["$apr1$"], Hash, 26, Apart),
    Token("password-hash", &["$argon2"], Hash, 50, Apart),
];

/// Returns each prefix, with its token.
pub(super) fn prefixes() -> impl Iterator<Item = (&'static str, &'static Token)> {
    TOKENS.iter().flat_map(|token| token.1.iter().map(move |prefix| (*prefix, token)))
}

impl Token {
    /// Finds the token whose prefix stands there; `None` if it is none.
    pub(super) fn find_at(&self, text: &str, Range { start, end }: Range<usize>) -> Option<SecretSpan> {
        let Token(rule, _, letters, least, begins) = self;
        if *begins == Apart && is_glued(&text.as_bytes()[..start]) {
            return None;
        }
        let bytes = &text.as_bytes()[end..];
        let length = bytes.iter().take_while(|byte| letters.has(**byte)).count();
        // A full stop or a comma behind it belongs to the sentence.
        let ending = bytes[..length].iter().rev().take_while(|byte| b".,".contains(byte)).count();
        let length = length - ending;
        let drawn = &text[end..end + length];
        let is_token = length >= *least && is_random(drawn) && !drawn.ends_with("EXAMPLE");
        is_token.then(|| SecretSpan { start, end: end + length, rule: (*rule).into() })
    }
}

impl Letters {
    fn has(self, byte: u8) -> bool {
        match self {
            Hex => byte.is_ascii_hexdigit(),
            Alphanumeric => byte.is_ascii_alphanumeric(),
            Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Dotted => Url.has(byte) || byte == b'.',
            Base64 => Dotted.has(byte) || b"+/=%".contains(&byte),
            Hash => Base64.has(byte) || matches!(byte, b'$' | b','),
        }
    }
}

/// True if a text ends within a word, and not with an escape of a URL.
fn is_glued(before: &[u8]) -> bool {
    let is_escape =
        matches!(before, [.., b'%', one, two] if one.is_ascii_hexdigit() && two.is_ascii_hexdigit());
    before.last().is_some_and(u8::is_ascii_alphanumeric) && !is_escape
}

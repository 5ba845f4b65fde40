//! Requests to the hub, each bounded in time.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::flags::settings::variable;

/// Time in which a hub must begin to answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Time that one attempt at a body may take; another attempt goes on where it ended.
const BODY_MAX: Duration = Duration::from_secs(600);
/// Longest JSON answer.
const JSON_MAX: u64 = 32 << 20;

/// A hub that does not answer.
#[derive(Debug, thiserror::Error)]
#[error("{host} does not answer{how}")]
pub struct Unreachable {
    host: String,
    how: String,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    token: Option<String>,
}

impl Client {
    /// One client for a whole fetch: connections are kept. The token goes to the hub only, never
    /// where it redirects to.
    pub fn new() -> Client {
        let config = Agent::config_builder()
            .timeout_resolve(Some(ANSWER_MAX))
            .timeout_connect(Some(ANSWER_MAX))
            .timeout_recv_response(Some(ANSWER_MAX))
            .timeout_recv_body(Some(BODY_MAX))
            .http_status_as_error(false)
            .user_agent(concat!("minfer/", env!("CARGO_PKG_VERSION")))
            .build();
        Client { agent: config.into(), token: variable("HF_TOKEN") }
    }

    /// Asks for `url`, from byte `start` on.
    ///
    /// # Errors
    /// No answer in time.
    pub fn get(&self, url: &str, start: u64) -> Result<Response<Body>> {
        self.call(url, start, None)
    }

    fn call(&self, url: &str, start: u64, whole: Option<Duration>) -> Result<Response<Body>> {
        let mut request = self.agent.get(url).config().timeout_global(whole).build();
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if start > 0 {
            request = request.header("Range", format!("bytes={start}-"));
        }
        request.call().map_err(|error| {
            let how = match error {
                ureq::Error::Timeout(_) => format!(" within {} s", ANSWER_MAX.as_secs()),
                ureq::Error::Io(error) => format!(": {error}"),
                other => format!(": {other}"),
            };
            Unreachable { host: host(url).to_owned(), how }.into()
        })
    }

    /// Asks for JSON.
    ///
    /// # Errors
    /// No answer, one that says no, or one that is no JSON.
    pub fn json(&self, url: &str) -> Result<serde_json::Value> {
        let mut response = self.call(url, 0, Some(ANSWER_MAX))?;
        match response.status().as_u16() {
            200 => {}
            status @ (401 | 403) => {
                let message = "access denied, or no such model; a token in HF_TOKEN may help";
                return Err(anyhow!("{url}: {message} ({status})"));
            }
            404 => return Err(anyhow!("{url}: there is no such model (404)")),
            other => return Err(anyhow!("{url}: expected an answer, found status {other}")),
        }
        let text = response.body_mut().with_config().limit(JSON_MAX).read_to_string();
        let text = text.with_context(|| format!("reading {url}"))?;
        serde_json::from_str(&text).with_context(|| format!("{url}: expected JSON"))
    }
}

/// `https://host` of an address.
fn host(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    url[start..].find('/').map_or(url, |end| &url[..start + end])
}

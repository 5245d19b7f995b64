//! An authorization server that is as strict as the best of them.
//!
//! It wants proofs of codes' owners and exact redirect URIs, takes each code
//! once, and each refresh token once: who shows one again loses all that came
//! of it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bowline::proto::auth::{decode_form, encode_form};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{
    http_client::rig::{Hit, Part, Reply, Rig},
    sync::lock,
};

/// The server.
#[derive(Clone)]
pub(crate) struct Authority {
    pub(crate) rig: Rig,
    books: Arc<Mutex<Books>>,
}

/// What it keeps, and how it behaves.
pub(crate) struct Books {
    clients: HashMap<String, Vec<String>>,
    codes: HashMap<String, Code>,
    refresh: HashMap<String, Refresh>,
    access: HashMap<String, Access>,
    revoked: HashSet<usize>,
    families: usize,
    serial: usize,
    /// Changes the metadata.
    pub(crate) metadata: fn(&mut Value),
    /// Changes what new clients are told.
    pub(crate) registration: fn(&mut Value),
    /// Moves one of its endpoints.
    pub(crate) endpoint: Option<(&'static str, String)>,
    /// Changes what the browser brings back.
    pub(crate) redirect: fn(&mut Vec<(String, String)>),
    /// For how long tokens are good.
    pub(crate) expires_in: u64,
    /// Whether there are refresh tokens.
    pub(crate) refreshes: bool,
    /// What the next answer of the token endpoint waits for.
    pub(crate) hold: Option<tokio::sync::mpsc::UnboundedReceiver<String>>,
    /// What that answer will be.
    pub(crate) held: Option<String>,
    /// Whether it says nothing of itself.
    pub(crate) silent: bool,
    /// How many refresh tokens were shown twice.
    pub(crate) reused: usize,
}

struct Code {
    client: String,
    redirect_uri: String,
    challenge: String,
    resource: String,
    scope: String,
}

struct Refresh {
    family: usize,
    client: String,
    used: bool,
    scope: String,
    resource: String,
}

struct Access {
    family: usize,
    scope: String,
    resource: String,
}

type Pairs = Vec<(String, String)>;

impl Authority {
    pub(crate) async fn open() -> Self {
        let books = Arc::new(Mutex::new(Books::new()));
        let kept = Arc::clone(&books);
        let rig = Rig::start(move |hit| lock(&kept).answer(hit)).await;
        Self { rig, books }
    }

    pub(crate) fn issuer(&self) -> String {
        format!("http://127.0.0.1:{}", self.rig.port)
    }

    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }

    /// The requests to this path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Hit> {
        let mut hits = self.rig.hits();
        hits.retain(|hit| hit.path.split('?').next() == Some(path));
        hits
    }

    /// The forms that were posted to the token endpoint for this grant.
    pub(crate) fn grants(&self, kind: &str) -> Vec<Pairs> {
        let mut forms: Vec<Pairs> = self.asked("/token").iter().map(form).collect();
        forms.retain(|form| get(form, "grant_type") == Some(kind));
        forms
    }

    /// What the users were sent with.
    pub(crate) fn visits(&self) -> Vec<Pairs> {
        let asked = self.asked("/authorize");
        asked.iter().map(|hit| query(&hit.path)).collect()
    }

    /// The scopes of a token for this resource, if it is good.
    pub(crate) fn scope_of(&self, token: &str, resource: &str) -> Option<String> {
        let books = self.books();
        let access = books.access.get(token)?;
        let good = access.resource == resource && !books.revoked.contains(&access.family);
        good.then(|| access.scope.clone())
    }

    /// Makes all access tokens useless, as if their time were up.
    pub(crate) fn expire_all(&self) {
        self.books().access.clear();
    }

    /// Forgets everything, as after a restart without a disk.
    pub(crate) fn forget_all(&self) {
        self.revoke_all();
        let mut books = self.books();
        books.clients.clear();
        books.refresh.clear();
    }

    /// Makes everything useless that was ever given.
    pub(crate) fn revoke_all(&self) {
        let mut books = self.books();
        books.revoked = (0..=books.families).collect();
    }
}

impl Books {
    fn new() -> Self {
        Self {
            clients: HashMap::new(),
            codes: HashMap::new(),
            refresh: HashMap::new(),
            access: HashMap::new(),
            revoked: HashSet::new(),
            families: 0,
            serial: 0,
            metadata: |_| {},
            registration: |_| {},
            endpoint: None,
            redirect: |_| {},
            expires_in: 3600,
            refreshes: true,
            hold: None,
            held: None,
            silent: false,
            reused: 0,
        }
    }

    fn answer(&mut self, hit: &Hit) -> Reply {
        let issuer = format!("http://{}", hit.header("host").expect("a host"));
        let path = hit.path.split('?').next().unwrap_or_default();
        match (&*hit.verb, path) {
            ("GET", "/.well-known/oauth-authorization-server") if !self.silent => {
                self.metadata(&issuer)
            }
            ("POST", "/register") => self.register(hit),
            ("GET", "/authorize") => self.authorize(&issuer, &query(&hit.path)),
            ("POST", "/token") => self.token(hit),
            ("POST", "/revoke") => self.revoke(&form(hit)),
            _ => Reply::status(404),
        }
    }

    fn metadata(&self, issuer: &str) -> Reply {
        let mut metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "registration_endpoint": format!("{issuer}/register"),
            "revocation_endpoint": format!("{issuer}/revoke"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "authorization_response_iss_parameter_supported": true,
        });
        if let Some((name, place)) = &self.endpoint {
            metadata[*name] = place.clone().into();
        }
        (self.metadata)(&mut metadata);
        Reply::json(metadata.to_string())
    }

    fn register(&mut self, hit: &Hit) -> Reply {
        let wanted = hit.json();
        let uris = wanted["redirect_uris"].as_array().into_iter().flatten();
        let uris = uris.filter_map(Value::as_str).map(str::to_owned).collect();
        let id = self.name("client");
        self.clients.insert(id.clone(), uris);
        let mut told = json!({"client_id": id});
        (self.registration)(&mut told);
        Reply::json(told.to_string()).and_status(201)
    }

    fn authorize(&mut self, issuer: &str, asked: &Pairs) -> Reply {
        let word = |name: &str| get(asked, name).unwrap_or_default().to_owned();
        let (client, redirect_uri) = (word("client_id"), word("redirect_uri"));
        let Some(known) = self.clients.get(&client) else {
            let unknown = json!({"error": "invalid_client", "error_description": "who?"});
            return Reply::json(unknown.to_string()).and_status(400);
        };
        if !known.contains(&redirect_uri) {
            return Reply::new(400, "text/plain", "not there");
        }
        let challenge = word("code_challenge");
        if challenge.is_empty() || word("code_challenge_method") != "S256" {
            return Reply::new(400, "text/plain", "no proof");
        }
        let code = self.name("code");
        let mut back: Pairs = [
            ("code", code.as_str()),
            ("state", &word("state")),
            ("iss", issuer),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        (self.redirect)(&mut back);
        let location = format!("{redirect_uri}?{}", encode_form(back));
        let kept = Code {
            client,
            redirect_uri,
            challenge,
            resource: word("resource"),
            scope: word("scope"),
        };
        self.codes.insert(code, kept);
        Reply::status(302).with("location", &location)
    }

    fn token(&mut self, hit: &Hit) -> Reply {
        let form = &form(hit);
        let word = |name: &str| get(form, name).unwrap_or_default();
        let granted = match word("grant_type") {
            "authorization_code" => self.by_code(form),
            "refresh_token" => self.by_refresh(word("refresh_token"), word("client_id")),
            "client_credentials" => self.by_secret(hit, form),
            _ => Err("unsupported_grant_type"),
        };
        match granted {
            Err(code) => Reply::json(json!({"error": code}).to_string()).and_status(400),
            Ok(tokens) => match self.hold.take() {
                None => Reply::json(tokens.to_string()),
                Some(feed) => {
                    self.held = Some(tokens.to_string());
                    Reply::parts("application/json", [Part::Feed(feed)])
                }
            },
        }
    }

    /// What a client does not need any more, with all that came of it. One who
    /// shows something unknown is told nothing.
    fn revoke(&mut self, form: &Pairs) -> Reply {
        let word = |name: &str| get(form, name).unwrap_or_default();
        let known = self.refresh.get(word("token"));
        if let Some(known) = known.filter(|known| known.client == word("client_id")) {
            self.revoked.insert(known.family);
        }
        Reply::status(200)
    }

    fn by_code(&mut self, form: &Pairs) -> Result<Value, &'static str> {
        let word = |name: &str| get(form, name).unwrap_or_default();
        let code = self.codes.remove(word("code")).ok_or("invalid_grant")?;
        let verifier = digest(&SHA256, word("code_verifier").as_bytes());
        let fits = code.client == word("client_id")
            && code.redirect_uri == word("redirect_uri")
            && code.resource == word("resource")
            && code.challenge == URL_SAFE_NO_PAD.encode(verifier);
        if !fits {
            return Err("invalid_grant");
        }
        self.families += 1;
        let family = self.families;
        Ok(self.issue(family, &code.client, &code.scope, &code.resource))
    }

    /// A program that has a secret: `me` and `s3cr3t`.
    fn by_secret(&mut self, hit: &Hit, form: &Pairs) -> Result<Value, &'static str> {
        if hit.header("authorization") != Some("Basic bWU6czNjcjN0") {
            return Err("invalid_client");
        }
        let word = |name: &str| get(form, name).unwrap_or_default();
        self.families += 1;
        Ok(self.issue(self.families, "me", word("scope"), word("resource")))
    }

    fn by_refresh(&mut self, token: &str, client: &str) -> Result<Value, &'static str> {
        let shown = self.refresh.get_mut(token).ok_or("invalid_grant")?;
        let family = shown.family;
        if shown.used {
            self.reused += 1;
            self.revoked.insert(family);
        }
        if self.revoked.contains(&family) || shown.client != client {
            return Err("invalid_grant");
        }
        shown.used = true;
        let (scope, resource) = (shown.scope.clone(), shown.resource.clone());
        Ok(self.issue(family, client, &scope, &resource))
    }

    fn issue(&mut self, family: usize, client: &str, scope: &str, resource: &str) -> Value {
        let access = self.name("access");
        let (scope, resource) = (scope.to_owned(), resource.to_owned());
        let mut tokens = json!({
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": self.expires_in,
        });
        if self.refreshes {
            let refresh = self.name("refresh");
            tokens["refresh_token"] = refresh.clone().into();
            let kept = Refresh {
                family,
                client: client.to_owned(),
                used: false,
                scope: scope.clone(),
                resource: resource.clone(),
            };
            self.refresh.insert(refresh, kept);
        }
        let kept = Access {
            family,
            scope,
            resource,
        };
        self.access.insert(access, kept);
        tokens
    }

    fn name(&mut self, kind: &str) -> String {
        self.serial += 1;
        format!("{kind}-hush-{}", self.serial)
    }
}

pub(crate) fn get<'a>(pairs: &'a Pairs, name: &str) -> Option<&'a str> {
    let mut named = pairs.iter().filter(|(key, _)| key == name);
    let value = named.next().map(|(_, value)| value.as_str());
    assert!(named.next().is_none(), "{name} comes once");
    value
}

pub(crate) fn query(url: &str) -> Pairs {
    decode_form(url.split_once('?').map_or("", |(_, query)| query))
}

fn form(hit: &Hit) -> Pairs {
    decode_form(str::from_utf8(&hit.body).unwrap_or_default())
}

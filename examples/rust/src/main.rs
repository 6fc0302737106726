//! Exchanges the token of a workload, lists groups, and follows the changes in the first one.

use std::{env, error::Error, fs, time::Duration, time::SystemTime};

use tonic::{Request, metadata::MetadataValue, transport::Channel, transport::ClientTlsConfig};

use api::chainguard::platform::iam::v2beta1::{
    Group, ListGroupsRequest, groups_service_client::GroupsServiceClient,
};
use api::chainguard::platform::oidc::{
    ExchangeRequest, RawToken, security_token_service_client::SecurityTokenServiceClient,
};
use api::gatehouse::changes::v1::{
    ListChangesRequest, changes_service_client::ChangesServiceClient,
};

mod api {
    #![allow(clippy::all, dead_code)]
    tonic::include_proto!("api");
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// An API token lasts an hour. It is replaced a minute before.
const MARGIN: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> Result<()> {
    let url = env::var("GATEHOUSE_URL")?;
    let mut endpoint = Channel::from_shared(url.clone())?;
    if url.starts_with("https:") {
        endpoint = endpoint.tls_config(ClientTlsConfig::new().with_native_roots())?;
    }
    let channel = endpoint.connect().await?;
    let mut tokens = Tokens {
        service: SecurityTokenServiceClient::new(channel.clone()),
        request: ExchangeRequest {
            aud: vec![url],
            identity: env::var("IDENTITY")?,
            ..Default::default()
        },
        token_file: env::var("TOKEN_FILE")?,
        token: None,
    };
    let groups = list_groups(channel.clone(), &mut tokens).await?;
    for group in &groups {
        println!("{} {}", group.uid, group.name);
    }
    let first = groups.first().ok_or("there is no group")?;
    follow_changes(channel, &mut tokens, first).await
}

async fn list_groups(channel: Channel, tokens: &mut Tokens) -> Result<Vec<Group>> {
    let mut service = GroupsServiceClient::new(channel);
    let mut request = ListGroupsRequest {
        page_size: 100,
        ..Default::default()
    };
    let mut groups = Vec::new();
    loop {
        let page = service
            .list_groups(tokens.authorize(request.clone()).await?)
            .await?
            .into_inner();
        groups.extend(page.groups);
        if page.next_page_token.is_empty() {
            return Ok(groups);
        }
        request.page_token = page.next_page_token;
    }
}

async fn follow_changes(channel: Channel, tokens: &mut Tokens, group: &Group) -> Result<()> {
    let mut service = ChangesServiceClient::new(channel);
    // The latest change, only to know where to begin.
    let mut request = ListChangesRequest {
        parent: group.uid.clone(),
        page_size: 1,
        ..Default::default()
    };
    request.after = service
        .list_changes(tokens.authorize(request.clone()).await?)
        .await?
        .into_inner()
        .resume_after;
    request.page_size = 200;
    println!("following {}", group.name);
    loop {
        let page = service
            .list_changes(tokens.authorize(request.clone()).await?)
            .await?
            .into_inner();
        for change in page.changes {
            println!("{} {}", change.method, change.resource_uid);
        }
        request.after = page.resume_after;
        if page.next_page_token.is_empty() {
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Exchanges the token in a file for API tokens, and keeps each until shortly before it expires.
struct Tokens {
    service: SecurityTokenServiceClient<Channel>,
    request: ExchangeRequest,
    token_file: String,
    token: Option<RawToken>,
}

impl Tokens {
    async fn authorize<T>(&mut self, message: T) -> Result<Request<T>> {
        let token = match self.token.take().filter(is_lasting) {
            Some(token) => token,
            None => {
                let subject = fs::read_to_string(&self.token_file)?;
                let request = with_bearer(self.request.clone(), subject.trim())?;
                self.service.exchange(request).await?.into_inner()
            }
        };
        let request = with_bearer(message, &token.token)?;
        self.token = Some(token);
        Ok(request)
    }
}

fn is_lasting(token: &RawToken) -> bool {
    let expiry = token
        .expiry
        .and_then(|expiry| SystemTime::try_from(expiry).ok());
    expiry.is_some_and(|expiry| expiry > SystemTime::now() + MARGIN)
}

fn with_bearer<T>(message: T, token: &str) -> Result<Request<T>> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(
        "authorization",
        MetadataValue::try_from(format!("Bearer {token}"))?,
    );
    Ok(request)
}

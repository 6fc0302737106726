"""Gets a token at the standard token endpoint with google-auth and with Authlib, and prints the tokens, one per line."""

import json
import sys

from authlib.integrations.requests_client import OAuth2Session
from google.auth import identity_pool
from google.auth.transport.requests import Request

base_url, identity, token_file = sys.argv[1:]
with open(token_file, encoding="utf-8") as file:
    subject_token = file.read()

google = identity_pool.Credentials.from_info(
    {
        "type": "external_account",
        "audience": base_url,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": f"{base_url}/sts/token?identity={identity}",
        "credential_source": {"file": token_file},
    }
)
google.refresh(Request())
print(google.token)

# Authlib sends the client id in the form when a client has no secret.
session = OAuth2Session(client_id=identity, token_endpoint_auth_method="none")
for grant in (
    {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": subject_token,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
    },
    {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": subject_token},
):
    print(session.fetch_token(f"{base_url}/sts/token", **grant)["access_token"])

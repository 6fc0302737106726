"""Reads the discovery document of an issuer with authlib and pyoidc, and verifies a token with the keys that it names."""

import sys

import requests
from authlib.jose import JsonWebKey, jwt
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from oic.oic import Client

issuer, audience, token = sys.argv[1:]

metadata = OpenIDProviderMetadata(requests.get(get_well_known_url(issuer, external=True)).json())
metadata.validate()
keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"]).json())
claims = jwt.decode(token, keys, claims_options={"iss": {"value": issuer}, "aud": {"value": audience}})
claims.validate()

# Raises when a member is missing, when the issuer is another one, or when it is not https.
config = Client().provider_config(issuer)
config.verify()
assert config["authorization_endpoint"].startswith(issuer) and config["token_endpoint"].startswith(issuer)
print(claims["sub"], end="")

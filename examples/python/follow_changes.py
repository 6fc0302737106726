"""Exchanges the token of a workload, lists groups, and follows the changes in the first one."""

import os
import time
from urllib.parse import urlsplit

import grpc
from chainguard.platform.iam.v2beta1 import groups_pb2, groups_pb2_grpc
from chainguard.platform.oidc import oidc_pb2, oidc_pb2_grpc
from gatehouse.changes.v1 import changes_pb2, changes_pb2_grpc
from google.rpc import error_details_pb2, status_pb2

# An API token lasts an hour. It is replaced a minute before.
MARGIN_S = 60
POLL_S = 2


def open_channel(url: str) -> grpc.Channel:
    parts = urlsplit(url)
    if parts.scheme == "https":
        return grpc.secure_channel(parts.netloc, grpc.ssl_channel_credentials())
    return grpc.insecure_channel(parts.netloc)


class Tokens:
    """Exchanges the token in a file for API tokens, and keeps each until shortly before it expires."""

    def __init__(self, channel: grpc.Channel, url: str, identity: str, token_file: str):
        self._service = oidc_pb2_grpc.SecurityTokenServiceStub(channel)
        self._request = oidc_pb2.ExchangeRequest(aud=[url], identity=identity)
        self._token_file = token_file
        self._token = None

    def metadata(self):
        if self._token is None or self._token.expiry.seconds - MARGIN_S < time.time():
            with open(self._token_file, encoding="utf-8") as file:
                subject = file.read().strip()
            self._token = self._service.Exchange(self._request, metadata=bearer(subject))
        return bearer(self._token.token)


def bearer(token: str):
    return [("authorization", f"Bearer {token}")]


def list_groups(channel: grpc.Channel, tokens: Tokens):
    service = groups_pb2_grpc.GroupsServiceStub(channel)
    request = groups_pb2.ListGroupsRequest(page_size=100)
    while True:
        page = service.ListGroups(request, metadata=tokens.metadata())
        yield from page.groups
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def follow_changes(channel: grpc.Channel, tokens: Tokens, group: groups_pb2.Group):
    service = changes_pb2_grpc.ChangesServiceStub(channel)
    request = changes_pb2.ListChangesRequest(parent=group.uid, page_size=1)
    # The latest change, only to know where to begin.
    request.after = service.ListChanges(request, metadata=tokens.metadata()).resume_after
    request.page_size = 200
    print(f"following {group.name}", flush=True)
    while True:
        page = service.ListChanges(request, metadata=tokens.metadata())
        yield from page.changes
        request.after = page.resume_after
        if not page.next_page_token:
            time.sleep(POLL_S)


def describe(error: grpc.RpcError) -> str:
    """Returns the message of an error, and the fields that break a rule (docs/reference/errors.md)."""
    lines = [f"{error.code().name}: {error.details()}"]
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        for detail in status_pb2.Status.FromString(value).details:
            bad_request = error_details_pb2.BadRequest()
            if detail.Unpack(bad_request):
                lines += [f"{each.field}: {each.description}" for each in bad_request.field_violations]
    return "\n".join(lines)


def main():
    url = os.environ["GATEHOUSE_URL"]
    with open_channel(url) as channel:
        tokens = Tokens(channel, url, os.environ["IDENTITY"], os.environ["TOKEN_FILE"])
        groups = list(list_groups(channel, tokens))
        for group in groups:
            print(group.uid, group.name)
        for change in follow_changes(channel, tokens, groups[0]):
            print(change.method, change.resource_uid, flush=True)


if __name__ == "__main__":
    try:
        main()
    except grpc.RpcError as error:
        raise SystemExit(describe(error)) from error

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openIssuers } from "../../src/authn/issuers.ts";
import { checkEndpoint, checkIssuer } from "../../src/model/issuer-url.ts";
import { OutboundError } from "../../src/outbound/error.ts";
import { testClock } from "../authn/token-fixtures.ts";
import { network } from "../sts/outside.ts";

describe("the URL of an issuer", () => {
  const good = [
    "https://issuer.example",
    "https://issuer.example/",
    "https://issuer.example:8443/a/b/",
    "https://[2606:4700::1]/x",
    "https://xn--bcher-kva.example",
    "https://issuer.example/realms/My%20Realm",
    "https://issuer.example/caf%C3%A9",
    "https://issuer.example/~a/b-c_d.e/f:g@h;i=j",
    "https://issuer.example/...",
    `https://issuer.example/${"a".repeat(2025)}`,
  ];
  for (const issuer of good)
    it(`the URL of an issuer may be ${issuer.slice(0, 60)}`, () => assert.equal(checkIssuer(issuer, false), undefined));

  const table: readonly (readonly [rule: string, issuer: string, message: RegExp])[] = [
    ["J7: a query", "https://issuer.example/?tenant=1", /query/],
    ["J7: an empty query", "https://issuer.example?", /query/],
    ["J7: a fragment", "https://issuer.example/#a", /fragment/],
    ["J7: an empty fragment", "https://issuer.example#", /fragment/],
    ["J7: a user", "https://good.example@evil.example/", /user information/],
    ["J7: an empty user", "https://@issuer.example/", /user information/],
    ["J1: another URL in its query", "http://169.254.169.254/?https://good.example", /query/],
    ["plain http", "http://issuer.example", /^must be an https URL$/],
    ["no scheme", "issuer.example", /^must be an https URL$/],
    ["another scheme", "ftp://issuer.example", /^must be an https URL$/],
    ["nothing", "", /^must be an https URL$/],
    ["a backslash", "https://evil.example\\.good.example", /printable ASCII/],
    ["a space", "https://issuer.example/a b", /printable ASCII/],
    ["a space before it", " https://issuer.example", /printable ASCII/],
    ["a tab", "https://issuer.ex\tample", /printable ASCII/],
    ["a line break", "https://issuer.example/\n", /printable ASCII/],
    ["letters beyond ASCII", "https://\u0456ssuer.example", /printable ASCII/],
    ["a length beyond 2048", `https://issuer.example/${"a".repeat(2048)}`, /at most 2048/],
    ["an upper-case host", "https://Issuer.example/a", /^must be written as "https:\/\/issuer\.example\/a"$/],
    ["an upper-case scheme", "HTTPS://issuer.example", /^must be written as "https:\/\/issuer\.example"$/],
    ["the default port", "https://issuer.example:443", /^must be written as "https:\/\/issuer\.example"$/],
    ["a colon without a port", "https://issuer.example:", /must be written as/],
    ["a port with zeros before it", "https://issuer.example:08443", /must be written as/],
    ["an address in decimal", "https://2130706433/", /must be written as "https:\/\/127\.0\.0\.1\/"/],
    ["an address in hexadecimal", "https://0x7f.1", /must be written as/],
    ["an address in octal", "https://0177.0.0.1", /must be written as/],
    ["a long IPv6 address", "https://[0:0:0:0:0:0:0:1]", /must be written as "https:\/\/\[::1\]"/],
    ["a percent-encoded host", "https://%67ood.example/", /must be written as/],
    ["too many slashes", "https:///issuer.example/", /must be written as/],
    ["too few slashes", "https:/issuer.example/", /must be written as/],
    ["a dot at the end of the host", "https://issuer.example./a", /dot at either end/],
    ["an empty label", "https://issuer..example", /two in a row/],
    ["a dot segment", "https://issuer.example/a/../b", /dot segment/],
    ["a dot segment at the end", "https://issuer.example/a/..", /dot segment/],
    ["a single dot", "https://issuer.example/./a", /dot segment/],
    ["an encoded dot segment", "https://issuer.example/a/%2e%2E/b", /dot segment/],
    ["a half-encoded dot segment", "https://issuer.example/a/.%2e/b", /dot segment/],
    ["a dot segment with parameters", "https://issuer.example/a/..;x=y/b", /dot segment/],
    ["an empty segment", "https://issuer.example/a//b", /empty path segment/],
    ["an empty segment at the end", "https://issuer.example//", /empty path segment/],
    ["a segment of parameters", "https://issuer.example/;a/b", /empty path segment/],
    ["an encoded letter", "https://issuer.example/%61", /percent-encode/],
    ["an encoded tilde", "https://issuer.example/%7Ea", /percent-encode/],
    ["an encoded dot", "https://issuer.example/a%2Eb", /percent-encode/],
    ["an encoded slash", "https://issuer.example/a%2Fb", /percent-encode/],
    ["an encoded backslash", "https://issuer.example/a%5Cb", /percent-encode/],
    ["an encoded percent sign", "https://issuer.example/a%252Fb", /percent-encode/],
    ["an encoded question mark", "https://issuer.example/a%3Fb", /percent-encode/],
    ["an encoded semicolon", "https://issuer.example/..%3Ba", /percent-encode/],
    ["an encoded line break", "https://issuer.example/a%0A", /percent-encode/],
    ["an encoded NUL", "https://issuer.example/a%00", /percent-encode/],
    ["an encoded direction mark", "https://issuer.example/a%E2%80%AEb", /percent-encode/],
    ["lower-case hexadecimal", "https://issuer.example/caf%c3%a9", /percent-encode/],
    ["an overlong dot", "https://issuer.example/%C0%AE%C0%AE/b", /percent-encode/],
    ["half a character", "https://issuer.example/%C3", /percent-encode/],
    ["a percent sign alone", "https://issuer.example/100%", /percent-encode/],
    ["a bar", "https://issuer.example/a|b", /percent-encode/],
    ["a bracket", "https://issuer.example/a[b]", /percent-encode/],
  ];
  for (const [rule, issuer, message] of table) {
    it(`the URL of an issuer may not have ${rule}, and is never asked`, async () => {
      assert.match(checkIssuer(issuer, true) ?? "", message);
      const outside = network([]);
      const issuers = openIssuers({
        fetchJson: outside.fetchJson,
        clock: testClock().read,
        allowInsecureIssuers: true,
      });
      const isRefused = (error: unknown) => error instanceof OutboundError && error.failure === "refused";
      await assert.rejects(issuers.keysFor(issuer), isRefused);
      assert.deepEqual(outside.requests, []);
    });
  }

  it("the URL of an issuer may be http on loopback, where that is allowed", () => {
    for (const issuer of ["http://127.0.0.1:8080", "http://localhost:8080/realm", "http://[::1]:8080"]) {
      assert.equal(checkIssuer(issuer, true), undefined, issuer);
      assert.equal(checkIssuer(issuer, false), "must be an https URL", issuer);
    }
  });
});

describe("an endpoint in a discovery document", () => {
  const issuer = "https://issuer.example";

  it("an endpoint in a discovery document may be on another host, and have a query", () => {
    for (const url of [`${issuer}/keys`, "https://keys.example:8443/a//b?p=policy"])
      assert.equal(checkEndpoint(url, issuer), undefined, url);
    assert.equal(checkEndpoint("http://127.0.0.1:1/keys", "http://localhost:2"), undefined);
  });

  const table: readonly (readonly [rule: string, endpoint: unknown, message: RegExp])[] = [
    ["nothing", undefined, /^is not a URL$/],
    ["a list", [`${issuer}/keys`], /^is not a URL$/],
    ["a path", "/keys", /^is not a URL$/],
    ["a line break", `${issuer}/keys\n`, /^is not a URL$/],
    ["a backslash", "https://keys.example\\@evil.example", /^is not a URL$/],
    ["too many characters", `${issuer}/${"a".repeat(2048)}`, /^is not a URL$/],
    ["plain http", "http://keys.example", /^is not https$/],
    ["a script", "javascript:alert(1)", /^is not https$/],
    ["credentials", "https://a:b@keys.example", /^holds credentials$/],
    ["a fragment", `${issuer}/keys#`, /^has a fragment$/],
    ["an address of this machine", "https://127.1:8080/keys", /^leads to this machine$/],
    ["the name of this machine", "https://localhost/keys", /^leads to this machine$/],
  ];
  for (const [rule, endpoint, message] of table)
    it(`an endpoint in a discovery document may not be or have ${rule}`, () =>
      assert.match(checkEndpoint(endpoint, issuer) ?? "", message));

  it("an endpoint in a discovery document may have plain http on this machine only, with any issuer", () => {
    assert.equal(checkEndpoint("http://keys.example", "http://127.0.0.1:1"), "is not https");
  });
});

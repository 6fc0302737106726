// The address that a token is handed to.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRedirect, withError, withToken } from "../../src/sign-in/redirect.ts";

const good = [
  "http://localhost:8123/callback?token=true&error=true",
  "http://127.0.0.1:1/",
  "http://[::1]:65535/a/b?x=1",
  "http://localhost/callback",
];

const bad = [
  "",
  "https://localhost:8123/callback",
  "http://localhost:0/callback",
  "http://example.com/callback",
  "http://localhost.example.com:80/",
  "http://localhost@example.com/",
  "http://example.com@localhost/",
  "http://@localhost/",
  "http://localhost:1#fragment",
  "http://127.0.0.2:1/",
  "http://[::ffff:127.0.0.1]:1/",
  "http://0.0.0.0:1/",
  "//localhost/callback",
  "javascript:alert(1)",
  "http:\\\\example.com\\@localhost",
  `http://localhost/${"x".repeat(2048)}`,
];

describe("a redirect (RFC 8252 §7.3)", () => {
  for (const text of good) it(`a redirect may be ${text}`, () => assert.ok(parseRedirect(text)));
  for (const text of bad)
    it(`a redirect may not be ${text.slice(0, 60) || "empty"}`, () => assert.equal(parseRedirect(text), undefined));

  it("a redirect gets the token as the value of its parameter token, and keeps its other parameters but the mark for errors", () => {
    const address = withToken("http://localhost:1/callback?token=true&error=true&other=1", "a.b.c", undefined);
    assert.equal(address, "http://localhost:1/callback?token=a.b.c&other=1");
  });

  it("a redirect has the refresh token when there is one", () => {
    const address = withToken("http://localhost:1/callback?token=true&error=true", "a.b.c", "e30=");
    assert.equal(address, "http://localhost:1/callback?token=a.b.c&refresh_token=e30%3D");
  });

  it("a redirect has no token after a failure, but the text and status of the error", () => {
    const address = withError("http://localhost:1/callback?token=true&error=true", "no & yes", 404);
    assert.equal(address, "http://localhost:1/callback?error=no+%26+yes&status_code=404");
  });
});

// The login provider of development mode, where other tests of sign-in do not cover it.
import assert from "node:assert/strict";
import { after, before, describe, it, mock } from "node:test";
import { newBrowser, signInAs, signInUrl } from "../harness/browser.ts";
import { keptLog } from "../harness/kept-log.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

describe("the provider of development mode", () => {
  let server: TestServer;
  const log = keptLog();
  before(async () => {
    server = await startTestServer({ log: log.stream });
  });
  after(() => server[Symbol.asyncDispose]());

  const at = (path: string) => `${server.config.baseUrl}/development/login${path}`;

  it("prints only to the log, including warnings of its package", async () => {
    const [warn, info] = [mock.method(console, "warn", () => {}), mock.method(console, "info", () => {})];
    try {
      await signInAs("someone", signInUrl(server.url));
      await newBrowser().request(at("/auth?client_id=nobody"));
      assert.deepEqual([warn.mock.callCount(), info.mock.callCount()], [0, 0]);
    } finally {
      for (const mocked of [warn, info]) mocked.mock.restore();
    }
    assert.match(log.text(), /"event":"development_login","warning":"oidc-provider WARNING: /);
  });

  it("shows errors on a page of ours, which loads nothing from elsewhere", async () => {
    const { status, headers, text } = await newBrowser().request(at("/auth?client_id=nobody%3Cb%3E"));
    assert.equal(status, 400);
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'; style-src 'sha256-/);
    assert.match(text, /<html lang="en">.*invalid_client/s);
    assert.doesNotMatch(text, /@import|<b>/);
    assert.equal((await newBrowser().request(at("/session/end"))).status, 404);
  });

  it("tells that a sign-in has ended, and where to start another one", async () => {
    const browser = newBrowser();
    const { url } = await browser.visit(signInUrl(server.url));
    await browser.visit(`${url.href}?name=someone`);
    for (const back of [await browser.request(url.href), await newBrowser().request(at("/choose/unknown"))]) {
      assert.equal(back.status, 400);
      assert.match(back.text, /This sign-in is over.*Go back to the program that sent you here/s);
    }
  });
});

// The cookies of a browser session, by the protocol of the base URL, and as HTTP/2 sends them.
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { describe, it } from "node:test";
import { readSessionCookies, sessionCookies } from "../../../src/sign-in/session/cookies.ts";
import { joinedHeader } from "../../../src/transport/http/message.ts";
import { startTestServer } from "../../harness/server.ts";

const secrets = { token: "t", browser: "b" };
const https = "https://gatehouse.example.com";

describe("the cookies of a session", () => {
  it("the cookies of a session have the prefixes that keep other hosts and unencrypted connections from setting them", () => {
    assert.deepEqual(sessionCookies(https, secrets, 60_000), [
      "__Secure-gatehouse-session=t; Path=/oauth/session; HttpOnly; SameSite=Strict; Max-Age=60; Secure",
      "__Host-gatehouse-browser=b; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure",
    ]);
  });

  for (const [header, expected] of [
    ["__Secure-gatehouse-session=t; other=1; __Host-gatehouse-browser=b", secrets],
    ["__Host-gatehouse-browser=b;__Secure-gatehouse-session=t", secrets],
    ["__Secure-gatehouse-session=t", undefined],
    ["__Host-gatehouse-browser=b", undefined],
    ["__Secure-gatehouse-session=; __Host-gatehouse-browser=b", undefined],
    ["__Secure-gatehouse-session=t; __Secure-gatehouse-session=u; __Host-gatehouse-browser=b", undefined],
    ["__Secure-gatehouse-session=t; __Host-gatehouse-browser=b; __Host-gatehouse-browser=b", undefined],
    ["gatehouse-session-443=t; gatehouse-browser-443=b", undefined],
    ["", undefined],
  ] as const)
    it(`the header "${header}" is ${expected ? "read" : "rejected"}`, () =>
      assert.deepEqual(readSessionCookies(https, header), expected));

  it("the cookies of a session are joined if HTTP/2 sends them in separate fields", () => {
    // RFC 9113 §8.2.3: each cookie may be in a field of its own.
    assert.equal(joinedHeader(["cookie", "a=1", "accept", "*/*", "cookie", "b=2"], "cookie"), "a=1; b=2");
    assert.equal(joinedHeader(["accept", "a", "accept", "b"], "accept"), "a, b");
  });

  it("the cookies of a session are deleted over HTTP/2, each by a field of its own", async () => {
    await using server = await startTestServer();
    const session = connect(server.url);
    try {
      const request = session.request(
        {
          ":method": "POST",
          ":path": "/oauth/session/sign-out",
          origin: server.url,
        },
        { endStream: false },
      );
      request.end("{}");
      const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
        request.once("response", resolve);
        request.once("error", reject);
      });
      assert.equal(headers[":status"], 200);
      assert.equal((headers["set-cookie"] as string[]).length, 2, "both cookies are deleted");
      request.resume();
    } finally {
      session.close();
    }
  });
});

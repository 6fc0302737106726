// Tests who may send notifications of a registry, and what they can never cause.
import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, afterEach, before, describe, it } from "node:test";
import { registryLimits } from "../../src/registry-notifications/limits.ts";
import { limits } from "../../src/server/limits.ts";
import { keptLog } from "../harness/kept-log.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type OutsideRegistry, startOutsideRegistry } from "../registry/outside-registry.ts";
import { basic } from "../registry/sign-in.ts";
import { stoppedClock } from "./ground.ts";

const secret = "canary-secret-of-the-registry";
const password = "canary-password-at-the-registry";

describe("notifications of a registry", () => {
  const clock = stoppedClock();
  const log = keptLog();
  let server: TestServer;
  let registry: OutsideRegistry;
  let stranger: OutsideRegistry;
  before(async () => {
    registry = await startOutsideRegistry();
    stranger = await startOutsideRegistry();
    const settings = {
      registryUrl: registry.url,
      registryNotificationSecret: secret,
      registryCredentials: `gatehouse:${password}`,
    };
    server = await startTestServer({ settings, log: log.stream, clock: clock.read });
  });
  afterEach(() => {
    registry.intercept = () => false;
  });
  after(async () => {
    for (const one of [server, registry, stranger]) await one[Symbol.asyncDispose]();
  });

  async function send(headers: Record<string, string>, body = '{"events":[]}') {
    const reply = await fetch(`${server.url}/registry/notifications`, { method: "POST", headers, body });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  }
  /** Has requests to the registry answered like this to the end of the test; answers how many of them have come. */
  function intercept(answer: (request: IncomingMessage, response: ServerResponse) => void): () => number {
    let count = 0;
    registry.intercept = (request, response) => {
      count++;
      answer(request, response);
      return true;
    };
    return () => count;
  }
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

  it("notifications with the secret are accepted: each case below changes one part", async () => {
    assert.equal((await send(bearer(secret))).status, 200);
  });

  const refused: Readonly<Record<string, () => Record<string, string>>> = {
    "without a secret": () => ({}),
    "C1: with a secret that differs at its end": () => bearer(`${secret.slice(0, -1)}x`),
    "C1: with a secret that differs at its beginning": () => bearer(`x${secret.slice(1)}`),
    "C1: with a part of the secret": () => bearer(secret.slice(0, -1)),
    "C1: with the secret and more": () => bearer(`${secret}x`),
    "with an empty secret": () => basic("registry", ""),
    "with the secret as the user name": () => basic(secret, ""),
    "T14: with the secret twice": () => ({ authorization: `Bearer ${secret}, Bearer ${secret}` }),
    "with an API token of the owner": () => bearer(server.ownerToken),
  };
  for (const [what, headers] of Object.entries(refused)) {
    it(`${what} are 401`, async () => {
      const reply = await send(headers());
      assert.equal(reply.status, 401);
      assert.match(reply.headers.get("www-authenticate") ?? "", /Bearer/);
    });
  }

  it("are rejected before their body is read", async () => {
    assert.equal((await send({}, "x".repeat(limits.bodyBytes + 1))).status, 401);
  });

  it("F9: notifications that are too long get 413", async () => {
    assert.equal((await send(bearer(secret), "x".repeat(limits.bodyBytes + 1))).status, 413);
  });

  it("F4: notifications that are nested deeply get 400", async () => {
    assert.equal((await send(bearer(secret), "[".repeat(10_000) + "]".repeat(10_000))).status, 400);
  });

  it("J2: make Gatehouse contact only the configured registry, not the address that they name", async () => {
    const { digest } = registry.putImage("amd64");
    const repository = `${server.groupUid}/app`;
    const target = {
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      repository,
      digest,
      tag: "1.0",
      url: `${stranger.url}/v2/${repository}/manifests/${digest}`,
      urls: [stranger.url],
    };
    const event = {
      id: "1",
      action: "push",
      target,
      request: { host: new URL(stranger.url).host, addr: stranger.url },
      source: { addr: stranger.url, instanceID: stranger.url },
    };
    await send(bearer(secret), JSON.stringify({ events: [event] }));
    const names = [`${stranger.url}/x`, "x@127.0.0.1:1/y", "../../x", "a?b", "a#b", "a%2fb", "a\\b", "//a"];
    const events = names.map((name, i) => ({ ...event, id: String(i + 2), target: { ...target, repository: name } }));
    assert.equal((await send(bearer(secret), JSON.stringify({ events }))).status, 200);
    assert.deepEqual(stranger.requests, []);
    const asked = registry.requests.filter((path) => !path.startsWith(`/v2/${repository}/`));
    assert.deepEqual(asked, []);
    assert.ok(registry.requests.length > 0);
  });

  it("J3: follow no redirect, with or without credentials", async () => {
    const { digest } = registry.putImage("amd64", "redirect");
    const redirected = intercept((request, response) =>
      response.writeHead(307, { location: `${stranger.url}${request.url}` }).end(),
    );
    const target = { repository: `${server.groupUid}/redirect`, digest, tag: "1.0" };
    await send(bearer(secret), JSON.stringify({ events: [{ id: "redirect", action: "push", target }] }));
    assert.ok(redirected() > 0);
    assert.deepEqual(stranger.requests, []);
  });

  it("J5: do not read a manifest that is too long", async () => {
    const { digest } = registry.putImage("amd64", "long");
    const asked = intercept((_request, response) => response.end(Buffer.alloc(registryLimits.manifestBytes + 1, " ")));
    const target = { repository: `${server.groupUid}/long`, digest, tag: "1.0" };
    const { status } = await send(bearer(secret), JSON.stringify({ events: [{ id: "long", action: "push", target }] }));
    assert.equal(status, 200);
    assert.ok(asked() > 0);
    const { body } = await rest(server.url, server.ownerToken, "GET", "/registry/v2beta1/repos?name=long");
    const path = `/registry/v2beta1/repos/${body.repos[0].uid}/digests/${digest}/architectures`;
    assert.equal((await rest(server.url, server.ownerToken, "GET", path)).status, 404);
  });

  it("L1: leave neither the secret nor the credentials in the log", () => {
    assert.equal(registry.authorization(), basic("gatehouse", password).authorization);
    assert.match(log.text(), /registry\/notifications/);
    log.assertNone("canary-", secret, password);
  });

  it("D8: notifications with many bad secrets exhaust the limit of their address, and those with the secret pass", async () => {
    const codes: number[] = [];
    for (let i = 0; i <= limits.badTokensPerSecond; i++) codes.push((await send(bearer(`bad ${i}`))).status);
    assert.equal(codes.at(-1), 429);
    assert.equal((await send(bearer(secret))).status, 200);
    clock.advance(1000);
    assert.equal((await send(bearer("bad"))).status, 401);
  });
});

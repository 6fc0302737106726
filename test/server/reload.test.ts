// A reload replaces the secrets of other services in a running server.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { waitingForRestart } from "../../src/config/reloaded-settings.ts";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type OutsideRegistry, startOutsideRegistry } from "../registry/outside-registry.ts";
import { basic } from "../registry/sign-in.ts";
import { loginSettings, startUpstream, type Upstream } from "../sign-in/openid-client.ts";

let upstream: Upstream;
let registry: OutsideRegistry;
let server: TestServer;
const old = { loginClientSecret: "secret of yesterday", registryNotificationSecret: "notifications of yesterday" };
const next = { registryNotificationSecret: "notifications of today", registryCredentials: "gatehouse:today" };

describe("a reload of secrets", () => {
  before(async () => {
    upstream = await startUpstream();
    registry = await startOutsideRegistry();
    const settings = {
      ...loginSettings(upstream),
      ...old,
      registryUrl: registry.url,
      registryCredentials: "gatehouse:old",
    };
    server = await startTestServer({ settings });
  });
  after(async () => {
    for (const each of [server, registry, upstream]) await each[Symbol.asyncDispose]();
  });

  /** Signs in, and returns the parameters that the client gets. */
  async function signIn(): Promise<URLSearchParams> {
    const browser = newBrowser();
    const begun = await browser.request(signInUrl(server.url));
    const end = await browser.request(upstream.authorize(new URL(begun.headers.get("location") ?? "")));
    return new URL(end.headers.get("location") ?? "").searchParams;
  }

  /** Sends the notification of a push. Returns the status, and the credentials that the server then sent to the registry. */
  async function notify(secret: string, id: string): Promise<[number, string | undefined]> {
    const { digest } = registry.putImage("amd64", id);
    const target = { repository: `${server.groupUid}/${id}`, digest, tag: "1.0" };
    const body = JSON.stringify({ events: [{ id, action: "push", target }] });
    const headers = { authorization: `Bearer ${secret}` };
    const { status } = await fetch(`${server.url}/registry/notifications`, { method: "POST", headers, body });
    return [status, registry.authorization()];
  }

  it("reload: the login provider, the registry and its notifications use the new secrets", async () => {
    assert.equal((await signIn()).get("token"), null);
    assert.deepEqual(await notify(old.registryNotificationSecret, "a"), [200, basic("gatehouse", "old").authorization]);

    const { config } = server;
    const { login } = toConfig(readSettings({ dev: true, ...loginSettings(upstream) }, {}));
    const { registryNotificationSecret: notificationSecret, registryCredentials: credentials } = next;
    await server.server.reload({ ...config, login, registry: { ...config.registry, notificationSecret, credentials } });

    assert.notEqual((await signIn()).get("token"), null);
    assert.equal((await notify(old.registryNotificationSecret, "b"))[0], 401);
    assert.deepEqual(await notify(notificationSecret, "c"), [200, basic("gatehouse", "today").authorization]);
  });

  const changes: [what: string, before: Record<string, string>, now: Record<string, string>, waiting: string[]][] = [
    ["nothing", {}, {}, []],
    ["secrets and the log level", old, { ...next, loginClientSecret: "x", logLevel: "warn", secretsKey: "k" }, []],
    [
      "other settings",
      { domain: "a.test" },
      { domain: "b.test", maxConnections: "100" },
      ["domain", "max-connections"],
    ],
    ["the files of a certificate", { tlsCert: "a", tlsKey: "a" }, { tlsCert: "b", tlsKey: "b" }, []],
    ["from plaintext to TLS", {}, { tlsCert: "a", tlsKey: "a" }, ["tls-cert", "tls-key"]],
    ["from TLS to plaintext", { tlsCert: "a", tlsKey: "a" }, {}, ["tls-cert", "tls-key"]],
    ["a first secret of notifications", {}, next, ["registry-notification-secret"]],
    ["the secret of notifications removed", old, { loginClientSecret: "x" }, ["registry-notification-secret"]],
  ];
  for (const [what, before_, now, waiting] of changes) {
    it(`reload: ${what}: ${waiting.length === 0 ? "nothing needs" : `${waiting.join(" and ")} need`} a restart`, () => {
      assert.deepEqual(waitingForRestart(readSettings(before_, {}), readSettings(now, {})), waiting);
    });
  }

  it("reload: without a secret of notifications, every notification is rejected", async () => {
    const { config } = server;
    await server.server.reload({ ...config, registry: { ...config.registry, notificationSecret: "" } });
    for (const headers of [{}, { authorization: "Bearer " }, { authorization: `Basic ${btoa("x:")}` }]) {
      const reply = await fetch(`${server.url}/registry/notifications`, { method: "POST", headers, body: "{}" });
      assert.equal(reply.status, 401);
    }
  });
});

// L: what gets into logs, metrics and errors, and what never does.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import BetterSqlite from "better-sqlite3";
import { systemClock } from "../../src/base/clock.ts";
import { readSecret } from "../../src/storage/installation/secret-settings.ts";
import { keyStore } from "../../src/storage/installation/signing-keys.ts";
import { keptLog } from "../harness/kept-log.ts";
import { rest } from "../harness/rest.ts";
import { untilTrue } from "../harness/until.ts";
import { keyPair, keySetText, signOutside, startIssuer } from "../sts/outside.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";

const exchange = "SecurityTokenService/Exchange";

describe("logs, metrics and errors", () => {
  const log = keptLog();
  let ground: Ground;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  before(async () => {
    issuer = await startIssuer(keyPair("ES256"));
    ground = await openGround({ log: log.stream });
  });
  after(async () => {
    await issuer[Symbol.asyncDispose]();
    await ground[Symbol.asyncDispose]();
  });

  const present = (changes: object = {}) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer.url, sub: "workload", aud: ground.server.config.baseUrl, iat: now, exp: now + 600 };
    return signOutside(keyPair("ES256"), { ...claims, ...changes });
  };
  const metrics = async () => await (await fetch(`${ground.server.url}/metrics`)).text();

  it("L1: no token, key or body is in the log, the metrics or an error", async () => {
    const { groupUid, ownerToken, server, config } = ground.server;
    const { baseUrl } = config;
    const canary = "canary-3f1b";
    const canaryToken = `${canary}.${canary}.${canary}`;
    const identity = {
      name: "workload",
      description: `${canary}-description`,
      staticKeys: {
        issuer: issuer.url,
        subject: "workload",
        issuerKeys: keySetText(keyPair("ES256", `${canary}-kid`)),
      },
    };
    const errors: JsonObject[] = [];
    const secrets = new Set<string>([canary, ownerToken]);
    const note = (outcome: { code: number; response?: unknown }) => {
      if (outcome.code !== 0) errors.push(outcome as JsonObject);
    };
    for (const apiClient of ground.apiClients) {
      const call = async (token: string | undefined, name: string, request: JsonObject) => {
        const [service, method] = name.split("/");
        const area = service === "SecurityTokenService" ? "oidc" : "iam.v2beta1";
        const outcome = await apiClient.call(token, `/chainguard.platform.${area}.${service}/${method}`, request);
        note(outcome);
        return outcome;
      };
      await call(canaryToken, "GroupsService/ListGroups", {});
      await call(ownerToken, "GroupsService/GetGroup", { uid: "f".repeat(40) });
      const created = await call(ownerToken, "IdentitiesService/CreateIdentity", { parent: groupUid, identity });
      const uid = String(replyOf(created).uid);
      const outside = await present({ email: `${canary}@example.org` });
      secrets.add(outside);
      await call(outside, exchange, { aud: [baseUrl], identity: uid });
      await call(canaryToken, exchange, { aud: [baseUrl], identity: uid });
      const own = await call(ownerToken, exchange, { aud: [baseUrl] });
      secrets.add(String((own.response as JsonObject | undefined)?.token ?? ownerToken));
      await call(ownerToken, "GroupsService/CreateGroup", {
        parent: groupUid,
        group: { name: `a-${canary.toUpperCase()}` },
      });
      await call(ownerToken, "GroupsService/ListGroups", { pageToken: canary });
    }
    const { session } = server.database;
    const keys = await keyStore(server.database, server.encryption, systemClock).list();
    for (const { privateJwk } of keys) secrets.add(String(JSON.parse(privateJwk).d));
    secrets.add(String(await readSecret(session, server.encryption, "page_token_key")));
    const told = { log: log.text(), metrics: await metrics(), errors: JSON.stringify(errors) };
    assert.ok(log.lines().length > 20 && errors.length > 10, "nothing was looked at");
    log.assertNone(...secrets);
    for (const [place, text] of Object.entries(told)) {
      for (const secret of secrets)
        assert.equal(text.toLowerCase().includes(secret.toLowerCase()), false, `${place}: ${secret}`);
    }
  });

  it("L2: a subject that looks like a log line is one escaped part of one line", async () => {
    const before = log.lines().length;
    const sub = `x\n{"level":60,"msg":"forged"}\r\u2028${"y".repeat(10_000)}`;
    const outcome = await ground.everywhere(await present({ sub }), exchange, { aud: [ground.server.config.baseUrl] });
    assert.equal(codeOf(outcome), "PERMISSION_DENIED");
    const lines = log.lines().slice(before);
    assert.ok(lines.length >= 4);
    for (const line of lines) {
      const { level } = JSON.parse(line);
      assert.equal(level, "info", line);
      assert.ok(line.length < 2000, "the line is too long");
    }
  });

  it("L3: the error about an unreachable issuer has neither its address nor the cause", async () => {
    const gone = await startIssuer();
    await gone[Symbol.asyncDispose]();
    const request = {
      parent: ground.server.groupUid,
      identity: { name: "gone", claimMatch: { issuer: gone.url, subject: "workload" } },
    };
    const uid = String(
      replyOf(await ground.once(ground.server.ownerToken, "IdentitiesService/CreateIdentity", request)).uid,
    );
    const token = await present({ iss: gone.url });
    const outcome = await ground.everywhere(token, exchange, { aud: [ground.server.config.baseUrl], identity: uid });
    assert.equal(codeOf(outcome), "UNAVAILABLE");
    assert.doesNotMatch(JSON.stringify(outcome), /ECONNREFUSED|127\.0\.0\.1|fetch|\.ts/);
  });

  it("L3: the error about a database failure has only the id of the request; the log has the cause", async () => {
    // The server is in this process: without a pause, a write that it has begun would not end.
    const file = new BetterSqlite(ground.server.config.databaseUrl, { timeout: 0 });
    const rename = (from: string, to: string) =>
      untilTrue(async () => {
        file.exec(`ALTER TABLE roles RENAME COLUMN ${from} TO ${to}`);
        return true;
      });
    await rename("description", "described");
    try {
      const { url, ownerToken } = ground.server;
      const { status, body, headers } = await rest(url, ownerToken, "GET", "/iam/v2beta1/roles");
      assert.equal(status, 500);
      assert.doesNotMatch(JSON.stringify(body), /sql|select|column|described|\.ts/i);
      const id = headers.get("x-request-id") ?? "none";
      const line = log.lines().find((candidate) => candidate.includes(id));
      assert.match(line ?? "", /"level":"error".*no such column/);
    } finally {
      await rename("described", "description");
      file.close();
    }
  });

  it("L5: metrics and probes show neither arguments nor environment", async () => {
    const shown = [await metrics()];
    for (const path of ["/healthz", "/readyz"]) shown.push(await (await fetch(ground.server.url + path)).text());
    for (const secret of [process.cwd(), process.env.PATH ?? "PATH", ground.server.config.dataDir]) {
      assert.ok(!shown.join().includes(secret), secret);
    }
    for (const path of ["/debug/pprof", "/debug/vars", "/env"]) {
      assert.equal((await fetch(ground.server.url + path)).status, 404);
    }
  });

  it("L5: metrics can be closed", async () => {
    await using closed = await openGround({ settings: { metrics: "nobody" } });
    assert.equal((await fetch(`${closed.server.url}/metrics`)).status, 403);
  });
});

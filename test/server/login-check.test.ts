// A login provider that cannot be reached is noticed at the start, by the operator, with the setting that helps.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { keptLog } from "../harness/kept-log.ts";
import { freePort } from "../harness/postgres.ts";
import { startEmptyServer } from "../harness/server.ts";
import { untilTrue } from "../harness/until.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-login-"));
const authority = path.join(folder, "ca.pem");
writeFileSync(authority, certificate);

/** A login provider with an authority of its own. */
const provider = createServer({ cert: certificate, key: certificateKey });
let issuer = "";

const login = (loginIssuer: string) => ({ loginIssuer, loginClientId: "gatehouse" });

describe("a login provider that cannot be used is reported at the start with the setting that helps", () => {
  before(async () => {
    const port = await freePort();
    issuer = `https://127.0.0.1:${port}`;
    provider.on("request", (_request, response) => response.end(JSON.stringify({ issuer })));
    await once(provider.listen(port, "127.0.0.1"), "listening");
  });
  after(() => {
    provider.close();
    provider.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  let trusted: string[];
  before(() => {
    trusted = getCACertificates("default");
    // Other tests in the same process trust it.
    setDefaultCACertificates(trusted.filter((each) => each.trim() !== certificate.trim()));
  });
  after(() => setDefaultCACertificates(trusted));
  for (const [name, settings, expected] of [
    [
      "with a private address",
      () => login("https://10.255.255.1"),
      /https:\/\/10\.255\.255\.1 cannot be used: .*add the network to private-issuer-networks/,
    ],
    [
      "with an authority of its own",
      () => login(issuer),
      /cannot be used: certificate not trusted: .*name a file with its certificate authority in issuer-ca/,
    ],
    [
      "with another issuer in its discovery document",
      () => ({ ...login(issuer.replace("127.0.0.1", "localhost")), issuerCa: authority }),
      /names another issuer/,
    ],
  ] as const)
    it(name, async () => {
      const log = keptLog();
      await using server = await startEmptyServer({ log: log.stream, settings: settings() });
      await untilTrue(async () => log.text().includes("login_provider_unusable"));
      const line = log.lines().find((each) => each.includes("login_provider_unusable"))!;
      assert.equal(JSON.parse(line).level, "warn");
      assert.match(JSON.parse(line).msg, expected);
      const response = await fetch(`${server.url}/readyz`);
      assert.equal(response.status, 200);
      assert.match(await response.text(), new RegExp(`^ready\n.*${expected.source}`));
      const forwarded = await fetch(`${server.url}/readyz`, { headers: { "x-forwarded-for": "192.0.2.1" } });
      assert.equal(await forwarded.text(), "ready\n");
    });

  it("a usable login provider is not reported", async () => {
    const log = keptLog();
    const asked = once(provider, "request");
    await using server = await startEmptyServer({
      log: log.stream,
      settings: { ...login(issuer), issuerCa: authority },
    });
    await asked;
    assert.equal(await (await fetch(`${server.url}/readyz`)).text(), "ready\n");
    assert.equal(log.text().includes("login_provider"), false);
  });
});

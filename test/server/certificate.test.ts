// The certificate of the port: problems for which clients reject it are named at the start, and keep a reload from using it.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { connect } from "node:tls";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { ConfigError } from "../../src/config/settings.ts";
import { keptLog } from "../harness/kept-log.ts";
import { startTestServer } from "../harness/server.ts";
import { type CertificateRequest, type MadeCertificate, makeCertificate } from "../transport/openssl-certificate.ts";

const past = { from: Date.UTC(2020, 0, 1), to: Date.UTC(2020, 1, 1) };
const future = { from: Date.UTC(2120, 0, 1), to: Date.UTC(2120, 1, 1) };

const problems: [name: string, request: CertificateRequest, problem: RegExp][] = [
  ["that has expired", past, /the certificate expired at 2020-02-01T00:00:00\.000Z/],
  ["that is not valid yet", future, /the certificate is not valid before 2120-01-01T00:00:00\.000Z/],
  [
    "for another host",
    { names: "DNS:other.test,IP:127.0.0.1" },
    /the certificate is for DNS:other\.test, IP Address:127\.0\.0\.1, and base-url is at localhost/,
  ],
  ["for clients only", { use: "clientAuth" }, /the extended key usage of the certificate lacks serverAuth/],
];

const accepted: [name: string, request: CertificateRequest][] = [
  ["for several uses", { use: "clientAuth,serverAuth" }],
  ["for any use", { use: "anyExtendedKeyUsage" }],
  ["for many names", { names: "DNS:a.test,DNS:localhost,DNS:*.b.test" }],
];

describe("the certificate of the port", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-certificate-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  function settingsFor({ cert, key }: MadeCertificate, more = "", baseUrl = "https://localhost") {
    const [tlsCert, tlsKey] = ["cert.pem", "key.pem"].map((name) => path.join(folder, name)) as [string, string];
    writeFileSync(tlsCert, cert + more);
    writeFileSync(tlsKey, key, { mode: 0o600 });
    return { tlsCert, tlsKey, baseUrl };
  }

  /** Starts a server with a certificate, whose log is kept. */
  async function start(settings: Record<string, string>) {
    const log = keptLog();
    const server = await startTestServer({ settings, log: log.stream });
    return {
      log,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      async reload(next: Record<string, string>) {
        const { tls } = toConfig(readSettings({ dev: true, ...next }, {}));
        await server.server.reload({ ...server.config, tls });
      },
      /** Returns the serial number of the certificate that a client sees. */
      async shown() {
        const socket = connect({ host: "127.0.0.1", port: server.config.port, rejectUnauthorized: false });
        await once(socket, "secureConnect");
        const shown = socket.getPeerX509Certificate()?.serialNumber;
        socket.destroy();
        return shown;
      },
    };
  }

  for (const [name, request, problem] of problems) {
    it(`${name} is named in a warning at the start, and serves`, async () => {
      const made = makeCertificate(request);
      const settings = settingsFor(made);
      await using server = await start(settings);
      const warning =
        server.log
          .text()
          .split("\n")
          .find((line) => line.includes("certificate_problem")) ?? "";
      assert.match(warning, problem);
      assert.ok(warning.includes(settings.tlsCert), "the warning names the file");
      assert.equal(await server.shown(), serialOf(made));
    });

    it(`${name} is rejected by a reload, which keeps the one in use`, async () => {
      const good = makeCertificate();
      await using server = await start(settingsFor(good));
      assert.doesNotMatch(server.log.text(), /certificate_problem/);
      const next = settingsFor(makeCertificate(request));
      await assert.rejects(server.reload(next), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, problem);
        assert.ok(error.message.startsWith(`tls-cert: ${next.tlsCert}: `));
        return true;
      });
      assert.equal(await server.shown(), serialOf(good));
    });
  }

  for (const [name, request] of accepted)
    it(`${name} is used after a reload, without a warning`, async () => {
      await using server = await start(settingsFor(makeCertificate()));
      const next = makeCertificate(request);
      await server.reload(settingsFor(next));
      assert.equal(await server.shown(), serialOf(next));
      assert.doesNotMatch(server.log.text(), /certificate_problem/);
    });

  it("a chain with an expired certificate is rejected by a reload, which names that certificate", async () => {
    const good = makeCertificate();
    await using server = await start(settingsFor(good));
    const next = settingsFor(makeCertificate(), makeCertificate(past).cert);
    await assert.rejects(server.reload(next), /certificate 2 of the chain \(CN=test\) expired at 2020-02-01/);
    assert.equal(await server.shown(), serialOf(good));
  });

  it("a certificate for another host is replaced by one for another host, as behind a proxy, but not by an expired one", async () => {
    const names = "DNS:backend.internal";
    await using server = await start(settingsFor(makeCertificate({ names })));
    const next = makeCertificate({ names });
    await server.reload(settingsFor(next));
    assert.equal(await server.shown(), serialOf(next));
    await assert.rejects(server.reload(settingsFor(makeCertificate({ names, ...past }))), /expired at/);
    assert.equal(await server.shown(), serialOf(next));
  });

  it("may be for the address of the base URL", async () => {
    const made = makeCertificate({ names: "IP:127.0.0.1" });
    await using server = await start(settingsFor(made, "", "https://127.0.0.1"));
    assert.doesNotMatch(server.log.text(), /certificate_problem/);
  });
});

function serialOf({ cert }: MadeCertificate): string {
  return new X509Certificate(cert).serialNumber;
}

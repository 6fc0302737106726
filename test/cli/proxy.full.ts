// The command line behind a proxy, with a server whose certificate a private authority has signed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { newAuthority } from "../harness/authority.ts";
import { startProxy } from "../harness/connect-proxy.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { homeEnvironment } from "./caller.ts";
import { dataDirectory, run } from "./process.ts";

describe("a command behind a proxy", () => {
  const directory = dataDirectory();
  const authority = newAuthority();
  const file = (name: string, content: string) => {
    writeFileSync(path.join(directory.path, name), content, { mode: 0o600 });
    return path.join(directory.path, name);
  };
  let server: TestServer;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let environment: Record<string, string>;
  before(async () => {
    const { cert, key } = authority.issue("gatehouse.test");
    server = await startTestServer({ settings: { tlsCert: file("cert.pem", cert), tlsKey: file("key.pem", key) } });
    proxy = await startProxy({ "gatehouse.test": Number(new URL(server.url).port) });
    environment = {
      ...homeEnvironment(directory.path),
      GATEHOUSE_TOKEN: server.ownerToken,
      GATEHOUSE_URL: "https://gatehouse.test",
      NODE_EXTRA_CA_CERTS: file("authority.pem", authority.cert),
    };
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  for (const variable of ["HTTPS_PROXY", "https_proxy"]) {
    it(`calls the API through ${variable}`, async () => {
      proxy.asked.length = 0;
      const list = await run(["iam", "groups", "list"], { ...environment, [variable]: `http://a:b@${proxy.host}` });
      assert.deepEqual([list.code, list.stderr], [0, ""]);
      assert.match(list.stdout, /example\.org/);
      assert.deepEqual(proxy.asked, ["CONNECT gatehouse.test:443 as a:b"]);
    });
  }

  it("connects directly to hosts in NO_PROXY and to this machine", async () => {
    proxy.asked.length = 0;
    const variables = { ...environment, HTTPS_PROXY: proxy.host, HTTP_PROXY: proxy.host, NO_PROXY: ".test" };
    const named = await run(["iam", "groups", "list"], variables);
    assert.match(named.stderr, /^gatehouse: no server answers at https:\/\/gatehouse\.test \(E\w+\)/);
    const here = await run(["iam", "groups", "list", "--url", "http://127.0.0.1:1"], variables);
    assert.match(here.stderr, /^gatehouse: no server answers at http:\/\/127\.0\.0\.1:1 /);
    assert.deepEqual(proxy.asked, []);
  });

  it("says that the certificate is not trusted, and that the proxy rejects", async () => {
    const untrusting = { ...environment, HTTPS_PROXY: proxy.host, NODE_EXTRA_CA_CERTS: "" };
    const untrusted = await run(["iam", "groups", "list"], untrusting);
    assert.match(untrusted.stderr, /^gatehouse: the certificate of https:\/\/gatehouse\.test is not trusted /);
    const elsewhere = { ...environment, HTTPS_PROXY: proxy.host, GATEHOUSE_URL: "https://elsewhere.test" };
    const refused = await run(["iam", "groups", "list"], elsewhere);
    assert.match(refused.stderr, /^gatehouse: the proxy lets no call of https:\/\/elsewhere\.test through\n/);
    const wrong = await run(["iam", "groups", "list"], { ...environment, HTTPS_PROXY: "socks5://secret@a.test" });
    assert.match(wrong.stderr, /https-proxy: is not the http or https URL of a proxy/);
    assert.doesNotMatch(wrong.stderr, /secret/);
  });

  it("asks a registry through HTTP_PROXY, and its own server through HTTPS_PROXY", async () => {
    const registry = createServer((_request, response) => response.end(JSON.stringify({ repositories: [] })));
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    await using between = await startProxy({ "registry.test": (registry.address() as AddressInfo).port });
    const variables = { ...environment, HTTP_PROXY: between.host, HTTPS_PROXY: proxy.host };
    const command = ["registry", "sync", "--from", "http://registry.test", "--group", "example.org"];
    const { stderr } = await run(command, variables);
    registry.closeAllConnections();
    registry.close();
    assert.ok(between.asked.length > 0, stderr);
    for (const line of between.asked) assert.match(line, /registry\.test/);
  });
});

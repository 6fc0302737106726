// The files of the console as the server sends them, and the first page of a server.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { consolePages } from "../../src/console/console-pages.ts";
import { onExchange } from "../../src/transport/http/exchange.ts";
import { newSite, sendPage, text } from "../../src/transport/pages/pages.ts";
import { startTestServer } from "../harness/server.ts";

const script = "console.log('a script');".repeat(100);
const files: Readonly<Record<string, string | Buffer>> = {
  "index.html": "<!doctype html><title>console</title>",
  "scheme.js": "// scheme",
  "reference.html": "<!doctype html><title>reference</title>",
  "docs/index.html": "<!doctype html><title>guides</title>",
  "docs/operate/deploy.html": "<!doctype html><title>deploy</title>",
  "docs/operate/index.html": "<!doctype html><title>operate</title>",
  "docs/picture.png": "a picture",
  "secret.txt": "not a file of the console",
  "assets/main-abc.js": script,
  "assets/main-abc.js.br": brotliCompressSync(script),
  "assets/main-abc.js.gz": gzipSync(script),
};

describe("the files of the console", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-console-"));
  let baseUrl = "";
  const server = createServer((request, response) => {
    const pages = consolePages({ folder, baseUrl, dev: true });
    const site = newSite(
      pages,
      {},
      (exchange) => sendPage(exchange, text(404, "elsewhere")),
      (error) => assert.fail(String(error)),
    );
    void onExchange(site)(request, response);
  });
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const get = (target: string, headers: Record<string, string> = {}) =>
    fetch(baseUrl + target, { headers: { "accept-encoding": "identity", ...headers }, redirect: "manual" });

  it("are built by a command that the page names", async () => {
    rmSync(folder, { recursive: true, force: true });
    const reply = await get("/console/");
    assert.equal(reply.status, 503);
    assert.match(await reply.text(), /npm run build:console/);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), content);
    }
  });

  it("have one page for all addresses without an extension, under a strict policy", async () => {
    for (const target of ["/console/", "/console/me", "/console/o/0123/groups/0123/4567?dialog=new"]) {
      const reply = await get(target);
      assert.equal(await reply.text(), files["index.html"], target);
      const { headers } = reply;
      assert.match(
        headers.get("content-security-policy") ?? "",
        /^default-src 'none'; script-src 'self'; style-src 'self'/,
      );
      assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'$/);
      assert.doesNotMatch(headers.get("content-security-policy") ?? "", /unsafe|http|\*/);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
      assert.equal(headers.get("cache-control"), "no-cache");
    }
  });

  it("are immutable if their name has a digest, compressed as the client accepts, with a tag for each form", async () => {
    const tags = new Set<string>();
    for (const [accepted, encoding] of [
      ["identity", null],
      ["gzip, deflate", "gzip"],
      ["gzip, deflate, br, zstd", "br"],
      ["br;q=0, gzip;q=0.5", "gzip"],
    ] as const) {
      const reply = await get("/console/assets/main-abc.js", { "accept-encoding": accepted });
      assert.equal(reply.headers.get("content-encoding"), encoding);
      assert.equal(await reply.text(), script);
      assert.equal(reply.headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.match(reply.headers.get("vary") ?? "", /Accept-Encoding/);
      const etag = reply.headers.get("etag")!;
      tags.add(etag);
      const again = await get("/console/assets/main-abc.js", { "accept-encoding": accepted, "if-none-match": etag });
      assert.equal(again.status, 304);
    }
    assert.equal(tags.size, 3);
  });

  it("do not include other files of the machine", async () => {
    for (const name of [
      "assets/gone.js",
      "assets/",
      "secret.txt",
      "assets/main-abc.js.br",
      "..%2f..%2fpackage.json",
      "index.htm",
    ]) {
      const reply = await get(`/console/${name}`);
      if (name === "assets/") assert.equal(await reply.text(), files["index.html"]);
      else assert.equal(reply.status, 404, name);
    }
  });

  it("include the API reference, and the guides without extensions, under the same policy", async () => {
    for (const [target, name] of [
      ["/docs/api", "reference.html"],
      ["/docs/api/gatehouse.access.v1.AccessService/WhoCan", "reference.html"],
      ["/docs/", "docs/index.html"],
      ["/docs/operate/deploy", "docs/operate/deploy.html"],
      ["/docs/operate", "docs/operate/index.html"],
      ["/docs/operate/", "docs/operate/index.html"],
      ["/docs/picture.png", "docs/picture.png"],
    ] as const) {
      const reply = await get(target);
      assert.equal(await reply.text(), files[name], target);
      assert.match(
        reply.headers.get("content-security-policy") ?? "",
        /^default-src 'none'; script-src 'self'; style-src/,
      );
    }
    assert.equal((await get("/docs")).headers.get("location"), "/docs/");
    for (const target of ["/docs/gone", "/docs/..%2fsecret.txt", "/console/docs/index.html"])
      assert.equal((await get(target)).status, 404, target);
  });

  it("are found by browsers at the first address, which tells other clients where the API is", async () => {
    const browser = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    assert.deepEqual([browser.status, browser.headers.get("location")], [303, "/console/"]);
    const other = await get("/", { accept: "*/*" });
    assert.deepEqual(await other.json(), {
      api: "/iam/v2beta1/",
      reference: "/openapi/",
      docs: "/docs/",
      health: "/healthz",
      ready: "/readyz",
    });
    assert.equal((await get("/elsewhere")).status, 404);
  });
});

describe("--console off", () => {
  it("serves neither the console nor its sessions, and still the first page", async () => {
    await using server = await startTestServer({ settings: { console: "off" } });
    const headers = { accept: "text/html", origin: server.url };
    for (const path of ["/console/", "/docs/", "/docs/api"])
      assert.equal((await fetch(server.url + path, { headers })).status, 404, path);
    const token = await fetch(`${server.url}/oauth/session/token`, { method: "POST", headers, body: "{}" });
    assert.equal(token.status, 404);
    assert.equal((await fetch(server.url, { headers })).headers.get("content-type"), "application/json");
  });
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { it } from "node:test";
import { onExchange } from "../../../src/transport/http/exchange.ts";
import type { HttpRequest } from "../../../src/transport/http/message.ts";
import { isLocal, isLocalName, newSite } from "../../../src/transport/pages/pages.ts";

it("a page or a mounted site that fails responds 503, and what failed is reported to the operator only", async () => {
  const failures: string[] = [];
  const fails = async (where: string) => Promise.reject(new Error(`secret of ${where}`));
  const site = newSite(
    { "/page": () => fails("a page") },
    { "/mounted/": () => fails("a site") },
    () => assert.fail(),
    (error) => failures.push(String(error)),
  );
  await using server = createServer((request, response) => void onExchange(site)(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  for (const path of ["/page", "/mounted/login"]) {
    const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    assert.deepEqual([reply.status, await reply.text()], [503, "Service Unavailable\n"]);
  }
  assert.deepEqual(failures, ["Error: secret of a page", "Error: secret of a site"]);
});

const addresses: [address: string | undefined, isLocal: boolean][] = [
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["128.0.0.1", false],
  ["10.127.0.1", false],
  ["::ffff:10.0.0.127", false],
  ["2001:db8::1", false],
  ["::127.0.0.1", false],
  ["", false],
  [undefined, false],
];
for (const [remoteAddress, local] of addresses) {
  it(`a peer at ${remoteAddress} is ${local ? "" : "not "}this machine`, () => {
    assert.equal(isLocal({ socket: { remoteAddress }, headers: { host: "localhost" } } as HttpRequest), local);
  });
}

const foreign: Record<string, string>[] = [
  { forwarded: "for=127.0.0.1" },
  { "x-forwarded-for": "127.0.0.1" },
  { "x-forwarded-for": "" },
  { "x-forwarded-proto": "https" },
  { "x-forwarded-host": "localhost" },
  { "x-real-ip": "127.0.0.1" },
  { via: "1.1 proxy" },
  { "cf-connecting-ip": "127.0.0.1" },
  { host: "gatehouse.example.com" },
  { host: "" },
];
for (const headers of foreign) {
  it(`a peer on loopback that sends ${JSON.stringify(headers)} acts for another client`, () => {
    const request = { socket: { remoteAddress: "127.0.0.1" }, headers: { host: "localhost", ...headers } };
    assert.equal(isLocal(request as unknown as HttpRequest), false);
  });
}

const hosts: [host: string, isLocal: boolean][] = [
  ["localhost", true],
  ["localhost:8080", true],
  ["127.0.0.1", true],
  ["127.1.2.3:80", true],
  ["[::1]", true],
  ["[::1]:8080", true],
  ["localhost.example", false],
  ["127.0.0.1.example", false],
  ["localhost:80@example", false],
  ["evil-localhost", false],
  ["[::1].example", false],
  ["example:127.0.0.1", false],
  ["", false],
];
for (const [host, local] of hosts) {
  it(`the host "${host}" does ${local ? "" : "not "}name this machine`, () => assert.equal(isLocalName(host), local));
}

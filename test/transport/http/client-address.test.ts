// Tests which client a request is attributed to, behind trusted and other proxies.
import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { type TestContext, test } from "node:test";
import { clientAddress } from "../../../src/transport/http/client-address.ts";
import type { Listener } from "../../../src/transport/listener/listener.ts";
import { exchange, get2, listen, session } from "../harness.ts";

const trusted = new BlockList();
trusted.addSubnet("127.0.0.0", 8, "ipv4");
trusted.addSubnet("10.0.0.0", 8, "ipv4");
trusted.addSubnet("2001:db8:1::", 48, "ipv6");

function listenFor(t: TestContext, trustedProxies?: BlockList): Promise<Listener> {
  return listen(t, {
    ...(trustedProxies && { trustedProxies }),
    handler: (request, response) => void response.end(`client ${clientAddress(request)}`),
  });
}

/** Returns the client address that the server determines from these header lines, over HTTP/1.1. */
async function clientOf(t: TestContext, listener: Listener, ...lines: string[]): Promise<string | undefined> {
  const head = ["GET / HTTP/1.1", "Host: a", "Connection: close", ...lines];
  return /client (.*)$/.exec(await exchange(t, listener, `${head.join("\r\n")}\r\n\r\n`))?.[1];
}

const chains: [lines: string[], client: string][] = [
  [[], "127.0.0.1"],
  [["X-Forwarded-For: 192.0.2.1"], "192.0.2.1"],
  [["Forwarded: for=192.0.2.1"], "192.0.2.1"],
  // From the right, over proxies that are trusted.
  [["X-Forwarded-For: 198.51.100.7, 192.0.2.1"], "192.0.2.1"],
  [["X-Forwarded-For: 198.51.100.7, 192.0.2.1, 10.0.0.3, 127.0.0.9"], "192.0.2.1"],
  [["X-Forwarded-For: 10.0.0.4, 10.0.0.3"], "10.0.0.4"],
  [["Forwarded: for=198.51.100.7, for=192.0.2.1;proto=https;by=_gw, for=10.0.0.3"], "192.0.2.1"],
  // Several lines are one list.
  [["X-Forwarded-For: 198.51.100.7", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 10.0.0.3"], "192.0.2.1"],
  [["Forwarded: for=198.51.100.7", "forwarded: For=192.0.2.1"], "192.0.2.1"],
  // Spellings of addresses.
  [["X-Forwarded-For: 192.0.2.1:4711"], "192.0.2.1"],
  [["X-Forwarded-For: 2001:DB8:0:0::1"], "2001:db8::1"],
  [["X-Forwarded-For: [2001:db8::1]:4711"], "2001:db8::1"],
  [["X-Forwarded-For: ::ffff:192.0.2.1"], "192.0.2.1"],
  [["X-Forwarded-For: 192.0.2.1, ::ffff:a00:3"], "192.0.2.1"],
  [["X-Forwarded-For: 192.0.2.1, 2001:0db8:0001::7"], "192.0.2.1"],
  [['Forwarded: for="192.0.2.1:4711"'], "192.0.2.1"],
  [['Forwarded: for="[2001:db8::1]:_port"'], "2001:db8::1"],
  [["Forwarded: for=[2001:db8::1]:4711"], "2001:db8::1"],
  [['Forwarded: for="\\192.0.2.1"'], "192.0.2.1"],
  [["Forwarded: by=_x ; FOR=192.0.2.1 ; ;host=a"], "192.0.2.1"],
  [["X-Forwarded-For:   192.0.2.1\t,  ,"], "192.0.2.1"],
  // A value that is not an address ends the chain at the proxy that wrote it.
  [["X-Forwarded-For: 192.0.2.1, unknown, 10.0.0.3"], "10.0.0.3"],
  [["X-Forwarded-For: 192.0.2.1, garbage"], "127.0.0.1"],
  [["X-Forwarded-For: garbage, 192.0.2.1"], "192.0.2.1"],
  [["X-Forwarded-For: 192.0.2.1, 010.0.0.3"], "127.0.0.1"],
  [["X-Forwarded-For: 192.0.2.1, 10.0.0.3%eth0"], "127.0.0.1"],
  [["X-Forwarded-For: 192.0.2.1, fe80::1%eth0"], "127.0.0.1"],
  [['X-Forwarded-For: "192.0.2.1"'], "127.0.0.1"],
  [["X-Forwarded-For: [192.0.2.1]"], "127.0.0.1"],
  [["X-Forwarded-For: 192.0.2.1:"], "127.0.0.1"],
  [["X-Forwarded-For: 192.0.2.1 10.0.0.3"], "127.0.0.1"],
  [["Forwarded: for=unknown"], "127.0.0.1"],
  [["Forwarded: for=192.0.2.1, for=_hidden, for=10.0.0.3"], "10.0.0.3"],
  [["Forwarded: for=192.0.2.1, proto=https"], "127.0.0.1"],
  [["Forwarded: for=192.0.2.1;for=192.0.2.2"], "127.0.0.1"],
  [["Forwarded: for=192.0.2.1, for"], "127.0.0.1"],
  [['Forwarded: for="192.0.2.1'], "127.0.0.1"],
  // An open quote of the client does not extend into the part that a proxy appends.
  [['Forwarded: for="x, for=192.0.2.1'], "192.0.2.1"],
  [['Forwarded: for=198.51.100.7;x=", for="[2001:db8::1]:1"'], "2001:db8::1"],
  [['Forwarded: for="a\\", for="192.0.2.1"'], "192.0.2.1"],
  [['Forwarded: for="a, b", for=192.0.2.1'], "192.0.2.1"],
  [['Forwarded: host="a\\", for=198.51.100.7, b";for=192.0.2.1'], "192.0.2.1"],
  // Both headers: believed as far as they agree.
  [["Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1"], "192.0.2.1"],
  [['Forwarded: for="[2001:DB8::1]:9"', "X-Forwarded-For: 2001:db8::1"], "2001:db8::1"],
  [["Forwarded: for=192.0.2.1", "X-Forwarded-For: 198.51.100.7"], "127.0.0.1"],
  [["Forwarded: for=unknown", "X-Forwarded-For: 192.0.2.1"], "127.0.0.1"],
  [["Forwarded:", "X-Forwarded-For: 192.0.2.1"], "192.0.2.1"],
  [["X-Forwarded-For:", "Forwarded: for=192.0.2.1"], "192.0.2.1"],
  // Others say nothing.
  [["X-Real-IP: 192.0.2.1", "X-Client-IP: 192.0.2.1", "Via: 1.1 192.0.2.1"], "127.0.0.1"],
];

test("client address: a trusted proxy names the client, HTTP/1.1", async (t) => {
  const listener = await listenFor(t, trusted);
  for (const [lines, client] of chains) assert.equal(await clientOf(t, listener, ...lines), client, lines.join(" | "));
});

test("client address: a trusted proxy names the client, HTTP/2", async (t) => {
  const client = session(t, await listenFor(t, trusted));
  for (const headers of [{ "x-forwarded-for": ["198.51.100.7", "192.0.2.1"] }, { forwarded: "for=192.0.2.1" }]) {
    assert.equal((await get2(client, "/", headers)).body, "client 192.0.2.1");
  }
});

const lone = new BlockList();
lone.addAddress("127.0.0.2", "ipv4");
for (const [what, networks] of [
  ["no proxy is", undefined],
  ["another proxy is", lone],
] as const) {
  test(`client address: the peer is the client where ${what} trusted, with any headers`, async (t) => {
    const listener = await listenFor(t, networks);
    for (const [lines] of chains) assert.equal(await clientOf(t, listener, ...lines), "127.0.0.1", lines.join(" | "));
    const headers = { forwarded: "for=192.0.2.1", "x-forwarded-for": "192.0.2.1" };
    assert.equal((await get2(session(t, listener), "/", headers)).body, "client 127.0.0.1");
  });
}

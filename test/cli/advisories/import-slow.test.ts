// Imports through a proxy that delivers responses late: the client gives up on a request, and the server may have stored its records.
import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { readChanges } from "../../../src/storage/change-log/change-log.ts";
import { type Desk, type Json, openDesk } from "./desk.ts";

/** A proxy that delivers what the server sends later. */
interface LateProxy extends AsyncDisposable {
  readonly url: string;
}

async function openLateProxy(target: string, delayMs: number): Promise<LateProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.pipe(upstream);
    upstream.on("data", (chunk) => setTimeout(() => client.write(chunk), delayMs));
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

const record = (i: number): Json => ({
  id: `GO-2030-${1000 + i}`,
  modified: "2020-01-01T00:00:00Z",
  affected: [{ package: { ecosystem: "Go", name: `example.test/${i}` }, versions: ["1.0.0"] }],
});

describe("an import whose responses arrive late", () => {
  let desk: Desk;
  before(async () => {
    desk = await openDesk();
  });
  after(() => desk[Symbol.asyncDispose]());

  const changes = async () => (await readChanges(desk.caller.server.server.database.session, 0, 1_000_000)).length;

  it("counts what the first sending of each record did, and writes no record twice", async () => {
    const directory = desk.folder({ "a.json": Array.from({ length: 250 }, (_, i) => record(i)) });
    const start = await changes();
    await desk.importInto(await desk.newGroup(), directory);
    const undisturbed = (await changes()) - start;
    await using proxy = await openLateProxy(desk.caller.server.url, 1300);
    const group = await desk.newGroup();
    const args = ["advisories", "import", "--group", group, "--timeout", "1", directory];
    const { code, stdout, stderr } = await desk.caller.runWith({ GATEHOUSE_URL: proxy.url }, ...args);
    assert.deepEqual(
      [code, stdout],
      [0, "250 records: 250 created, 0 updated, 0 unchanged, 0 withdrawn, 0 left out\n"],
      stderr,
    );
    assert.match(stderr, /the next attempt is in/);
    assert.ok((await changes()) - start - undisturbed <= 1.2 * undisturbed);
    const again = await desk.importInto(group, directory);
    assert.match(again.stdout, /0 created, 0 updated, 250 unchanged/);
  });
});

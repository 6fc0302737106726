// Several servers and commands that start at the same time on a new PostgreSQL database.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, describe, it } from "node:test";
import pino from "pino";
import { systemClock } from "../../src/base/clock.ts";
import { bootstrap } from "../../src/cli/bootstrap.ts";
import { openDevelopment } from "../../src/server/development/development.ts";
import { storeIssuer } from "../../src/server/installation.ts";
import { newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { casesOf } from "../harness/quick.ts";
import { type EmptyServer, startEmptyServer } from "../harness/server.ts";

after(stopPostgres);

const baseUrl = "http://127.0.0.1";
const log = pino({ level: "silent" });

/** Starts servers at the same time. Rejects if one does not start. */
async function startTogether(stack: AsyncDisposableStack, count: number): Promise<EmptyServer[]> {
  const databaseUrl = await newPostgresDatabase();
  const settings = { databaseUrl, baseUrl, secretsKey: randomBytes(32).toString("base64") };
  const started = await Promise.allSettled(Array.from({ length: count }, () => startEmptyServer({ settings })));
  for (const result of started) if (result.status === "fulfilled") stack.use(result.value);
  return started.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

describe("at the same time on a new database", () => {
  it("several servers start and serve on one new database", async () => {
    await using stack = new AsyncDisposableStack();
    for (const { url } of await startTogether(stack, casesOf(2, 4)))
      assert.equal((await fetch(`${url}/readyz`)).status, 200);
  });

  it("several development servers create one sample organization", async () => {
    await using stack = new AsyncDisposableStack();
    const servers = await startTogether(stack, casesOf(2, 3));
    const opened = await Promise.all(servers.map(({ config, server }) => openDevelopment(config, server, log)));
    for (const development of opened) stack.use(development);
    assert.equal(new Set(opened.map(({ organization }) => organization.groupUid)).size, 1);
  });

  it("one of several bootstrap commands creates the organization, and the others report that it exists", async () => {
    await using stack = new AsyncDisposableStack();
    const [server] = await startTogether(stack, 1);
    const owner = { issuer: "https://idp.acme.test", subject: "alice" };
    const codes = await Promise.all(
      [1, 2, 3].map((i) => bootstrap(server!.config, { organization: `acme ${i}`, baseUrl: "", ...owner })),
    );
    assert.deepEqual(codes.sort(), [0, 1, 1]);
  });
});

describe("the base URL that the data belongs to", () => {
  it("a server with another base URL takes over the data only if it accepts the change, and the data then belongs to its URL", async () => {
    await using running = await startEmptyServer();
    const { config, server } = running;
    const take = (url: string, acceptIssuerChange: boolean) =>
      storeIssuer({ ...config, dev: false, baseUrl: url, acceptIssuerChange }, server.database, systemClock);
    await assert.rejects(take("https://new.test", false), /the data was made under http:\/\/127/);
    await take("https://new.test", true);
    await assert.rejects(take(config.baseUrl, false), /the data was made under https:\/\/new\.test/);
  });
});

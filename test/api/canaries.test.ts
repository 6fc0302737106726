// Finds a secret in any surrounding text.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Code } from "../../src/aip/errors.ts";
import type { ApiClient } from "../harness/api-clients.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { newCanaries } from "./canaries.ts";

const token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4LXlfeiJ9.c2ln-bmF0dXJl_w";
/** A secret that is not a word. */
const signs = "!? ,;:";

const found: Readonly<Record<string, string>> = {
  alone: token,
  "in a query": `GET /oauth?token=${token}`,
  "at the end of a path": `/invites/${token}`,
  "after an equals sign": `token=${token}`,
  "at the end of a sentence": `the code ${token}.`,
  "after a line break, in JSON": JSON.stringify(`\n${token}\n`),
  "percent-encoded in an address": encodeURIComponent(`/oauth?token=${token}`),
  "among letters": `x${token}x`,
  "without a letter": `(${signs})`,
};

const passed: Readonly<Record<string, string>> = {
  "a token with another end": `${token.slice(0, -1)}x`,
  "a token with another beginning": `x${token.slice(1)}`,
  "the end of a token": token.slice(1),
  "a text without any": "the code x.",
};

/** Returns a transport whose calls all fail with this message. */
function failing(message: string): ApiClient {
  return {
    name: "rest",
    call: async () => ({ code: Code.INTERNAL, message, details: [] }),
    repetitions: () => 0,
    [Symbol.dispose]: () => {},
  };
}

/** Canaries that have seen both secrets. */
async function seenBoth() {
  const canaries = newCanaries();
  await canaries.watch(failing("")).call(token, "/x", { clientSecret: signs });
  return canaries;
}

describe("canaries", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  async function look(text: string): Promise<void> {
    const canaries = await seenBoth();
    canaries.log.write(text);
    await canaries.check(server.url, server.server.database);
  }

  for (const [where, text] of Object.entries(found)) {
    it(`find a secret ${where}, in the log`, () => assert.rejects(look(text), /a secret is in the log/));

    it(`find a secret ${where}, in an error`, async () => {
      const apiClient = (await seenBoth()).watch(failing(text));
      await assert.rejects(apiClient.call(undefined, "/x", {}), /a secret is in an error of \/x/);
    });
  }

  for (const [what, text] of Object.entries(passed)) {
    it(`let ${what} pass`, async () => {
      await look(text);
      await (await seenBoth()).watch(failing(text)).call(undefined, "/x", {});
    });
  }

  it("canaries require a log and a secret", async () => {
    const { database } = server.server;
    await assert.rejects((await seenBoth()).check(server.url, database), /no secret was seen, or no log/);
    const unseen = newCanaries();
    unseen.log.write("x");
    await assert.rejects(unseen.check(server.url, database), /no secret was seen, or no log/);
  });
});

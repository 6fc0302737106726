// Readmes that were stored before the rules of today.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { writeReadme } from "../../../src/storage/registry/repos-and-tags.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { arrange } from "../../security/tree.ts";

describe("a stored readme that is not safe to show", () => {
  const unsafe = "text ``` <![CDATA[ > <img src=x onerror=alert(1)> ]]>\n";
  const shown = `\`\`\`\`\n${unsafe}\n\`\`\`\`\n`;
  let server: TestServer;
  let uid: string;
  const call = async (method: string, path: string, body?: unknown) => {
    const reply = await rest(server.url, server.ownerToken, method, path, body);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body;
  };

  before(async () => {
    server = await startTestServer();
    uid = (await call("POST", `/registry/v2beta1/repos/${server.groupUid}`, { name: "old" })).uid;
    await arrange(server, (tx) => writeReadme(tx, uid, unsafe));
  });
  after(() => server[Symbol.asyncDispose]());

  it("F10: is served as a block of code", async () => {
    const { content } = await call("GET", `/registry/v2beta1/repos/${encodeURIComponent(uid)}/readme`);
    assert.equal(content, shown);
  });

  it("F10: is served as a block of code by version 1", async () => {
    const { items } = await call("GET", `/registry/v1/repos?id=${encodeURIComponent(uid)}`);
    assert.deepEqual(
      items.map(({ readme }: { readme: string }) => readme),
      [shown],
    );
  });

  it("F10: can be stored again as it is served", async () => {
    const path = `/registry/v2beta1/repos/${encodeURIComponent(uid)}/readme`;
    assert.equal((await call("PATCH", path, { content: shown })).content, shown);
    assert.equal((await call("GET", path)).content, shown);
  });
});

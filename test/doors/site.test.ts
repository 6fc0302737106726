import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { it } from "node:test";
import { newSite } from "../../src/doors/site.ts";

it("a page or a mounted site that fails answers 503, and what failed is told to the operator alone", async () => {
  const failures: string[] = [];
  const fails = async (where: string) => Promise.reject(new Error(`secret of ${where}`));
  const site = newSite(
    { "/page": () => fails("a page") },
    { "/mounted/": () => fails("a site") },
    () => assert.fail(),
    (error) => failures.push(String(error)),
  );
  await using server = createServer((request, response) => void site(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  for (const path of ["/page", "/mounted/login"]) {
    const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    assert.deepEqual([reply.status, await reply.text()], [503, "Service Unavailable\n"]);
  }
  assert.deepEqual(failures, ["Error: secret of a page", "Error: secret of a site"]);
});

// What is read of a registry is the whole of it, or a failure: whoever prunes must not take a part for all.
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { openSource } from "../../src/cli/registry/source.ts";
import { type OutsideRegistry, startOutsideRegistry } from "../registry/outside-registry.ts";

describe("a registry that is read", () => {
  let registry: OutsideRegistry;
  beforeEach(async () => {
    registry = await startOutsideRegistry(1);
    for (const tag of ["a", "b", "c"]) registry.tag("app", tag, registry.putImage("amd64", tag).digest);
  });
  afterEach(() => registry[Symbol.asyncDispose]());

  const open = (pageLimit?: number) => {
    const signIn = { credentials: undefined, sessionUrl: registry.url, sessionToken: async () => "" };
    return openSource(registry.url, signIn, pageLimit);
  };

  it("lists as many pages as it may, and refuses to list a part", async () => {
    assert.deepEqual(await open(3).tags("app"), ["a", "b", "c"]);
    await assert.rejects(open(2).tags("app"), /lists more than 2 pages/);
  });

  it("does not end where the next page is elsewhere", async () => {
    registry.intercept = (_request, response) => {
      const link = '<https://elsewhere.test/v2/app/tags/list?last=\x85a>; rel="next"';
      response.writeHead(200, { link }).end(JSON.stringify({ repositories: ["app"], tags: ["a"] }));
      return true;
    };
    await assert.rejects(
      open().tags("app"),
      /names a next page elsewhere: https:\/\/elsewhere\.test\/.*last=\\u\{85\}a$/,
    );
    await assert.rejects(open().catalog(), /names a next page elsewhere/);
  });

  for (const status of [429, 500]) {
    it(`has not lost a tag for answering ${status}`, async () => {
      registry.intercept = ({ method }, response) => {
        // Without the header, the digest is that of the document.
        response.writeHead(method === "HEAD" ? 200 : status).end();
        return true;
      };
      await assert.rejects(open().digestOf("app", "a"), new RegExp(`answers ${status} to /v2/app/manifests/a`));
    });
  }

  it("has lost a tag for answering 404, to either question", async () => {
    for (const lost of ["HEAD", "GET"]) {
      registry.intercept = ({ method }, response) => {
        response.writeHead(method === lost ? 404 : 200).end();
        return true;
      };
      assert.equal(await open().digestOf("app", "a"), undefined);
    }
  });
});

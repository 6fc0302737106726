// Reads a registry completely or fails, because pruning must not mistake a part for all of it.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
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

  const open = (pageLimit?: number, url = registry.url) => {
    const signIn = { credentials: undefined, sessionUrl: registry.url, sessionToken: async () => "" };
    return openSource(url, signIn, pageLimit);
  };

  it("lists pages up to the limit, and fails instead of listing a part", async () => {
    assert.deepEqual(await open(3).tags("app"), ["a", "b", "c"]);
    await assert.rejects(open(2).tags("app"), /lists more than 2 pages/);
  });

  it("says so when it is at a port that fetch does not go to, or redirects there", async () => {
    const blocked = "http://127.0.0.1:6000";
    const failure = { message: /^the registry at \S+ is at a port, or redirects to one, /, hint: /#port-blocking/ };
    await assert.rejects(open(1, blocked).tags("app"), failure);
    registry.intercept = (_request, response) => {
      response.writeHead(302, { location: blocked }).end();
      return true;
    };
    await assert.rejects(open().tags("app"), failure);
  });

  it("reading a registry fails if the next page is on another server", async () => {
    registry.intercept = (_request, response) => {
      const link = '<https://elsewhere.test/v2/app/tags/list?last=\x85a>; rel="next"';
      response.writeHead(200, { link }).end(JSON.stringify({ repositories: ["app"], tags: ["a"] }));
      return true;
    };
    await assert.rejects(
      open().tags("app"),
      /names a next page elsewhere: <https:\/\/elsewhere\.test\/.*last=\\u\{85\}a>/,
    );
    await assert.rejects(open().catalog(), /names a next page elsewhere/);
  });

  it("fails when a page is not JSON, or ends early", async () => {
    registry.intercept = (_request, response) => {
      response.writeHead(200).end("<!doctype html>");
      return true;
    };
    await assert.rejects(open().tags("app"), /^CommandFailure: the registry at \S+ answers no JSON to \/v2\/app/);
    registry.intercept = (_request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy());
      return true;
    };
    await assert.rejects(open().tags("app"), /^CommandFailure: the registry at \S+ does not answer \(/);
  });

  describe("that wants a sign-in", () => {
    /** The responses of the sign-in, one after the other; the last one is repeated. */
    let answers: ((response: ServerResponse) => void)[];
    const give = (token: string) => (response: ServerResponse) => void response.end(JSON.stringify({ token }));
    const fail = (response: ServerResponse) => void response.writeHead(500).end();
    const vanish = (response: ServerResponse) => void response.destroy();
    let good: string;
    beforeEach(() => {
      good = "good";
      registry.intercept = ({ url, headers }, response) => {
        if (url?.startsWith("/token")) (answers.length > 1 ? answers.shift()! : answers[0]!)(response);
        else if (headers.authorization === `Bearer ${good}`) return false;
        else response.writeHead(401, { "www-authenticate": `Bearer realm="${registry.url}/token"` }).end();
        return true;
      };
    });
    const signIns = () => registry.requests.filter((path) => path.startsWith("/token")).length;

    it("the sign-in of a registry is asked again after it failed", async () => {
      answers = [fail, give("good")];
      const source = open();
      await assert.rejects(source.tags("app"), /sign-in of the registry at .* answers 500/);
      assert.deepEqual(await source.tags("app"), ["a", "b", "c"]);
    });

    it("names the session's server by another name of this machine: that server is asked, by its own", async () => {
      const asked: (string | undefined)[][] = [];
      registry.intercept = ({ url, headers }, response) => {
        if (url?.startsWith("/token")) {
          asked.push([headers.host, headers.authorization]);
          response.end(JSON.stringify({ token: good }));
        } else if (headers.authorization === `Bearer ${good}`) return false;
        else response.writeHead(401, { "www-authenticate": `Bearer realm="${named}/token"` }).end();
        return true;
      };
      const named = registry.url.replace("127.0.0.1", "localhost");
      const signIn = { credentials: undefined, sessionUrl: registry.url, sessionToken: async () => "session" };
      assert.deepEqual(await openSource(registry.url, signIn).tags("app"), ["a", "b", "c"]);
      const authorization = `Basic ${Buffer.from("_token:session").toString("base64")}`;
      assert.deepEqual(asked, [[new URL(registry.url).host, authorization]]);
    });

    it("fails with a sentence when its sign-in does not respond", async () => {
      answers = [vanish];
      await assert.rejects(
        open().tags("app"),
        /^CommandFailure: the sign-in of the registry at \S+ does not answer \(/,
      );
    });

    it("concurrent requests share one token, and another one after its rejection", async () => {
      answers = [give("good"), give("better")];
      const source = open();
      const askAll = () => Promise.all(["a", "b", "c"].map((tag) => source.digestOf("app", tag)));
      const digests = await askAll();
      assert.equal(signIns(), 1);
      good = "better";
      assert.deepEqual(await askAll(), digests);
      assert.equal(signIns(), 2);
    });
  });

  for (const status of [429, 500]) {
    it(`a registry that answers ${status} has not lost the tag`, async () => {
      registry.intercept = ({ method }, response) => {
        // Without the header, the digest is that of the document.
        response.writeHead(method === "HEAD" ? 200 : status).end();
        return true;
      };
      await assert.rejects(open().digestOf("app", "a"), new RegExp(`answers ${status} to /v2/app/manifests/a`));
    });
  }

  it("a registry that answers 404 to HEAD or to GET has lost the tag", async () => {
    for (const lost of ["HEAD", "GET"]) {
      registry.intercept = ({ method }, response) => {
        response.writeHead(method === lost ? 404 : 200).end();
        return true;
      };
      assert.equal(await open().digestOf("app", "a"), undefined);
    }
  });
});

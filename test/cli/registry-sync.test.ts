import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { type OutsideRegistry, startOutsideRegistry } from "../registry/outside-registry.ts";
import { service } from "../registry/sign-in.ts";
import { addCaller, addGroup, viewerRole } from "../security/tree.ts";
import { type Caller, homeEnvironment, startCaller, unsigned, writeCache } from "./caller.ts";

describe("gatehouse registry sync", () => {
  let caller: Caller;
  let registry: OutsideRegistry;
  let group: string;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller[Symbol.asyncDispose]());
  beforeEach(async () => {
    registry = await startOutsideRegistry();
    group = await addGroup(caller.server, caller.server.groupUid, "mirror");
  });
  afterEach(() => registry[Symbol.asyncDispose]());

  const get = async (path: string) => (await rest(caller.server.url, caller.server.ownerToken, "GET", path)).body;
  const sync = (...flags: string[]) =>
    caller.json("registry", "sync", "--from", registry.url, "--group", group, ...flags);
  const done = (changes: object) => ({
    repositories: 0,
    reposCreated: 0,
    tagsSet: 0,
    tagsRemoved: 0,
    imagesRead: 0,
    failed: 0,
    ...changes,
  });
  const content = () => registry.requests.filter((path) => /\/(?:manifests|blobs)\/sha256:/.test(path));

  /** Returns the tags below the group: path of groups, repo and tag -> digest. */
  async function mirrored(): Promise<Record<string, string>> {
    const below = `uidp.descendants_of=${group}&pageSize=200`;
    const { groups } = await get(`/iam/v2beta1/groups?${below}`);
    const { repos } = await get(`/registry/v2beta1/repos?${below}`);
    const shown = "includeReferrers=true&includeDates=true&includeEpochs=true";
    const { tags } = await get(`/registry/v2beta1/tags?${below}&${shown}`);
    const names = new Map<string, string>([...groups, ...repos].map(({ uid, name }) => [uid, name]));
    const pathOf = (uid: string): string => {
      const parent = uid.slice(0, uid.lastIndexOf("/"));
      const above = names.has(parent) ? `${pathOf(parent)}/` : "";
      return above + names.get(uid);
    };
    const entries: [string, string][] = tags.map(({ uid, name, digest }: Record<string, string>) => [
      `${pathOf(uid!.slice(0, uid!.lastIndexOf("/")))}:${name}`,
      digest!,
    ]);
    return Object.fromEntries(entries.sort());
  }
  const held = () => {
    const all = [...registry.repositories].flatMap(([name, tags]) =>
      [...tags].map(([tag, digest]): [string, string] => [`${name}:${tag}`, digest]),
    );
    return Object.fromEntries(all.sort());
  };

  it("brings over repositories, tags and images, over pages of catalog and tags", async () => {
    const [amd64, arm64] = [registry.putImage("amd64"), registry.putImage("arm64")];
    const index = registry.putIndex(
      { digest: amd64.digest, platform: { architecture: "amd64", os: "linux" } },
      { digest: arm64.digest, platform: { architecture: "arm64", os: "linux" } },
    );
    for (const name of ["app", "team/api", "team/deep/web", "team/worker", "tools"]) {
      registry.tag(name, "latest", index);
      registry.tag(name, "1.0", amd64.digest);
      registry.tag(name, "1.0-r0", amd64.digest);
    }
    assert.deepEqual(await sync(), done({ repositories: 5, reposCreated: 5, tagsSet: 15, imagesRead: 10 }));
    assert.deepEqual(await mirrored(), held());
    const { repos } = await get(`/registry/v2beta1/repos?name=web&uidp.descendants_of=${group}`);
    const about = `/registry/v2beta1/repos/${repos[0].uid}/digests/${index}`;
    assert.deepEqual(await get(`${about}/architectures`), { architectures: ["amd64", "arm64"] });
    assert.equal((await get(`${about}/size?architecture=arm64`)).size, String(arm64.size));
  });

  it("reads nothing again that has not changed, and only what has", async () => {
    for (const name of ["a", "b", "c"]) registry.tag(name, "latest", registry.putImage("amd64", name).digest);
    registry.tag("c", "chart", registry.put({ schemaVersion: 2, config: {}, layers: [] }));
    await sync();
    const read = content().length;
    assert.deepEqual(await sync(), done({ repositories: 3 }));
    assert.equal(content().length, read);
    registry.tag("b", "latest", registry.putImage("amd64", "new").digest);
    assert.deepEqual(await sync(), done({ repositories: 3, tagsSet: 1, imagesRead: 1 }));
    assert.deepEqual(await mirrored(), held());
  });

  it("keeps the description of a tag whose digest changes", async () => {
    registry.tag("app", "old", registry.putImage("amd64").digest);
    await sync();
    const { repos } = await get(`/registry/v2beta1/repos?uidp.descendants_of=${group}`);
    const tag = {
      name: "old",
      digest: registry.repositories.get("app")!.get("old"),
      deprecated: true,
      bundles: ["base"],
    };
    const path = `/registry/v2beta1/tags/${repos[0].uid}`;
    await rest(caller.server.url, caller.server.ownerToken, "POST", path, tag);
    const { digest } = registry.putImage("amd64", "moved");
    registry.tag("app", "old", digest);
    await sync();
    const { tags } = await get(`/registry/v2beta1/tags?uidp.children_of=${repos[0].uid}`);
    assert.deepEqual([tags[0].digest, tags[0].deprecated, tags[0].bundles], [digest, true, ["base"]]);
  });

  it("leaves tags that are gone, and removes them with --prune, those of repositories that are gone too", async () => {
    const { digest } = registry.putImage("amd64");
    for (const name of ["kept", "emptied", "gone"]) for (const tag of ["a", "b"]) registry.tag(name, tag, digest);
    await sync();
    registry.repositories.get("kept")!.delete("a");
    registry.repositories.get("emptied")!.clear();
    registry.repositories.delete("gone");
    assert.deepEqual(await sync(), done({ repositories: 2 }));
    assert.equal(Object.keys(await mirrored()).length, 6);
    assert.deepEqual(await sync("--prune"), done({ repositories: 2, tagsRemoved: 5 }));
    assert.deepEqual(await mirrored(), held());
  });

  it("--repository requests no catalog, and removes nothing of other repositories", async () => {
    const { digest } = registry.putImage("amd64");
    for (const name of ["one", "two"]) registry.tag(name, "latest", digest);
    await sync();
    registry.repositories.get("one")!.clear();
    registry.repositories.get("two")!.clear();
    const before = registry.requests.length;
    const one = ["--repository", "one"];
    assert.deepEqual(await sync("--prune", ...one, ...one), done({ repositories: 1, tagsRemoved: 1 }));
    assert.ok(!registry.requests.slice(before).some((path) => path.includes("_catalog")));
    assert.deepEqual(Object.keys(await mirrored()), ["two:latest"]);
  });

  it("names each --repository that is not there or is of another organization, syncs the others, and ends with 1", async () => {
    const foreign = `${"f".repeat(40)}/other`;
    for (const name of ["one", foreign]) registry.tag(name, "latest", registry.putImage("amd64").digest);
    const named = ["one", "typo", foreign].flatMap((name) => ["--repository", name]);
    const flags = ["--from", registry.url, "--group", group, ...named];
    const { code, stdout, stderr } = await caller.run("registry", "sync", ...flags, "-o", "json");
    assert.equal(code, 1);
    assert.match(stderr, /^typo: the registry at http:\S+ has no such repository$/m);
    assert.match(stderr, /^f{40}\/other: this is a repository of another organization than --group$/m);
    assert.deepEqual(
      JSON.parse(stdout),
      done({ repositories: 1, reposCreated: 1, tagsSet: 1, imagesRead: 1, failed: 2 }),
    );
  });

  it("--prune removes the tags of a --repository that was deleted in the registry", async () => {
    registry.tag("one", "latest", registry.putImage("amd64").digest);
    await sync();
    registry.repositories.delete("one");
    const one = ["--repository", "one"];
    assert.equal((await caller.run("registry", "sync", "--from", registry.url, "--group", group, ...one)).code, 1);
    assert.deepEqual(await sync("--prune", ...one), done({ repositories: 1, tagsRemoved: 1 }));
  });

  it("names the repository that cannot be read, goes on with the others, and ends with 1", async () => {
    const { digest } = registry.putImage("amd64");
    for (const name of ["bad", "good"]) registry.tag(name, "latest", digest);
    registry.intercept = (request, response) => {
      if (!request.url?.startsWith("/v2/bad/manifests/")) return false;
      response.writeHead(500).end();
      return true;
    };
    const { code, stdout, stderr } = await caller.run("registry", "sync", "--from", registry.url, "--group", group);
    assert.equal(code, 1);
    assert.match(stderr, /^bad: the registry at .* answers 500 to \/v2\/bad\/manifests\/latest$/m);
    assert.match(stdout, /FAILED/);
    assert.deepEqual(Object.keys(await mirrored()), ["good:latest"]);
  });

  it("brings over all but an image that is broken in the registry, names it, and ends with 1", async () => {
    registry.tag("app", "good", registry.putImage("amd64").digest);
    registry.tag("app", "broken", registry.put("[]"));
    const flags = ["--from", registry.url, "--group", group];
    const { code, stderr } = await caller.run("registry", "sync", ...flags);
    assert.equal(code, 1);
    assert.match(stderr, /^app: app@sha256:[0-9a-f]{64} is not a JSON object$/m);
    assert.deepEqual(await mirrored(), held());
    const { repos } = await get(`/registry/v2beta1/repos?uidp.descendants_of=${group}`);
    const good = registry.repositories.get("app")!.get("good");
    const about = `/registry/v2beta1/repos/${repos[0].uid}/digests/${good}/architectures`;
    assert.deepEqual(await get(about), { architectures: ["amd64"] });
  });

  it("knows of an index what the registry has of it, and finds the architecture where the index does not say it", async () => {
    const gone = `sha256:${"e".repeat(64)}`;
    const [amd64, arm64] = [registry.putImage("amd64"), registry.putImage("arm64")];
    const index = registry.putIndex(
      { digest: gone, platform: { architecture: "s390x", os: "linux" } },
      { digest: amd64.digest, platform: { architecture: "amd64", os: "linux" } },
      { digest: arm64.digest },
    );
    registry.tag("app", "sparse", index);
    assert.deepEqual(await sync(), done({ repositories: 1, reposCreated: 1, tagsSet: 1, imagesRead: 1 }));
    const { repos } = await get(`/registry/v2beta1/repos?uidp.descendants_of=${group}`);
    const about = `/registry/v2beta1/repos/${repos[0].uid}/digests/${index}/architectures`;
    assert.deepEqual(await get(about), { architectures: ["amd64", "arm64"] });
  });

  it("takes what an organization goes by for the group itself, and leaves other organizations out", async () => {
    const { digest } = registry.putImage("amd64");
    const { body: organization } = await rest(
      caller.server.url,
      caller.server.ownerToken,
      "POST",
      "/iam/v2beta1/groups/",
      {
        name: "acme.test",
      },
    );
    group = organization.uid;
    await rest(caller.server.url, caller.server.ownerToken, "PATCH", `/iam/v2beta1/groups/${group}`, {
      verified: true,
      kind: "ORG_KIND_CUSTOMER",
    });
    for (const name of [`${group}/by-uid`, "acme.test/by-name", `${"f".repeat(40)}/other`])
      registry.tag(name, "x", digest);
    assert.deepEqual(await sync(), done({ repositories: 2, reposCreated: 2, tagsSet: 2, imagesRead: 2 }));
    assert.deepEqual(Object.keys(await mirrored()), ["by-name:x", "by-uid:x"]);
  });

  it("fails with what is missing when the caller may not write", async () => {
    registry.tag("app", "latest", registry.putImage("amd64").digest);
    const { token } = await addCaller(caller.server, group, viewerRole.uid);
    const command = ["registry", "sync", "--from", registry.url, "--group", group];
    const { code, stderr } = await caller.runWith({ GATEHOUSE_TOKEN: token }, ...command);
    assert.equal(code, 1);
    assert.match(stderr, /repo\.create/);
  });

  for (const [what, flags, environment, message] of [
    ["an address of no registry", ["--from", "registry", "--group", "x"], {}, /not the address of a registry/],
    [
      "an address with a path",
      ["--from", "http://127.0.0.1:1/v2", "--group", "x"],
      {},
      /not the address of a registry/,
    ],
    ["no group", ["--from", "http://127.0.0.1:1"], {}, /--group/],
    [
      "a repository that goes by no such name",
      ["--from", "http://127.0.0.1:1", "--group", "x", "--repository", "ok", "--repository", "../x"],
      {},
      /--repository "\.\.\/x" is not the name of a repository/,
    ],
    ["a user without a password", ["--from", "http://127.0.0.1:1", "--group", "x", "--user", "me"], {}, /PASSWORD/],
  ] as const) {
    it(`rejects ${what} with 2`, async () => {
      const { code, stderr } = await caller.runWith(environment, "registry", "sync", ...flags);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }

  it("says when the registry does not respond", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await caller.run("registry", "sync", "--from", url, "--group", group);
    assert.equal(code, 1);
    assert.match(stderr, /the registry at http:\/\/127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\)\n/);
  });

  describe("a registry that wants a sign-in", () => {
    const wants = (challenge: string, good: string) => (request: IncomingMessage, response: ServerResponse) => {
      if (request.headers.authorization === good) return false;
      response.writeHead(401, { "www-authenticate": challenge }).end();
      return true;
    };
    const flags = ["--user", "me"];
    const environment = { GATEHOUSE_REGISTRY_PASSWORD: "only for this test" };
    const basic = `Basic ${Buffer.from("me:only for this test").toString("base64")}`;
    const run = () =>
      caller.runWith(environment, "registry", "sync", "--from", registry.url, "--group", group, ...flags, "-o", "json");

    it("gets Basic credentials when it asks for them", async () => {
      registry.tag("app", "latest", registry.putImage("amd64").digest);
      registry.intercept = wants('Basic realm="registry"', basic);
      assert.equal((await run()).code, 0);
    });

    for (const catalogScope of ["registry:catalog:*", "repository::pull"])
      it(`gets a token of the service that it names, for the catalog by ${catalogScope}`, async () => {
        registry.tag("app", "latest", registry.putImage("amd64").digest);
        await using issuer = await startOutsideRegistry();
        issuer.intercept = (request, response) => {
          const scope = new URL(request.url ?? "", issuer.url).searchParams.get("scope");
          const isGood = request.headers.authorization === basic;
          response.writeHead(isGood ? 200 : 401).end(JSON.stringify({ token: `for:${scope}` }));
          return true;
        };
        registry.intercept = (request, response) => {
          const scope = request.url?.includes("_catalog") ? catalogScope : "repository:app:pull";
          const challenge = `Bearer realm="${issuer.url}/token",service="r",scope="${scope}"`;
          return wants(challenge, `Bearer for:${scope}`)(request, response);
        };
        const { code, stderr } = await run();
        assert.equal(code, 0, stderr);
        assert.equal(issuer.requests.length, 2);
      });

    it("does not get a token for more than is read, although it asks for it", async () => {
      registry.tag("app", "latest", registry.putImage("amd64").digest);
      await using issuer = await startOutsideRegistry();
      const asked: (string | null)[] = [];
      issuer.intercept = (request, response) => {
        asked.push(new URL(request.url ?? "", issuer.url).searchParams.get("scope"));
        response.end(JSON.stringify({ token: "any" }));
        return true;
      };
      registry.intercept = wants(`Bearer realm="${issuer.url}/token",scope="repository:app:pull,push"`, "Bearer any");
      const { code, stderr } = await run();
      assert.equal(code, 0, stderr);
      assert.deepEqual(asked, ["registry:catalog:*", "repository:app:pull"]);
    });

    it("gets the token of the session for what it calls itself, where the session's server is its sign-in", async () => {
      registry.tag("app", "latest", registry.putImage("amd64").digest);
      const challenge = `Bearer realm="${caller.server.url}/token",service="${service}"`;
      let signedIn = "";
      registry.intercept = (request, response) => {
        const { authorization = "" } = request.headers;
        if (authorization.startsWith("Bearer ")) signedIn = authorization.slice("Bearer ".length);
        return signedIn === "" && wants(challenge, "none")(request, response);
      };
      const { ownerUid, ownerToken, url } = caller.server;
      const command = ["registry", "sync", "--from", registry.url, "--group", group];
      const refused = await caller.runWith({ GATEHOUSE_TOKEN: ownerToken }, ...command);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /there is no token for registry\.gatehouse\.internal/);
      assert.match(refused.stderr, /gatehouse auth login --audience registry\.gatehouse\.internal/);
      const both = await caller.server.tokenOf(ownerUid, {}, url, service);
      const { code, stderr } = await caller.runWith({ GATEHOUSE_TOKEN: both }, ...command);
      assert.equal(code, 0, stderr);
      assert.equal(decodeJwt(signedIn).aud, service);
    });

    describe("whose sign-in is the session's server", () => {
      const prod = "https://api.prod.example";
      const claims = { iss: prod, exp: 4_000_000_000 };
      const noToken = (name: string) =>
        new RegExp(`there is no token for ${name}; .*oidc-token is of ${prod}, not of `);
      for (const [what, named, message] of [
        ["as another server's API", `,service="${prod}"`, noToken(prod)],
        ["as another server's registry", `,service="${service}"`, noToken(service)],
        ["as this server's API", undefined, /calls itself http:\S+, as the API of http:\S+ is called/],
        ["nothing", "", /does not say what it calls itself/],
        ["with no letter", ',service=""', /does not say what it calls itself/],
        ["as a folder above", ',service=".."', /calls itself "\.\.", which is not a name/],
        ["as an instruction to a terminal", ',service="\x9bx"', /calls itself "[^\x9b]*", which is not a name/],
        ["as a command", ',service="x; id"', /calls itself "x; id", which is not a name/],
      ] as const) {
        it(`is shown no token when it calls itself ${what}`, async () => {
          const home = path.join(caller.home, "prod");
          for (const aud of [prod, service]) writeCache(home, aud, unsigned({ ...claims, aud }));
          const { url } = caller.server;
          const challenge = `Bearer realm="${url}/token"${named ?? `,service="${url}"`}`;
          registry.intercept = wants(challenge, "never");
          const command = ["registry", "sync", "--from", registry.url, "--group", group];
          const { code, stderr } = await caller.runWith(homeEnvironment(home), ...command);
          assert.equal(code, 1, stderr);
          assert.match(stderr, message);
          assert.doesNotMatch(stderr, /sign-in of the registry/);
        });
      }
    });

    it("does not get the token of the session for another server than its own", async () => {
      await using stranger = await startOutsideRegistry();
      registry.intercept = wants(`Bearer realm="${stranger.url}/token",service="r"`, "never");
      const { code, stderr } = await caller.run("registry", "sync", "--from", registry.url, "--group", group);
      assert.equal(code, 1);
      assert.match(stderr, /GATEHOUSE_REGISTRY_PASSWORD/);
      assert.equal(stranger.requests.length, 1);
      assert.equal(stranger.authorization(), undefined);
    });
  });
});

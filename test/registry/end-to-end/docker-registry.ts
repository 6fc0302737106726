// `npm run suites -- registry`: Debian's docker-registry with Gatehouse as its sign-in and as the listener of its
// notifications, used by skopeo. Not a part of `npm test`, since both come from Debian and not from npm.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { builtInRoles } from "../../../src/authz/built-in-roles.ts";
import { openSink, type Received } from "../../events/sink.ts";
import { cycloneDx } from "../../sboms/documents.ts";
import { keyPair, keySetText, signOutside, startIssuer } from "../../sts/outside.ts";
import { basic } from "../sign-in.ts";
import { findMissing, type Installation, patienceMs, service, startInstallation } from "./installation.ts";
import { type Layout, writeArtifact, writeLayout } from "./oci-layout.ts";

const missing = findMissing();
if (missing.length > 0) {
  console.error(`suite registry needs programs that are not here. Install them: apt-get install ${missing.join(" ")}`);
  process.exit(1);
}

describe("docker-registry with Gatehouse", () => {
  let place: Installation;
  let single: Layout;
  let multi: Layout;
  before(async () => {
    place = await startInstallation();
    single = writeLayout(path.join(place.folder, "single"), ["amd64"], "single");
    multi = writeLayout(path.join(place.folder, "multi"), ["amd64", "arm64"], "multi");
  });
  after(() => place[Symbol.asyncDispose]());

  const image = (name: string) => `docker://${place.registry}/${name}`;
  const owner = () => `_token:${place.registryToken()}`;
  const push = (layout: Layout, name: string, credentials = owner()) =>
    place.skopeo(
      "copy",
      "--all",
      "--dest-tls-verify=false",
      "--dest-creds",
      credentials,
      `oci:${layout.folder}`,
      image(name),
    );

  function succeeds({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): string {
    assert.equal(code, 0, stderr);
    return stdout;
  }
  async function repoOf(name: string): Promise<string | undefined> {
    const below = `uidp.descendants_of=${place.group}`;
    return (await place.call("GET", `/registry/v2beta1/repos?name=${name}&${below}`)).repos[0]?.uid;
  }
  async function tagsOf(name: string): Promise<Record<string, string>> {
    const uid = await repoOf(name);
    if (uid === undefined) return {};
    const { tags } = await place.call("GET", `/registry/v2beta1/tags?uidp.children_of=${uid}&orderBy=name`);
    return Object.fromEntries(tags.map((tag: { name: string; digest: string }) => [tag.name, tag.digest]));
  }
  /** Waits for the tags of a repo to be these: notifications come by themselves. */
  async function tagsBecome(name: string, expected: Record<string, string>): Promise<void> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const tags = await tagsOf(name);
      if (JSON.stringify(tags) === JSON.stringify(expected) || Date.now() > deadline) {
        assert.deepEqual(tags, expected);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const organization = async () =>
    (await place.call("GET", "/iam/v2beta1/groups?name=example.org")).groups[0].uid as string;
  const isPush = ({ headers }: Received) => headers["ce-type"] === "dev.chainguard.registry.push.v1";
  const about = async (name: string, digest: string, what: string) =>
    await place.call("GET", `/registry/v2beta1/repos/${await repoOf(name)}/digests/${digest}/${what}`);

  it("an image that is pushed as _token appears with its digest, its architectures and its sizes", async () => {
    succeeds(push(single, "app:1.0"));
    await tagsBecome("app", { "1.0": single.digest });
    assert.deepEqual(await about("app", single.digest, "architectures"), { architectures: ["amd64"] });
    assert.equal((await about("app", single.digest, "size")).size, String(single.sizes.amd64));
    succeeds(push(multi, "app:2.0"));
    await tagsBecome("app", { "1.0": single.digest, "2.0": multi.digest });
    assert.deepEqual(await about("app", multi.digest, "architectures"), { architectures: ["amd64", "arm64"] });
    assert.equal((await about("app", multi.digest, "size?architecture=arm64")).size, String(multi.sizes.arm64));
  });

  it("a push sends an event to subscribers, with the previous digest of the tag", async () => {
    await using sink = await openSink();
    await place.call("POST", `/events/v2beta1/subscriptions/${await organization()}`, { sink: sink.url });
    succeeds(push(multi, "told:1.0"));
    succeeds(push(single, "told:1.0"));
    const told = (await sink.wait(4, isPush)).map(({ headers, body }) => ({ headers, ...JSON.parse(body) }));
    const { headers, actor, body } = told.at(-1);
    const uid = await repoOf("told");
    assert.deepEqual([headers["ce-source"], headers["ce-subject"]], [service, uid]);
    // The registry says who pushed; nobody else has seen it.
    assert.deepEqual([actor.subject, actor.act.name], ["", decodeJwt(place.registryToken()).sub]);
    const { when, user_agent, ...shown } = body;
    assert.deepEqual(shown, {
      repository: "told",
      repo_id: uid,
      display_name: "told",
      type: "manifest",
      tag: "1.0",
      tag_previous_digest: multi.digest,
      digest: single.digest,
      location: "",
      remote_address: "127.0.0.1",
    });
    assert.match(user_agent, /skopeo/);
    assert.ok(Math.abs(Date.now() - Date.parse(`${when}Z`)) < patienceMs, when);
    // The images of the index are pushed by their digests, and told of likewise.
    assert.deepEqual(
      told.map(({ body: { tag } }) => tag),
      [undefined, undefined, "1.0", "1.0"],
    );
  });

  // Before the test that kills Gatehouse: another server waits up to 30 s for the lease of a killed one.
  it("SBOMs that are attached after the push are found within 10 seconds: as a tag, and as a referrer", async () => {
    succeeds(push(multi, "sbom:1.0"));
    await tagsBecome("sbom", { "1.0": multi.digest });
    const { manifests } = JSON.parse(
      succeeds(place.skopeo("inspect", "--raw", "--tls-verify=false", "--creds", owner(), image("sbom:1.0"))),
    );
    const [amd64, arm64] = manifests.map(({ digest }: { digest: string }) => digest) as [string, string];
    const attach = (tag: string, folder: string) => push({ folder, digest: "", sizes: {} }, `sbom:${tag}`);
    const type = "application/vnd.cyclonedx+json";
    const tagged = writeArtifact(path.join(place.folder, "tagged"), cycloneDx(["pkg:npm/tagged@1.0.0"]), type);
    succeeds(attach(`${amd64.replace(":", "-")}.sbom`, tagged));
    const about = { subject: arm64, isListed: true };
    const referrer = writeArtifact(
      path.join(place.folder, "referrer"),
      cycloneDx(["pkg:npm/referred@1.0.0"]),
      type,
      about,
    );
    succeeds(attach(arm64.replace(":", "-"), referrer));
    const pushedAt = Date.now();
    const uid = await repoOf("sbom");
    const list = `/gatehouse/registry/v1/images/${uid}:listPackages?digest=${multi.digest}`;
    for (;;) {
      const { packages = [], state } = await place.call("GET", list);
      const purls = packages.map(({ purl }: { purl: string }) => purl);
      if (state === "CHECK_STATE_CHECKED") {
        assert.deepEqual(purls, ["pkg:npm/referred@1.0.0", "pkg:npm/tagged@1.0.0"]);
        break;
      }
      assert.ok(Date.now() - pushedAt < 10_000, `${state}: ${purls}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  it("version 1 returns the SBOM and the configuration of an image as they are in the registry", async () => {
    const about = async (what: string) => await place.call("GET", `/registry/v1/repos/${await repoOf("sbom")}/${what}`);
    const ofImage = (what: string) => about(`digests/${multi.digest}/${what}`);
    const { rawSbom } = await about(`digest/${multi.digest}/rawsbom`);
    assert.deepEqual(JSON.parse(rawSbom), cycloneDx(["pkg:npm/tagged@1.0.0"]));
    const referred = await ofImage("sbom?arch=arm64");
    assert.deepEqual(
      JSON.parse(Buffer.from(referred.rawSbom, "base64").toString()),
      cycloneDx(["pkg:npm/referred@1.0.0"]),
    );
    for (const arch of ["amd64", "arm64"])
      assert.deepEqual((await ofImage(`imageconfig?arch=${arch}`)).env, ["SALT=multi"], arch);
    const { id, vulnerabilityMatches } = await ofImage("vulnreport");
    assert.deepEqual([id, vulnerabilityMatches], [multi.digest, []]);
  });

  describe("uses of images", () => {
    interface Use {
      readonly digest: string;
      readonly kind: string;
      readonly count: string;
      readonly tags: readonly string[];
      readonly identity: { readonly uid: string };
    }
    const usesOf = async (name: string): Promise<Use[]> =>
      (await place.call("GET", `/gatehouse/registry/v1/images/${await repoOf(name)}:listUses`)).uses;
    const pull = (name: string, to: string) =>
      place.skopeo(
        "copy",
        "--override-arch",
        "amd64",
        "--override-os",
        "linux",
        "--src-tls-verify=false",
        "--src-creds",
        owner(),
        image(name),
        `dir:${path.join(place.folder, to)}`,
      );
    const head = async (name: string, reference: string) => {
      const scope = `repository:${name}:pull`;
      const reply = await fetch(`${place.url}/token?service=${service}&scope=${scope}`, {
        headers: basic("_token", place.registryToken()),
      });
      const { token } = (await reply.json()) as { readonly token: string };
      const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.oci.image.index.v1+json" };
      const url = `http://${place.registry}/v2/${name}/manifests/${reference}`;
      assert.equal((await fetch(url, { method: "HEAD", headers })).status, 200);
    };
    async function usesBecome(name: string, count: number): Promise<Use[]> {
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const uses = await usesOf(name);
        const total = uses.reduce((sum, use) => sum + Number(use.count), 0);
        if (total === count) return uses;
        if (Date.now() > deadline) assert.equal(total, count);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }

    it("a pull by tag is one of the index and of the platform; a HEAD is one by tag only; our own reads are not uses", async () => {
      succeeds(push(multi, "used:1.0"));
      await tagsBecome("used", { "1.0": multi.digest });
      succeeds(pull("used:1.0", "pulled"));
      await head("used", "1.0");
      await head("used", multi.digest);
      const uses = await usesBecome("used", 3);
      const { sub } = decodeJwt(place.registryToken());
      assert.deepEqual(
        uses.map(({ digest, kind, tags, identity }) => [digest === multi.digest, kind, tags, identity.uid]).sort(),
        [
          [false, "USE_KIND_PULL", [], sub],
          [true, "USE_KIND_CHECK", ["1.0"], sub],
          [true, "USE_KIND_PULL", ["1.0"], sub],
        ].sort(),
      );
      const { stdout, code } = await place.gatehouse("images", "uses", "used:1.0", "-o", "json");
      assert.equal(code, 0);
      assert.equal(JSON.parse(stdout).items.length, 3);
    });

    it("a use is stored when Gatehouse stops, and survives kill -9 after a second", async () => {
      const before = (await usesOf("used")).reduce((sum, use) => sum + Number(use.count), 0);
      await head("used", "1.0");
      await new Promise((resolve) => setTimeout(resolve, 2500));
      await place.killGatehouse();
      await place.startGatehouse();
      await usesBecome("used", before + 1);
      await head("used", "1.0");
      await new Promise((resolve) => setTimeout(resolve, 300));
      await place.stopGatehouse();
      await place.startGatehouse();
      await usesBecome("used", before + 2);
    });

    it("images are not listed as unused while uses are not known for so long", async () => {
      const { code, stderr } = await place.gatehouse("images", "unused", "--for", "30d");
      assert.notEqual(code, 0);
      assert.match(stderr, /uses are known since .* only/);
      const all = await place.gatehouse("images", "unused", "--for", "30d", "--accept-incomplete", "-o", "json");
      assert.deepEqual([all.code, JSON.parse(all.stdout)], [0, { items: [] }]);
    });
  });

  it("a client signs in with a good password only, and asks for no access then", () => {
    const file = path.join(place.folder, "auth.json");
    const flags = ["--tls-verify=false", "--authfile", file, "--username", "_token", "--password"];
    succeeds(place.skopeo("login", ...flags, place.registryToken(), place.registry));
    assert.notEqual(place.skopeo("login", ...flags, "wrong", place.registry).code, 0);
    succeeds(place.skopeo("logout", "--authfile", file, place.registry));
  });

  it("Gatehouse lists exactly the images of the registry", async () => {
    const tags = JSON.parse(
      succeeds(place.skopeo("list-tags", "--tls-verify=false", "--creds", owner(), image("app"))),
    ).Tags;
    assert.deepEqual(tags.sort(), Object.keys(await tagsOf("app")));
  });

  describe("a viewer with a pull token", () => {
    let viewer: string;
    before(async () => {
      const pair = keyPair("RS256", "pull-token");
      const issuer = "https://pull.example.org";
      const staticKeys = { issuer, subject: "viewer", issuerKeys: keySetText(pair) };
      const created = await place.call("POST", `/iam/v2beta1/identities/${place.group}`, {
        name: "viewer",
        staticKeys,
      });
      const roleUid = builtInRoles.find(({ name }) => name === "viewer")!.uid;
      await place.call("POST", `/iam/v2beta1/roleBindings/${place.group}`, { identityUid: created.uid, roleUid });
      const exp = Math.floor(Date.now() / 1000) + 3600;
      const password = await signOutside(pair, { iss: issuer, sub: "viewer", aud: place.url, exp });
      viewer = `${created.uid}:${password}`;
    });

    it("a viewer with a pull token may pull", () => {
      const { Digest } = JSON.parse(
        succeeds(place.skopeo("inspect", "--tls-verify=false", "--creds", viewer, image("app:1.0"))),
      );
      assert.equal(Digest, single.digest);
    });

    it("may not push, delete or pull from elsewhere: the registry rejects it", async () => {
      const pushed = push(multi, "app:3.0", viewer);
      assert.notEqual(pushed.code, 0);
      assert.match(pushed.stderr, /unauthorized|denied|40[13]/i);
      const deleted = place.skopeo("delete", "--tls-verify=false", "--creds", viewer, image("app:1.0"));
      assert.notEqual(deleted.code, 0);
      assert.match(deleted.stderr, /unauthorized|denied|40[13]/i);
      assert.notEqual(push(single, "new:1.0", viewer).code, 0);
      assert.deepEqual(await tagsOf("app"), { "1.0": single.digest, "2.0": multi.digest });
    });
  });

  it("callers without a token are denied, and an API token is not a registry token", async () => {
    assert.notEqual(place.skopeo("inspect", "--tls-verify=false", "--no-creds", image("app:1.0")).code, 0);
    const headers = { authorization: `Bearer ${place.ownerToken()}` };
    assert.equal((await fetch(`http://${place.registry}/v2/app/tags/list`, { headers })).status, 401);
  });

  it("a token for the API does not sign in: the error names the right token and how to get it", () => {
    const refused = push(single, "app:3.0", `_token:${place.ownerToken()}`);
    assert.notEqual(refused.code, 0);
    assert.match(
      refused.stderr,
      /is not for registry\.example\.org.*gatehouse auth token --audience registry\.example\.org/,
    );
  });

  it("the credential helper signs in with a token for the registry", async () => {
    const inspect = () => place.skopeo("inspect", "--tls-verify=false", `docker://${place.registry}/app:1.0`);
    assert.notEqual(inspect().code, 0);
    succeeds(await place.gatehouse("config", "set", "platform.registry", place.registry));
    const flags = ["--helper-dir", path.join(place.folder, "bin"), "--audience", service];
    succeeds(await place.gatehouse("auth", "configure-docker", ...flags));
    assert.equal(JSON.parse(succeeds(inspect())).Digest, single.digest);
    const credentials = `_token:${succeeds(await place.gatehouse("auth", "token", "--audience", service))}`;
    succeeds(push(single, "app:1.0", credentials));
  });

  it("a workload pushes and pulls with the token of its own issuer, as the identity or as the group, and not with a token for others", async () => {
    const key = keyPair("RS256");
    await using issuer = await startIssuer(key);
    const { uid } = await place.call("POST", `/iam/v2beta1/identities/${place.group}`, {
      name: "job",
      claimMatch: { issuer: issuer.url, subject: "repo:acme/app:ref:refs/heads/main" },
    });
    const roleUid = builtInRoles.find(({ name }) => name === "registry.push")!.uid;
    const binding = await place.call("POST", `/iam/v2beta1/roleBindings/${place.group}`, { identityUid: uid, roleUid });
    const tokenFor = (aud: string, changes: object = {}) => {
      const exp = Math.floor(Date.now() / 1000) + 600;
      return signOutside(key, { iss: issuer.url, sub: "repo:acme/app:ref:refs/heads/main", aud, exp, ...changes });
    };
    const good = await tokenFor(service);
    // While skopeo runs, this process cannot answer as the issuer: the server fetches its keys before.
    const { status } = await fetch(`${place.url}/token?service=${service}`, { headers: basic(uid, good) });
    assert.equal(status, 200);
    for (const user of [uid, place.group]) {
      succeeds(push(single, "jobs:1.0", `${user}:${good}`));
      succeeds(place.skopeo("inspect", "--tls-verify=false", "--creds", `${user}:${good}`, image("jobs:1.0")));
    }
    for (const bad of [
      await tokenFor(place.url),
      await tokenFor("https://elsewhere.example"),
      await tokenFor(service, { sub: "repo:acme/app:ref:refs/heads/other" }),
      await tokenFor(service, { exp: Math.floor(Date.now() / 1000) - 1 }),
      await tokenFor(service, { events: {} }),
    ])
      assert.notEqual(push(single, "jobs:1.0", `${uid}:${bad}`).code, 0);
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${binding.uid}`);
    assert.notEqual(push(single, "jobs:1.0", `${uid}:${good}`).code, 0, "without its role");
  });

  it("an image of a subgroup appears in the subgroup", async () => {
    await place.call("POST", `/iam/v2beta1/groups/${place.group}`, { name: "team" });
    succeeds(push(single, "team/tool:1.0"));
    await tagsBecome("tool", { "1.0": single.digest });
    assert.notEqual(push(single, "nowhere/tool:1.0").code, 0);
  });

  it("a digest that is deleted takes all of its tags", async () => {
    for (const tag of ["a", "b", "c"]) succeeds(push(single, `gone:${tag}`));
    succeeds(push(multi, "gone:kept"));
    const { digest } = single;
    await tagsBecome("gone", { a: digest, b: digest, c: digest, kept: multi.digest });
    succeeds(place.skopeo("delete", "--tls-verify=false", "--creds", owner(), image("gone:a")));
    await tagsBecome("gone", { kept: multi.digest });
  });

  it("registry sync repairs changes that happened while Gatehouse was down", async () => {
    const query = `service=${service}&scope=repository:app:pull,push,delete`;
    const signedIn = await fetch(`${place.url}/token?${query}`, { headers: basic("_token", place.registryToken()) });
    const { token } = (await signedIn.json()) as { token: string };
    await place.stopGatehouse();
    // The token lasts five minutes: tag 4.0 is set, and the image of 1.0 is deleted.
    const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.oci.image.index.v1+json" };
    const manifest = await fetch(`http://${place.registry}/v2/app/manifests/2.0`, { headers });
    const typed = { ...headers, "content-type": manifest.headers.get("content-type")! };
    const body = await manifest.text();
    const put = await fetch(`http://${place.registry}/v2/app/manifests/4.0`, { method: "PUT", headers: typed, body });
    assert.equal(put.status, 201);
    const path = `/v2/app/manifests/${single.digest}`;
    assert.equal((await fetch(`http://${place.registry}${path}`, { method: "DELETE", headers })).status, 202);
    // With the registry goes its queue.
    await place.stopRegistry();
    await place.startGatehouse();
    await place.startRegistry();
    assert.deepEqual(await tagsOf("app"), { "1.0": single.digest, "2.0": multi.digest });

    const flags = ["--from", `http://${place.registry}`, "--group", place.group, "--prune", "-o", "json"];
    const first = JSON.parse(succeeds(await place.gatehouse("registry", "sync", ...flags)));
    assert.deepEqual([first.tagsSet, first.tagsRemoved, first.failed], [1, 1, 0]);
    assert.deepEqual(await tagsOf("app"), { "2.0": multi.digest, "4.0": multi.digest });
    const again = JSON.parse(succeeds(await place.gatehouse("registry", "sync", ...flags)));
    assert.deepEqual([again.tagsSet, again.tagsRemoved, again.imagesRead], [0, 0, 0]);
  });

  it("registry sync imports a registry that was filled before", async () => {
    const { uid } = await place.call("POST", `/iam/v2beta1/groups/${place.group}`, { name: "copy" });
    const flags = ["--from", `http://${place.registry}`, "--group", uid, "-o", "json"];
    const totals = JSON.parse(succeeds(await place.gatehouse("registry", "sync", ...flags)));
    assert.equal(totals.failed, 0);
    const { repos } = await place.call("GET", `/registry/v2beta1/repos?uidp.descendants_of=${uid}&orderBy=name`);
    assert.deepEqual(
      repos.map(({ name }: { name: string }) => name),
      ["app", "gone", "jobs", "sbom", "told", "tool", "used"],
    );
    const [app] = repos;
    const { tags } = await place.call("GET", `/registry/v2beta1/tags?uidp.children_of=${app.uid}&orderBy=name`);
    const listed = JSON.parse(
      succeeds(place.skopeo("list-tags", "--tls-verify=false", "--creds", owner(), image("app"))),
    );
    assert.deepEqual(
      tags.map(({ name }: { name: string }) => name),
      listed.Tags.sort(),
    );
    const found = await place.call("GET", `/registry/v2beta1/repos/${app.uid}/digests/${multi.digest}/architectures`);
    assert.deepEqual(found, { architectures: ["amd64", "arm64"] });
  });
});

// How SBOMs are found in a registry: referrers, attestations of an index, tags; and what counts of them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { bundle, cycloneDx, dsse, spdx, statement } from "../sboms/documents.ts";
import { event, type Listening, startListening } from "./listening.ts";
import { startOutsideRegistry } from "./outside-registry.ts";

after(stopPostgres);

const types = {
  cycloneDx: "application/vnd.cyclonedx+json",
  inToto: "application/vnd.in-toto+json",
  dsse: "application/vnd.dsse.envelope.v1+json",
  bundle: "application/vnd.dev.sigstore.bundle.v0.3+json",
};
const purlOf = (name: string) => `pkg:npm/${name}@1.0.0`;

for (const database of databases) {
  describe(`the SBOMs of a registry on ${database}`, () => {
    let listening: Listening;
    before(async () => {
      listening = await startListening(database, { imageContents: "on" });
    });
    after(() => listening[Symbol.asyncDispose]());

    /** Stores an artifact with one document, about an image if that is given. */
    function artifact(document: object | string, mediaType: string, subject?: string, layer: object = {}): string {
      const { registry } = listening;
      const text = typeof document === "string" ? document : JSON.stringify(document);
      const layers = [{ mediaType, digest: registry.put(text), size: text.length, ...layer }];
      const config = { mediaType: "application/vnd.oci.empty.v1+json", digest: registry.put("{}"), size: 2 };
      const about = subject === undefined ? {} : { subject: { digest: subject, mediaType: "x", size: 1 } };
      return registry.put({
        schemaVersion: 2,
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        config,
        layers,
        ...about,
      });
    }

    const nameOf = (name: string) => `${listening.server.groupUid}/${name}`;
    const tag = (name: string, tagName: string, digest: string) =>
      listening.registry.tag(nameOf(name), tagName, digest);
    const tagOf = (digest: string, ending = "") => digest.replace(":", "-") + ending;

    /** Pushes to the registry, and tells the server of it. */
    async function push(name: string, tagName: string, digest: string): Promise<void> {
      tag(name, tagName, digest);
      assert.equal((await listening.distribution(listening.push(name, tagName, digest))).status, 200);
    }

    async function list(name: string, digest: string, what: "listPackages" | "listSboms") {
      const uid = await listening.repoOf(name);
      return await listening.get(`/gatehouse/registry/v1/images/${uid}:${what}?digest=${digest}`);
    }

    /** Waits until the server has read an image, and returns what it knows. */
    async function read(name: string, digest: string) {
      const packages = await until(`SBOMs of ${name}`, async () => {
        const found = await list(name, digest, "listPackages");
        return found.state === "CHECK_STATE_PENDING" ? undefined : found;
      });
      const { sboms } = await list(name, digest, "listSboms");
      return {
        state: packages.state,
        purls: packages.packages.map(({ purl }: { purl: string }) => purl),
        sboms: sboms.map(({ source, error }: { source: string; error?: string }) =>
          [source.replace("SBOM_SOURCE_", ""), error].filter(Boolean).join(": "),
        ),
      };
    }

    it("finds each kind of place, and shows the packages of all", async () => {
      const { registry } = listening;
      const [amd64, arm64] = [registry.putImage("amd64", "all"), registry.putImage("arm64", "all")];
      const about = (name: string, of: string) => statement(spdx([purlOf(name)]), "https://spdx.dev/Document", of);
      const attestation = artifact(about("attested", amd64.digest), types.inToto, undefined, {
        annotations: { "in-toto.io/predicate-type": "https://spdx.dev/Document" },
      });
      const index = registry.putIndex(
        { digest: amd64.digest, platform: { architecture: "amd64", os: "linux" } },
        { digest: arm64.digest, platform: { architecture: "arm64", os: "linux" } },
        {
          digest: attestation,
          platform: { architecture: "unknown", os: "unknown" },
          annotations: {
            "vnd.docker.reference.type": "attestation-manifest",
            "vnd.docker.reference.digest": amd64.digest,
          },
        } as never,
      );
      await push("all", "1.0", index);
      assert.deepEqual(await read("all", index), {
        state: "CHECK_STATE_PARTIAL",
        purls: [purlOf("attested")],
        sboms: ["ATTESTATION"],
      });
      // An SBOM is attached after its image was pushed.
      const referrer = artifact(bundle(about("bundled", arm64.digest)), types.bundle, arm64.digest);
      await push("all", tagOf(arm64.digest), registry.putIndex({ digest: referrer }));
      await push("all", tagOf(arm64.digest, ".att"), artifact(dsse(about("tagged", arm64.digest)), types.dsse));
      await push("all", tagOf(arm64.digest, ".sbom"), artifact(cycloneDx([purlOf("plain")]), types.cycloneDx));
      await until("all SBOMs", async () =>
        (await list("all", index, "listSboms")).sboms.length === 4 ? true : undefined,
      );
      assert.deepEqual(await read("all", index), {
        state: "CHECK_STATE_CHECKED",
        purls: ["attested", "bundled", "plain", "tagged"].map(purlOf),
        sboms: ["ATTESTATION", "REFERRER", "TAG", "TAG"],
      });
      const { packages } = await list("all", arm64.digest, "listPackages");
      assert.equal(packages.length, 3);
    });

    it("reads all pages of the referrers API where the registry has it", async () => {
      const { registry } = listening;
      const { digest } = registry.putImage("amd64", "api");
      const referrers = ["first", "second", "third"].map((name) =>
        artifact(cycloneDx([purlOf(name)]), types.cycloneDx, digest),
      );
      registry.intercept = (request, response) => {
        const { pathname, searchParams } = new URL(request.url!, registry.url);
        if (!pathname.endsWith(`/referrers/${digest}`)) return false;
        const page = Number(searchParams.get("page"));
        const link = page < 2 && { link: `<${pathname}?page=${page + 1}>; rel="next"` };
        response.writeHead(200, { "content-type": "application/vnd.oci.image.index.v1+json", ...link });
        response.end(JSON.stringify({ schemaVersion: 2, manifests: [{ digest: referrers[page], size: 1 }] }));
        return true;
      };
      await push("api", "1.0", digest);
      assert.deepEqual((await read("api", digest)).purls, ["first", "second", "third"].map(purlOf));
      registry.intercept = () => false;
    });

    it("a page of referrers that is in another registry is not read, and the error says so", async () => {
      const { registry } = listening;
      await using elsewhere = await startOutsideRegistry();
      const { digest } = registry.putImage("amd64", "elsewhere");
      registry.intercept = (request, response) => {
        if (!request.url?.includes("/referrers/")) return false;
        response.writeHead(200, { link: `<${elsewhere.url}${request.url}>; rel="next"` });
        response.end(JSON.stringify({ schemaVersion: 2, manifests: [] }));
        return true;
      };
      await push("elsewhere", "1.0", digest);
      const { error } = await until("the failure", async () => {
        const listed = await list("elsewhere", digest, "listSboms");
        return listed.error ? listed : undefined;
      });
      assert.match(error, /names a next page elsewhere/);
      assert.deepEqual(elsewhere.requests, []);
      registry.intercept = () => false;
    });

    it("a pushed manifest with a subject queues the image that it is about", async () => {
      const { registry } = listening;
      const { digest } = registry.putImage("amd64", "subject");
      await push("subject", "1.0", digest);
      assert.equal((await read("subject", digest)).state, "CHECK_STATE_UNKNOWN");
      const referrer = artifact(cycloneDx([purlOf("late")]), types.cycloneDx, digest);
      tag("subject", tagOf(digest), registry.putIndex({ digest: referrer }));
      const told = {
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        repository: nameOf("subject"),
        digest: referrer,
      };
      await listening.distribution(event("push", told));
      await until("the SBOM", async () => ((await read("subject", digest)).purls.length === 1 ? true : undefined));
    });

    it("names what cannot count, and shows the packages of the others", async () => {
      const { registry } = listening;
      const { digest } = registry.putImage("amd64", "broken");
      const other = `sha256:${"b".repeat(64)}`;
      const referrers = [
        artifact(cycloneDx([purlOf("good")]), types.cycloneDx, digest),
        artifact("[]", types.cycloneDx, digest),
        artifact(cycloneDx([purlOf("foreign")]), types.cycloneDx, other),
        artifact(dsse(statement(spdx([purlOf("stranger")]), "https://spdx.dev/Document", other)), types.dsse, digest),
        artifact({}, types.cycloneDx, digest, { size: 40 * 1024 * 1024 }),
        artifact(statement({}, "https://slsa.dev/provenance/v1", digest), types.inToto, digest),
      ].map((each) => ({ digest: each }));
      const forged = registry.put(cycloneDx([purlOf("forged")]));
      referrers.push({ digest: artifact(cycloneDx([purlOf("forged")]), types.cycloneDx, digest) });
      const large = registry.put(cycloneDx([purlOf("large")]));
      referrers.push({ digest: artifact(cycloneDx([purlOf("large")]), types.cycloneDx, digest) });
      registry.intercept = (request, response) => {
        // Its manifest says that it is small.
        if (request.url?.endsWith(large)) response.writeHead(200).end(Buffer.alloc(33 * 1024 * 1024, " "));
        if (request.url?.endsWith(large)) return true;
        if (!request.url?.endsWith(forged)) return false;
        response.writeHead(200).end(JSON.stringify(cycloneDx([purlOf("other")])));
        return true;
      };
      tag("broken", tagOf(digest), registry.putIndex(...referrers));
      await push("broken", "1.0", digest);
      const found = await read("broken", digest);
      assert.deepEqual([found.state, found.purls], ["CHECK_STATE_PARTIAL", [purlOf("good")]]);
      assert.deepEqual(found.sboms.sort(), [
        "REFERRER",
        "REFERRER: belongs to another image by its manifest",
        "REFERRER: has another digest than its manifest says",
        "REFERRER: is a statement about something else than the image",
        "REFERRER: is larger than 32 MiB",
        "REFERRER: is larger than 32 MiB",
        "REFERRER: must be a JSON object",
      ]);
      registry.intercept = () => false;
    });

    it("an image whose fallback tag is the image itself, or which refers to itself, ends without an SBOM", async () => {
      const { digest } = listening.registry.putImage("amd64", "loop");
      await push("loop", tagOf(digest), digest);
      const found = await read("loop", digest);
      assert.deepEqual([found.state, found.sboms], ["CHECK_STATE_UNKNOWN", []]);
    });

    it("an SBOM that was deleted in the registry does not count any more, and an uploaded one stays", async () => {
      const { registry, server } = listening;
      const { digest } = registry.putImage("amd64", "removed");
      const referrer = artifact(cycloneDx([purlOf("removed")]), types.cycloneDx, digest);
      tag("removed", tagOf(digest), registry.putIndex({ digest: referrer }));
      await push("removed", "1.0", digest);
      const uid = await listening.repoOf("removed");
      const content = Buffer.from(JSON.stringify(cycloneDx([purlOf("uploaded")]))).toString("base64");
      await rest(server.url, server.ownerToken, "POST", `/gatehouse/registry/v1/images/${uid}:putSbom`, {
        digest,
        content,
      });
      assert.deepEqual((await read("removed", digest)).purls, ["removed", "uploaded"].map(purlOf));
      registry.repositories.get(nameOf("removed"))!.delete(tagOf(digest));
      await listening.distribution(event("delete", { digest: referrer, repository: nameOf("removed") }));
      await until("the deletion", async () =>
        (await list("removed", digest, "listPackages")).packages.length === 1 ? true : undefined,
      );
      assert.deepEqual((await read("removed", digest)).purls, [purlOf("uploaded")]);
    });

    it("says why the registry could not be read, and tries again", async () => {
      const { registry } = listening;
      const { digest } = registry.putImage("amd64", "down");
      let isDown = true;
      registry.intercept = (request, response) => {
        if (!isDown || !request.url?.includes(`/down/`)) return false;
        response.writeHead(500).end();
        return true;
      };
      tag("down", "1.0", digest);
      await listening.distribution(listening.push("down", "1.0", digest));
      const error = await until(
        "the failure",
        async () => (await list("down", digest, "listSboms")).error || undefined,
      );
      assert.match(error, /./);
      assert.equal((await list("down", digest, "listPackages")).state, "CHECK_STATE_PENDING");
      isDown = false;
      await listening.distribution(listening.push("down", "1.0", digest));
      assert.equal((await read("down", digest)).state, "CHECK_STATE_UNKNOWN");
      registry.intercept = () => false;
    });

    it("a redirect of the registry to another address is not followed, and the list of SBOMs names the reason", async () => {
      const { registry } = listening;
      const { digest } = registry.putImage("amd64", "redirected");
      tag("redirected", tagOf(digest, ".sbom"), artifact(cycloneDx([purlOf("far")]), types.cycloneDx));
      registry.intercept = (request, response) => {
        if (!request.url?.includes("/redirected/blobs/")) return false;
        response.writeHead(307, { location: `${registry.url}/elsewhere` }).end();
        return true;
      };
      await push("redirected", "1.0", digest);
      const error = await until(
        "the failure",
        async () => (await list("redirected", digest, "listSboms")).error || undefined,
      );
      assert.equal(error, "redirects are not followed");
      assert.ok(!registry.requests.includes("/elsewhere"));
      registry.intercept = () => false;
    });

    it("returns the content of an SBOM in the registry", async () => {
      const { registry } = listening;
      const { digest } = registry.putImage("amd64", "content");
      await push("content", tagOf(digest, ".sbom"), artifact(cycloneDx([purlOf("content")]), types.cycloneDx));
      await push("content", "1.0", digest);
      const { sboms } = await until("the SBOM", async () => {
        const found = await list("content", digest, "listSboms");
        return found.sboms?.length === 1 ? found : undefined;
      });
      const uid = await listening.repoOf("content");
      const query = new URLSearchParams({ digest, name: sboms[0].name });
      const { content } = await listening.get(`/gatehouse/registry/v1/images/${uid}:getSbom?${query}`);
      assert.ok(Buffer.from(content, "base64").length > 10);
    });
  });
}

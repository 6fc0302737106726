// Tests of image data, which only a registry's own storage can provide, so the test writes it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { insertManifest } from "../../../src/storage/registry/manifests.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { codeOf, type Ground, openGround } from "../../security/ground.ts";
import { arrange } from "../../security/tree.ts";

const digest = `sha256:${"a".repeat(64)}`;
const other = `sha256:${"b".repeat(64)}`;

// Outside of any suite it runs when all files of the process are through: others may use the same server.
after(stopPostgres);

for (const database of databases) {
  describe(`images on ${database}`, () => {
    let ground: Ground;
    let repo: string;
    const ask = (method: string, request: Record<string, string>) =>
      ground.everywhere(ground.server.ownerToken, `ImagesService/${method}`, { repoUid: repo, ...request });

    before(async () => {
      ground = await openGround({ database });
      const { ownerToken, groupUid } = ground.server;
      const create = { parent: groupUid, repo: { name: "nginx" } };
      const { response } = await ground.once(ownerToken, "ReposService/CreateRepo", create);
      repo = (response as { uid: string }).uid;
      await arrange(ground.server, async (tx) => {
        await insertManifest(tx, { repoUid: repo, digest, architecture: "arm64", size: 2 ** 40 });
        await insertManifest(tx, { repoUid: repo, digest, architecture: "amd64", size: 21 });
        await insertManifest(tx, { repoUid: repo, digest: other, architecture: "arm64", size: 1 });
      });
    });
    after(() => ground[Symbol.asyncDispose]());

    it("an image is offered for the architectures of its manifests, in alphabetical order", async () => {
      assert.deepEqual((await ask("GetArchitectures", { digest })).response, { architectures: ["amd64", "arm64"] });
    });

    it("the size is that of amd64 unless the request names another architecture", async () => {
      assert.deepEqual((await ask("GetSize", { digest })).response, { size: "21", architecture: "amd64" });
      const { response } = await ask("GetSize", { digest, architecture: "arm64" });
      assert.deepEqual(response, { size: String(2 ** 40), architecture: "arm64" });
    });

    for (const [rule, method, request, code] of [
      ["an unknown digest", "GetArchitectures", { digest: `sha256:${"c".repeat(64)}` }, "NOT_FOUND"],
      ["an architecture that the image is not for", "GetSize", { digest: other }, "NOT_FOUND"],
      ["a value that is not a digest", "GetSize", { digest: "latest" }, "INVALID_ARGUMENT"],
      ["I9: a repo that the caller may not see", "GetSize", { digest, repoUid: "f".repeat(40) }, "PERMISSION_DENIED"],
    ] as const) {
      it(`${rule} is ${code}`, async () => assert.equal(codeOf(await ask(method, request)), code));
    }

    it("image metadata is deleted with the repo", async () => {
      const { ownerToken } = ground.server;
      assert.equal(codeOf(await ground.once(ownerToken, "ReposService/DeleteRepo", { uid: repo })), "OK");
      assert.equal(codeOf(await ask("GetArchitectures", { digest })), "NOT_FOUND");
    });
  });
}

// Metrics of the work on images.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addGroup } from "../security/tree.ts";
import { findingsOn, osv } from "./finding-harness.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`metrics of images on ${database}`, () => {
    let server: TestServer;
    let { importAll, newImage, become } = {} as ReturnType<typeof findingsOn>;
    before(async () => {
      server = await startTestServer({ database });
      ({ importAll, newImage, become } = findingsOn(server));
    });
    after(() => server[Symbol.asyncDispose]());

    async function metric(name: string): Promise<number> {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const line = text.split("\n").find((each) => each.startsWith(`${name} `));
      assert.ok(line, `${name} in ${text}`);
      return Number(line.split(" ")[1]);
    }

    it("a second image with the same packages causes no evaluation", async () => {
      const group = await addGroup(server, server.groupUid, "measured");
      const purls = ["pkg:npm/left@1.0.0", "pkg:npm/right@1.0.0", "pkg:npm/other@1.0.0"];
      const first = await newImage(group, "first", purls);
      await become(() => first.list(), []);
      const evaluated = 'gatehouse_package_evaluations_total{cause="package"}';
      assert.equal(await metric(evaluated), 3);
      const second = await newImage(group, "second", purls);
      await become(() => second.list(), []);
      assert.equal(await metric(evaluated), 3);
      await importAll(group, osv("A-1", "left", "2.0.0"));
      await become(() => second.list(), ["A-1 pkg:npm/left@1.0.0"]);
      assert.equal(await metric('gatehouse_package_evaluations_total{cause="advisory"}'), 1);
    });

    it("the queues of SBOMs and packages are measured", async () => {
      assert.equal(await metric("gatehouse_image_queue_failed"), 0);
      for (const name of ["image_queue_images", "image_queue_age_seconds", "package_evaluation_queue_packages"])
        assert.ok((await metric(`gatehouse_${name}`)) >= 0, name);
    });
  });
}

// Tests which data the page reads again after which changes.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { servicesWith } from "../../console/src/api/live-services.ts";
import { kinds } from "../../console/src/shell/counts.ts";
import { accessKinds } from "../../src/storage/change-log/access-entries.ts";

describe("live updates", () => {
  it("read the counts of groups again for each kind that they count", () => {
    for (const kind of Object.keys(kinds)) assert.ok(servicesWith([kind]).includes("GroupTreeService"), kind);
  });

  it("read only the audit log again after sign-ins, token exchanges and kinds of a newer server", () => {
    for (const kind of [...accessKinds, "later_kind", "constructor"])
      assert.deepEqual(servicesWith([kind]), ["ChangesService"], kind);
    assert.ok(!servicesWith(["repo_readmes"]).includes("GroupTreeService"));
  });

  it("read the contents of images again after SBOMs and advisories, and no counts after SBOMs", () => {
    for (const kind of ["image_sboms", "advisories"])
      assert.ok(servicesWith([kind]).includes("ImageContentsService"), kind);
    assert.ok(!servicesWith(["image_sboms"]).includes("GroupTreeService"));
  });

  it("read nothing again without changes", () => {
    assert.deepEqual(servicesWith([]), []);
  });
});

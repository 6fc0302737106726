// Every kind in the change log is shown, or is said here not to be.
import assert from "node:assert/strict";
import { it } from "node:test";
import { rowViews } from "../../../src/services/audit-log/row-views.ts";
import { collections } from "../../../src/services/resources.ts";

/** Their uid and kind are the whole row. */
const hidden = ["terms_acceptances"];

it("has a view of each kind of resource", () => {
  const kinds = collections.map(({ kind }) => kind).filter((kind) => !hidden.includes(kind));
  assert.deepEqual(
    kinds.filter((kind) => !rowViews.has(kind)),
    [],
  );
});

// The order in which lists are shown.
import assert from "node:assert/strict";
import { it } from "node:test";
import { inOrder } from "../../src/cli/output/order.ts";

it("a table is ordered by its first two columns, with numbers by value", () => {
  const view = {
    noun: "tags",
    columns: [
      { title: "repo", value: "repo" },
      { title: "name", value: "name" },
      { title: "digest", value: "digest" },
    ],
  };
  const rows = ["b 1.10 z", "b 1.9 y", "a latest x", "b 1.9 a", "a  w"].map((text) => {
    const [repo = "", name = "", digest = ""] = text.split(" ");
    return { repo, name, digest };
  });
  const shown = inOrder(view, rows).map((row) => Object.values(row).join(" "));
  assert.deepEqual(shown, ["a  w", "a latest x", "b 1.9 y", "b 1.9 a", "b 1.10 z"]);
  assert.equal(rows[0]?.name, "1.10");
});

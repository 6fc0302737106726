// Tests of the names of resources in a list of changes.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { nameInChange } from "../../console/src/api/change-name.ts";

const resourceUid = `${"0".repeat(40)}/${"1234".padEnd(12, "0")}abcd`;

describe("the name of a changed resource", () => {
  const cases: [string, { before?: JsonObject; after?: JsonObject }, string][] = [
    ["is its name", { before: { name: "old" }, after: { name: "new" } }, "new"],
    ["is the last name of a deleted one", { before: { name: "old" } }, "old"],
    [
      "is the alias of an advisory without a name",
      { after: { name: "", aliases: ["CVE-2030-1234"] } },
      "CVE-2030-1234",
    ],
    ["is the URL of a subscription", { after: { sink: "https://hooks.example.org" } }, "https://hooks.example.org"],
    ["is its uid if there is nothing else", { after: { aliases: [] } }, "1234…abcd"],
    ["is its uid if nothing is known", {}, "1234…abcd"],
  ];
  for (const [what, change, expected] of cases)
    it(what, () => assert.equal(nameInChange({ resourceUid, ...change }), expected));
});

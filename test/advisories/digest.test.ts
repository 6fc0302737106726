// Tests which copies of a record are equal.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type AdvisoryRecord, AdvisoryRecordSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { digestOf, keyOf } from "../../src/advisories/digest.ts";

const record = create(AdvisoryRecordSchema, {
  source: "osv",
  document: "GO-1",
  vulnerability: "GO-1",
  aliases: ["CVE-2030-1"],
  extra: "{}",
  statements: [{ product: { purl: "pkg:golang/example.test/a" }, versions: ["1"] }],
});

function changed(change: (copy: AdvisoryRecord) => void): AdvisoryRecord {
  const copy = clone(AdvisoryRecordSchema, record);
  change(copy);
  return copy;
}

describe("the digest of a record", () => {
  it("does not depend on what the server adds, nor on how the record was sent", () => {
    const stored = changed((copy) => {
      Object.assign(copy, { digest: "abc", group: "def" });
      copy.statements[0]!.advisoryId = "CGA-2345-6789-cfgh";
    });
    assert.equal(digestOf(stored), digestOf(record));
    const sent = fromBinary(AdvisoryRecordSchema, toBinary(AdvisoryRecordSchema, record));
    assert.equal(digestOf(sent), digestOf(record));
    assert.equal(stored.statements[0]!.advisoryId, "CGA-2345-6789-cfgh", "the record stays as it is");
  });

  it("differs when anything that the source says differs", () => {
    const changes: readonly ((copy: AdvisoryRecord) => void)[] = [
      (copy) => copy.aliases.push("CVE-2030-2"),
      (copy) => copy.statements[0]!.versions.push("2"),
      (copy) => Object.assign(copy, { extra: "" }),
      (copy) => Object.assign(copy.statements[0]!, { release: "12" }),
      (copy) => Object.assign(copy, { revision: 1n }),
    ];
    const digests = changes.map((change) => digestOf(changed(change)));
    assert.equal(new Set([...digests, digestOf(record)]).size, changes.length + 1);
  });
});

it("the key of a record separates its parts", () => {
  const keys = [
    ["a", "b", "c"],
    ["a,b", "", "c"],
    ['a","b', "c", ""],
  ].map(([source, document, vulnerability]) =>
    keyOf({ source: source!, document: document!, vulnerability: vulnerability! }),
  );
  assert.equal(new Set(keys).size, 3);
});

// Files next to advisories that do not hold advisories.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nameDocument, nameText } from "../../src/advisories/named-files.ts";

describe("files without advisories are named as what they are", () => {
  const statement = { _type: "https://in-toto.io/Statement/v1", predicateType: "https://slsa.dev/provenance/v1" };
  const payload = Buffer.from(JSON.stringify({ ...statement, predicate: {} })).toString("base64");
  const hubIndex = { id: "pkg:golang/example.test/a", location: "pkg/golang/example.test/a/vex.json" };
  const location = { url: "https://vex.example/main.tar.gz" };
  const cases: readonly (readonly [string, unknown])[] = [
    ["an index of OSV records", [{ id: "GO-2030-1", modified: "2030-01-01T00:00:00Z" }]],
    ["the index of a VEX hub", { updated_at: "2030-01-01T00:00:00Z", packages: [hubIndex] }],
    ["the index of a VEX hub", { version: 1, packages: [{ ...hubIndex, format: "openvex" }] }],
    ["the index of a VEX hub", { version: 1, packages: [{ ID: hubIndex.id, Location: hubIndex.location }] }],
    ["the index of a VEX hub", { updated_at: "2030-01-01T00:00:00Z", packages: [] }],
    ["the description of a VEX hub", { name: "Hub", versions: [{ spec_version: "0.1", locations: [location] }] }],
    [
      "the manifest of a package in a VEX hub",
      { id: "pkg:npm/a", sources: [{ path: "a.json", url: "https://a.example" }] },
    ],
    ["the manifest of a package in a VEX hub", { ID: "pkg:npm/a", Sources: [{ Path: "a.json" }] }],
    ["an in-toto attestation without an OpenVEX document", statement],
    [
      "an in-toto attestation without an OpenVEX document",
      { payloadType: "application/vnd.in-toto+json", payload, signatures: [] },
    ],
    ["a ROLIE feed", { feed: { id: "x", entry: [] } }],
  ];
  for (const [name, document] of cases) {
    it(`recognizes ${name}: ${JSON.stringify(document).slice(0, 50)}`, () =>
      assert.deepEqual(nameDocument(document), { what: name, standsForRecords: false }));
  }

  it("recognizes a Git LFS pointer and a list of CSAF documents", () => {
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    assert.deepEqual(nameText(pointer), { what: "a Git LFS pointer to a file", standsForRecords: true });
    const list = { what: "a list of CSAF documents (index.txt)", standsForRecords: false };
    assert.deepEqual(nameText("2030/a.json\n2030/b.json\n"), list);
  });

  it("a document of CSAF 2.1 counts as unread advisories", () => {
    const { what, standsForRecords } = nameDocument({ document: { csaf_version: "2.1" } }) ?? {};
    assert.deepEqual([what, standsForRecords], ["a document of CSAF 2.1, which is not read (only CSAF 2.0 is)", true]);
  });

  const others: readonly unknown[] = [
    undefined,
    null,
    7,
    "text",
    [],
    {},
    { packages: [] },
    { versions: [] },
    { statements: [] },
    { apkurl: "{{urlprefix}}", packages: [{ pkg: { name: "a", secfixes: {} } }] },
    { ...statement, predicate: { "@context": "https://openvex.dev/ns/v0.2.0", statements: [] } },
    { payloadType: "application/vnd.in-toto+json", payload: "e30" },
  ];
  for (const document of others) {
    it(`does not recognize another document: ${JSON.stringify(document)?.slice(0, 50)}`, () =>
      assert.equal(nameDocument(document), undefined));
  }
  it("a text of no known format gets no name", () => assert.equal(nameText("{}"), undefined));
});

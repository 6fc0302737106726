// OpenVEX documents of every shape. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { AdvisoryRecordSchema, type ProductStatement } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { BadDocument } from "../../../src/advisories/document.ts";
import { isOpenvex, readOpenvex } from "../../../src/advisories/openvex/read.ts";
import { identityOf } from "../../../src/advisories/product.ts";
import { document, type Json, read } from "./exchange.ts";

const about = (changes: object) => ({
  vulnerability: { name: "CVE-2030-1" },
  products: [{ "@id": "pkg:apk/wolfi/tool@1.2-r0" }],
  status: "fixed",
  ...changes,
});

/** Returns a document's products with identity, versions and parts. */
function said(from: Json): string[] {
  const line = ({ product, versions, subcomponents }: ProductStatement) => [
    identityOf(product!),
    ...versions.map((version) => `@ ${version}`),
    ...subcomponents.map((each) => `> ${each}`),
  ];
  return read(from).records.flatMap(({ statements }) => statements.map((each) => line(each).join(" ")));
}

/** Returns the statements about one product. */
const saidOf = (product: unknown) => said(document([about({ products: [product] })]));

describe("reading OpenVEX", () => {
  it("a record has everything that a document says about one vulnerability", () => {
    const { records, problems, completes } = read(
      document(
        [
          {
            "@id": "https://vex.example/1#a",
            version: 2,
            timestamp: "2030-01-01T00:00:00.123456789+02:00",
            last_updated: "2030-01-01T12:00:00Z",
            supplier: "Supplier",
            status_notes: "notes",
            vulnerability: {
              "@id": "https://nvd.example/CVE-2030-1",
              name: "CVE-2030-1",
              description: "Too long a text",
              aliases: ["GHSA-1", "CVE-2030-1"],
            },
            products: [
              { "@id": "pkg:apk/wolfi/tool@1.2-r0", subcomponents: [{ "@id": "pkg:golang/example.test/a@v1.0.0" }] },
            ],
            status: "affected",
            action_statement: "wait",
            action_statement_timestamp: "2030-01-01T13:00:00Z",
          },
          about({ vulnerability: { name: "CVE-2030-1", aliases: ["GO-1"] } }),
        ],
        { last_updated: "2030-02-01T00:00:00Z", role: "Author", tooling: "tool/1" },
      ),
    );
    assert.deepEqual(problems, []);
    assert.equal(records.length, 1);
    assert.deepEqual(toJson(AdvisoryRecordSchema, records[0]!), {
      source: "Example",
      document: "https://vex.example/1",
      vulnerability: "CVE-2030-1",
      revision: "3",
      format: "RECORD_FORMAT_OPENVEX",
      publishTime: "2030-01-02T03:04:05Z",
      modifyTime: "2030-02-01T00:00:00Z",
      aliases: ["GHSA-1", "GO-1"],
      details: "Too long a text",
      extra: JSON.stringify({ role: "Author", tooling: "tool/1", vulnerability_id: "https://nvd.example/CVE-2030-1" }),
      statements: [
        {
          product: { purl: "pkg:apk/wolfi/tool" },
          versions: ["1.2-r0"],
          status: "PRODUCT_STATUS_AFFECTED",
          subcomponents: ["pkg:golang/example.test/a@v1.0.0"],
          action: "wait",
          notes: "notes",
          time: "2029-12-31T22:00:00.123Z",
          extra: JSON.stringify({
            "@id": "https://vex.example/1#a",
            action_statement_timestamp: "2030-01-01T13:00:00Z",
            last_updated: "2030-01-01T12:00:00Z",
            supplier: "Supplier",
            timestamp: "2030-01-01T00:00:00.123456789+02:00",
            version: 2,
          }),
        },
        { product: { purl: "pkg:apk/wolfi/tool" }, versions: ["1.2-r0"], status: "PRODUCT_STATUS_FIXED" },
      ],
    });
    const modifyTime = Date.parse("2030-02-01T00:00:00Z");
    assert.deepEqual(completes, { source: "Example", document: "https://vex.example/1", modifyTime, revision: 3 });
  });

  const statuses: readonly (readonly [object, object])[] = [
    [{ status: "under_investigation" }, { status: "UNDER_INVESTIGATION" }],
    [
      { status: "under_investigation", status_notes: "No analysis is planned. Old." },
      { status: "UNDER_INVESTIGATION", notes: "Old.", plan: "ANALYSIS_NOT_PLANNED" },
    ],
    [{ status: "affected" }, { status: "AFFECTED" }],
    [{ status: "affected", action_statement: "No action statement provided" }, { status: "AFFECTED" }],
    [
      { status: "affected", action_statement: "No fix is planned." },
      { status: "AFFECTED", plan: "FIX_NOT_PLANNED" },
    ],
    [
      { status: "affected", action_statement: "A fix is awaited from upstream. Wait." },
      { status: "AFFECTED", action: "Wait.", plan: "PENDING_UPSTREAM_FIX" },
    ],
    [
      { status: "affected", action_statement: "No fix is planned.Wait" },
      { status: "AFFECTED", action: "No fix is planned.Wait" },
    ],
    [
      { status: "not_affected", justification: "component_not_present", impact_statement: "n" },
      { status: "NOT_AFFECTED", justification: "component_not_present", impact: "n" },
    ],
    [{ status: "not_affected" }, { status: "NOT_AFFECTED" }],
    [
      { status: "not_affected", impact_statement: "No justification or impact statement provided" },
      { status: "NOT_AFFECTED" },
    ],
    [
      { status: "fixed", action_statement: "upgrade", status_notes: "n" },
      { status: "FIXED", action: "upgrade", notes: "n" },
    ],
  ];
  for (const [from, expected] of statuses) {
    it(JSON.stringify(from), () => {
      const { records } = read(document([about(from)]));
      const { statements } = toJson(AdvisoryRecordSchema, records[0]!) as Json;
      const { product: _p, versions: _v, status, plan, ...more } = statements[0];
      const short = {
        status: status.replace("PRODUCT_STATUS_", ""),
        ...more,
        ...(plan && { plan: plan.replace("RESPONSE_PLAN_", "") }),
      };
      assert.deepEqual(short, expected);
    });
  }

  const products: readonly (readonly [unknown, string])[] = [
    ["pkg:apk/wolfi/tool@1.2-r0", "pkg:apk/wolfi/tool @ 1.2-r0"],
    [{ "@id": "pkg:apk/wolfi/tool" }, "pkg:apk/wolfi/tool"],
    [{ "@id": "pkg:apk/alpine/tool@1?arch=x86_64" }, "pkg:apk/alpine/tool?arch=x86_64 @ 1"],
    [
      { "@id": "pkg:oci/x@sha256%3Aab?repository_url=r.example/a" },
      "pkg:oci/x?repository_url=r.example%2Fa @ sha256:ab",
    ],
    [{ "@id": "pkg:oci/x?repository_url=r.example/b" }, "pkg:oci/x?repository_url=r.example%2Fb"],
    [{ "@id": "pkg:npm/%40a/b@1" }, "pkg:npm/%40a/b @ 1"],
    [{ "@id": "pkg:npm/@a/b@1" }, "pkg:npm/%40a/b @ 1"],
    [{ "@id": "PKG:NPM/A@1" }, "pkg:npm/a @ 1"],
    [{ "@id": "pkg:generic/a%2540b@1" }, "pkg:generic/a%2540b @ 1"],
    [{ "@id": "pkg:golang/example.test/a@v1.0.0%2Bincompatible" }, "pkg:golang/example.test/a @ v1.0.0+incompatible"],
    [{ "@id": "https://x.example/tool", identifiers: { purl: "pkg:apk/wolfi/tool@1" } }, "pkg:apk/wolfi/tool @ 1"],
    [{ identifiers: { cpe23: "cpe:2.3:a:x:tool:1:*:*:*:*:*:*:*" } }, "cpe:2.3:a:x:tool:1:*:*:*:*:*:*:*"],
    [{ identifiers: { cpe22: "cpe:/a:x:tool:1" } }, "cpe:/a:x:tool:1"],
    [{ "@id": "cpe:/a:x:tool:1" }, "cpe:/a:x:tool:1"],
    [{ "@id": "https://x.example/tool" }, "https://x.example/tool"],
    [{ "@id": "tool" }, "tool"],
    [{ hashes: { md5: "ff", "sha-256": "0a" } }, "sha256:0a"],
    [{ "@id": "pkg:oci/x", hashes: { "sha-256": "0a" } }, "pkg:oci/x @ sha256:0a"],
    [
      {
        "@id": "pkg:oci/x@1",
        subcomponents: ["pkg:apk/alpine/a@1", { identifiers: { cpe22: "cpe:/a:b" } }, { "@id": "b" }],
      },
      "pkg:oci/x @ 1 > pkg:apk/alpine/a@1 > cpe:/a:b > b",
    ],
  ];
  for (const [from, expected] of products) {
    it(JSON.stringify(from), () => assert.deepEqual(saidOf(from), [expected]));
  }

  it("parts of a package that a subpath names are told apart", () => {
    const [a, b] = ["a", "b"].map((part) => saidOf(`pkg:golang/example.test/x@v1#cmd/${part}`));
    assert.notDeepEqual(a, b);
  });

  it("OpenVEX 0.0.1: texts in place of objects, and subcomponents of all products of a statement", () => {
    const old = {
      "@context": "https://openvex.dev/ns",
      "@id": "d",
      author: "A",
      version: "2",
      format: "text/vex+json",
      statements: [
        {
          vulnerability: "CVE-2030-1",
          vuln_description: "text",
          status: "fixed",
          products: ["pkg:apk/wolfi/a@1", "pkg:apk/wolfi/b"],
          subcomponents: ["pkg:npm/c@2"],
        },
      ],
    };
    const { records, problems } = read(old);
    assert.deepEqual(problems, []);
    assert.deepEqual([records[0]?.revision, records[0]?.details], [2n, "text"]);
    assert.deepEqual(said(old), ["pkg:apk/wolfi/a @ 1 > pkg:npm/c@2", "pkg:apk/wolfi/b > pkg:npm/c@2"]);
  });

  it("a document without an id has one that follows from its author, vulnerabilities and products", () => {
    const id = (statements: object[], changes: object = {}) =>
      read(document(statements, { "@id": undefined, ...changes })).records[0]?.document;
    const other = about({ vulnerability: "CVE-2030-2" });
    assert.match(id([about({})])!, /^sha256:[0-9a-f]{64}$/);
    assert.equal(id([about({}), other]), id([other, about({ status: "affected" })], { version: 9 }));
    assert.notEqual(id([about({})]), id([other]));
    assert.notEqual(id([about({})]), id([about({})], { author: "B" }));
  });

  it("the source that a person names replaces the author", () => {
    const [item] = readOpenvex(document([about({})]), { source: "Named" }).items;
    assert.equal(item?.record?.source, "Named");
  });

  it("a vulnerability without a name is known by its IRI", () => {
    const vulnerability = { "@id": "https://nvd.example/CVE-2030-1" };
    assert.deepEqual(read(document([about({ vulnerability })])).names, ["https://nvd.example/CVE-2030-1"]);
  });

  it("the document in an attestation is read, and statements without products get its subjects", () => {
    const subject = [
      { name: "pkg:apk/wolfi/tool@1", digest: { sha256: "0a" } },
      { name: "_", digest: { sha3_256: "0b" } },
    ];
    const predicate = document([about({ products: undefined }), about({ vulnerability: "CVE-2030-2" })]);
    const attestation = {
      _type: "https://in-toto.io/Statement/v1",
      predicateType: "https://openvex.dev/ns",
      subject,
      predicate,
    };
    const payload = Buffer.from(JSON.stringify(attestation)).toString("base64");
    const dsseEnvelope = { payloadType: "application/vnd.in-toto+json", payload, signatures: [] };
    for (const wrapped of [
      attestation,
      dsseEnvelope,
      { mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", dsseEnvelope },
    ]) {
      assert.ok(isOpenvex(wrapped));
      assert.deepEqual(said(wrapped), ["pkg:apk/wolfi/tool @ 1", "sha3-256:0b", "pkg:apk/wolfi/tool @ 1.2-r0"]);
    }
  });

  it("a product that may be affected is never dropped", () => {
    const products = ["pkg:apk/wolfi/a@1", { "@id": "pkg:apk" }];
    for (const status of ["affected", "under_investigation"])
      assert.deepEqual(read(document([about({ status, products })])).records, [], status);
    for (const status of ["fixed", "not_affected"])
      assert.equal(read(document([about({ status, products })])).records[0]!.statements.length, 1, status);
    const others = [about({ status: "affected", products: [7] }), about({ products: ["pkg:apk/wolfi/a@2"] })];
    assert.deepEqual(read(document(others)).records, []);
  });

  it("invalid members are reported, and the others are read", () => {
    const two = (changes: object) => about({ vulnerability: "CVE-2030-2", ...changes });
    const { names, records, problems } = read(
      document(
        [
          about({ vulnerability: "CVE-2030-6", status: "maybe" }),
          about({
            products: ["pkg:apk/wolfi/a%zz@1", 5, "pkg:apk", "pkg:apk/wolfi/b@1", {}],
            justification: "because",
            color: "red",
          }),
          { status: "fixed" },
          7,
          about({ vulnerability: "CVE-2030-6" }),
          two({ products: [] }),
          two({ products: undefined }),
          two({ status: undefined }),
          about({
            vulnerability: { name: "CVE-2030-3" },
            timestamp: "yesterday",
            products: [{ "@id": "pkg:apk/wolfi/c", subcomponents: "d" }],
          }),
          about({
            vulnerability: { name: "CVE-2030-4", aliases: ["A", 4] },
            products: [{ "@id": "pkg:apk/wolfi/c", subcomponents: [{}, "d"] }],
          }),
          about({
            vulnerability: { name: "CVE-2030-5" },
            products: [{ "@id": "pkg:apk/wolfi/c", identifiers: { purl: "pkg:apk/wolfi/d", cpe22: "x", swid: "y" } }],
          }),
        ],
        { version: "two", timestamp: "never", license: "MIT" },
      ),
    );
    assert.deepEqual(names, [
      "CVE-2030-6",
      "CVE-2030-1",
      "statement 3",
      "statement 4",
      "CVE-2030-2",
      "CVE-2030-3",
      "CVE-2030-4",
      "CVE-2030-5",
    ]);
    assert.deepEqual(
      records.map((record) => [record.vulnerability, record.statements.length]),
      [
        ["CVE-2030-1", 2],
        ["CVE-2030-4", 1],
        ["CVE-2030-5", 1],
      ],
    );
    assert.deepEqual(problems, [
      "CVE-2030-6: timestamp must be a time of RFC 3339",
      "CVE-2030-6: version must be a whole number",
      "CVE-2030-6: license is not a member of OpenVEX 0.2.0",
      "CVE-2030-6: statements[0].status must be one of not_affected, affected, fixed, under_investigation",
      "CVE-2030-1: statements[1].justification must be one of component_not_present, vulnerable_code_not_present, vulnerable_code_not_in_execute_path, vulnerable_code_cannot_be_controlled_by_adversary, inline_mitigations_already_exist",
      "CVE-2030-1: statements[1].products[0] is read although its package URL breaks a rule: a percent sign is not followed by the code of a character",
      "CVE-2030-1: statements[1].products[1] must be an object",
      "CVE-2030-1: statements[1].products[2].@id must be a package URL that is valid",
      "CVE-2030-1: statements[1].products[4] must have an @id, an identifier or a hash",
      "CVE-2030-1: statements[1].color is not a member of OpenVEX 0.2.0",
      "statement 3: statements[2].vulnerability must be an object",
      "statement 4: statements[3] must be an object",
      "CVE-2030-2: statements[5].products has no product that can be read",
      "CVE-2030-2: statements[6].products is missing",
      "CVE-2030-2: statements[7].status is missing",
      "CVE-2030-3: statements[8].timestamp must be a time of RFC 3339",
      "CVE-2030-3: statements[8].products[0].subcomponents must be a list",
      "CVE-2030-3: statements[8].products[0].subcomponents has no subcomponent that can be read",
      "CVE-2030-3: statements[8].products has no product that can be read",
      "CVE-2030-4: statements[9].vulnerability.aliases[1] must be a text",
      "CVE-2030-4: statements[9].products[0].subcomponents[0] must have an @id, an identifier or a hash",
      "CVE-2030-5: statements[10].products[0].identifiers.cpe22 must be a CPE",
      "CVE-2030-5: statements[10].products[0].identifiers.swid is not a member of OpenVEX 0.2.0",
      "CVE-2030-5: statements[10].products[0].@id names another product than identifiers.purl, which counts",
    ]);
  });

  const bad: readonly (readonly [unknown, string])[] = [
    [[], "must be an object"],
    [{ "@context": "https://openvex.dev/ns/v0.2.0" }, "must have a list of statements"],
    [document("none"), "must have a list of statements"],
    [
      document([], { "@context": "https://openvex.dev/ns/v1.0.0" }),
      "has the context https://openvex.dev/ns/v1.0.0, but only OpenVEX up to 0.2.0 can be read",
    ],
  ];
  for (const [from, message] of bad) {
    it(`cannot read ${JSON.stringify(from).slice(0, 60)}`, () =>
      assert.throws(() => readOpenvex(from, { source: "" }), new BadDocument(message)));
  }
});

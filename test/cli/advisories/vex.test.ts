// OpenVEX and CSAF documents. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Json, only, read, types } from "./reading.ts";

describe("OpenVEX", () => {
  const vex = (...statements: unknown[]) => ({
    ...{ "@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://v.example/1", author: "Team", version: 1 },
    ...{ timestamp: "2030-01-01T00:00:00Z", statements },
  });
  const statement = (changes: object) => ({
    vulnerability: { name: "CVE-2030-1", aliases: ["GHSA-1"] },
    products: [
      { "@id": "pkg:apk/wolfi/tool@1.2-r0?arch=x86_64", subcomponents: [{ "@id": "pkg:golang/example.test/lib@v1" }] },
    ],
    ...changes,
  });

  it("a product and a vulnerability are an advisory", () => {
    const { events, ...advisory } = only(vex(statement({ status: "fixed" })));
    assert.match(advisory.advisoryId, /^CGA-/);
    assert.deepEqual(
      { ...advisory, advisoryId: "" },
      {
        ...{
          advisoryId: "",
          author: "Team",
          artifactName: "tool",
          artifactType: "apk",
          artifactArchitecture: "x86_64",
        },
        ...{
          componentName: "example.test/lib",
          componentType: "go-module",
          aliases: ["CVE-2030-1", "GHSA-1"],
          origin: "tool",
        },
        ...{ createTime: "2030-01-01T00:00:00Z", modifyTime: "2030-01-01T00:00:00Z" },
      },
    );
    assert.deepEqual(events, [
      {
        author: "Team",
        reviewState: "REVIEW_STATE_APPROVED",
        fixed: { fixedVersion: "1.2-r0" },
      },
    ]);
  });

  const statuses: readonly (readonly [object, object])[] = [
    [{ status: "under_investigation" }, { detection: { manual: {} } }],
    [{ status: "under_investigation", status_notes: "analysis-not-planned" }, { analysisNotPlanned: {} }],
    [{ status: "affected", action_statement: "wait" }, { truePositiveDetermination: { note: "wait" } }],
    [
      { status: "affected", action_statement: "wait", status_notes: "fix-not-planned" },
      { fixNotPlanned: { note: "wait" } },
    ],
    [{ status: "affected", status_notes: "pending-upstream-fix" }, { pendingUpstreamFix: {} }],
    [
      { status: "not_affected", justification: "component_not_present", impact_statement: "n" },
      { falsePositiveDetermination: { type: "TYPE_COMPONENT_VULNERABILITY_MISMATCH", note: "n" } },
    ],
    [{ status: "not_affected" }, { falsePositiveDetermination: {} }],
  ];
  for (const [said, type] of statuses) {
    it(JSON.stringify(said), () => assert.deepEqual(types(only(vex(statement(said)))), [type]));
  }

  it("statements on the same are events of one advisory, of which the later is later", () => {
    const advisory = only(
      vex(
        statement({ status: "under_investigation" }),
        statement({ status: "fixed", timestamp: "2030-02-01T00:00:00Z" }),
      ),
    );
    assert.deepEqual(
      advisory.events.map(({ createTime }: Json) => createTime),
      ["2030-01-01T00:00:00Z", "2030-02-01T00:00:00Z"],
    );
  });

  it("a statement is as old as its last update, and one without a time as its document", () => {
    const times = (document: object, ...said: object[]) => {
      const { createTime, modifyTime, events } = only({
        ...vex(...said.map((each) => statement({ status: "fixed", ...each }))),
        ...document,
      });
      return [createTime, modifyTime, events.map((event: Json) => event.createTime)];
    };
    const [first, second, third] = [1, 2, 3].map((month) => `2030-0${month}-01T00:00:00Z`);
    assert.deepEqual(times({}, {}), [first, first, [undefined]]);
    assert.deepEqual(times({ last_updated: second }, {}), [first, second, [undefined]]);
    assert.deepEqual(times({ last_updated: third }, { timestamp: second }), [undefined, undefined, [second]]);
    assert.deepEqual(times({}, { timestamp: second, last_updated: third }), [undefined, undefined, [third]]);
    assert.deepEqual(times({ last_updated: third }, {}, { timestamp: second }), [
      undefined,
      undefined,
      [first, second],
    ]);
  });

  it("a statement that is wrong is named, and the others are read", () => {
    const { found, problems } = read(
      vex(
        statement({ status: "maybe" }),
        statement({ status: "fixed", products: [] }),
        { status: "fixed" },
        statement({ status: "fixed", products: ["pkg:npm/%40a/b@1"] }),
      ),
    );
    assert.deepEqual(
      found.map(({ artifactName, artifactType }) => [artifactName, artifactType]),
      [["@a/b", "library"]],
    );
    assert.deepEqual(problems, [
      "CVE-2030-1: the status maybe is not known",
      "CVE-2030-1: it names no product",
      "statement 3: vulnerability must be an object",
    ]);
  });
});

describe("CSAF", () => {
  const csaf = (vulnerabilities: unknown[], tree: object = {}) => ({
    document: {
      category: "csaf_vex",
      csaf_version: "2.0",
      publisher: { name: "Vendor" },
      tracking: { current_release_date: "2030-01-01T00:00:00Z" },
    },
    product_tree: {
      full_product_names: [
        { product_id: "p1", name: "Tool", product_identification_helper: { purl: "pkg:apk/wolfi/tool@1-r0" } },
      ],
      branches: [{ branches: [{ product: { product_id: "p2", name: "Box 9" } }] }],
      ...tree,
    },
    vulnerabilities,
  });

  it("every product and vulnerability are an advisory", () => {
    const { found, problems } = read(
      csaf([
        {
          cve: "CVE-2030-1",
          ids: [{ system_name: "X", text: "X-1" }],
          product_status: { fixed: ["p1"], known_affected: ["p2"] },
          scores: [{ products: ["p1"], cvss_v3: { vectorString: "CVSS:3.1/AV:N" } }],
        },
        {
          ids: [{ system_name: "X", text: "X-2" }],
          product_status: { known_not_affected: ["p1"] },
          flags: [{ label: "inline_mitigations_already_exist", product_ids: ["p1"] }],
        },
      ]),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(
      found.map((each) => [each.artifactName, each.aliases, types(each)]),
      [
        ["Box 9", ["CVE-2030-1", "X-1"], [{ truePositiveDetermination: {} }]],
        ["tool", ["CVE-2030-1", "X-1"], [{ fixed: { fixedVersion: "1-r0" } }]],
        ["tool", ["X-2"], [{ falsePositiveDetermination: { type: "TYPE_INLINE_MITIGATIONS_EXIST" } }]],
      ],
    );
    assert.deepEqual(found[1].severities, [{ type: "TYPE_CVSS_V3", score: "CVSS:3.1/AV:N" }]);
    assert.equal(found[0].author, "Vendor");
  });

  for (const order of [
    ["known_affected", "fixed", "under_investigation"],
    ["under_investigation", "fixed", "known_affected"],
  ]) {
    it(`products of one package have all their severities, each once: ${order.join(", ")}`, () => {
      const purl = (version: string) => ({ purl: `pkg:apk/wolfi/tool@${version}` });
      const products = ["1", "2", "3"].map((version) => ({
        ...{ product_id: version, name: `Tool ${version}`, product_identification_helper: purl(version) },
      }));
      const byStatus: Json = { known_affected: ["1"], fixed: ["2"], under_investigation: ["3"] };
      const scores = [
        { products: ["1", "2"], cvss_v3: { vectorString: "CVSS:3.1/AV:N" } },
        { products: ["2"], cvss_v2: { vectorString: "AV:N" } },
      ];
      const product_status = Object.fromEntries(order.map((status) => [status, byStatus[status]]));
      const advisory = only(csaf([{ cve: "CVE-2030-1", product_status, scores }], { full_product_names: products }));
      const severities = advisory.severities.map(({ score }: Json) => score);
      assert.deepEqual(severities.sort(), ["AV:N", "CVSS:3.1/AV:N"]);
      assert.equal(advisory.events.length, 3);
    });
  }

  for (const [category, name] of [
    ["no_fix_planned", "fixNotPlanned"],
    ["none_available", "pendingUpstreamFix"],
    ["workaround", "truePositiveDetermination"],
  ]) {
    it(`the remediation ${category}`, () => {
      const remediations = [{ category, details: "d", product_ids: ["p1"] }];
      const advisory = only(csaf([{ cve: "CVE-2030-1", product_status: { known_affected: ["p1"] }, remediations }]));
      assert.deepEqual(types(advisory), [{ [name!]: { note: "d" } }]);
    });
  }

  it("of versions of one package, the one that fixes comes last, in whatever order the document names them", () => {
    const versions = ["1", "2", "3"].map((version) => ({
      ...{ product_id: `v${version}`, name: `Tool ${version}` },
      product_identification_helper: { purl: `pkg:apk/wolfi/tool@${version}-r0` },
    }));
    const said = { known_affected: ["v2"], fixed: ["v3"], known_not_affected: ["v1"] };
    for (const product_status of [said, Object.fromEntries(Object.entries(said).reverse())]) {
      const advisory = only(csaf([{ cve: "CVE-2030-1", product_status }], { full_product_names: versions }));
      const cases = types(advisory).map((type) => Object.keys(type)[0]);
      assert.deepEqual(cases, ["falsePositiveDetermination", "truePositiveDetermination", "fixed"]);
    }
  });

  it("what is said of a group of products is said of each", () => {
    const tree = { product_groups: [{ group_id: "g", product_ids: ["p1", "p2"] }] };
    const status = (product_status: object, more: object) =>
      read(csaf([{ cve: "CVE-2030-1", product_status, ...more }], tree)).found.flatMap(types);
    const remediations = [{ category: "no_fix_planned", details: "old", group_ids: ["g", "unknown"] }];
    const planned = { fixNotPlanned: { note: "old" } };
    assert.deepEqual(status({ known_affected: ["p1", "p2"] }, { remediations }), [planned, planned]);
    const flags = [{ label: "component_not_present", group_ids: ["g"], product_ids: ["p1"] }];
    const mismatch = { falsePositiveDetermination: { type: "TYPE_COMPONENT_VULNERABILITY_MISMATCH" } };
    assert.deepEqual(status({ known_not_affected: ["p1", "p2"] }, { flags }), [mismatch, mismatch]);
  });

  it("what is wrong is named, and the rest is read", () => {
    const { found, problems } = read(
      csaf([
        { cve: "CVE-2030-1", product_status: { fixed: ["p9"] } },
        { product_status: { fixed: ["p1"] } },
        { cve: "CVE-2030-3", product_status: { under_investigation: ["p1"] } },
      ]),
    );
    assert.equal(found.length, 1);
    assert.deepEqual(problems, [
      "CVE-2030-1: the product p9 is not in the product tree",
      "vulnerability 2: it has neither a CVE nor another id",
    ]);
  });

  it("what is said of products is read once, however many they are", () => {
    let reads = 0;
    const ids = Array.from({ length: 100 }, (_, i) => `n${i}`);
    const said = (of: object) => ({
      ...of,
      get product_ids() {
        reads++;
        return ids;
      },
    });
    const vulnerability = {
      ...{ cve: "CVE-2030-1", product_status: { known_not_affected: ids.slice(50), known_affected: ids.slice(0, 50) } },
      flags: [said({ label: "component_not_present" }), said({ label: "vulnerable_code_not_present" })],
      remediations: [said({ category: "none_available", details: "wait" })],
      threats: [said({ details: "it is nothing" })],
    };
    const products = ids.map((id) => ({ product_id: id, name: id }));
    const { found, problems } = read(csaf([vulnerability], { full_product_names: products }));
    assert.deepEqual([found.length, problems, reads], [100, [], 4]);
    assert.deepEqual(types(found.find(({ artifactName: name }) => name === "n0")), [
      { pendingUpstreamFix: { note: "wait" } },
    ]);
    assert.deepEqual(types(found.find(({ artifactName: name }) => name === "n99")), [
      { falsePositiveDetermination: { type: "TYPE_COMPONENT_VULNERABILITY_MISMATCH" } },
    ]);
  });

  it("a tree without end is refused", () => {
    let branches: object[] = [];
    for (let i = 0; i < 10_000; i++) branches = [{ branches }];
    assert.deepEqual(read(csaf([], { branches })).problems, ["the product tree is more than 40 levels deep"]);
  });
});

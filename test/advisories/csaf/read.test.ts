// Reading CSAF 2.0: what becomes of products, statuses and details. All documents are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nameCsaf, nameCsafText } from "../../../src/advisories/csaf/named.ts";
import { readCsaf } from "../../../src/advisories/csaf/read.ts";
import { revisionOf } from "../../../src/advisories/csaf/version.ts";
import { csaf, type Json, product, read, statementsOf } from "./reading.ts";

const tool = product("p1", "pkg:apk/wolfi/tool@1-r0");
const tree = { full_product_names: [tool, product("p2", "pkg:npm/x")] };

describe("reading CSAF", () => {
  it("each vulnerability becomes a record with the data of the document", () => {
    const { json, problems } = read(
      csaf(
        [
          {
            cve: "CVE-2030-1",
            title: "t",
            release_date: "2030-01-15T00:00:00Z",
            ids: [{ system_name: "X", text: "X-1" }],
            notes: [{ category: "description", text: "d" }],
            references: [{ category: "self", url: "https://vendor.example/1", summary: "s" }],
            product_status: { fixed: ["p1"] },
          },
        ],
        tree,
      ),
    );
    assert.deepEqual(problems, []);
    const { statements, extra: _, ...record } = json[0];
    assert.deepEqual(record, {
      source: "Vendor",
      document: "https://vendor.example/V-1",
      vulnerability: "CVE-2030-1",
      format: "RECORD_FORMAT_CSAF",
      revision: "3",
      aliases: ["X-1"],
      summary: "t",
      details: "d",
      publishTime: "2030-01-01T00:00:00Z",
      modifyTime: "2030-02-01T00:00:00Z",
      references: [{ type: "self", url: "https://vendor.example/1", summary: "s" }],
    });
    assert.equal(statements.length, 1);
  });

  it("a document says which version of it is complete", () => {
    const { completes } = readCsaf(csaf([]), { source: "Us" });
    const modifyTime = Date.parse("2030-02-01T00:00:00Z");
    assert.deepEqual(completes, { source: "Us", document: "https://vendor.example/V-1", modifyTime, revision: 3 });
  });

  it("versions of documents have the order of their numbers", () => {
    const ordered = ["1.0.0-1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"].map((version) => revisionOf(version)!);
    assert.deepEqual(
      ordered,
      ordered.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(ordered).size, ordered.length);
    assert.deepEqual(
      [revisionOf("7"), revisionOf("20300101120000"), revisionOf("one")],
      [7, 20300101120000, undefined],
    );
  });

  const statuses: readonly (readonly [string, string])[] = [
    ["known_affected", "AFFECTED"],
    ["first_affected", "AFFECTED"],
    ["last_affected", "AFFECTED"],
    ["known_not_affected", "NOT_AFFECTED"],
    ["fixed", "FIXED"],
    ["first_fixed", "FIXED"],
    ["recommended", "FIXED"],
    ["under_investigation", "UNDER_INVESTIGATION"],
  ];
  for (const [word, status] of statuses) {
    it(`${word} is ${status}`, () => {
      const [statement] = statementsOf({ product_status: { [word]: ["p1"] } }, tree);
      assert.equal(statement.status, `PRODUCT_STATUS_${status}`);
    });
  }

  it("versions of one product in several states are several statements, and in one state one", () => {
    const versions = ["1", "2", "3"].map((version) => product(version, `pkg:npm/x@${version}`));
    const product_status = { known_affected: ["1", "2"], fixed: ["3"] };
    assert.deepEqual(
      statementsOf({ product_status }, { full_product_names: versions }).map((each) => [
        each.product.purl,
        each.versions,
      ]),
      [
        ["pkg:npm/x", ["1", "2"]],
        ["pkg:npm/x", ["3"]],
      ],
    );
  });

  it("all versions of a product are never joined with some of them", () => {
    const products = [product("1", "pkg:npm/x"), product("2", "pkg:npm/x@2")];
    const statements = statementsOf(
      { product_status: { known_affected: ["1", "2"] } },
      { full_product_names: products },
    );
    assert.deepEqual(
      statements.map(({ versions }) => versions),
      [undefined, ["2"]],
    );
  });

  describe("products", () => {
    const branch = (category: string, name: string, inner: Json) => ({
      category,
      name,
      ...(Array.isArray(inner) ? { branches: inner } : { product: inner }),
    });
    const under = (category: string, name: string, inner: Json) => ({
      branches: [branch("vendor", "Acme", [branch("product_name", "Box", [branch(category, name, inner)])])],
    });
    const interval = (...events: [string, string][]) => [
      {
        type: "ECOSYSTEM",
        events: events.map(([type, version]) => ({ type: `RANGE_EVENT_TYPE_${type}`, version })),
        extra: '{"scheme":"npm"}',
      },
    ];
    const text = (said: string) => [{ type: "TEXT", extra: JSON.stringify({ text: said }) }];
    const cases: readonly (readonly [name: string, tree: Json, Json])[] = [
      [
        "by a CPE",
        { full_product_names: [product("p", { cpe: "cpe:/a:acme:box:1" })] },
        { product: { cpe: "cpe:/a:acme:box:1", name: "Product p" } },
      ],
      ["by its name", { full_product_names: [product("p")] }, { product: { name: "Product p" } }],
      [
        "by branches",
        under("product_version", "1.2", product("p")),
        { product: { name: "Acme Box" }, versions: ["1.2"] },
      ],
      [
        "whose branch has its whole name",
        under("product_version", "box-1.2", product("p", {}, "box-1.2")),
        { product: { name: "box-1.2" } },
      ],
      [
        "whose branch has its name, not its version",
        under("product_version", "box:9", product("p", "pkg:rpm/acme/box")),
        { product: { purl: "pkg:rpm/acme/box" } },
      ],
      [
        "with the version of its branch",
        under("product_version", "1.2", product("p", "pkg:npm/box")),
        { product: { purl: "pkg:npm/box" }, versions: ["1.2"] },
      ],
      [
        "with a range",
        under("product_version_range", "vers:npm/>=1|<2|2.5|>=3|<=4", product("p", "pkg:npm/box")),
        {
          product: { purl: "pkg:npm/box" },
          versions: ["2.5"],
          ranges: [
            ...interval(["INTRODUCED", "1"], ["LIMIT", "2"]),
            ...interval(["INTRODUCED", "3"], ["LAST_AFFECTED", "4"]),
          ],
        },
      ],
      [
        "with a range from the first",
        under("product_version_range", "vers:npm/<2", product("p", "pkg:npm/box")),
        { product: { purl: "pkg:npm/box" }, ranges: interval(["INTRODUCED", "0"], ["LIMIT", "2"]) },
      ],
      [
        "with a range of all",
        under("product_version_range", "vers:npm/*", product("p", "pkg:npm/box")),
        { product: { purl: "pkg:npm/box" } },
      ],
      [
        "with a range that has no intervals",
        under("product_version_range", "vers:npm/>1|!=2", product("p", "pkg:npm/box")),
        { product: { purl: "pkg:npm/box" }, ranges: text("vers:npm/>1|!=2") },
      ],
      [
        "with a range in words",
        under("product_version_range", "all before V2", product("p")),
        { product: { name: "Acme Box" }, ranges: text("all before V2") },
      ],
      [
        "with a range and a CPE of all versions",
        under("product_version_range", "<2", product("p", { cpe: "cpe:2.3:a:acme:box:*:*:*:*:*:*:*:*" })),
        { product: { cpe: "cpe:2.3:a:acme:box:*:*:*:*:*:*:*:*", name: "Product p" }, ranges: text("<2") },
      ],
      [
        "with a CPE of one version",
        under("product_version", "1", product("p", { cpe: "cpe:2.3:a:acme:bo\\:x:1:*:*:*:*:*:*:*" })),
        { product: { cpe: "cpe:2.3:a:acme:bo\\:x:1:*:*:*:*:*:*:*", name: "Product p" } },
      ],
    ];
    for (const [name, products, expected] of cases) {
      it(name, () => {
        const [{ status: _, ...statement }] = statementsOf({ product_status: { known_affected: ["p"] } }, products) as [
          Json,
        ];
        assert.deepEqual(statement, expected);
      });
    }

    const relationship = (id: string, part: string, category: string, whole: string, helper: Json = {}) => ({
      category,
      product_reference: part,
      relates_to_product_reference: whole,
      full_product_name: product(id, helper),
    });
    const parts = {
      full_product_names: [
        product("lib", "pkg:npm/lib@1"),
        product("app", "pkg:npm/app@2"),
        product("os", {}, "Linux 9"),
      ],
      relationships: [
        relationship("lib-in-app", "lib", "default_component_of", "app"),
        relationship("app-in-os", "app", "optional_component_of", "os"),
        relationship("lib-in-app-in-os", "lib-in-app", "external_component_of", "app-in-os"),
        relationship("app-on-os", "app", "installed_on", "os"),
        relationship("lib-in-app-on-os", "lib", "default_component_of", "app-on-os"),
        relationship("own", "lib", "default_component_of", "app", "pkg:npm/own@3"),
        relationship("round", "round", "default_component_of", "app"),
        relationship("lost", "nothing", "default_component_of", "app"),
      ],
    };
    const app = { product: { purl: "pkg:npm/app" }, versions: ["2"] };
    const lib = { subcomponents: ["pkg:npm/lib@1"] };
    const wholes: readonly (readonly [string, Json])[] = [
      ["lib-in-app", { ...app, ...lib }],
      ["app-in-os", { ...app, release: "Linux 9" }],
      ["lib-in-app-in-os", { ...app, ...lib, release: "Linux 9" }],
      ["app-on-os", { ...app, release: "Linux 9" }],
      ["lib-in-app-on-os", { ...app, ...lib, release: "Linux 9" }],
      ["own", { product: { purl: "pkg:npm/own" }, versions: ["3"] }],
    ];
    for (const [id, expected] of wholes) {
      it(`reads a product that is a relationship: ${id}`, () => {
        const [{ status: _, ...statement }] = statementsOf({ product_status: { known_affected: [id] } }, parts) as [
          Json,
        ];
        assert.deepEqual(statement, expected);
      });
    }

    it("parts of one product are one statement, unless they are parts of different versions", () => {
      const products = {
        full_product_names: [
          ...["a", "b"].map((id) => product(id, `pkg:npm/${id}@1`)),
          product("v1", "pkg:npm/app@1"),
          product("v2", "pkg:npm/app@2"),
        ],
        relationships: [
          ["a", "v1"],
          ["b", "v1"],
          ["a", "v2"],
        ].map(([part, whole]) => relationship(`${part}${whole}`, part!, "default_component_of", whole!)),
      };
      assert.deepEqual(
        statementsOf({ product_status: { fixed: ["av1", "bv1", "av2"] } }, products).map((each) => [
          each.versions,
          each.subcomponents,
        ]),
        [
          [["1"], ["pkg:npm/a@1", "pkg:npm/b@1"]],
          [["2"], ["pkg:npm/a@1"]],
        ],
      );
    });

    for (const id of ["round", "lost"]) {
      it(`a relationship that leads nowhere is dropped and reported: ${id}`, () => {
        const { json, problems } = read(csaf([{ cve: "CVE-2030-1", product_status: { fixed: ["app", id] } }], parts));
        assert.equal(json[0].statements.length, 1);
        assert.match(
          problems.join(),
          new RegExp(`^CVE-2030-1: product_status.fixed names the product "${id}", which `),
        );
      });
    }
  });

  describe("details", () => {
    const said = (word: string, details: Json) =>
      statementsOf({ product_status: { [word]: ["p1"] }, ...details }, tree)[0];
    const remediation = (category: string, details = "do", more: Json = {}) => ({
      remediations: [{ category, details, product_ids: ["p1"], ...more }],
    });
    const threat = (details: string, category = "impact") => ({
      threats: [{ category, details, product_ids: ["p1"] }],
    });
    const cases: readonly (readonly [word: string, details: Json, expected: Json])[] = [
      ["known_affected", remediation("no_fix_planned"), { plan: "RESPONSE_PLAN_FIX_NOT_PLANNED", action: "do" }],
      ["known_affected", remediation("none_available"), { plan: "RESPONSE_PLAN_PENDING_UPSTREAM_FIX", action: "do" }],
      [
        "known_affected",
        remediation("none_available", "A fix is awaited from upstream."),
        { plan: "RESPONSE_PLAN_PENDING_UPSTREAM_FIX" },
      ],
      ["known_affected", remediation("workaround"), { action: "do" }],
      ["known_affected", remediation("mitigation", "The source names no action."), {}],
      [
        "fixed",
        remediation("vendor_fix", "do", { date: "2030-01-03T00:00:00Z" }),
        { action: "do", time: "2030-01-03T00:00:00Z" },
      ],
      ["fixed", remediation("no_fix_planned"), { action: "do" }],
      ["known_not_affected", threat("never"), { impact: "never" }],
      ["known_not_affected", threat("The source gives no reason."), {}],
      ["known_not_affected", threat("high", "exploit_status"), {}],
      ["under_investigation", threat("No analysis is planned."), { plan: "RESPONSE_PLAN_ANALYSIS_NOT_PLANNED" }],
      [
        "known_not_affected",
        { flags: [{ label: "component_not_present", date: "2030-01-02T00:00:00Z", product_ids: ["p1"] }] },
        { justification: "component_not_present", time: "2030-01-02T00:00:00Z" },
      ],
      [
        "known_affected",
        {
          scores: [
            {
              products: ["p1"],
              cvss_v2: { vectorString: "AV:N/AC:L/Au:N/C:P/I:P/A:P" },
              cvss_v3: { vectorString: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" },
            },
          ],
        },
        {
          severities: [
            { type: "CVSS_V2", score: "AV:N/AC:L/Au:N/C:P/I:P/A:P" },
            { type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" },
          ],
        },
      ],
    ];
    for (const [word, details, expected] of cases) {
      it(`${word}: ${JSON.stringify(details).slice(0, 90)}`, () => {
        const { product: _, status: _s, versions: _v, ...rest } = said(word, details);
        assert.deepEqual(rest, expected);
      });
    }

    it("details of a product group apply to each of its products", () => {
      const groups = { ...tree, product_groups: [{ group_id: "g", product_ids: ["p1", "p2"] }] };
      const flags = [{ label: "component_not_present", group_ids: ["g"], product_ids: ["p1"] }];
      const statements = statementsOf({ product_status: { known_not_affected: ["p1", "p2"] }, flags }, groups);
      assert.deepEqual(
        statements.map(({ justification }) => justification),
        ["component_not_present", "component_not_present"],
      );
    });

    it("details are read once, regardless of the number of products", () => {
      let reads = 0;
      const ids = Array.from({ length: 100 }, (_, i) => `n${i}`);
      const counted = (of: object) => ({
        ...of,
        get product_ids() {
          reads++;
          return ids;
        },
      });
      const vulnerability = {
        cve: "CVE-2030-1",
        product_status: { known_affected: ids },
        remediations: [counted({ category: "none_available", details: "wait" })],
        threats: [counted({ category: "impact", details: "it is nothing" })],
      };
      const { json } = read(csaf([vulnerability], { full_product_names: ids.map((id) => product(id)) }));
      assert.deepEqual([json[0].statements.length, reads], [100, 2]);
    });
  });

  describe("what is wrong", () => {
    const cve = { cve: "CVE-2030-1", product_status: { fixed: ["p1"] } };
    const cases: readonly (readonly [name: string, vulnerabilities: Json[], records: number, problems: string[]])[] = [
      [
        "a product that is not in the tree",
        [{ ...cve, product_status: { fixed: ["p1", "p9"] } }],
        1,
        ['CVE-2030-1: product_status.fixed names the product "p9", which is not in the product tree'],
      ],
      [
        "a status that CSAF does not have",
        [{ ...cve, product_status: { unknown: ["p1"] } }],
        1,
        [
          "CVE-2030-1: product_status.unknown must be one of known_affected, first_affected, last_affected, under_investigation, fixed, first_fixed, recommended, known_not_affected",
        ],
      ],
      [
        "an alias with blanks",
        [{ ...cve, ids: [{ system_name: "X", text: "a b" }, { text: "tracker?id=1" }] }],
        1,
        ["CVE-2030-1: ids has an id that cannot be an alias, because it contains blanks or is too long: a b"],
      ],
      [
        "an invalid vector",
        [{ ...cve, scores: [{ products: ["p1"], cvss_v3: { vectorString: "CVSS:3.1/AV:N" } }] }],
        1,
        ["CVE-2030-1: scores[0].cvss_v3.vectorString must be a vector of CVSS"],
      ],
      [
        "a flag that CSAF does not have",
        [{ ...cve, flags: [{ label: "fine", product_ids: ["p1"] }] }],
        1,
        [
          "CVE-2030-1: flags[0].label must be one of component_not_present, inline_mitigations_already_exist, vulnerable_code_cannot_be_controlled_by_adversary, vulnerable_code_not_in_execute_path, vulnerable_code_not_present",
        ],
      ],
      [
        "details of a product without a status",
        [{ ...cve, threats: [{ category: "impact", details: "d", product_ids: ["p2"] }] }],
        1,
        ["CVE-2030-1: threats[0] names 1 products without a status"],
      ],
      [
        "an invalid time",
        [{ ...cve, release_date: "yesterday" }],
        1,
        ["CVE-2030-1: release_date must be a time of RFC 3339"],
      ],
      [
        "a CVE that is used twice",
        [cve, cve],
        1,
        ["CVE-2030-1: cve must not be that of another vulnerability of the document: CVE-2030-1"],
      ],
      ["an invalid vulnerability", [cve, 7], 1, ["vulnerabilities[1]: must be an object"]],
    ];
    for (const [name, vulnerabilities, count, expected] of cases) {
      it(`${name} is reported, and the rest is read`, () => {
        const { records, problems } = read(csaf(vulnerabilities, tree));
        assert.deepEqual([records.length, problems], [count, expected]);
      });
    }

    it("a part that is named with more than 4096 characters is not taken for the whole", () => {
      const long = {
        full_product_names: [tool, product("p2", `pkg:generic/x@${"1".repeat(5000)}`)],
        relationships: [] as Json[],
      };
      long.relationships.push({
        category: "default_component_of",
        product_reference: "p2",
        relates_to_product_reference: "p1",
        full_product_name: product("c"),
      });
      const { json, problems } = read(
        csaf([{ cve: "CVE-2030-1", product_status: { known_not_affected: ["c"] } }], long),
      );
      assert.deepEqual(json[0].statements ?? [], []);
      assert.deepEqual(problems, [
        'CVE-2030-1: product_status.known_not_affected names the product "c", which is identified by more than 4096 characters',
      ]);
    });

    it("leaves out a product with an unreadable name, and ignores an unreadable reason", () => {
      const odd = { full_product_names: [tool, product("p2", {}, "a\0b"), product("p3", {}, "\ud800")] };
      const product_status = { fixed: ["p1", "p2", "p3"] };
      const remediations = [{ category: "mitigation", details: "a\0b", product_ids: ["p1"] }];
      const { json, problems } = read(csaf([{ cve: "CVE-2030-1", product_status, remediations }], odd));
      assert.deepEqual([json[0].statements.length, json[0].statements[0].action, problems.length], [1, undefined, 2]);
      for (const word of ["known_affected", "under_investigation", "last_affected"]) {
        const { records } = read(csaf([{ cve: "CVE-2030-1", product_status: { [word]: ["p1", "p2"] } }], odd));
        assert.deepEqual(records, [], "without a product that may be affected, the record would hide it");
      }
    });

    it("a record of more than 5000 statements is left out, with their number", () => {
      const ids = Array.from({ length: 5001 }, (_, i) => `p${i}`);
      const { records, problems } = read(
        csaf([{ cve: "CVE-2030-1", product_status: { fixed: ids } }], {
          full_product_names: ids.map((id) => product(id)),
        }),
      );
      assert.deepEqual(
        [records, problems],
        [
          [],
          [
            "CVE-2030-1: product_status has 5001 statements, more than the limit of 5000; import documents of fewer products: many publishers also have one for each update, such as csaf_security_advisory",
          ],
        ],
      );
    });

    it("vulnerabilities without ids have the id of the document", () => {
      const { records } = read(csaf([{ product_status: { fixed: ["p1"] } }, { title: "t" }], tree));
      assert.deepEqual(
        records.map(({ vulnerability }) => vulnerability),
        ["V-1", "V-1#2"],
      );
    });

    it("a product tree without end is rejected", () => {
      let branches: object[] = [];
      for (let i = 0; i < 10_000; i++) branches = [{ branches }];
      assert.throws(
        () => readCsaf(csaf([], { branches }), { source: "" }),
        /product_tree.branches are more than 40 levels deep/,
      );
    });
  });

  it("names the files of a provider that are not advisories", () => {
    const named: readonly (readonly [unknown, string | undefined])[] = [
      [csaf([]), undefined],
      [csaf([], {}, { csaf_version: "2.1" }), "a document of CSAF 2.1, which is not read (only CSAF 2.0 is)"],
      [{ feed: { id: "f", entry: [] } }, "a ROLIE feed"],
      [{ service: { workspace: [] } }, "a ROLIE service document"],
      [{ categories: { category: [] } }, "a ROLIE category document"],
      [{ metadata_version: "2.0", publisher: {}, distributions: [] }, "the metadata of a CSAF provider"],
      [{ aggregator_version: "2.0", csaf_providers: [] }, "the metadata of a CSAF aggregator"],
    ];
    for (const [document, name] of named) assert.equal(nameCsaf(document), name);
    assert.equal(
      nameCsafText('"2030/a.json","2030-01-01T00:00:00Z"\n"2030/b.json","2030-01-01T00:00:00Z"\n'),
      "a list of changed CSAF documents (changes.csv)",
    );
    assert.equal(nameCsafText("2030/a.json\n2030/b.json\n"), "a list of CSAF documents (index.txt)");
    assert.equal(nameCsafText('{"a": 1}'), undefined);
  });
});

// Writing CSAF of what other formats say: valid, and never more or less than what was said. All records are made up.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { type AdvisoryRecord, AdvisoryRecordSchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isQuick } from "../../harness/quick.ts";
import { generatedDocument } from "./generated.ts";
import { csaf, type Json, product, read } from "./reading.ts";
import { loadValidator } from "./validator.ts";
import { advisoriesOf, write } from "./writing.ts";

const npm = { purl: "pkg:npm/x" };
const range = (...events: [string, string][]) => ({
  type: "ECOSYSTEM",
  events: events.map(([type, version]) => ({ type: `RANGE_EVENT_TYPE_${type}`, version })),
});

/** Returns a record of another format with these statements. */
function record(statements: readonly Json[], more: Json = {}): AdvisoryRecord {
  const named = statements.map(({ status, ...statement }) => ({
    product: npm,
    ...statement,
    ...(status && { status: `PRODUCT_STATUS_${status}` }),
  }));
  const base = { source: "s", document: "d", vulnerability: "CVE-2030-1000", format: "RECORD_FORMAT_OPENVEX" };
  return fromJson(AdvisoryRecordSchema, { ...base, ...more, statements: named });
}

/** Writes records, and returns the status of each product by name, the vulnerability and the losses. */
async function said(
  ...records: AdvisoryRecord[]
): Promise<{ statuses: Json; vulnerability: Json; losses: string[]; names: Map<string, string> }> {
  const { document, losses } = await write(advisoriesOf(records));
  const names = namesOf(document.product_tree);
  const [vulnerability = { product_status: {} }] = document.vulnerabilities ?? [];
  const statuses = Object.entries(vulnerability.product_status).map(([word, ids]) => [
    word,
    (ids as string[]).map((id) => names.get(id)).sort(),
  ]);
  return { statuses: Object.fromEntries(statuses), vulnerability, losses, names };
}

function namesOf(tree: Json = {}): Map<string, string> {
  const names = new Map<string, string>();
  const add = ({ product_id: id, name }: Json) => names.set(id, name);
  const walk = (branches: Json[] = []) => {
    for (const branch of branches) {
      if (branch.product) add(branch.product);
      walk(branch.branches);
    }
  };
  walk(tree.branches);
  for (const each of tree.full_product_names ?? []) add(each);
  for (const { full_product_name: each } of tree.relationships ?? []) add(each);
  return names;
}

describe("writing CSAF", () => {
  const statuses: readonly (readonly [statement: Json, statuses: Json])[] = [
    [{ status: "AFFECTED" }, { known_affected: ["x"] }],
    [{ status: "AFFECTED", versions: ["1", "2"] }, { known_affected: ["x 1", "x 2"] }],
    [{ status: "FIXED", versions: ["1"] }, { fixed: ["x 1"] }],
    [{ status: "NOT_AFFECTED" }, { known_not_affected: ["x"] }],
    [{ status: "UNDER_INVESTIGATION" }, { under_investigation: ["x"] }],
    [
      {
        status: "AFFECTED",
        ranges: [range(["INTRODUCED", "1"], ["FIXED", "2"], ["INTRODUCED", "3"], ["LAST_AFFECTED", "4"])],
      },
      { known_affected: ["x vers:npm/>=1|<2|>=3|<=4"], fixed: ["x 2"] },
    ],
    [
      { status: "AFFECTED", ranges: [range(["INTRODUCED", "0"], ["LIMIT", "2"])] },
      { known_affected: ["x vers:npm/<2"] },
    ],
    [{ status: "AFFECTED", ranges: [range(["INTRODUCED", "0"])] }, { known_affected: ["x vers:npm/*"] }],
    [
      { status: "AFFECTED", ranges: [range(["FIXED", "2"], ["INTRODUCED", "1"])] },
      { known_affected: ["x vers:npm/>=1|<2"], fixed: ["x 2"] },
    ],
    [
      {
        status: "AFFECTED",
        ranges: [{ ...range(["INTRODUCED", "0"], ["FIXED", "abc"]), type: "GIT", repo: "https://git.example/x" }],
      },
      { known_affected: ["x commits of https://git.example/x: from the first, before the fix abc"] },
    ],
    [
      { status: "AFFECTED", subcomponents: ["pkg:npm/y@1", "z"] },
      { known_affected: ["y 1 as a component of x", "z as a component of x"] },
    ],
    [
      { status: "AFFECTED", product: { ecosystem: "Debian", name: "tool" }, release: "12" },
      { known_affected: ["Debian:tool installed on Debian 12"] },
    ],
    [{ status: "AFFECTED", versions: ["all"] }, { known_affected: ["x all"] }],
    [{ status: "AFFECTED", product: { cpe: "cpe:/a:acme:box" } }, { known_affected: ["cpe:/a:acme:box"] }],
    [
      { events: [{ reviewState: "REVIEW_STATE_APPROVED", fixed: { fixedVersion: "3" } }] },
      { known_affected: ["x vers:npm/<3"], fixed: ["x 3"] },
    ],
    [{ events: [{ reviewState: "REVIEW_STATE_APPROVED", detection: { manual: {} } }] }, { under_investigation: ["x"] }],
    [{ events: [{ reviewState: "REVIEW_STATE_PENDING", detection: { manual: {} } }] }, {}],
    [{}, {}],
  ];
  for (const [statement, expected] of statuses) {
    it(JSON.stringify(statement).replaceAll("RANGE_EVENT_TYPE_", ""), async () => {
      assert.deepEqual((await said(record([statement]))).statuses, expected);
    });
  }

  const details: readonly (readonly [statement: Json, list: string, expected: Json])[] = [
    [{ status: "NOT_AFFECTED" }, "threats", [["impact", "The source gives no reason."]]],
    [{ status: "NOT_AFFECTED", impact: "never runs" }, "threats", [["impact", "never runs"]]],
    [{ status: "NOT_AFFECTED", justification: "own_words" }, "threats", [["impact", "own_words"]]],
    [{ status: "NOT_AFFECTED", justification: "component_not_present" }, "flags", [["component_not_present"]]],
    [
      { status: "UNDER_INVESTIGATION", plan: "RESPONSE_PLAN_ANALYSIS_NOT_PLANNED" },
      "threats",
      [["impact", "No analysis is planned."]],
    ],
    [{ status: "AFFECTED" }, "remediations", [["mitigation", "The source names no action."]]],
    [{ status: "AFFECTED", action: "wait" }, "remediations", [["mitigation", "wait"]]],
    [
      { status: "AFFECTED", plan: "RESPONSE_PLAN_FIX_NOT_PLANNED", notes: "old" },
      "remediations",
      [["no_fix_planned", "old"]],
    ],
    [
      { status: "AFFECTED", plan: "RESPONSE_PLAN_PENDING_UPSTREAM_FIX" },
      "remediations",
      [["none_available", "A fix is awaited from upstream."]],
    ],
    [
      { status: "AFFECTED", ranges: [range(["INTRODUCED", "0"], ["FIXED", "2"])] },
      "remediations",
      [["vendor_fix", "Fixed in 2."]],
    ],
    [{ status: "FIXED", versions: ["2"] }, "remediations", [["vendor_fix", "Fixed in 2."]]],
    [
      { status: "AFFECTED", severities: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] },
      "scores",
      [["9.8"]],
    ],
    [
      { status: "AFFECTED", severities: [{ type: "CVSS_V2", score: "AV:N/AC:L/Au:N/C:P/I:P/A:P" }] },
      "scores",
      [["7.5"]],
    ],
    [
      {
        status: "AFFECTED",
        severities: [{ type: "CVSS_V4", score: "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N" }],
      },
      "scores",
      [],
    ],
  ];
  for (const [statement, list, expected] of details) {
    it(`${list} of ${JSON.stringify(statement).replaceAll(/RANGE_EVENT_TYPE_|RESPONSE_PLAN_/g, "")}`, async () => {
      const { vulnerability } = await said(record([statement]));
      const items = (vulnerability[list] ?? []).map(
        ({ category, label, details: text, cvss_v2: v2, cvss_v3: v3 }: Json) =>
          [category, label, text, v2 && String(v2.baseScore), v3 && String(v3.baseScore)].filter(
            (each) => each !== undefined,
          ),
      );
      assert.deepEqual(items, expected);
    });
  }

  it("advisories of one CVE are one vulnerability, under any id of a source", async () => {
    const ghsa = record([{ status: "AFFECTED" }], {
      vulnerability: "GHSA-2222-3333-4444",
      aliases: ["CVE-2030-1000"],
      summary: "t",
      details: "d",
    });
    const distribution = record([{ status: "FIXED", product: { purl: "pkg:deb/debian/x" }, versions: ["2"] }], {
      vulnerability: "DEBIAN-CVE-2030-1000",
      upstream: ["CVE-2030-1000"],
    });
    const { vulnerability, statuses } = await said(ghsa, distribution);
    assert.deepEqual([vulnerability.cve, vulnerability.title], ["CVE-2030-1000", "t"]);
    assert.deepEqual(vulnerability.ids.map(({ text }: Json) => text).sort(), [
      "DEBIAN-CVE-2030-1000",
      "GHSA-2222-3333-4444",
    ]);
    assert.deepEqual(statuses, { known_affected: ["x"], fixed: ["debian/x 2"] });
  });

  it("a record that includes several CVEs is a vulnerability of its own", async () => {
    const upstream = ["CVE-2030-1000", "CVE-2030-2000"];
    const { vulnerability } = await said(record([{ status: "FIXED" }], { vulnerability: "ADV-1", upstream }));
    assert.deepEqual([vulnerability.cve, vulnerability.ids[0].text], [undefined, "ADV-1"]);
  });

  it("if sources contradict each other, the worst statement is written, and the others are counted as lost", async () => {
    const vex = { status: "NOT_AFFECTED", justification: "component_not_present" };
    const { statuses, vulnerability, losses } = await said(
      record([{ status: "AFFECTED" }], { source: "a" }),
      record([vex], { source: "b" }),
    );
    assert.deepEqual([statuses, vulnerability.flags], [{ known_affected: ["x"] }, undefined]);
    assert.deepEqual(losses, ["a status of which another one for the same product is worse"]);
  });

  it("the writer of CSAF writes the latest of several statements of one source", async () => {
    const time = (day: number) => `2030-01-0${day}T00:00:00Z`;
    const statements = [
      { status: "AFFECTED", time: time(1) },
      { status: "NOT_AFFECTED", time: time(3) },
      { status: "UNDER_INVESTIGATION", time: time(2) },
    ];
    assert.deepEqual((await said(record(statements))).statuses, { known_not_affected: ["x"] });
  });

  it("two documents of one source about a vulnerability both give their references", async () => {
    const of = (document: string) =>
      record([{ status: "AFFECTED" }], {
        document,
        references: [{ type: "WEB", url: `https://example.org/${document}` }],
      });
    const { vulnerability } = await said(of("a"), of("b"));
    assert.deepEqual(
      vulnerability.references.map(({ url }: Json) => url),
      ["https://example.org/a", "https://example.org/b"],
    );
  });

  it("withdrawn records are not written", async () => {
    assert.deepEqual(
      (await said(record([{ status: "AFFECTED" }], { withdrawTime: "2030-01-01T00:00:00Z" }))).statuses,
      {},
    );
  });

  it("a written product reads back with its release, parts and versions", async () => {
    const statement = {
      status: "AFFECTED",
      product: { purl: "pkg:deb/debian/x" },
      release: "12",
      versions: ["1", "2"],
      subcomponents: ["pkg:npm/y@1", "z"],
    };
    const { document } = await write(advisoriesOf([record([statement])]));
    const statements = read(document).json[0].statements.map(({ extra: _, action: _a, ...rest }: Json) => rest);
    const expected = {
      product: statement.product,
      release: "12",
      subcomponents: ["pkg:npm/y@1", "z"],
      status: "PRODUCT_STATUS_AFFECTED",
    };
    assert.deepEqual(statements, [
      { ...expected, versions: ["1"] },
      { ...expected, versions: ["2"] },
    ]);
  });

  describe("is valid", () => {
    let validate: (document: unknown) => Promise<string[]>;
    before(async () => {
      validate = await loadValidator();
    });

    const addresses = [
      "https://a.example/[x]?a=[1]|{}^`%zz#b#c",
      "https://[::1]/x",
      "mailto:a@b.example",
      "HTTPS://ü.example/a b",
    ];
    const strange: readonly Json[] = [
      { product: { name: " \u{1f600} " }, versions: ["1 < 2", "versions", "prior to"] },
      { product: { cpe: "cpe:2.3:a:acme:no" }, versions: ["1"] },
      { product: { cpe: "cpe:2.3:a:acme:box:*:*:*:*:*:*:*:*", name: "Box" } },
      { product: { ecosystem: "GIT", name: "https://git.example/x" } },
      {
        product: { purl: "pkg:swift/x" },
        versions: ["1%2"],
        subcomponents: ["#sub/path", "not a purl", "cpe:/a:acme:part:1"],
      },
      { product: { purl: "pkg:oci/x?repository_url=r.example%2Fx" }, versions: ["sha256:00"] },
      { ranges: [{ type: "TEXT", extra: '{"text":"all of them"}' }, { type: "OTHER" }] },
      {
        severities: [
          { type: "CVSS_V3", score: "CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N" },
          { type: "CVSS_V3", score: "CVSS:3.1/AV:N" },
          { type: "Ubuntu", score: "low" },
        ],
      },
      { justification: "component_not_present", time: "2030-01-01T00:00:00Z" },
    ];
    const all = strange.flatMap((statement) =>
      ["AFFECTED", "NOT_AFFECTED", "FIXED", "UNDER_INVESTIGATION"].map((status) => ({ ...statement, status })),
    );
    const cases: readonly (readonly [name: string, records: AdvisoryRecord[], category: string])[] = [
      [
        "for statements of every kind",
        [...statuses, ...details].map(([statement], i) => record([statement], { vulnerability: `X-${i}` })),
        "csaf_vex",
      ],
      [
        "for strange products",
        all.map((statement, i) => record([statement], { vulnerability: `CVE-2030-${2000 + i}` })),
        "csaf_vex",
      ],
      [
        "where sources contradict each other",
        all.map((statement, i) => record([statement], { source: `s${i}` })),
        "csaf_vex",
      ],
      [
        "with texts and references",
        [
          record([{ status: "AFFECTED" }], {
            details: "d",
            references: [
              { type: "WEB", url: "https://a.example/ü" },
              { url: "no address" },
              ...addresses.map((url) => ({ url })),
            ],
            related: ["X-2"],
          }),
        ],
        "csaf_vex",
      ],
      ["without advisories", [], "csaf_base"],
      ["with nothing but what cannot be written", [record([{}])], "csaf_base"],
      [
        "of a CSAF document that gives no reasons",
        read(
          csaf([{ cve: "CVE-2030-1000", product_status: { known_not_affected: ["p"] } }], {
            full_product_names: [product("p")],
          }),
        ).records,
        "csaf_base",
      ],
      ...[2, 4, 6].map(
        (seed) => [`for a generated document (${seed})`, read(generatedDocument(seed)).records, "csaf_vex"] as const,
      ),
      ...[3, 5].map(
        (seed) => [`for a generated document (${seed})`, read(generatedDocument(seed)).records, "csaf_base"] as const,
      ),
    ];
    for (const [name, records, category] of cases.filter((_, i) => !isQuick || i % 3 === 0)) {
      it(name, async () => {
        const { document } = await write(advisoriesOf(records));
        assert.deepEqual(await validate(document), []);
        assert.equal(document.document.category, category);
      });
    }
  });
});

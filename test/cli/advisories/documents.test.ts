// Documents of no format, and what formats have in common.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  AdvisoryEvent_FalsePositiveDetermination_Type as Reason,
  Severity_Type,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { time } from "../../../src/cli/advisories/document.ts";
import { parseText } from "../../../src/cli/advisories/document-text.ts";
import { toOsvSeverity } from "../../../src/cli/advisories/exports/cvss.ts";
import { justificationOf } from "../../../src/cli/advisories/statuses.ts";
import { read, types } from "./reading.ts";
import { csaf, record } from "./samples.ts";

describe("documents", () => {
  it("of no format are refused", () => {
    for (const document of [null, 7, "x", {}, { packages: [] }, { advisories: [] }])
      assert.deepEqual(read(document).problems, ["it is in none of the formats osv, secdb, openvex, csaf, yaml"]);
  });

  it("of another format than the one asked for are refused", () => {
    assert.deepEqual(read({ id: "GO-2030-0001", modified: "2030-02-01T00:00:00Z" }, "secdb").problems, [
      "it is not secdb",
    ]);
  });

  it("that cannot be parsed say why", () => {
    assert.throws(() => parseText("x.json", "{", "auto"), /^BadDocument: it is no JSON: /);
    assert.throws(() => parseText("x.yml", "a: [", "auto"), /^BadDocument: it is no YAML: /);
  });

  it("may begin with a byte order mark", () => {
    assert.deepEqual(parseText("x.json", "\uFEFF{}", "auto"), {});
  });
});

describe("words that every object has are words like others", () => {
  for (const word of ["constructor", "toString", "__proto__"]) {
    it(`OSV: ${word}`, () => {
      const affected = [
        {
          package: { ecosystem: word, name: "a" },
          ranges: [{ events: [{ fixed: "1" }], database_specific: { false_positive: word } }],
        },
        { package: { ecosystem: "Go", name: "b" }, database_specific: { false_positive: true, reason: word } },
      ];
      const document = record(1, { severity: [{ type: word, score: "x" }], affected });
      const { found, problems } = read(document);
      assert.deepEqual(problems, []);
      assert.equal(found[0].componentType, word.toLowerCase());
      assert.deepEqual(found[0].severities, [{ score: "x" }]);
      assert.deepEqual(types(found[0]), [{ fixed: { fixedVersion: "1" } }]);
      assert.deepEqual(types(found[1]), [{ falsePositiveDetermination: {} }]);
    });

    it(`OpenVEX: ${word}`, () => {
      const statement = {
        ...{ vulnerability: word, status: "not_affected", status_notes: word, justification: word },
        products: [{ "@id": "a", subcomponents: [`pkg:${word.replaceAll("_", "")}/lib`] }],
      };
      const { found, problems } = read({ "@context": "https://openvex.dev/ns/v0.2.0", statements: [statement] });
      assert.deepEqual(problems, []);
      assert.equal(found[0].componentType, word.replaceAll("_", "").toLowerCase());
      assert.deepEqual(types(found[0]), [{ falsePositiveDetermination: {} }]);
    });

    it(`CSAF: ${word}`, () => {
      const status = JSON.parse(`{"${word}": ["p"]}`);
      const threats = [{ details: word, product_ids: ["p"] }];
      const { found, problems } = read({
        ...csaf,
        vulnerabilities: [
          { cve: "CVE-2030-1", product_status: status },
          { cve: "CVE-2030-2", product_status: { known_not_affected: ["p"] }, threats },
        ],
      });
      assert.deepEqual(problems, [`CVE-2030-1: the product status ${word} is not known`]);
      assert.deepEqual(found.map(types), [[{ falsePositiveDetermination: {} }]]);
    });

    it(`YAML: ${word}`, () => {
      const event = { timestamp: "2030-01-09T00:00:00Z", type: "false-positive-determination", data: { type: word } };
      const advisories = [{ id: "CGA-2345-6789-cfgh", events: [event] }];
      const { problems } = read({ "schema-version": "2", package: { name: "a" }, advisories });
      assert.deepEqual(problems, [`CGA-2345-6789-cfgh: the type of false positive ${word} is not known`]);
    });
  }
});

it("every reason of a false positive has a justification", () => {
  const shown = Object.fromEntries(Object.entries(Reason).map(([name, reason]) => [name, justificationOf(reason)]));
  assert.deepEqual(shown, {
    UNSPECIFIED: "vulnerable_code_not_present",
    VULNERABILITY_RECORD_ANALYSIS_CONTESTED: "vulnerable_code_not_present",
    COMPONENT_VULNERABILITY_MISMATCH: "component_not_present",
    VULNERABLE_CODE_VERSION_NOT_USED: "vulnerable_code_not_present",
    VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE: "vulnerable_code_not_present",
    VULNERABLE_CODE_NOT_IN_EXECUTION_PATH: "vulnerable_code_not_in_execute_path",
    VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY: "vulnerable_code_cannot_be_controlled_by_adversary",
    INLINE_MITIGATIONS_EXIST: "inline_mitigations_already_exist",
  });
});

it("a severity goes out only if it is a whole vector of its scale", () => {
  const v3 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H";
  const v4 = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N";
  const shown = [
    [Severity_Type.CVSS_V2, "AV:N/AC:L/Au:N/C:P/I:P/A:P"],
    [Severity_Type.CVSS_V3, v3],
    [Severity_Type.CVSS_V3, `${v3}/E:P`],
    [Severity_Type.CVSS_V4, v4],
    [Severity_Type.CVSS_V3, v4],
    [Severity_Type.CVSS_V3, v3.slice(0, -4)],
    [Severity_Type.CVSS_V3, `${v3}/A:N`],
    [Severity_Type.CVSS_V3, v3.replace("AV:N", "AV:Z")],
    [Severity_Type.CVSS_V3, `${v3}/E:`],
    [Severity_Type.CVSS_V3, `${v3}/toString:X`],
    [Severity_Type.UNSPECIFIED, v3],
  ].map(([type, score]) => toOsvSeverity(type as Severity_Type, String(score))?.type);
  const none = Array(7).fill(undefined);
  assert.deepEqual(shown, ["CVSS_V2", "CVSS_V3", "CVSS_V3", "CVSS_V4", ...none]);
});

it("the metrics of a vector of CVSS 4.0 go out in the order that they have there, others as they came", () => {
  const v4 = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N/E:P/MSI:S/U:Amber";
  const turned = v4.replace(/^CVSS:4.0\/AV:N\/(.*)$/, "CVSS:4.0/$1/AV:N");
  assert.equal(toOsvSeverity(Severity_Type.CVSS_V4, turned)?.score, v4);
  const v2 = "AC:L/AV:N/Au:N/C:P/I:P/A:P/E:POC/CDP:LM";
  assert.equal(toOsvSeverity(Severity_Type.CVSS_V2, v2)?.score, v2);
});

it("times are RFC 3339, and in UTC where they do not say otherwise", () => {
  const shown = ["2030-01-02T03:04:05Z", "2030-01-02T03:04:05.678+01:00", "2030-01-02 03:04:05", "2030-01-02"].map(
    (text) => new Date(time(text, "t")!).toISOString(),
  );
  assert.deepEqual(shown, [
    "2030-01-02T03:04:05.000Z",
    "2030-01-02T02:04:05.678Z",
    "2030-01-02T03:04:05.000Z",
    "2030-01-02T00:00:00.000Z",
  ]);
  for (const text of [
    "2 January 2030",
    "2030-13-01",
    "0000-01-01",
    "2030",
    "now",
    "2030-02-30",
    "2030-02-29T01:02:03.4+01:00",
    "2030-01-01T24:00",
  ])
    assert.throws(() => time(text, "t"), /^BadDocument: t ".*" is no time$/);
});

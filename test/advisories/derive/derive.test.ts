// An advisory as it follows from records: the table of docs/advisories/records.md.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  AdvisoryEventSchema,
  AdvisoryEvent_FalsePositiveDetermination_Type as Reason,
  ReviewState,
  Severity_Type,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  AdvisoryRecordSchema,
  ProductStatementSchema,
  ProductStatus,
  RangeEventType,
  ResponsePlan,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { deriveAdvisory, type SaidPart } from "../../../src/advisories/derive/derive.ts";
import { partsOf } from "../../../src/advisories/derive/parts.ts";
import { toTimestamp } from "../../../src/aip/timestamps.ts";

type Statement = MessageInitShape<typeof ProductStatementSchema>;
type Record = Omit<MessageInitShape<typeof AdvisoryRecordSchema>, "statements" | "$typeName">;

const { AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION } = ProductStatus;
const product = { purl: "pkg:deb/debian/openssl" };
const day = (number: number) => toTimestamp(Date.UTC(2026, 0, number));

/** `"0-1.2"` is fixed in 1.2, `"2-"` has no fix, `"0..1.4"` was last affected in 1.4. */
function range(text: string, type = "ECOSYSTEM") {
  const events = text.split(" ").flatMap((part) => {
    const [introduced = "", last] = part.split("..");
    const [from = "", fixed = ""] = introduced.split("-");
    return [
      { type: RangeEventType.INTRODUCED, version: from },
      ...(fixed === "" ? [] : [{ type: RangeEventType.FIXED, version: fixed }]),
      ...(last === undefined ? [] : [{ type: RangeEventType.LAST_AFFECTED, version: last }]),
    ];
  });
  return { type, events };
}

let number = 0;

/** Returns a part of a record of its own, in a document of its own. */
function said(record: Record, ...statements: Statement[]): SaidPart {
  const document = `doc-${number++}`;
  const message = create(AdvisoryRecordSchema, {
    source: "vendor",
    document,
    vulnerability: "CVE-2026-1",
    ...record,
    statements: statements.map((statement) => create(ProductStatementSchema, { product, ...statement } as Statement)),
  });
  return {
    record: message,
    part: partsOf(message)[0]!,
    createTime: Date.UTC(2026, 5, 1),
    importTime: Date.UTC(2026, 5, 2),
  };
}

const limits = { events: 1000, items: 1000 };

function derive(...parts: SaidPart[]) {
  return deriveAdvisory({ advisoryId: "ADV-1", product: parts[0]!.part.product }, parts, limits);
}

/** Returns the events in a few words, with the day on which each was, in 2026. */
function words(...parts: SaidPart[]): string[] {
  const result = derive(...parts);
  assert.deepEqual(derive(...parts.toReversed()), result, "the order of records matters");
  return result.events.map(({ event: { type }, time }) => {
    const date = new Date(time).toISOString().slice(5, 10);
    const value = type.value as { fixedVersion?: string; note?: string } | undefined;
    return [type.case, value?.fixedVersion ?? value?.note, date].filter((word) => word).join(" ");
  });
}

describe("the events of a statement", () => {
  const git = (text: string) => range(text, "GIT");
  const cases: readonly (readonly [string, Statement, readonly string[]])[] = [
    ["affected in every version", { status: AFFECTED }, ["truePositiveDetermination"]],
    ["affected in named versions", { status: AFFECTED, versions: ["1", "2"] }, ["truePositiveDetermination"]],
    ["affected up to a fix", { status: AFFECTED, ranges: [range("0-1.2")] }, ["fixed 1.2"]],
    [
      "affected on two branches, both fixed",
      { status: AFFECTED, ranges: [range("3.0-3.0.4"), range("2.0-2.0.9")] },
      ["fixed 3.0.4", "fixed 2.0.9"],
    ],
    ["a fix that two ranges have", { status: AFFECTED, ranges: [range("0-1"), range("0-1", "SEMVER")] }, ["fixed 1"]],
    [
      "affected on two branches, one without a fix",
      { status: AFFECTED, ranges: [range("3.0-3.0.4"), range("2.0-")] },
      ["fixed 3.0.4", "truePositiveDetermination"],
    ],
    [
      "affected again after a fix",
      { status: AFFECTED, ranges: [range("0-1.2 2.0-")] },
      ["fixed 1.2", "truePositiveDetermination"],
    ],
    ["last affected in a version", { status: AFFECTED, ranges: [range("0..1.4")] }, ["truePositiveDetermination"]],
    [
      "events that are in no order of versions",
      { status: AFFECTED, ranges: [{ type: "SEMVER", events: range("0-1").events.toReversed() }] },
      ["fixed 1"],
    ],
    [
      "events in an order that hides a branch without a fix",
      { status: AFFECTED, ranges: [{ type: "SEMVER", events: range("5-3.0 0-1.0").events }] },
      ["fixed 3.0", "fixed 1.0", "truePositiveDetermination"],
    ],
    [
      "events of versions that cannot be compared, in no order",
      { status: AFFECTED, ranges: [git("a- b-c"), git("d-e")] },
      ["fixed c", "fixed e", "truePositiveDetermination"],
    ],
    [
      "several fixes of commits",
      { status: AFFECTED, ranges: [{ type: "GIT", events: range("0-abc 0-def").events.toSpliced(2, 1) }] },
      ["fixed abc", "fixed def"],
    ],
    [
      "a version outside of the ranges",
      { status: AFFECTED, ranges: [range("0-1.2", "SEMVER")], versions: ["1.1.0", "2.0.0"] },
      ["fixed 1.2", "truePositiveDetermination"],
    ],
    [
      "versions that are all in a range",
      {
        status: AFFECTED,
        ranges: [range("0-1.2.0", "SEMVER"), range("2.0.0-2.1.0", "SEMVER")],
        versions: ["1.1.0", "2.0.0"],
      },
      ["fixed 1.2.0", "fixed 2.1.0"],
    ],
    ["commits alone", { status: AFFECTED, ranges: [git("0-abc")] }, ["fixed abc"]],
    ["commits in addition to versions", { status: AFFECTED, ranges: [git("0-"), range("0-1.2")] }, ["fixed 1.2"]],
    [
      "no fix is planned",
      { status: AFFECTED, plan: ResponsePlan.FIX_NOT_PLANNED, action: "remove it" },
      ["fixNotPlanned remove it"],
    ],
    ["a fix is awaited", { status: AFFECTED, plan: ResponsePlan.PENDING_UPSTREAM_FIX }, ["pendingUpstreamFix"]],
    ["not affected", { status: NOT_AFFECTED, impact: "not built in" }, ["falsePositiveDetermination not built in"]],
    ["fixed in versions", { status: FIXED, versions: ["1.2", "1.3"] }, ["fixed 1.2", "fixed 1.3"]],
    ["fixed from a version on", { status: FIXED, ranges: [range("1.2-")] }, ["fixed 1.2"]],
    ["fixed in a version that is not named", { status: FIXED }, ["fixed"]],
    ["under investigation", { status: UNDER_INVESTIGATION }, ["detection"]],
    [
      "not to be analysed",
      { status: UNDER_INVESTIGATION, plan: ResponsePlan.ANALYSIS_NOT_PLANNED, notes: "end of life" },
      ["analysisNotPlanned end of life"],
    ],
    ["nothing", {}, []],
  ];
  for (const [name, statement, expected] of cases) {
    it(name, () => {
      assert.deepEqual(
        words(said({ publishTime: day(3) }, statement)),
        expected.map((word) => `${word} 01-03`),
      );
    });
  }

  it("an event has a reason only if the source gives one", () => {
    const reasonOf = (justification: string) => {
      const { type } = derive(said({}, { status: NOT_AFFECTED, justification })).events[0]!.event;
      return type.case === "falsePositiveDetermination" ? type.value.type : undefined;
    };
    assert.equal(reasonOf("component_not_present"), Reason.COMPONENT_VULNERABILITY_MISMATCH);
    assert.equal(reasonOf(""), Reason.UNSPECIFIED);
  });
});

describe("the time of an event", () => {
  const cases: readonly (readonly [string, Record, Statement, string])[] = [
    ["is that of the statement", { publishTime: day(2), modifyTime: day(3) }, { time: day(1) }, "01-01"],
    ["else the time of publication", { publishTime: day(2), modifyTime: day(3) }, {}, "01-02"],
    ["else the time of the change", { modifyTime: day(3) }, {}, "01-03"],
    ["else the time of the import of this copy", {}, {}, "06-02"],
  ];
  for (const [name, record, statement, expected] of cases) {
    it(name, () => {
      assert.deepEqual(words(said(record, { status: UNDER_INVESTIGATION, ...statement })), [`detection ${expected}`]);
    });
  }
});

describe("several statements", () => {
  const cases: readonly (readonly [string, readonly SaidPart[], readonly string[]])[] = [
    [
      "hold together: the worst is last, at the time of the latest at least",
      [
        said({ source: "a", publishTime: day(1) }, { status: AFFECTED }),
        said({ source: "b", publishTime: day(5) }, { status: FIXED, versions: ["2"] }),
        said({ source: "c", publishTime: day(3) }, { status: UNDER_INVESTIGATION }),
        said({ source: "d", publishTime: day(4) }, { status: NOT_AFFECTED }),
      ],
      ["detection 01-03", "falsePositiveDetermination 01-04", "fixed 2 01-05", "truePositiveDetermination 01-05"],
    ],
    [
      "of one source: the later one supersedes the earlier one",
      [said({ publishTime: day(1) }, { status: AFFECTED }), said({ publishTime: day(2) }, { status: NOT_AFFECTED })],
      ["truePositiveDetermination 01-01", "falsePositiveDetermination 01-02"],
    ],
    [
      "of one source: a document that was changed says again what it still has",
      [
        said({ publishTime: day(1), modifyTime: day(9) }, { status: AFFECTED }),
        said({ publishTime: day(2) }, { status: NOT_AFFECTED }),
      ],
      ["falsePositiveDetermination 01-02", "truePositiveDetermination 01-02"],
    ],
    [
      "of one source on two releases: both hold",
      [
        said({ publishTime: day(1) }, { status: AFFECTED, release: "12" }),
        said({ publishTime: day(2) }, { status: FIXED, versions: ["3"], release: "13" }),
      ],
      ["fixed 3 01-02", "truePositiveDetermination 01-02"],
    ],
    [
      "of one source on two versions: both hold",
      [
        said(
          { publishTime: day(1) },
          { status: AFFECTED, versions: ["1.2"] },
          { status: NOT_AFFECTED, versions: ["2"] },
        ),
      ],
      ["falsePositiveDetermination 01-01", "truePositiveDetermination 01-01"],
    ],
    [
      "of one source on two parts: both hold",
      [
        said({ publishTime: day(1) }, { status: AFFECTED, subcomponents: ["pkg:npm/a"] }),
        said({ publishTime: day(2) }, { status: NOT_AFFECTED, subcomponents: ["pkg:npm/b"] }),
      ],
      ["falsePositiveDetermination 01-02", "truePositiveDetermination 01-02"],
    ],
    [
      "of one source at one time: both hold",
      [said({ publishTime: day(1) }, { status: AFFECTED }), said({ publishTime: day(1) }, { status: NOT_AFFECTED })],
      ["falsePositiveDetermination 01-01", "truePositiveDetermination 01-01"],
    ],
    [
      "of one source that says no times: both hold",
      [said({}, { status: AFFECTED }), said({}, { status: FIXED, versions: ["1"] })],
      ["fixed 1 06-02", "truePositiveDetermination 06-02"],
    ],
    [
      "that say the same at one time: there is one event",
      [said({ publishTime: day(1) }, { status: AFFECTED }), said({ publishTime: day(1) }, { status: AFFECTED })],
      ["truePositiveDetermination 01-01"],
    ],
  ];
  for (const [name, parts, expected] of cases) it(name, () => assert.deepEqual(words(...parts), expected));
});

describe("a log", () => {
  type Type = NonNullable<MessageInitShape<typeof AdvisoryEventSchema>["type"]>;
  const event = (number: number, type: Type, reviewState: ReviewState = ReviewState.UNSPECIFIED) =>
    create(AdvisoryEventSchema, { createTime: day(number), type, reviewState } as MessageInitShape<
      typeof AdvisoryEventSchema
    >);
  const detection = event(1, { case: "detection", value: { type: { case: "manual", value: {} } } });
  const affected = event(2, { case: "truePositiveDetermination", value: { note: "seen" } });
  const fixed = event(3, { case: "fixed", value: { fixedVersion: "1.2" } });

  it("a log is kept unchanged, and its last event counts", () => {
    const log = said({}, { events: [detection, affected, fixed] });
    assert.deepEqual(words(log), ["detection 01-01", "truePositiveDetermination seen 01-02", "fixed 1.2 01-03"]);
    const { events } = derive(log);
    assert.ok(events.every(({ event }) => event.author === "vendor" && event.reviewState === ReviewState.APPROVED));
  });

  it("a log that ends with a fix does not outweigh another source that reports the product as affected", () => {
    const other = said({ source: "other", publishTime: day(2) }, { status: AFFECTED });
    assert.deepEqual(words(said({}, { events: [detection, fixed] }), other), [
      "detection 01-01",
      "fixed 1.2 01-03",
      "truePositiveDetermination 01-03",
    ]);
  });

  it("the last approved event of a log counts", () => {
    const asked = event(4, { case: "fixed", value: { fixedVersion: "2" } }, ReviewState.PENDING);
    const { events } = derive(said({}, { events: [affected, asked] }));
    assert.deepEqual(
      events.map(({ event }) => event.reviewState),
      [ReviewState.PENDING, ReviewState.APPROVED],
    );
  });
});

describe("the fields of an advisory", () => {
  it("are the union of what sources say", () => {
    const cvss = (type: string, score: string) => ({ type, score });
    const first = said(
      { source: "b", aliases: ["CVE-1", "ADV-1"], severities: [cvss("CVSS_V3", "v3"), cvss("Ubuntu", "low")] },
      {},
    );
    const second = said(
      { source: "a", upstream: ["CVE-2"], aliases: ["with blanks"] },
      { severities: [cvss("CVSS_V4", "v4")] },
    );
    const { events: _, ...fields } = derive(first, second);
    assert.deepEqual(fields, {
      author: "a",
      artifactName: "openssl",
      artifactType: "deb",
      artifactArchitecture: "",
      componentName: "",
      componentType: "",
      createTime: Date.UTC(2026, 5, 1),
      aliases: ["CVE-2026-1", "CVE-2", "CVE-1"],
      severities: [
        { type: Severity_Type.CVSS_V4, score: "v4" },
        { type: Severity_Type.CVSS_V3, score: "v3" },
      ],
    });
  });

  it("have the source that gave the public id as their author", () => {
    assert.equal(derive(said({ source: "a" }, {}), said({ source: "z", advisoryId: "ADV-1" }, {})).author, "z");
  });

  it("name the component where there is one", () => {
    const component = (...subcomponents: string[]) => {
      const { componentName, componentType } = derive(said({}, { subcomponents }));
      return [componentName, componentType];
    };
    assert.deepEqual(component("pkg:npm/left@1.0"), ["left", "npm"]);
    assert.deepEqual(component("pkg:apk/alpine/libssl"), ["libssl", "apk"]);
    assert.deepEqual(component("libfoo"), ["libfoo", ""]);
    assert.deepEqual(component("libfoo", "libbar"), ["", ""]);
  });

  it("an advisory begins with its publication, or with the source's first statement", () => {
    const timeOf = (record: Record, statement: Statement) =>
      new Date(derive(said(record, statement)).createTime).toISOString().slice(5, 10);
    assert.equal(timeOf({ publishTime: day(4), modifyTime: day(1) }, {}), "01-04");
    assert.equal(timeOf({ publishTime: day(4) }, { time: day(2) }), "01-02");
    assert.equal(timeOf({ modifyTime: day(7) }, {}), "01-07");
  });

  it("keep the worst and the latest of too many events", () => {
    const versions = Array.from({ length: 12 }, (_, i) => `1.${i}`);
    const parts = [
      said({ source: "a", publishTime: day(1) }, { status: AFFECTED }),
      said({ source: "b", publishTime: day(2) }, { status: FIXED, versions }),
    ];
    const { events } = deriveAdvisory({ advisoryId: "ADV-1", product: parts[0]!.part.product }, parts, {
      events: 3,
      items: 1,
    });
    assert.deepEqual(
      events.map(({ event: { type } }) => (type.case === "fixed" ? type.value.fixedVersion : type.case)),
      ["1.10", "1.11", "truePositiveDetermination"],
    );
  });
});

describe("the parts of a record", () => {
  const parts = (advisoryId: string, ...purls: string[]) =>
    partsOf(
      create(AdvisoryRecordSchema, {
        advisoryId,
        vulnerability: "CVE-1",
        statements: purls.map((purl) => (purl === "" ? {} : { product: { purl } })),
      }),
    ).map(({ advisoryId: id, identity, statements }) => [id, identity, statements.length]);

  it("are its products; the id of the source belongs to the first", () => {
    const [first, second] = parts("GHSA-1", "pkg:npm/a", "pkg:npm/b", "pkg:npm/a");
    assert.deepEqual(first, ["GHSA-1", "pkg:npm/a", 2]);
    assert.deepEqual(second!.slice(1), ["pkg:npm/b", 1]);
    assert.match(String(second![0]), /^CGA-/);
  });

  it("parts without ids of the source have derived ids, the same for all documents", () => {
    assert.deepEqual(parts("", "pkg:npm/a"), parts("", "pkg:npm/a"));
    assert.notDeepEqual(parts("", "pkg:oci/x?repository_url=a"), parts("", "pkg:oci/x?repository_url=b"));
  });

  it("are one without a product where the record names none", () => {
    assert.deepEqual(parts("GHSA-1"), [["GHSA-1", "", 0]]);
    assert.deepEqual(parts("GHSA-1", ""), [["GHSA-1", "", 1]]);
  });
});

// Tests of the status of versions: the evaluation of OSV, the statements of VEX, and versions that cannot be compared.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ReviewState } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  ProductSchema,
  ProductStatementSchema,
  ProductStatus,
  RangeEventType,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { statusAt, statusAtCommit, type VersionStatus, worstOf } from "../../../src/advisories/versions/status.ts";

type Init = MessageInitShape<typeof ProductStatementSchema>;

const { AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION } = ProductStatus;
const words: ReadonlyMap<number, string> = new Map([
  [AFFECTED, "affected"],
  [NOT_AFFECTED, "not_affected"],
  [FIXED, "fixed"],
  [UNDER_INVESTIGATION, "under_investigation"],
]);
const types = {
  introduced: RangeEventType.INTRODUCED,
  fixed: RangeEventType.FIXED,
  last_affected: RangeEventType.LAST_AFFECTED,
  limit: RangeEventType.LIMIT,
};

/** Returns a range as OSV writes it, in one line: "introduced 0, fixed 1.2". */
function range(text: string, type = "ECOSYSTEM") {
  const events = text.split(", ").map((event) => {
    const [word = "", version = ""] = event.split(" ");
    return { type: types[word as keyof typeof types], version };
  });
  return { type, events };
}

const statement = (init: Init, purl = "pkg:npm/a") =>
  create(ProductStatementSchema, { product: create(ProductSchema, { purl }), ...init });
const affected = (ranges: string, purl?: string) =>
  statement({ status: AFFECTED, ranges: ranges.split("; ").map((text) => range(text)) }, purl);

/** In one line: the status, the fixed versions, and whether it is uncertain. */
function line(found: VersionStatus | undefined): string {
  if (!found) return "nothing";
  return [words.get(found.status), ...found.fixedVersions, ...(found.isUncertain ? ["uncertain"] : [])].join(" ");
}

/** Ranges, and what becomes of versions. */
const evaluated: readonly (readonly [ranges: string, versions: Readonly<Record<string, string>>])[] = [
  [
    "introduced 0, fixed 1.2.0",
    { "1.1.9": "affected 1.2.0", "1.2.0": "fixed 1.2.0", "2.0.0": "fixed 1.2.0", "": "affected 1.2.0" },
  ],
  ["introduced 0", { "0.0.0-a": "affected", "9.0.0": "affected" }],
  ["introduced 1.0.0", { "0.9.0": "not_affected", "1.0.0": "affected" }],
  ["introduced 1.0.0, last_affected 1.4.0", { "1.4.0": "affected", "1.4.1": "not_affected", "0.1.0": "not_affected" }],
  // Branches, in any order.
  [
    "introduced 3.0.0, fixed 3.0.4, introduced 2.0.0, fixed 2.0.9",
    {
      "1.0.0": "not_affected",
      "2.0.8": "affected 2.0.9",
      "2.0.9": "fixed 2.0.9",
      "3.0.1": "affected 3.0.4",
      "3.1.0": "fixed 3.0.4",
    },
  ],
  [
    "introduced 2.0.0, fixed 2.0.9; introduced 3.0.0, fixed 3.0.4",
    { "2.5.0": "fixed 2.0.9", "3.0.0": "affected 3.0.4", "3.0.4": "fixed 2.0.9 3.0.4" },
  ],
  // A range with nothing in it.
  ["introduced 0, fixed 0", { "1.0.0": "fixed 0" }],
  ["introduced 1.0.0, fixed 1.0.0", { "1.0.0": "fixed 1.0.0", "2.0.0": "fixed 1.0.0" }],
  // The version of a fix introduces the vulnerability again.
  ["introduced 0, fixed 1.0.0, introduced 1.0.0", { "1.0.0": "affected" }],
  ["introduced 0, limit 2.0.0", { "1.0.0": "affected", "2.0.0": "not_affected" }],
  ["introduced 0, limit 1.0.0, limit 2.0.0", { "1.5.0": "affected", "2.0.0": "not_affected" }],
  ["introduced 0, limit *", { "9.0.0": "affected" }],
  // Without a beginning it has begun before all versions.
  ["fixed 1.0.0", { "0.1.0": "affected 1.0.0", "1.0.0": "fixed 1.0.0" }],
  // A version that cannot be compared may be affected, unless the source names it.
  ["introduced 0, fixed master", { "1.0.0": "affected master uncertain", master: "fixed master" }],
  ["introduced 1.0.0, fixed 2.0.0", { latest: "affected 2.0.0 uncertain", "1.x": "affected 2.0.0 uncertain" }],
];

describe("statements on versions", () => {
  for (const [ranges, versions] of evaluated) {
    it(ranges, () => {
      for (const [version, expected] of Object.entries(versions)) {
        assert.equal(line(statusAt(affected(ranges), version)), expected, version);
      }
    });
  }

  it("versions and ranges of a statement both count", () => {
    const both = statement({ status: AFFECTED, versions: ["5.0.0"], ranges: [range("introduced 0, fixed 1.0.0")] });
    assert.deepEqual(
      ["0.1.0", "1.0.0", "5.0.0", "5.0", "v5.0.0"].map((version) => line(statusAt(both, version))),
      ["affected 1.0.0", "fixed 1.0.0", "affected", "affected", "affected"],
    );
  });

  it("a statement on some versions covers no others, and one without versions covers all", () => {
    for (const status of [AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION]) {
      const word = words.get(status);
      const named = statement({ status, versions: ["1.0.0"] });
      assert.deepEqual([line(statusAt(named, "1.0.0")), line(statusAt(named, "2.0.0"))], [word, "nothing"]);
      assert.equal(line(statusAt(statement({ status }), "2.0.0")), word);
    }
  });

  it("a version that cannot be compared is never said to be fixed or not affected", () => {
    const ranges = [range("introduced 0, fixed 1.0.0")];
    for (const status of [NOT_AFFECTED, FIXED]) {
      assert.equal(line(statusAt(statement({ status, ranges }), "latest")), "nothing");
      assert.equal(line(statusAt(statement({ status, ranges }), "0.1.0")), words.get(status));
    }
    const unclear = statement({ status: UNDER_INVESTIGATION, ranges });
    assert.equal(line(statusAt(unclear, "latest")), "under_investigation uncertain");
  });

  it("a range that only words describe may have any version", () => {
    const ranges = [{ type: "TEXT", events: [] }];
    const statuses = [AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION];
    assert.deepEqual(
      statuses.map((status) => line(statusAt(statement({ status, ranges }), "1.0.0"))),
      ["affected uncertain", "nothing", "nothing", "under_investigation uncertain"],
    );
  });

  it("an ecosystem whose order is not known has affected versions only, but for those that are named", () => {
    const found = (version: string) => line(statusAt(affected("introduced 1, fixed 3", "pkg:generic/a"), version));
    assert.deepEqual(["1", "2", "3", "4"].map(found), [
      "affected",
      "affected 3 uncertain",
      "fixed 3",
      "affected 3 uncertain",
    ]);
  });

  it("ranges of SemVer are of SemVer in every ecosystem", () => {
    const ranges = [range("introduced 0, fixed 1.10.0", "SEMVER")];
    assert.equal(line(statusAt(statement({ status: AFFECTED, ranges }, "pkg:generic/a"), "1.9.0")), "affected 1.10.0");
  });

  it("ranges of commits do not count in addition to versions", () => {
    const commits = range("introduced 0, fixed c0ffee", "GIT");
    const both = statement({ status: AFFECTED, ranges: [commits, range("introduced 0, fixed 1.0.0")] });
    assert.equal(line(statusAt(both, "1.0.0")), "fixed 1.0.0");
    assert.equal(
      line(statusAt(statement({ status: AFFECTED, ranges: [commits], versions: ["1.0.0"] }), "2.0.0")),
      "nothing",
    );
    const alone = statement({ status: AFFECTED, ranges: [commits] });
    assert.deepEqual(
      [line(statusAt(alone, "1.0.0")), line(statusAt(alone, "c0ffee"))],
      ["affected uncertain", "fixed c0ffee"],
    );
  });

  it("a commit is found if a statement names it", () => {
    const named = statement({
      status: AFFECTED,
      ranges: [range("introduced bad, fixed c0ffee", "GIT")],
      versions: ["v1"],
    });
    assert.deepEqual(
      ["bad", "c0ffee", "else", "v1"].map((commit) => line(statusAtCommit(named, commit))),
      ["affected", "fixed c0ffee", "nothing", "affected"],
    );
    assert.equal(line(statusAtCommit(statement({ status: NOT_AFFECTED, versions: ["bad"] }), "bad")), "nothing");
  });

  it("the last approved event of a log counts", () => {
    const event = (type: unknown, reviewState: ReviewState = ReviewState.APPROVED) => ({ reviewState, type });
    const log = (...events: unknown[]) => statement({ events: events as NonNullable<Init["events"]> });
    const found = { case: "detection", value: { type: { case: "manual", value: {} } } };
    const fixed = (fixedVersion: string) => ({ case: "fixed", value: { fixedVersion } });
    const at = (of: ReturnType<typeof log>, version: string) => line(statusAt(of, version));
    assert.equal(at(log(event(found)), "1.0.0"), "under_investigation");
    assert.deepEqual(
      ["1.0.0", "2.0.0"].map((version) => at(log(event(found), event(fixed("2.0.0"))), version)),
      ["affected 2.0.0", "fixed 2.0.0"],
    );
    assert.equal(at(log(event(found), event(fixed("2.0.0"), ReviewState.PENDING)), "2.0.0"), "under_investigation");
    assert.equal(at(log(event(found, ReviewState.PENDING)), "1.0.0"), "nothing");
    assert.equal(at(log(event(fixed(""))), "1.0.0"), "affected uncertain");
  });

  it("the worst of several statements counts, with the fixes that it names", () => {
    const status = (of: ProductStatus, ...fixedVersions: string[]) => ({
      status: of,
      fixedVersions,
      isUncertain: false,
    });
    const found = [status(NOT_AFFECTED), status(FIXED, "1"), status(UNDER_INVESTIGATION), status(AFFECTED, "2")];
    assert.deepEqual(
      [4, 3, 2, 1, 0].map((count) => line(worstOf(found.slice(0, count)))),
      ["affected 2", "under_investigation", "fixed 1", "not_affected", "nothing"],
    );
    const doubtful = { ...status(AFFECTED, "3"), isUncertain: true };
    assert.equal(line(worstOf([doubtful])), "affected 3 uncertain");
    assert.equal(line(worstOf([doubtful, status(AFFECTED, "2", "3")])), "affected 3 2");
  });

  it("a range of very many events is read once", () => {
    const events = Array.from({ length: 2_000 }, (_, i) => `${i % 2 === 0 ? "introduced" : "fixed"} 1.${i}.0`);
    assert.equal(line(statusAt(affected(events.toReversed().join(", ")), "1.1001.5")), "fixed 1.1001.0");
  });
});

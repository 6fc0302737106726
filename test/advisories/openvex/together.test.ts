// Advisories that speak of one vulnerability in one product.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
  ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { togetherOf } from "../../../src/advisories/openvex/together.ts";
import { type Json, write } from "./exchange.ts";

function advisory(id: string, purl: string, ...ids: readonly string[]): AdvisoryStatements {
  const [vulnerability = "", ...aliases] = ids;
  const statements = [{ product: { purl } }];
  return create(AdvisoryStatementsSchema, {
    advisory: { advisoryId: id },
    records: [{ vulnerability, aliases, statements }],
  });
}

/** Returns the record of a database about all versions of one package. */
function recordOf(number: number, status: ProductStatus): AdvisoryRecord {
  const statements = [{ product: { purl: "pkg:npm/x" }, status, time: { seconds: BigInt(number) } }];
  const about = { vulnerability: `GHSA-${number}`, aliases: ["CVE-1"], format: RecordFormat.OSV };
  return create(AdvisoryRecordSchema, { ...about, source: "osv", document: `${number}`, statements });
}

async function groupsOf(...advisories: readonly AdvisoryStatements[]) {
  let kept = 0;
  const listed = {
    async *[Symbol.asyncIterator]() {
      yield* advisories;
    },
  };
  const groups: string[] = [];
  for await (const group of togetherOf(listed, { onKept: () => kept++ }))
    groups.push(group.map((each) => each.advisory!.advisoryId).join(" "));
  return { groups, kept };
}

describe("advisories on one vulnerability in one product", () => {
  it("advisories on one vulnerability are merged under any ids, and the others are written at once", async () => {
    const found = await groupsOf(
      advisory("a", "pkg:npm/x", "GHSA-1", "CVE-1"),
      advisory("b", "pkg:npm/y", "CVE-1"),
      advisory("c", "pkg:npm/x", "PYSEC-1", "CVE-2"),
      advisory("d", "pkg:npm/z", "CVE-3"),
      advisory("e", "pkg:npm/x", "OTHER-1", "CVE-1", "CVE-2"),
      advisory("f", "pkg:npm/z", "GO-1", "CVE-3"),
    );
    assert.deepEqual(found, { groups: ["b", "a c e", "d f"], kept: 5 });
  });

  it("merged advisories have the worst of their last statuses", async () => {
    const { document } = await write([recordOf(1, ProductStatus.AFFECTED), recordOf(2, ProductStatus.NOT_AFFECTED)]);
    const said = document.statements.map(({ vulnerability, status }: Json) => `${vulnerability.name} ${status}`);
    assert.deepEqual(said, ["CVE-1 affected", "CVE-1 not_affected", "CVE-1 affected"]);
  });

  it("too many advisories to compare are left out, each with the reason", async () => {
    const records = Array.from({ length: 101 }, (_, i) => recordOf(i, ProductStatus.AFFECTED));
    const { document, lost } = await write(records);
    assert.deepEqual(document.statements, []);
    assert.equal(lost["an advisory on which sources disagree in a way that OpenVEX cannot say"], 101);
  });
});

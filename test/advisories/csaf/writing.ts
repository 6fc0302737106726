// Writes CSAF documents in tests.
import { create } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
  ProductStatementSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { writeCsaf } from "../../../src/advisories/csaf/write.ts";
import { advisoryIdOf, identityOf } from "../../../src/advisories/product.ts";
import type { Json } from "./reading.ts";

/** Returns the advisories of records: one for each product and vulnerability, in the order of their ids. */
export function advisoriesOf(records: readonly AdvisoryRecord[]): AdvisoryStatements[] {
  const found = new Map<string, AdvisoryRecord[]>();
  for (const record of records) {
    for (const [, statements] of Map.groupBy(record.statements, ({ product }) =>
      product ? identityOf(product) : "",
    )) {
      const [{ product }] = statements as [(typeof statements)[0]];
      const advisoryId = product ? advisoryIdOf(product, record.vulnerability) : record.vulnerability;
      const own = statements.map((statement) => create(ProductStatementSchema, { ...statement, advisoryId }));
      found.set(advisoryId, [
        ...(found.get(advisoryId) ?? []),
        create(AdvisoryRecordSchema, { ...record, statements: own }),
      ]);
    }
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([advisoryId, each]) =>
    create(AdvisoryStatementsSchema, { advisory: create(AdvisorySchema, { advisoryId }), records: each }),
  );
}

/** Returns the document that is written of advisories, and the losses that it counts. */
export async function write(advisories: readonly AdvisoryStatements[]): Promise<{ document: Json; losses: string[] }> {
  const losses: string[] = [];
  const stream = (async function* () {
    yield* advisories;
  })();
  const options = { id: "g1", author: "Team", ecosystem: "", time: Date.parse("2030-03-01T00:00:00Z") };
  let text = "";
  for await (const part of writeCsaf(stream, options, { add: (what) => losses.push(what) })) text += part;
  return { document: JSON.parse(text), losses };
}

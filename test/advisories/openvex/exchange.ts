// Reads and writes OpenVEX as imports and exports do, without a server between them.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type AdvisoryStatements,
  AdvisoryStatementsSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readOpenvex } from "../../../src/advisories/openvex/read.ts";
import { writeOpenvex } from "../../../src/advisories/openvex/write.ts";
import { identityOf } from "../../../src/advisories/product.ts";
import { parseExactly } from "../../../src/base/json.ts";

/** A document as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
export type Json = any;

/** Returns a document that is as the specification says but for the changes. */
export function document(statements: unknown, changes: object = {}): Json {
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://vex.example/1",
    author: "Example",
    version: 3,
    timestamp: "2030-01-02T03:04:05Z",
    statements,
    ...changes,
  };
}

/** Returns the records of a document, and what is wrong with it as `record: path rule`. */
export function read(from: Json) {
  const { items, completes } = readOpenvex(parseExactly(JSON.stringify(from)), { source: "" });
  const all = [...items];
  const problems = all.flatMap((item) => item.problems.map(({ path, rule }) => `${item.name}: ${path} ${rule}`));
  return {
    records: all.flatMap(({ record }) => record ?? []),
    names: all.map(({ name }) => name),
    problems,
    completes,
  };
}

/** Returns the advisories of records, as the service lists them: one for each product and vulnerability. */
export function advisoriesOf(records: readonly AdvisoryRecord[]): AdvisoryStatements[] {
  const byAdvisory = new Map<string, AdvisoryRecord[]>();
  for (const record of records) {
    for (const [id, statements] of Map.groupBy(record.statements, ({ product }) =>
      JSON.stringify([product ? identityOf(product) : "", record.vulnerability]),
    )) {
      const own = statements.map((statement) => ({ ...statement, advisoryId: id }));
      const part = create(AdvisoryRecordSchema, { ...record, statements: own });
      byAdvisory.set(id, [...(byAdvisory.get(id) ?? []), part]);
    }
  }
  return [...byAdvisory]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([advisoryId, parts]) => create(AdvisoryStatementsSchema, { advisory: { advisoryId }, records: parts }));
}

/** Returns the document that records are exported as, and what it cannot say, with the number of times. */
export async function write(
  records: readonly AdvisoryRecord[],
): Promise<{ document: Json; lost: Record<string, number> }> {
  const lost: Record<string, number> = {};
  const options = { id: "group", author: "Exporter", ecosystem: "Wolfi", time: Date.parse("2031-01-01T00:00:00Z") };
  const advisories = advisoriesOf(records);
  const listed = {
    [Symbol.asyncIterator]: async function* () {
      yield* advisories;
    },
  };
  let text = "";
  for await (const part of writeOpenvex(listed, options, { add: (what) => (lost[what] = (lost[what] ?? 0) + 1) }))
    text += part;
  const written = JSON.parse(text);
  checkDocument(written);
  return { document: written, lost };
}

const statementMembers: readonly string[] = [
  "@id",
  "version",
  "vulnerability",
  "timestamp",
  "last_updated",
  "products",
  "status",
  "supplier",
  "status_notes",
  "justification",
  "impact_statement",
  "action_statement",
  "action_statement_timestamp",
];

/** Checks what the specification requires of a document. */
function checkDocument({ statements, ...head }: Json): void {
  assert.deepEqual(Object.keys(head), ["@context", "@id", "author", "timestamp", "version"]);
  assert.equal(new Set(statements.map((each: Json) => JSON.stringify(each))).size, statements.length);
  for (const statement of statements) {
    const { vulnerability, status, products, justification, impact_statement, action_statement } = statement;
    assert.ok(Object.keys(statement).every((name) => statementMembers.includes(name)));
    assert.ok(typeof vulnerability.name === "string" && vulnerability.name !== "" && products.length > 0);
    if (status === "affected") assert.ok(action_statement);
    if (status === "not_affected") assert.ok(justification ?? impact_statement);
    for (const { "@id": id, identifiers, hashes } of products) assert.ok(id ?? identifiers ?? hashes);
  }
}

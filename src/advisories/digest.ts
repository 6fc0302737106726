// The digest of a record: two copies say the same exactly when their digests are equal.
import { hash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  type ProductStatement,
  type RecordKey,
} from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { knownEcosystem, namedProduct } from "./ecosystems.ts";

/**
 * The SHA-256 of all that a source says in a record, in hexadecimal. The fields that the server fills in are not a part of it:
 * the importer and the server compute the same digest.
 */
export function digestOf(record: AdvisoryRecord): string {
  const statements = record.statements.map((statement) =>
    statement.advisoryId === "" ? statement : { ...statement, advisoryId: "" },
  );
  return hash("sha256", toBinary(AdvisoryRecordSchema, { ...record, statements, digest: "", group: "" }));
}

/** Returns the digest of a record with its ecosystems as OSV writes them, which earlier versions stored as they were written. */
export function repairedDigestOf(record: AdvisoryRecord, digest: string): string {
  const statements = record.statements.map(repaired);
  return statements.some((each, i) => each !== record.statements[i]) ? digestOf({ ...record, statements }) : digest;
}

function repaired(statement: ProductStatement): ProductStatement {
  const { product, release } = statement;
  if (!product) return statement;
  const written = release === "" ? product.ecosystem : `${product.ecosystem}:${release}`;
  if (knownEcosystem(written) === written) return statement;
  return { ...statement, ...namedProduct(written, product.name, product.purl) };
}

/** Returns the text that two records have in common exactly when they are copies of one record within a group. */
export function keyOf({
  source,
  document,
  vulnerability,
}: Pick<RecordKey, "source" | "document" | "vulnerability">): string {
  return JSON.stringify([source, document, vulnerability]);
}

/** Returns the order of the records of a group: by source, document and vulnerability. The order of imports does not matter. */
export function compareRecords(a: AdvisoryRecord, b: AdvisoryRecord): number {
  const [left, right] = [a, b].map(({ source, document, vulnerability }) =>
    [source, document, vulnerability].join("\n"),
  );
  return left! < right! ? -1 : left! > right! ? 1 : 0;
}

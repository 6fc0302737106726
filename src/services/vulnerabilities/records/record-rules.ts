// The rules of records. Records are checked one by one: an invalid one must not make the whole request fail.
import { type DescEnum, toBinary } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  BatchDeleteAdvisoryRecordsRequestSchema,
  CompleteDocumentRequestSchema,
  ImportAdvisoryRecordsRequestSchema,
  ListAdvisoryRecordsRequestSchema,
  ListAdvisoryStatementsRequestSchema,
  type Product,
  ProductSchema,
  ProductStatementSchema,
  ProductStatusSchema,
  RangeEventSchema,
  RangeEventTypeSchema,
  RecordFormat,
  RecordFormatSchema,
  RecordKeySchema,
  RecordReferenceSchema,
  RecordSeveritySchema,
  ResponsePlanSchema,
  VersionRangeSchema,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { extraProblem } from "../../../advisories/extra.ts";
import { identityOf } from "../../../advisories/product.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { type MessageRules, type TextRule, uidRule } from "../../../pipeline/text-rules.ts";
import { sourceIdRule } from "../advisories/advisory-fields.ts";
import { checkEvents, contentOf, isTime, timeRule } from "../advisories/event-content.ts";
import { advisoryLimits } from "../limits.ts";

/** The rule of the texts that identify a record: one line each. */
const keyTextRule: TextRule = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the rule rejects.
  test: (text) => /^[^\x00-\x1f\x7f]+$/.test(text),
  description: "must be a text without control characters",
  pattern: "^[^\\x00-\\x1f\\x7f]+$",
  maxLength: advisoryLimits.recordKeyBytes,
};

const keyRules = { source: keyTextRule, document: keyTextRule };

/** Nested messages, which are checked with their record. */
const recordParts = [
  ProductSchema,
  ProductStatementSchema,
  VersionRangeSchema,
  RangeEventSchema,
  RecordReferenceSchema,
  RecordSeveritySchema,
];

/** The rules of requests. */
export const recordRules: readonly MessageRules[] = [
  { schema: AdvisoryRecordSchema, fields: {}, isCheckedByHandler: true },
  ...recordParts.map((schema) => ({ schema, fields: {}, isCheckedByHandler: true })),
  {
    schema: ImportAdvisoryRecordsRequestSchema,
    fields: {},
    bounds: { records: { maxItems: advisoryLimits.requestRecords } },
  },
  {
    schema: BatchDeleteAdvisoryRecordsRequestSchema,
    fields: {},
    bounds: { records: { maxItems: advisoryLimits.requestRecords } },
  },
  { schema: RecordKeySchema, fields: { ...keyRules, vulnerability: keyTextRule } },
  { schema: CompleteDocumentRequestSchema, fields: keyRules },
  { schema: ListAdvisoryRecordsRequestSchema, fields: keyRules },
  {
    schema: ListAdvisoryStatementsRequestSchema,
    fields: { advisory_uids: uidRule },
    bounds: { advisory_uids: { maxItems: advisoryLimits.namedAdvisories } },
  },
];

const publicIdRule = sourceIdRule("advisory_id");

/** Checks a record. Returns the violations with paths relative to it. */
export function checkRecord(record: AdvisoryRecord): FieldViolation[] {
  const found: FieldViolation[] = [];
  const refuse = (field: string, description: string) => void found.push({ field, description });
  const size = toBinary(AdvisoryRecordSchema, record).length;
  if (size > advisoryLimits.recordBytes) refuse("record", `must be at most ${advisoryLimits.recordBytes} bytes`);
  checkKey(record, refuse);
  const isDocument = record.format !== RecordFormat.UNSPECIFIED && record.format !== RecordFormat.API;
  if (!isDocument || !isKnown(RecordFormatSchema, record.format)) refuse("format", "must be a known document format");
  if (record.advisoryId !== "" && !publicIdRule.test(record.advisoryId))
    refuse("advisory_id", publicIdRule.description);
  if (record.revision < 0n || record.revision > BigInt(Number.MAX_SAFE_INTEGER))
    refuse("revision", `must be from 0 to ${Number.MAX_SAFE_INTEGER}`);
  checkTimes(record, refuse);
  if (record.statements.length > advisoryLimits.statements)
    refuse("statements", `must not have more than ${advisoryLimits.statements} items`);
  else for (const [i, statement] of record.statements.entries()) checkStatement(statement, `statements[${i}]`, refuse);
  if (extraProblem(record.extra) !== "") refuse("extra", extraProblem(record.extra));
  const nul = findNul(record);
  if (nul !== undefined) refuse(nul, "must not contain NUL");
  return found;
}

type Refuse = (field: string, description: string) => void;

function checkKey({ source, document, vulnerability }: AdvisoryRecord, refuse: Refuse): void {
  for (const [field, text] of Object.entries({ source, document, vulnerability })) {
    if (text === "") refuse(field, `${field} is required`);
    else if (!keyTextRule.test(text)) refuse(field, keyTextRule.description);
  }
  if (Buffer.byteLength(source + document + vulnerability) > advisoryLimits.recordKeyBytes)
    refuse("document", `must be at most ${advisoryLimits.recordKeyBytes} bytes together with source and vulnerability`);
}

function checkTimes({ publishTime, modifyTime, withdrawTime }: AdvisoryRecord, refuse: Refuse): void {
  const times = { publish_time: publishTime, modify_time: modifyTime, withdraw_time: withdrawTime };
  for (const [field, time] of Object.entries(times)) if (time && !isTime(fromTimestamp(time))) refuse(field, timeRule);
}

function checkStatement(statement: AdvisoryRecord["statements"][number], at: string, refuse: Refuse): void {
  const { product, status, plan, time, events, ranges, extra } = statement;
  if (product && Buffer.byteLength(identityOf(product)) > advisoryLimits.productBytes)
    refuse(`${at}.product`, `must be at most ${advisoryLimits.productBytes} bytes`);
  if (product && isNameless(product)) refuse(`${at}.product`, "must have a package URL, a CPE or a name");
  if (!isKnown(ProductStatusSchema, status)) refuse(`${at}.status`, "is not a status of products");
  if (!isKnown(ResponsePlanSchema, plan)) refuse(`${at}.plan`, "is not a plan");
  if (time && !isTime(fromTimestamp(time))) refuse(`${at}.time`, timeRule);
  if (extraProblem(extra) !== "") refuse(`${at}.extra`, extraProblem(extra));
  for (const [i, range] of ranges.entries()) {
    if (extraProblem(range.extra) !== "") refuse(`${at}.ranges[${i}].extra`, extraProblem(range.extra));
    if (!range.events.every(({ type }) => isKnown(RangeEventTypeSchema, type)))
      refuse(`${at}.ranges[${i}].events`, "has an event of no known type");
  }
  const wrong = checkEvents(events.map(contentOf), ["author", "review_state"]);
  for (const { field, description } of wrong) refuse(`${at}.${field}`, description);
}

function isNameless({ purl, cpe, name }: Product): boolean {
  return purl === "" && cpe === "" && name === "";
}

function isKnown({ value }: DescEnum, number: number): boolean {
  return value[number] !== undefined;
}

/** Finds the path of a text with NUL, which PostgreSQL cannot store; undefined if none. */
function findNul(value: unknown): string | undefined {
  if (typeof value === "string") return value.includes("\0") ? "" : undefined;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = findNul(member);
    if (found === undefined) continue;
    const here = Array.isArray(value) ? `[${name}]` : name;
    return found === "" || found.startsWith("[") ? `${here}${found}` : `${here}.${found}`;
  }
  return undefined;
}

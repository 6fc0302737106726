// Reads documents in the tests of the formats.
import assert from "node:assert/strict";
import { toJson } from "@bufbuild/protobuf";
import { ImportedAdvisorySchema } from "../../../gen/gatehouse/vulnerabilities/v1/advisory_import_pb.ts";
import { type FormatName, readDocument } from "../../../src/cli/advisories/formats.ts";
import { toRecord } from "../../../src/cli/advisories/record.ts";
import { problemOf } from "../../../src/cli/advisories/sources.ts";

// biome-ignore lint/suspicious/noExplicitAny: what they hold is what the tests are about
export type Json = any;

/** What a document comes to: the advisories, and what went wrong. */
export function read(
  document: unknown,
  format: FormatName | "auto" = "auto",
  author = "",
): { found: Json[]; problems: string[] } {
  const found: Json[] = [];
  const problems: string[] = [];
  try {
    for (const part of readDocument(document, format, { author })) {
      try {
        found.push(...part.read().map((each) => toJson(ImportedAdvisorySchema, toRecord(each))));
      } catch (error) {
        problems.push(`${part.name}: ${problemOf(error, "")}`);
      }
    }
  } catch (error) {
    problems.push(problemOf(error, ""));
  }
  return { found, problems };
}

/** The only advisory of a document. */
export function only(document: unknown): Json {
  const { found, problems } = read(document);
  assert.deepEqual([found.length, problems], [1, []]);
  return found[0];
}

/** The types of the events, with what they say. */
export function types({ events = [] }: Json): Json[] {
  return events.map(({ createTime: _, author: _by, reviewState: _state, ...type }: Json) => type);
}

// What is filtered, as a file. The pages are read one after another.
import { toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";
import { callUnaryMethod } from "@connectrpc/connect-query";
import { type Change, ChangeSchema, ChangesService } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { csvLine } from "../../shell/csv.ts";
import type { ChangeFilter } from "./filter.ts";

/** The most changes that a file has. The command line has no such limit. */
const exportLimit = 10_000;

/** Reads changes, and returns the content of the file. */
export async function exportChanges(
  transport: Transport,
  request: ChangeFilter & { readonly parent: string },
  format: "jsonl" | "csv",
): Promise<string> {
  const changes: Change[] = [];
  let pageToken = "";
  do {
    const page = await callUnaryMethod(transport, ChangesService.method.listChanges, {
      ...request,
      pageSize: 200,
      pageToken,
    });
    changes.push(...page.changes);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && changes.length < exportLimit);
  return format === "csv" ? csvOf(changes) : changes.map(lineOf).join("");
}

function lineOf(change: Change): string {
  return `${JSON.stringify(toJson(ChangeSchema, change))}\n`;
}

/** RFC 4180. */
function csvOf(changes: readonly Change[]): string {
  const rows = changes.map((change) => [
    change.time ? timestampDate(change.time).toISOString() : "",
    change.actorUid,
    change.actorClaims.sub ?? "",
    change.method,
    change.kind,
    change.resourceUid,
    change.groupUid,
    change.requestId,
    JSON.stringify(change.before ?? null),
    JSON.stringify(change.after ?? null),
  ]);
  const titles = ["time", "actor", "subject", "method", "kind", "resource", "group", "request", "before", "after"];
  return [titles, ...rows].map(csvLine).join("");
}

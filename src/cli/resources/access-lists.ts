// Prints lists about access: the first results, and whether there are more.
import type { DescMethodUnary, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Option } from "commander";
import { isJsonObject } from "../../base/json.ts";
import { readCount, type Session } from "../client/session.ts";
import type { View } from "../output/view.ts";
import { note } from "../shell.ts";
import { identities } from "./identities.ts";
import { textAt } from "./json.ts";
import { withNames } from "./path-names.ts";

const maxPageSize = 200;

/** Returns the option that limits the rows of a list. */
export function limitOption(): Option {
  return new Option("--limit <count>", "how many at most").argParser(readCount).default(maxPageSize);
}

type Listing = DescMethodUnary;

/** Prints the first results of a list, and says whether there are more. Returns the last page. */
export async function listPages(
  session: Session,
  method: Listing,
  field: string,
  request: JsonObject,
  viewOf: (rows: readonly JsonObject[]) => View,
  limit: number,
): Promise<JsonObject> {
  const rows: JsonObject[] = [];
  let [pageToken, total] = ["", 0];
  let reply: JsonObject;
  do {
    const pageSize = Math.min(limit - rows.length, maxPageSize);
    reply = await session.call(method, { ...request, pageSize, ...(pageToken !== "" && { pageToken }) });
    rows.push(...listOf(reply.mappedRoles), ...listOf(reply[field]));
    total = Number(reply.totalCount ?? rows.length);
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "" && rows.length < limit);
  const view = viewOf(rows);
  await session.output.list(await namedView(session, view, rows), session.output.arrange(view, rows, "as it is"));
  if (pageToken !== "") note(session.shell, `${total} in all; show more with --limit.`);
  return reply;
}

/** Rows of identities have the names of these; rows of roles are role bindings, which have none. */
async function namedView(session: Session, view: View, rows: readonly JsonObject[]): Promise<View> {
  const seen = rows.flatMap(({ identity }) => (isJsonObject(identity) ? [identity as JsonObject] : []));
  const uidOf = ({ identity }: JsonObject) => (isJsonObject(identity) ? textAt(identity as JsonObject, "uid") : "");
  return await withNames(session, identities, view, seen, uidOf);
}

/** Returns the items of a repeated field. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a name, or else the uid. Both are absent where the caller may not see them. */
export function nameOrUid(value: JsonValue | undefined, name: string, uid: string): string {
  if (!isJsonObject(value)) return "(by an external group)";
  return textAt(value, name) || textAt(value, uid) || "(not yours to see)";
}

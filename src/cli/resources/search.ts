// Calls the search for `gatehouse search`.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Session } from "../client/session.ts";
import { note } from "../shell.ts";
import { textAt } from "./json.ts";
import { findGroupOrOnly } from "./parent-group.ts";

/** The kinds as the command line spells them: those of the API in lower case, with - for _. */
export const searchedKinds = [
  "group",
  "identity",
  "role",
  "identity-provider",
  "repo",
  "tag",
  "advisory",
  "package",
  "subscription",
  "person",
] as const;

/** The most results of each kind. */
const pageSize = 50;
const prefix = "RESOURCE_KIND_";

/** Returns what a search finds, as rows with their kind, and says if there is more. */
export async function searchResources(
  session: Session,
  query: string,
  { parent, kind }: { readonly parent?: string; readonly kind?: string },
): Promise<JsonObject[]> {
  const { SearchService } = await import("../../../gen/gatehouse/search/v1/search_pb.ts");
  const { resources = [], truncated } = await session.call(SearchService.method.search, {
    parent: await findGroupOrOnly(session, parent, "a search is about a group"),
    query,
    pageSize,
    ...(kind !== undefined && { kinds: [prefix + kind.replaceAll("-", "_").toUpperCase()] }),
  });
  if (truncated === true) note(session.shell, "There may be more; name more of the words.");
  return (resources as JsonObject[]).map((row) => ({ ...row, kind: spelled(textAt(row, "kind")) }));
}

function spelled(kind: string): string {
  return kind.replace(prefix, "").replaceAll("_", "-").toLowerCase();
}

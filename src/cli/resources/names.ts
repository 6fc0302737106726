// Completes names of resources.
import type { JsonObject } from "@bufbuild/protobuf";
import { Option } from "commander";
import { type Candidate, type Completer, completing } from "../client/completing.ts";
import type { Session } from "../client/session.ts";
import { cellText } from "../output/view.ts";
import { groups } from "./groups.ts";
import { textAt } from "./json.ts";
import type { Resource } from "./resource.ts";

/** The maximum number of pages that are searched. */
const maxPages = 5;
const pageSize = 200;

/** Completes names of a kind of resource: groups by a path of names, and resources without a name by uid. */
export function namesOf(resource: Resource): Completer {
  return async (session, beginning) => {
    const above =
      resource.nests === true && !isUidLike(beginning) ? beginning.slice(0, beginning.lastIndexOf("/") + 1) : "";
    const { member } = resource.name ?? { member: "name" };
    const rows = await readRows(session, resource, await placeOf(session, resource, above));
    return rows.filter(resource.keep ?? (() => true)).map((row): Candidate => {
      const [name, uid] = [textAt(row, member), textAt(row, "uid")];
      if (name === "" || isUidLike(beginning)) return { value: uid, description: name || describe(resource, row) };
      return { value: `${above}${name}`, description: uid };
    });
  };
}

/** Returns a flag whose value is a group. */
export function groupOption(flag: string, description: string): Option {
  return completing(new Option(`${flag} <name|uid>`, description), namesOf(groups));
}

/** Completes names of capabilities, which the program contains. */
export const capabilityNames: Completer = async () => {
  const { allCapabilities } = await import("../../model/capabilities.ts");
  return allCapabilities().flatMap(({ name, internal }) => (internal ? [] : [{ value: name }]));
};

async function placeOf(session: Session, resource: Resource, above: string): Promise<JsonObject> {
  if (above === "") return resource.always ?? {};
  const { findUid } = await import("./lookup.ts");
  return { uidp: { childrenOf: await findUid(session, { ...resource, keep: () => true }, above.slice(0, -1)) } };
}

async function readRows(session: Session, resource: Resource, request: JsonObject): Promise<JsonObject[]> {
  const { listMethod } = await import("./methods.ts");
  const { method, field } = await listMethod(resource);
  const rows: JsonObject[] = [];
  let pageToken = "";
  for (let page = 0; page < maxPages && (page === 0 || pageToken !== ""); page++) {
    const reply = await session.call(method, { ...request, pageSize, ...(pageToken !== "" && { pageToken }) });
    rows.push(...((reply[field] as JsonObject[] | undefined) ?? []));
    pageToken = textAt(reply, "nextPageToken");
  }
  return rows;
}

function describe({ view }: Resource, row: JsonObject): string {
  return view.columns
    .filter(({ value, wide }) => value !== "uid" && !wide)
    .map(({ value }) => cellText(row, value))
    .join(" ");
}

function isUidLike(text: string): boolean {
  return /^[0-9a-f]{6,}(\/|$)/.test(text);
}

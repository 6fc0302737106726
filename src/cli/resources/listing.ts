// The verb `list`, for every kind of resource.
import type { JsonObject } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { parentOf } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import type { View } from "../output/view.ts";
import { groups } from "./groups.ts";
import { setMember, textAt } from "./json.ts";
import { findUid, listAll } from "./lookup.ts";
import { hasFieldOf, listMethod } from "./methods.ts";
import { withNames } from "./path-names.ts";
import type { Options, Resource } from "./resource.ts";
import { readFlags } from "./verbs.ts";

/** A list, and how it is shown. */
export interface Listed {
  readonly view: View;
  readonly rows: readonly JsonObject[];
  /** The request to the server. */
  readonly request: JsonObject;
}

/** Prints all resources that the caller can see and the filters match. */
export async function listResources(session: Session, resource: Resource, options: Options): Promise<void> {
  const { view, rows, request } = await readList(session, resource, options);
  const shown = session.output.arrange(view, rows);
  const above = session.output.format === "tree" ? await holdersOf(session, resource, request, shown) : [];
  await session.output.list(await withNames(session, resource, view, shown), [...above, ...shown]);
}

/**
 * Reads the list in the order of uids: in the order of names, a resource renamed between two pages would be missed or
 * listed twice.
 */
export async function readList(session: Session, resource: Resource, options: Options): Promise<Listed> {
  const group = options.parent === undefined ? undefined : await findUid(session, groups, String(options.parent));
  const near = options.recursive === true ? undefined : group;
  const asked: JsonObject = structuredClone(resource.always ?? {});
  if (group !== undefined) setMember(asked, near === undefined ? "uidp.descendantsOf" : "uidp.childrenOf", group);
  await readFlags(session, resource.filters ?? [], options, asked);
  const request = resource.holder && near !== undefined ? overHolders(asked, near) : asked;
  const rows = (await listAll(session, resource, request))
    .filter(resource.keep ?? (() => true))
    .filter((row) => !resource.holder || near === undefined || parentOf(parentOf(textAt(row, "uid"))) === near);
  const columns = (await resource.columnsFor?.(request, session)) ?? resource.view.columns;
  const further = ((await resource.serverColumns?.(session)) ?? []).map((column) => ({ ...column, wide: true }));
  const hasField = hasFieldOf(await listMethod(resource));
  return { view: { ...resource.view, columns: [...columns, ...further], hasField }, rows, request };
}

/**
 * Resources that belong to another resource in the group are not direct children of the group, and no filter of the API
 * skips a level.
 */
function overHolders(request: JsonObject, group: string): JsonObject {
  const { uidp } = request;
  const isWhole = isJsonObject(uidp) && uidp.childrenOf === group;
  return isWhole ? { ...request, uidp: { descendantsOf: group } } : request;
}

/** Returns the parents of the rows, to print above them. */
async function holdersOf(session: Session, { holder }: Resource, request: JsonObject, rows: readonly JsonObject[]) {
  if (!holder || rows.length === 0) return [];
  const uids = new Set(rows.map((row) => parentOf(textAt(row, "uid"))));
  return (await holder.find(request, session)).filter((row) => uids.has(textAt(row, "uid")));
}

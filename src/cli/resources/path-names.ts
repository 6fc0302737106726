// The names that every command accepts for a resource: paths such as `example.org/engineering/release` and
// `example.org/hello:1.0`.
import type { JsonObject } from "@bufbuild/protobuf";
import { ancestorsOf, parentOf } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import type { View } from "../output/view.ts";
import { groups } from "./groups.ts";
import { textAt } from "./json.ts";
import { listAll } from "./lookup.ts";
import { seen } from "./relations/section.ts";
import { hasPath, type Resource } from "./resource.ts";

/** How many uids one request names. */
const maxIds = 200;

/** Texts by uid. */
type Names = ReadonlyMap<string, string>;

/** Returns the view of rows with the names that commands accept, if the output prints names. */
export async function withNames(
  session: Session,
  resource: Resource,
  view: View,
  rows: readonly JsonObject[],
  uidOf = (row: JsonObject) => textAt(row, "uid"),
): Promise<View> {
  if (session.output.format !== "name") return view;
  const names = await namesByUid(session, resource, rows);
  return { ...view, nameOf: (row) => names.get(uidOf(row)) ?? "" };
}

async function namesByUid(session: Session, resource: Resource, rows: readonly JsonObject[]): Promise<Names> {
  const own = namesOf(resource, rows);
  const uids = [...own.keys()];
  const { holder } = resource;
  if (holder) return withHolders(own, await holderNames(session, holder.resource(), uids));
  // The account association of a group is found by the group.
  if (resource.uidOf) return pathsOf(uids, await groupNames(session, [...uids, ...uids.flatMap(ancestorsOf)]));
  if (!hasPath(resource)) return own;
  return pathsOf(uids, new Map([...(await groupNames(session, uids.flatMap(ancestorsOf))), ...own]));
}

function namesOf({ name }: Resource, rows: readonly JsonObject[]): Names {
  return new Map(rows.map((row) => [textAt(row, "uid"), textAt(row, name?.member ?? "name")]));
}

/** Returns paths from the topmost group whose name is known. A name with a slash cannot be part of one. */
function pathsOf(uids: readonly string[], names: Names): Names {
  const isKnown = (uid: string) => /^[^/]+$/.test(names.get(uid) ?? "");
  const known = uids.filter(isKnown).map((uid): [string, string] => {
    const line = [...ancestorsOf(uid), uid];
    return [
      uid,
      line
        .slice(line.findLastIndex((each) => !isKnown(each)) + 1)
        .map((each) => names.get(each))
        .join("/"),
    ];
  });
  return new Map(known);
}

/** Returns the names of the groups that the caller can see. */
async function groupNames(session: Session, uids: readonly string[]): Promise<Names> {
  return namesOf(groups, await listByUid(session, groups, uids));
}

async function holderNames(session: Session, holder: Resource, uids: readonly string[]): Promise<Names> {
  return await namesByUid(session, holder, await listByUid(session, holder, uids.map(parentOf)));
}

function withHolders(own: Names, holders: Names): Names {
  const known = [...own].filter(([uid, name]) => name !== "" && holders.has(parentOf(uid)));
  return new Map(known.map(([uid, name]) => [uid, `${holders.get(parentOf(uid))}:${name}`]));
}

async function listByUid(session: Session, resource: Resource, uids: readonly string[]): Promise<JsonObject[]> {
  const ids = [...new Set(uids)];
  const rows: JsonObject[] = [];
  for (let i = 0; i < ids.length; i += maxIds)
    rows.push(...((await seen(listAll(session, resource, { uidp: { ids: ids.slice(i, i + maxIds) } }))) ?? []));
  return rows;
}

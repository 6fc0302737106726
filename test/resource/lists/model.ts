// The model of lists, on plain arrays: who may see a row, whether it matches, and in which order.
import type { JsonObject } from "@bufbuild/protobuf";
import { isBelow, isWithin, parentOf } from "../../../src/model/uid.ts";
import { type Kind, type KindName, kinds, type Reader, type Row, type Rows } from "./kinds.ts";

/** A caller. */
export interface Caller {
  readonly uid: string;
  readonly token: string;
  /** The groups that the token is narrowed to; it is not when absent. */
  readonly scopes?: readonly string[];
}

/** A list that is asked for: all of it, or its first page after what is skipped. */
export interface Question {
  readonly caller: Caller;
  readonly name: KindName;
  readonly request: JsonObject;
}

/** Returns the rows of the whole list, in order; undefined for a caller who may list nothing of the kind. */
export function modelList({ caller, name, request }: Question, rows: Rows): readonly Row[] | undefined {
  const kind: Kind = kinds[name];
  const [order = "uid", direction] = String(request.orderBy ?? defaultOrder(name)).split(" ");
  const field = kind.orders[order]!;
  const sign = direction === "desc" ? -1 : 1;
  return visible(caller, name, rows)
    ?.filter((row) => isPlaced(row, (request.uidp ?? {}) as JsonObject) && passes(name, row, request, rows))
    .toSorted((a, b) => sign * (compare(a[field], b[field]) || compare(a.uid, b.uid)));
}

function defaultOrder(name: KindName): string {
  return name === "group_invites" ? "create_time desc" : "uid";
}

/** Names are of letters whose units, code points and bytes are in one order. */
function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : Number(a > b);
}

/** Returns what a caller sees of others in their items. */
export function readerOf(caller: Caller, rows: Rows): Reader {
  const isForAll = (uid: string) => rows.roles.some((role) => role.uid === uid && role.parent === null);
  return {
    uid: caller.uid,
    sees: (name, uid) =>
      (name === "roles" && isForAll(uid)) || (visible(caller, name, rows) ?? []).some((row) => row.uid === uid),
  };
}

function visible(caller: Caller, name: KindName, rows: Rows): readonly Row[] | undefined {
  const kind: Kind = kinds[name];
  const { scopes = [""] } = caller;
  const covers = (above: string, uid: string) => above === "" || isWithin(uid, above);
  const places = placesOf(caller, kind, rows).flatMap((place) =>
    scopes.flatMap((scope) => (covers(scope, place) ? [place] : covers(place, scope) ? [scope] : [])),
  );
  if (places.length === 0) return undefined;
  const lies = kind.includesGranted ? isWithin : isBelow;
  const isForAll = (row: Row) => name === "roles" && row.parent === null;
  return rows[name].filter((row) => isForAll(row) || places.some((place) => lies(row.uid, place)));
}

/** Returns the groups at which the caller may list the kind, within the narrowing of the token. */
function placesOf({ uid }: Caller, { capability }: Kind, { role_bindings, roles }: Rows): string[] {
  const home = parentOf(uid);
  return role_bindings.flatMap(({ identityUid, roleUid, parent }): string[] => {
    if (identityUid !== uid) return [];
    if (!roles.find((role) => role.uid === roleUid)?.capabilities.includes(capability)) return [];
    // docs/design/access.md
    if (!home.includes("/") || isWithin(parent, home)) return [parent];
    return isBelow(home, parent) ? [home] : [];
  });
}

function isPlaced({ uid, parent }: Row, place: JsonObject): boolean {
  const { descendantsOf, childrenOf, inRoot, ancestorsOf, ids } = place;
  if (descendantsOf && !isBelow(uid, descendantsOf as string)) return false;
  if (childrenOf && parent !== childrenOf) return false;
  if (inRoot && parent !== null) return false;
  if (ancestorsOf && !isBelow(ancestorsOf as string, uid)) return false;
  return !ids || (ids as string[]).includes(uid);
}

/** Columns by the filters for them. */
const columns: Readonly<Record<string, string>> = {
  name: "name",
  digest: "digest",
  identity: "identityUid",
  role: "roleUid",
  group: "parent",
  identityProviderUid: "parent",
};

/** Filters that name several values, of which an advisory or one of its events has one. */
const alternatives: Readonly<Record<string, string>> = { artifactNames: "artifactName" };
const ofEvents: Readonly<Record<string, string>> = { eventAuthors: "author", eventReviewStates: "reviewState" };

function passes(name: KindName, row: Row, request: JsonObject, { events }: Rows): boolean {
  const asked = Object.entries(request);
  if (!asked.every(([key, value]) => !columns[key] || row[columns[key]] === value)) return false;
  if (name === "tags") return isTagAsked(row, request);
  if (name !== "advisories") return true;
  const own = events.filter(({ advisoryUid }) => advisoryUid === row.uid);
  const hasOne = (of: Row, known: Readonly<Record<string, string>>) =>
    asked.every(([key, values]) => !known[key] || (values as unknown[]).includes(of[known[key]]));
  const { query = "", aliases, excludeEventAuthors = [] } = request;
  const isOfEvents = asked.some(([key]) => ofEvents[key]);
  return (
    hasOne(row, alternatives) &&
    [row.artifactName, row.componentName, ...row.aliases]
      .join("\n")
      .toLowerCase()
      .includes(query as string) &&
    (!aliases || row.aliases.some((alias: string) => (aliases as string[]).includes(alias))) &&
    (!isOfEvents || own.some((event) => hasOne(event, ofEvents))) &&
    !own.some(({ author }) => (excludeEventAuthors as string[]).includes(author))
  );
}

function isTagAsked({ name, updateTime }: Row, request: JsonObject): boolean {
  const { includeReferrers, includeDates, includeEpochs, updatedSince } = request;
  if (!includeReferrers && name.startsWith("sha256-")) return false;
  if (!includeDates && name.endsWith("-20260101")) return false;
  if (!includeEpochs && name.endsWith("-r1")) return false;
  return !updatedSince || updateTime > Date.parse(updatedSince as string);
}

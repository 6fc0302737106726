// Resolves names to uids: a name means the only resource with that name that the caller can see.
import type { JsonObject } from "@bufbuild/protobuf";
import { isUid } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, suggestingHint, wrongUsage } from "../failure.ts";
import { groups } from "./groups.ts";
import { textAt } from "./json.ts";
import { listMethod } from "./methods.ts";
import { hasPath, type Resource } from "./resource.ts";

const pageSize = 200;
/** The reason of the failure when a name is that of nothing that the caller can see. */
export const noSuchName = "NO_SUCH_NAME";
/** The maximum number of candidates that are printed. */
const shownCandidates = 20;

/**
 * Returns the uid of a resource, by name among those that `uidp` selects. A path of groups may precede the name:
 * `example.org/engineering`, `example.org/nginx`. A resource whose parent is not a group is parent and name, `nginx:latest`.
 */
export async function findUid(
  session: Session,
  resource: Resource,
  text: string,
  uidp: JsonObject = {},
): Promise<string> {
  if (isUid(text)) return ofKind(resource, text);
  // An unnamed resource has an empty name: `delete "$UNSET"` would mean the only invite that exists.
  if (text === "") throw wrongUsage(`the name of the ${resource.noun} is empty`, "Give a name or a uid.");
  if (resource.uidOf) return await findSharedUid(session, resource, resource.uidOf, text);
  const colon = resource.holder ? text.lastIndexOf(":") : -1;
  if (resource.holder && colon > 0) {
    const childrenOf = await findUid(session, resource.holder.resource(), text.slice(0, colon), uidp);
    return await findNamed(session, resource, text.slice(colon + 1), { childrenOf });
  }
  // Sinks and external groups may contain a slash.
  const path = hasPath(resource) ? text.split("/") : [text];
  const names = path.slice(0, -1);
  // The parent of a folder may be an organization.
  const holder: Resource = resource.nests ? { ...resource, keep: () => true } : groups;
  let place = uidp;
  for (const [i, name] of names.entries())
    place = { childrenOf: await findNamed(session, holder, name, place, path.slice(0, i + 1).join("/")) };
  return await findNamed(session, resource, path.at(-1) ?? "", place, text);
}

/** Returns the uid of a resource that shares the uid of another one: by its own name, or by that of the other. */
async function findSharedUid(session: Session, resource: Resource, other: Resource, text: string): Promise<string> {
  const rows = await listAll(session, resource, {});
  const known = rows.map((row) => textAt(row, "name"));
  const named = rows.filter((row) => textAt(row, "name") === text).map((row) => textAt(row, "uid"));
  const shared = await findUid(session, other, text).catch((error: unknown) => {
    if (!(error instanceof CommandFailure)) throw error;
    if (named.length === 0) throw error.with({ hint: suggestingHint(text, known, error.hint) });
    return "";
  });
  const isThere = shared !== "" && (named.length === 0 || rows.some(({ uid }) => uid === shared));
  const [uid = "", ...others] = new Set(isThere ? [...named, shared] : named);
  if (others.length === 0) return uid;
  throw severalNamed(resource, text, [uid, ...others]);
}

/** Returns the uid if it can be of this kind: `folders delete` must not delete an organization. */
function ofKind(resource: Resource, uid: string): string {
  if (resource.keep?.({ uid }) ?? true) return uid;
  throw new CommandFailure(`${uid} is the uid of another kind of resource; expected: ${resource.noun}`, {
    hint: resource.uidHint ?? "",
  });
}

/** Returns all results of a list. */
export async function listAll(session: Session, resource: Resource, request: JsonObject): Promise<JsonObject[]> {
  const { method, field } = await listMethod(resource);
  const rows: JsonObject[] = [];
  let pageToken = "";
  do {
    const reply = await session.call(method, { ...request, pageSize, ...(pageToken !== "" && { pageToken }) });
    rows.push(...((reply[field] as JsonObject[] | undefined) ?? []));
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "");
  return rows;
}

/** Returns the first results of a list, and the total. */
export async function listFirst(session: Session, resource: Resource, request: JsonObject, count: number) {
  const { method, field } = await listMethod(resource);
  const reply = await session.call(method, { ...request, pageSize: count });
  const rows = (reply[field] as JsonObject[] | undefined) ?? [];
  return { rows, total: Number(reply.totalCount ?? rows.length) };
}

/** Returns the resources of a kind with a name, among those that `uidp` selects. */
export async function listNamed(
  session: Session,
  resource: Resource,
  name: string,
  uidp: JsonObject,
): Promise<JsonObject[]> {
  return (await listCandidates(session, resource, name, uidp)).filter((row) => nameOf(resource, row) === name);
}

/** Returns the resources of a kind with a name; without a filter for it in the API, those with any name. */
async function listCandidates(session: Session, resource: Resource, name: string, uidp: JsonObject) {
  const rows = await listBy(session, resource, resource.name?.filter ?? "name", name, uidp);
  return rows.filter(resource.keep ?? (() => true));
}

function nameOf({ name }: Resource, row: JsonObject): string {
  return textAt(row, name?.member ?? "name");
}

/** Returns the uid of the only resource with a name. `typed` is the path that the name ends, for failures. */
async function findNamed(
  session: Session,
  resource: Resource,
  name: string,
  uidp: JsonObject,
  typed = name,
): Promise<string> {
  const candidates = await listCandidates(session, resource, name, uidp);
  const named = candidates.filter((row) => nameOf(resource, row) === name);
  const aliases = resource.name?.aliases;
  const [only, second] = named;
  if (second)
    throw severalNamed(
      resource,
      typed,
      named.map((row) => textAt(row, "uid")),
    );
  const found = only ?? (aliases && (await findAliased(session, resource, aliases, name)));
  if (found) return textAt(found, "uid");
  // Suggests no more than the list that was read, and what every server has.
  const known = [...candidates.map((row) => nameOf(resource, row)), ...((await resource.builtIn?.()) ?? [])];
  throw new CommandFailure(`there is no ${resource.noun} ${JSON.stringify(typed)} that you can see`, {
    hint: suggestingHint(name, known, `See \`gatehouse ${resource.path} list\`, or name it by its uid.`),
    reason: noSuchName,
  });
}

function severalNamed({ view }: Resource, name: string, uids: readonly string[]): CommandFailure {
  return new CommandFailure(`several ${view.noun} are called ${JSON.stringify(name)}; name one by its uid`, {
    hint: uids.join("\n"),
  });
}

/** Returns the only resource with an alias, or undefined. Fails with a list if there are several. */
async function findAliased(session: Session, resource: Resource, aliases: string, alias: string) {
  const [only, ...others] = await listBy(session, resource, aliases, alias, {});
  if (!only || others.length === 0) return only;
  const { tableText } = await import("../output/table.ts");
  const shown = await tableText(resource.view.columns.slice(0, 2), [only, ...others].slice(0, shownCandidates));
  const more = others.length < shownCandidates ? "" : `… and ${others.length + 1 - shownCandidates} more`;
  throw new CommandFailure(`several ${resource.view.noun} have the alias ${JSON.stringify(alias)}; name one of them`, {
    hint: `${shown}${more}`.trimEnd(),
  });
}

/** Lists the resources whose filter matches this value. */
async function listBy(session: Session, resource: Resource, filter: string, value: string, uidp: JsonObject) {
  const { method } = await listMethod(resource);
  const field = method.input.fields.find(({ jsonName }) => jsonName === filter);
  return await listAll(session, resource, {
    ...resource.name?.request,
    ...(Object.keys(uidp).length > 0 && { uidp }),
    ...(field && { [filter]: field.fieldKind === "list" ? [value] : value }),
  });
}

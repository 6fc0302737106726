// What list, describe, create, update and delete do, for every kind of resource.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { DescMessage, DescMethod, JsonObject } from "@bufbuild/protobuf";
import { isJsonObject } from "../../json.ts";
import { reasonOf } from "../../system-error.ts";
import { parentOf } from "../../uid.ts";
import { confirm } from "../client/prompt.ts";
import type { Session } from "../client/session.ts";
import { wrongUsage } from "../failure.ts";
import { inOrder } from "../output/view.ts";
import { printable } from "../shell.ts";
import { groups } from "./groups.ts";
import { setMember, textAt } from "./json.ts";
import { findUid, listAll } from "./lookup.ts";
import { standardMethod } from "./methods.ts";
import type { Flag, FlagValue, Options, Resource } from "./resource.ts";

/**
 * Prints everything that the caller can see and the filters keep. Read in the order of uids: in that of names, what is renamed
 * between two pages would be missed, or come twice.
 */
export async function listResources(session: Session, resource: Resource, options: Options): Promise<void> {
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
  const further = (await resource.serverColumns?.(session)) ?? [];
  const view = { ...resource.view, columns: [...columns, ...further.map((column) => ({ ...column, wide: true }))] };
  const above = session.output.format === "tree" ? await holdersOf(session, resource, request, rows) : [];
  await session.output.list(view, inOrder(view, [...above, ...rows]));
}

/** Nothing lies directly in a group that lies in something else there, and no filter of the API passes over a level. */
function overHolders(request: JsonObject, group: string): JsonObject {
  const { uidp } = request;
  const isWhole = isJsonObject(uidp) && uidp.childrenOf === group;
  return isWhole ? { ...request, uidp: { descendantsOf: group } } : request;
}

/** What holds the rows, to be shown above them. */
async function holdersOf(session: Session, { holder }: Resource, request: JsonObject, rows: readonly JsonObject[]) {
  if (!holder || rows.length === 0) return [];
  const uids = new Set(rows.map((row) => parentOf(textAt(row, "uid"))));
  return (await holder.find(request, session)).filter((row) => uids.has(textAt(row, "uid")));
}

/** Prints one. */
export async function describeResource(session: Session, resource: Resource, text: string): Promise<void> {
  await printOne(session, resource, await getResource(session, resource, text));
}

async function printOne(session: Session, { view, serverColumns }: Resource, row: JsonObject): Promise<void> {
  const columns = [...view.columns, ...((await serverColumns?.(session)) ?? [])];
  await session.output.one({ ...view, columns }, row);
}

/** Creates one and prints it. */
export async function createResource(
  session: Session,
  resource: Resource,
  argument: string | undefined,
  options: Options,
): Promise<void> {
  const { method, field } = await standardMethod(resource, "Create");
  const body = await readBody(session, options.file, messageOf(method, field));
  if (resource.argument && argument !== undefined) setMember(body, resource.argument.field, argument);
  const fields = resource.fields.filter(({ only }) => only !== "update");
  await readFlags(session, fields, options, body);
  const completed = (await resource.complete?.(body, options, session)) ?? body;
  resource.checkCreate?.(completed);
  const parent = await findParent(session, resource, options);
  const afterwards = await resource.prepareCreate?.(options, session);
  const created = await session.call(method, { ...(parent !== "" && { parent }), [field]: completed });
  await afterwards?.(created);
  await printOne(session, resource, created);
}

/** Changes the fields whose flags are there, and nothing else. */
export async function updateResource(session: Session, resource: Resource, text: string, options: Options) {
  const before = await getResource(session, resource, text);
  const { method, field } = await standardMethod(resource, "Update");
  const body = await readBody(session, options.file, messageOf(method, field));
  const after = { ...structuredClone(before), ...body };
  const fields = resource.fields.filter(({ only }) => only !== "create");
  await readFlags(session, fields, options, after);
  const completed = (await resource.complete?.(after, options, session)) ?? after;
  const changed = changedPaths(
    before,
    completed,
    fields.filter((flag) => options[optionName(flag)] !== undefined),
  );
  if (changed.length === 0) throw wrongUsage("nothing is to be changed", "See --help for what can be.");
  const request = { [field]: { ...completed, uid: textAt(before, "uid") }, updateMask: changed.join(",") };
  await printOne(session, resource, await session.call(method, request));
}

/**
 * The mask of an update: the fields that flags have set, and the members that changed otherwise. Never the whole of a
 * member of which one flag sets a part: what cannot be read back, such as a secret, would be lost.
 */
function changedPaths(before: JsonObject, after: JsonObject, flags: readonly Flag[]): string[] {
  const said = flags.map(({ field }) => field);
  const others = Object.keys({ ...before, ...after }).filter(
    (name) =>
      JSON.stringify(before[name]) !== JSON.stringify(after[name]) &&
      !said.some((path) => path === name || path.startsWith(`${name}.`)),
  );
  return [...said, ...others];
}

/** Deletes them one after the other, after a question. */
export async function deleteResources(session: Session, resource: Resource, texts: readonly string[], yes: boolean) {
  const uids: string[] = [];
  for (const text of texts) uids.push(await findUid(session, resource.uidOf ?? resource, text));
  const shown = texts.map((text, i) => (text === uids[i] ? text : `${text} (${uids[i]})`)).join(", ");
  await confirm(session.shell, `Delete ${resource.noun} ${shown}?`, yes);
  const { method } = await standardMethod(resource, "Delete");
  for (const uid of uids) {
    await session.call(method, { uid });
    if (session.output.format === "id") session.shell.stdout.write(`${uid}\n`);
    else if (session.output.format !== "none") session.shell.stderr.write(`Deleted ${resource.noun} ${uid}.\n`);
  }
}

/** The resource that a name or uid stands for. */
export async function getResource(session: Session, resource: Resource, text: string): Promise<JsonObject> {
  const { method } = await standardMethod(resource, "Get");
  return await session.call(method, { uid: await findUid(session, resource.uidOf ?? resource, text) });
}

async function readFlags(session: Session, flags: readonly Flag[], options: Options, target: JsonObject) {
  for (const flag of flags) {
    const value = options[optionName(flag)];
    if (value === undefined) continue;
    setMember(target, flag.field, flag.read ? await flag.read(value, session, target) : (value as string | boolean));
  }
}

/** Commander's name for a flag: `--oidc-issuer <url>` is `oidcIssuer`. */
export function optionName({ flags }: Pick<Flag, "flags">): string {
  const [, long = ""] = /--([a-z-]+)/.exec(flags) ?? [];
  return long.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

async function findParent(session: Session, { parent, noun }: Resource, options: Options): Promise<string> {
  if (parent === "none") return "";
  const text = options.parent ?? session.config["default.group"];
  if (text !== undefined) return await findUid(session, groups, String(text));
  throw wrongUsage(
    `the ${noun} needs a group to be created in`,
    "Name it with --parent, or once for all with `gatehouse config set default.group GROUP`.",
  );
}

/** The body in a file of YAML or JSON, `-` for standard input; empty without one. Fails unless it is such a message. */
async function readBody(session: Session, file: FlagValue | undefined, message: DescMessage): Promise<JsonObject> {
  if (file === undefined) return {};
  if (file === "") throw wrongUsage("--file: the path is empty");
  const name = file === "-" ? "standard input" : String(file);
  const [{ parse }, { fromJson }] = await Promise.all([import("yaml"), import("@bufbuild/protobuf")]);
  let content: unknown;
  try {
    content = parse(file === "-" ? await text(session.shell.stdin) : readFileSync(name, "utf8"));
  } catch (error) {
    throw wrongUsage(`${name} cannot be read: ${firstLine(reasonOf(error, name))}`);
  }
  if (!isJsonObject(content)) throw wrongUsage(`${name} must hold one object`);
  try {
    fromJson(message, content as JsonObject);
  } catch (error) {
    throw wrongUsage(`${name} does not hold the fields of the API: ${printable(firstLine(reasonOf(error)))}`);
  }
  return content as JsonObject;
}

function messageOf(method: DescMethod, field: string): DescMessage {
  const message = method.input.fields.find(({ jsonName }) => jsonName === field)?.message;
  if (!message) throw new Error(`${method.toString()} has no message ${field}`);
  return message;
}

function firstLine(message: string): string {
  return message.split("\n")[0]!;
}

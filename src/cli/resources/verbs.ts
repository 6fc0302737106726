// The verbs describe, create, update and delete, for every kind of resource.
import type { DescMessage, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { errorMessage } from "../../base/system-error.ts";
import { confirm } from "../client/prompt.ts";
import type { Session } from "../client/session.ts";
import { printable } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { readInput } from "../input.ts";
import type { View } from "../output/view.ts";
import { setMember, textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { standardMethod } from "./methods.ts";
import { findParentGroup } from "./parent-group.ts";
import { withNames } from "./path-names.ts";
import type { Flag, FlagValue, Options, Resource } from "./resource.ts";
import { confirmSibling, holderOf } from "./siblings.ts";

/** Prints a resource with related ones. */
export async function describeResource(session: Session, resource: Resource, text: string): Promise<void> {
  const row = await getResource(session, resource, text);
  const { relationsOf } = await import("./relations/relations.ts");
  const isShown = !["csv", "id", "name", "none"].includes(session.output.format);
  const sections = isShown ? await relationsOf(session, resource, row) : [];
  await session.output.details(await viewOf(session, resource, row), row, sections);
}

async function printOne(session: Session, resource: Resource, row: JsonObject): Promise<void> {
  await session.output.one(await viewOf(session, resource, row), row);
}

async function viewOf(session: Session, resource: Resource, row: JsonObject): Promise<View> {
  const { columns } = resource.view;
  const view = { ...resource.view, columns: [...columns, ...((await resource.serverColumns?.(session)) ?? [])] };
  return await withNames(session, resource, view, [row]);
}

/** Creates a resource and prints it. */
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
  await confirmSibling(session, resource, { name: textAt(completed, "name"), parent, yes: options.yes === true });
  const afterwards = await resource.prepareCreate?.(options, session);
  const other = await resource.instead?.create(session, { parent, body: completed, options });
  const created = other
    ? await getResource(session, resource, String(other.uid))
    : await session.call(method, { ...(parent !== "" && { parent }), [field]: completed });
  await afterwards?.(created);
  await printOne(session, resource, created);
}

/** Changes the fields whose flags are present, and nothing else. */
export async function updateResource(session: Session, resource: Resource, text: string, options: Options) {
  const before = await getResource(session, resource, text);
  if (await resource.instead?.update(session, textAt(before, "uid"), options))
    return await printOne(session, resource, await getResource(session, resource, textAt(before, "uid")));
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
  if (changed.length === 0) throw wrongUsage("nothing to change", "See --help for the flags.");
  const [name, uid] = [textAt(completed, "name"), textAt(before, "uid")];
  if (name !== textAt(before, "name"))
    await confirmSibling(session, resource, { name, parent: holderOf(uid), yes: options.yes === true });
  const request = { [field]: { ...completed, uid }, updateMask: changed.join(",") };
  await printOne(session, resource, await session.call(method, request));
}

/**
 * Returns the mask of an update: the fields that flags set, and other changed members. If a flag sets a part of a
 * member, the mask names the part and not the member: otherwise values that cannot be read back, such as secrets, would
 * be lost.
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

/** Deletes resources one after the other, after a confirmation. A recursive deletion is one of a group with everything in it. */
export async function deleteResources(
  session: Session,
  resource: Resource,
  texts: readonly string[],
  options: Options,
) {
  const yes = options.yes === true;
  if (options.recursive === true) {
    const [text = "", ...others] = texts;
    if (others.length > 0) throw wrongUsage("--recursive deletes one group at a time");
    return await (await import("./destroy-group.ts")).destroyGroup(session, resource, text, yes);
  }
  const uids: string[] = [];
  for (const text of texts) uids.push(await findUid(session, resource, text));
  const shown = texts.map((text, i) => (text === uids[i] ? text : `${text} (${uids[i]})`)).join(", ");
  await confirm(session.shell, `Delete ${resource.noun} ${shown}?`, yes);
  const { method } = await standardMethod(resource, "Delete");
  for (const [i, uid] of uids.entries()) {
    await session.call(method, { uid }).catch((error: unknown) => explained(session, resource, uid, error));
    if (session.output.format === "id") session.shell.stdout.write(`${uid}\n`);
    // The name is that of the command line: the resource is gone.
    else if (session.output.format === "name") session.shell.stdout.write(`${printable(texts[i]!)}\n`);
    else if (session.output.format !== "none") session.shell.stderr.write(`Deleted ${resource.noun} ${uid}.\n`);
  }
}

/** Fails with the server's error. For a group that is not empty, adds its contents. */
async function explained(session: Session, { type }: Resource, uid: string, error: unknown): Promise<never> {
  if (type !== "Group" || !(error instanceof CommandFailure) || error.reason !== "RESOURCE_NOT_EMPTY") throw error;
  const { explainNotEmpty } = await import("./relations/contents.ts");
  const hint = await explainNotEmpty(session, uid);
  throw hint === "" ? error : new CommandFailure(error.message, { hint });
}

/** Returns the resource with a name or uid. */
export async function getResource(session: Session, resource: Resource, text: string): Promise<JsonObject> {
  const { method } = await standardMethod(resource, "Get");
  return await session.call(method, { uid: await findUid(session, resource, text) });
}

/** Applies the flags that are present to the JSON of a resource or request. */
export async function readFlags(session: Session, flags: readonly Flag[], options: Options, target: JsonObject) {
  for (const flag of flags) {
    const value = options[optionName(flag)];
    if (value === undefined) continue;
    setMember(target, flag.field, await readFlag(flag, value, session, target, options));
  }
}

async function readFlag(
  flag: Flag,
  value: FlagValue,
  session: Session,
  target: JsonObject,
  options: Options,
): Promise<JsonValue> {
  if (flag.read) return await flag.read(value, session, target, options);
  return flag.refersTo ? await findUid(session, flag.refersTo(), String(value)) : (value as string | boolean);
}

/** Returns commander's name of a flag: `--oidc-issuer <url>` is `oidcIssuer`. */
export function optionName({ flags }: Pick<Flag, "flags">): string {
  const [, long = ""] = /--([a-z-]+)/.exec(flags) ?? [];
  return long.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

async function findParent(session: Session, { parent, noun }: Resource, options: Options): Promise<string> {
  if (parent === "none") return "";
  if (parent !== "group") return await findUid(session, parent.resource(), String(options[optionName(parent)]));
  return await findParentGroup(session, noun, options.parent);
}

/**
 * Reads the body from a YAML or JSON file, or from standard input for `-`; empty without a file. Fails unless it is a
 * valid message.
 */
async function readBody(session: Session, file: FlagValue | undefined, message: DescMessage): Promise<JsonObject> {
  if (file === undefined) return {};
  if (file === "") throw wrongUsage("--file: the path is empty");
  const name = file === "-" ? "standard input" : String(file);
  const [{ readYaml }, { fromJson }] = await Promise.all([import("../yaml.ts"), import("@bufbuild/protobuf")]);
  const content = readYaml(await readInput(session.shell, String(file)), name);
  if (!isJsonObject(content)) throw wrongUsage(`${name} must contain one object`);
  // `describe` adds it to the fields of the resource.
  const { relations, ...body } = content as JsonObject;
  try {
    fromJson(message, body);
  } catch (error) {
    throw wrongUsage(`${name} does not match the fields of the API: ${printable(firstLine(errorMessage(error)))}`);
  }
  return body;
}

function messageOf(method: DescMethod, field: string): DescMessage {
  const message = method.input.fields.find(({ jsonName }) => jsonName === field)?.message;
  if (!message) throw new Error(`${method.toString()} has no message ${field}`);
  return message;
}

function firstLine(message: string): string {
  return message.split("\n")[0]!;
}

// Names of siblings. The API allows equal ones, but no file and no command can tell them apart.
import type { JsonObject } from "@bufbuild/protobuf";
import { parentOf, platformRoot } from "../../model/uid.ts";
import { confirm } from "../client/prompt.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { textAt } from "./json.ts";
import { listNamed } from "./lookup.ts";
import { hasSiblingNames, type Resource } from "./resource.ts";

/** Asks before a resource gets a name that a sibling of its kind has. An organization has no parent. */
export async function confirmSibling(
  session: Session,
  resource: Resource,
  { name, parent, yes }: { readonly name: string; readonly parent: string; readonly yes: boolean },
): Promise<void> {
  if (yes || name === "" || !hasSiblingNames(resource)) return;
  const [sibling] = await siblingsNamed(session, resource, name, parent);
  if (sibling === undefined) return;
  const uid = textAt(sibling, "uid");
  await confirm(session.shell, `The ${resource.noun} ${uid} is called ${JSON.stringify(name)}. Another one, too?`, yes);
}

/** Returns none if the caller may not list: then nothing is known. */
async function siblingsNamed(
  session: Session,
  resource: Resource,
  name: string,
  parent: string,
): Promise<JsonObject[]> {
  try {
    const rows = await listNamed(session, resource, name, parent === "" ? { inRoot: true } : { childrenOf: parent });
    return rows.filter((row) => holderOf(textAt(row, "uid")) === parent);
  } catch (error) {
    if (error instanceof CommandFailure && error.status === "PermissionDenied") return [];
    throw error;
  }
}

/** Returns the uid of the group that a resource is in; empty for an organization. */
export function holderOf(uid: string): string {
  const parent = parentOf(uid);
  return parent === platformRoot ? "" : parent;
}

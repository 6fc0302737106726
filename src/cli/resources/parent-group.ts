import type { Session } from "../client/session.ts";
import { wrongUsage } from "../failure.ts";
import { groups, organizations } from "./groups.ts";
import { textAt } from "./json.ts";
import { findUid, listFirst } from "./lookup.ts";
import type { FlagValue } from "./resource.ts";

const namingHint = "Name it with --parent, or once for all with `gatehouse config set default.group GROUP`.";

/**
 * Returns the uid of the named group, or of `default.group`, or of the only organization that the caller can see. Wrong usage, with this
 * message, if there is none.
 */
export async function findGroupOrOnly(session: Session, named: string | undefined, message: string): Promise<string> {
  const known = await findNamedGroup(session, named);
  if (known !== undefined) return known;
  const { rows, total } = await listFirst(session, organizations, organizations.always ?? {}, 2);
  const [only] = rows;
  if (only && total === 1) return textAt(only, "uid");
  throw wrongUsage(message, namingHint);
}

/** Returns the uid of the group to create a resource in. Wrong usage if none is named. */
export async function findParentGroup(session: Session, noun: string, named: FlagValue | undefined): Promise<string> {
  const known = await findNamedGroup(session, named);
  if (known !== undefined) return known;
  throw wrongUsage(`the ${noun} needs a group to be created in`, namingHint);
}

/** Returns the uid of the named group, or of `default.group`; undefined without either. */
async function findNamedGroup(session: Session, named: FlagValue | undefined): Promise<string | undefined> {
  const text = named ?? session.config["default.group"];
  return text === undefined ? undefined : await findUid(session, groups, String(text));
}

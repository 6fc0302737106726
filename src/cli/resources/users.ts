// Finds the people of an organization by address, name or uid.
import type { JsonObject } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { isUid } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { textAt } from "./json.ts";
import { noSuchName } from "./lookup.ts";

const pageSize = 200;
/** The maximum number of candidates that are printed. */
const shownCandidates = 20;

/** Returns the people with roles at a group and below it whose name or address contains a text, with their names and addresses. */
export async function listUsers(session: Session, group: string, query: string): Promise<JsonObject[]> {
  const { AccessService } = await import("../../../gen/gatehouse/access/v1/access_pb.ts");
  const rows: JsonObject[] = [];
  let pageToken = "";
  do {
    const reply = await session.call(AccessService.method.listPeople, { group, query, pageSize, pageToken });
    rows.push(...((reply.people as JsonObject[] | undefined) ?? []).map(userRow));
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "");
  return rows;
}

/** Returns the only person with this uid, whole address or whole name. Wrong usage, with the candidates, if there are several. */
export async function findUser(session: Session, group: string, text: string): Promise<JsonObject> {
  if (text.trim() === "") throw wrongUsage("the name of the user is empty", "Give an address, a name or a uid.");
  const found = await listUsers(session, group, text.trim());
  const wanted = text.trim().toLowerCase();
  const exact = isUid(text)
    ? found
    : found.filter((user) => [user.email, user.name].some((one) => String(one).toLowerCase() === wanted));
  const [only, second] = exact;
  if (only && !second) return only;
  if (second) throw wrongUsage(`several users are called ${JSON.stringify(text)}`, candidatesOf(exact));
  throw new CommandFailure(`no user with a role here is called ${JSON.stringify(text)}`, {
    hint: candidatesOf(found) || "`gatehouse iam users list` shows all. Who has not joined is found by uid only.",
    reason: noSuchName,
  });
}

/** Returns how a person is called: by name and address, or by uid if they have not joined. */
export function userText(user: JsonObject): string {
  const [name, email, uid] = [textAt(user, "name"), textAt(user, "email"), textAt(user, "uid")];
  return name === "" ? uid : `${name} (${[email, uid].filter((text) => text !== "").join(", ")})`;
}

function candidatesOf(users: readonly JsonObject[]): string {
  return users.slice(0, shownCandidates).map(userText).join("\n");
}

/** Returns a person as a row with the uid, name and address of their identity. */
function userRow({ identity, ...rest }: JsonObject): JsonObject {
  const { uid = "", name = "", email = "" } = isJsonObject(identity) ? (identity as JsonObject) : {};
  return { uid, name, email, ...rest };
}

// Names for uids: whoever types a name means the one thing of that name that they can see.
import type { JsonObject } from "@bufbuild/protobuf";
import { isUid } from "../../uid.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { textAt } from "./json.ts";
import { listMethod } from "./methods.ts";
import type { Resource } from "./resource.ts";

const pageSize = 200;

/** The uid of the resource that is meant. A group may be a path of names, `example.org/engineering`. */
export async function findUid(session: Session, resource: Resource, text: string): Promise<string> {
  if (isUid(text)) return text;
  // Other names may have a slash of their own.
  const [first = "", ...rest] = resource.nests ? text.split("/") : [text];
  let uid = await findNamed(session, resource, first, {});
  for (const name of rest) uid = await findNamed(session, resource, name, { childrenOf: uid });
  return uid;
}

/** Every result of a list, page by page. */
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

async function findNamed(session: Session, resource: Resource, name: string, uidp: JsonObject): Promise<string> {
  const { member, filter } = resource.name ?? { member: "name", filter: "name" };
  const { method } = await listMethod(resource);
  const field = method.input.fields.find(({ jsonName }) => jsonName === filter);
  const request = {
    ...(Object.keys(uidp).length > 0 && { uidp }),
    ...(field && { [filter]: field.fieldKind === "list" ? [name] : name }),
  };
  const named = (await listAll(session, resource, request)).filter((row) => textAt(row, member) === name);
  const [only, second] = named;
  if (!only) {
    throw new CommandFailure(`there is no ${resource.noun} ${JSON.stringify(name)} that you can see`, {
      hint: `See \`gatehouse ${resource.path} list\`, or name it by its uid.`,
    });
  }
  if (second) {
    const uids = named.map((row) => textAt(row, "uid")).join("\n");
    throw new CommandFailure(`several ${resource.view.noun} are called ${JSON.stringify(name)}; name one by its uid`, {
      hint: uids,
    });
  }
  return textAt(only, "uid");
}

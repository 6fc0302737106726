// Finds who is to get a role: a workload by its name or uid, a person by address, name or uid.
import type { JsonObject } from "@bufbuild/protobuf";
import { rootOf } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { identities } from "./identities.ts";
import { textAt } from "./json.ts";
import { findUid, noSuchName } from "./lookup.ts";

/** As many people as one search returns. */
const maxPeople = 20;

/**
 * Returns the uid of the identity that a text means, for a role at a group. People are found by their whole address or name among those of
 * the organization; no other text means a person, because a role must not be given by a guess.
 */
export async function findGrantee(session: Session, text: string, groupUid: string): Promise<string> {
  const known = text.includes("@") ? noSuchPerson(text) : await findWorkload(session, text);
  if (typeof known === "string") return known;
  const people = await searchPeople(session, text, groupUid);
  const wanted = text.trim().toLowerCase();
  const exact = people.filter((person) =>
    [textAt(person, "email"), textAt(person, "name")].some((one) => one.toLowerCase() === wanted),
  );
  const [only, second] = exact;
  if (only && !second) return textAt(only, "uid");
  if (people.length === 0) throw known;
  const message = second
    ? `several people are called ${JSON.stringify(text)}; name one by address or uid`
    : `no identity is called ${JSON.stringify(text)}; these people have it in their name or address`;
  throw wrongUsage(message, (second ? exact : people).map(candidateText).join("\n"));
}

/** Returns the uid of a workload with a name, or the failure that there is none. */
async function findWorkload(session: Session, text: string): Promise<string | CommandFailure> {
  try {
    return await findUid(session, identities, text);
  } catch (error) {
    if (error instanceof CommandFailure && error.reason === noSuchName) return error;
    throw error;
  }
}

function noSuchPerson(address: string): CommandFailure {
  return new CommandFailure(`no person with the address ${JSON.stringify(address)} has joined the organization`, {
    hint: "Invite the person with `gatehouse iam invites create`, or name the identity by its uid.",
    reason: noSuchName,
  });
}

async function searchPeople(session: Session, query: string, groupUid: string): Promise<JsonObject[]> {
  const { ResourceKind, SearchService } = await import("../../../gen/gatehouse/search/v1/search_pb.ts");
  const { resources = [] } = await session.call(SearchService.method.search, {
    parent: rootOf(groupUid),
    query,
    kinds: [ResourceKind.PERSON],
    forGrant: true,
    pageSize: maxPeople,
  });
  return resources as JsonObject[];
}

function candidateText(person: JsonObject): string {
  return [textAt(person, "name"), textAt(person, "email"), textAt(person, "uid")]
    .filter((text) => text !== "")
    .join("  ");
}

// Says what uids are called, as far as the caller may read that: one statement for each kind.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type NameSchema,
  NameState,
  type ResolveNamesRequest,
  ResolveNamesRequestSchema,
  type ResolveNamesResponseSchema,
  ResourceKind,
} from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import { builtInRoles } from "../../authz/built-in-roles.ts";
import type { Call } from "../../pipeline/call.ts";
import { type MessageRules, uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import { findDeletedAdvisories } from "../../storage/vulnerabilities/deleted-advisories.ts";
import { isUserUid } from "../iam/users/user-uid.ts";
import { type NameReader, newNameReader } from "./name-reader.ts";
import { namedAdvisories, namedKinds } from "./named-kinds.ts";
import { findVisiblePeople, peopleScope } from "./visible-people.ts";

type Name = MessageInitShape<typeof NameSchema>;

/** How many names one call resolves: a page of a list. */
const maxUids = 200;

export const resolveRules: MessageRules = {
  schema: ResolveNamesRequestSchema,
  fields: { uids: uidRule },
  bounds: { uids: { maxItems: maxUids } },
};

/** Makes the function that resolves names. */
export function resolveNames({ database }: Pick<ServiceContext, "database">) {
  return async (
    { uids }: ResolveNamesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ResolveNamesResponseSchema>> => {
    if (uids.length > maxUids) throw invalidField("uids", `must not have more than ${maxUids} items`);
    const names = await database.read((session) => findNames(session, [...new Set(uids)], call));
    // Like `NAME_STATE_HIDDEN` for what exists: strangers learn nothing from the difference.
    return { names: uids.map((uid) => names.get(uid) ?? { uid, state: NameState.HIDDEN }) };
  };
}

async function findNames(session: Session, uids: readonly string[], call: Call): Promise<ReadonlyMap<string, Name>> {
  const reader = await newNameReader(session, call);
  const rows = await reader.read(namedKinds, uids);
  const deleted = await findDeletedAdvisories(
    session,
    uids.filter((uid) => reader.mayRead(namedAdvisories, uid)),
  );
  const { kind } = namedAdvisories;
  return new Map<string, Name>([
    ...builtInNames(uids),
    ...(await peopleAmong(session, uids, reader, call)),
    ...deleted.map(({ uid, name }) => nameEntry({ uid, name, kind, path: rows.pathOf(uid), state: NameState.DELETED })),
    ...rows
      .all(uids)
      .map(({ uid, name, kind }) => nameEntry({ uid, name, kind, path: rows.pathOf(uid), state: NameState.KNOWN })),
  ]);
}

function nameEntry(name: Name & { readonly uid: string }): readonly [string, Name] {
  return [name.uid, name];
}

/** Returns the names of the built-in roles, which are the same in every installation. */
function builtInNames(uids: readonly string[]) {
  return builtInRoles
    .filter(({ uid }) => uids.includes(uid))
    .map(({ uid, name }) => nameEntry({ uid, name, kind: ResourceKind.ROLE, state: NameState.KNOWN }));
}

async function peopleAmong(session: Session, uids: readonly string[], { joined }: NameReader, call: Call) {
  const people = uids.filter(isUserUid);
  const states = await findVisiblePeople(session, people, peopleScope(call, joined, false), call);
  const known = people.filter((uid) => states.get(uid) === "known");
  const rows = new Map((await findRows(session, identityCollection, known)).map((row) => [row.uid, row]));
  return [...states].map(([uid, personState]) => {
    const row = personState === "known" ? rows.get(uid) : undefined;
    const kind = ResourceKind.PERSON;
    if (!row) return nameEntry({ uid, kind, state: NameState.NOT_JOINED });
    return nameEntry({ uid, kind, name: row.name, email: row.email, state: NameState.KNOWN });
  });
}

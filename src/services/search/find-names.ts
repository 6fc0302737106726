// Finds what uids are called, as far as a caller may read that: one statement for each kind.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type NameSchema, NameState, ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { builtInRoles } from "../../authz/built-in-roles.ts";
import { rootOf } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import { findDeletedAdvisories } from "../../storage/vulnerabilities/deleted-advisories.ts";
import { isUserUid } from "../iam/users/user-uid.ts";
import { type NameReader, newNameReader } from "./name-reader.ts";
import { namedAdvisories, namedKinds } from "./named-kinds.ts";
import { findVisiblePeople, type PeopleScope, peopleScope } from "./visible-people.ts";

/** A name with its uid. */
export type Name = MessageInitShape<typeof NameSchema> & { readonly uid: string };

/** Names by uid, and the reason why others are missing. */
export interface FoundNames extends Pick<NameReader, "mayRead"> {
  /** The names of resources and people that the caller may read. */
  readonly names: ReadonlyMap<string, Name>;
  /** Whether the caller may read all people of the organization of a uid. */
  mayReadPeople(uid: string): boolean;
}

/** Finds the names of resources and people with these uids, each of which is there once. */
export async function findNames(session: Session, uids: readonly string[], call: Call): Promise<FoundNames> {
  const reader = await newNameReader(session, call);
  const scope = peopleScope(call, reader.joined, false);
  const rows = await reader.read(namedKinds, uids);
  const deleted = await findDeletedAdvisories(
    session,
    uids.filter((uid) => reader.mayRead(namedAdvisories, uid)),
  );
  const { kind } = namedAdvisories;
  const names = [
    ...builtInNames(uids),
    ...(await peopleAmong(session, uids, scope, call)),
    ...deleted.map(({ uid, name }) => ({ uid, name, kind, path: rows.pathOf(uid), state: NameState.DELETED })),
    ...rows.all(uids).map(({ uid, name, kind }) => ({ uid, name, kind, path: rows.pathOf(uid), state: known })),
  ];
  return {
    names: new Map(names.map((name: Name) => [name.uid, name])),
    mayRead: reader.mayRead,
    mayReadPeople: (uid) => scope.whole.has(rootOf(uid)),
  };
}

const known = NameState.KNOWN;

/** Returns the names of the built-in roles, which are the same in every installation. */
function builtInNames(uids: readonly string[]): Name[] {
  return builtInRoles
    .filter(({ uid }) => uids.includes(uid))
    .map(({ uid, name }) => ({ uid, name, kind: ResourceKind.ROLE, state: known }));
}

async function peopleAmong(session: Session, uids: readonly string[], scope: PeopleScope, call: Call): Promise<Name[]> {
  const states = await findVisiblePeople(session, uids.filter(isUserUid), scope, call);
  const joined = [...states.keys()].filter((uid) => states.get(uid) === "known");
  const rows = new Map((await findRows(session, identityCollection, joined)).map((row) => [row.uid, row]));
  return [...states.keys()].map((uid) => {
    const row = rows.get(uid);
    const kind = ResourceKind.PERSON;
    if (!row) return { uid, kind, state: NameState.NOT_JOINED };
    return { uid, kind, name: row.name, email: row.email, state: known };
  });
}

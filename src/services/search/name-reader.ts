// Reads the resources that a caller may list, with the names of the groups above them.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PathPartSchema, ResourceKind } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { ancestorsOf, rootOf } from "../../model/uid.ts";
import { accessOf, callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ResourceRow } from "../../storage/collection/collection.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { findMembershipsOf } from "../../storage/iam/memberships.ts";
import { isUserUid } from "../iam/users/user-uid.ts";
import { type NamedKind, namedGroups, namedRepos } from "./named-kinds.ts";

/** The organizations that a person has joined; undefined for a workload, which reaches all where it holds a role. */
export type Joined = ReadonlySet<string> | undefined;

/** The names that a caller may read, on the snapshot of a session. */
export interface NameReader {
  readonly joined: Joined;
  /** Whether the caller may read resources of a kind at a uid. Says nothing about whether there is one. */
  mayRead(kind: NamedKind, uid: string): boolean;
  /** Reads those of these uids that are of resources which the caller may read, and what is above them: a statement for each kind. */
  read(kinds: readonly NamedKind[], uids: readonly string[]): Promise<NamedRows>;
}

/** A resource with its name. */
export interface NamedRow {
  readonly kind: ResourceKind;
  readonly uid: string;
  readonly name: string;
}

/** The resources that were read. */
export interface NamedRows {
  /** Returns the resources with these uids. */
  all(uids: readonly string[]): NamedRow[];
  /** Returns what is above a uid, the organization first. Names that the caller may not read are empty. */
  pathOf(uid: string): MessageInitShape<typeof PathPartSchema>[];
}

/** The kinds that others are in. */
const containers: readonly NamedKind[] = [namedGroups, namedRepos];

/** Returns what the caller may read now. */
export async function newNameReader(session: Session, call: Call): Promise<NameReader> {
  const { uid: self } = callerOf(call);
  // Anyone can bind a role to a person: an organization that they have not joined shows them nothing (docs/design/access.md).
  const joined = isUserUid(self)
    ? new Set((await findMembershipsOf(session, [self])).map(({ groupUid }) => groupUid))
    : undefined;
  const mayRead: NameReader["mayRead"] = ({ capability }, uid) =>
    (joined?.has(rootOf(uid)) ?? true) && accessOf(call).has(capability, uid);

  async function readRows(kind: NamedKind, uids: readonly string[]): Promise<ReadonlyMap<string, ResourceRow>> {
    const wanted = containers.includes(kind) ? uids.flatMap((uid) => [...ancestorsOf(uid), uid]) : uids;
    const readable = [...new Set(wanted)].filter((uid) => mayRead(kind, uid));
    if (readable.length === 0) return new Map();
    return new Map((await findRows(session, kind.collection, readable)).map((row) => [row.uid, row]));
  }

  return {
    joined,
    mayRead,
    async read(kinds, uids) {
      const found: (readonly [NamedKind, ReadonlyMap<string, ResourceRow>])[] = [];
      for (const kind of new Set([...containers, ...kinds])) found.push([kind, await readRows(kind, uids)]);
      const nameAt = (uid: string) =>
        found.flatMap(([kind, rows]) => (containers.includes(kind) ? (rows.get(uid)?.name ?? []) : []))[0] ?? "";
      return {
        all: (wanted) =>
          found.flatMap(([kind, rows]) =>
            wanted.flatMap((uid) => {
              const row = rows.get(uid);
              return row ? { kind: kind.kind, uid, name: kind.nameOf(row) } : [];
            }),
          ),
        pathOf: (uid) => ancestorsOf(uid).map((part) => ({ uid: part, name: nameAt(part) })),
      };
    },
  };
}

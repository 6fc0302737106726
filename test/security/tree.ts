// Two organizations and who may do what in them: the ground that the security tests stand on.

import type { Narrowing } from "../../src/authn/caller.ts";
import { builtInRoles, operatorRole, ownerRole } from "../../src/authz/built-in-roles.ts";
import { noTerm } from "../../src/model/grants.ts";
import { newChild, newRoot } from "../../src/model/uid.ts";
import { createGroup } from "../../src/services/iam/bootstrap.ts";
import { newUserRow } from "../../src/services/iam/users/user-row.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import type { Transaction } from "../../src/storage/engine/session.ts";
import {
  accountAssociationCollection,
  groupInviteCollection,
  identityCollection,
  roleBindingCollection,
  roleCollection,
} from "../../src/storage/iam/collections.ts";
import { insertMembership } from "../../src/storage/iam/memberships.ts";
import type {
  AccountAssociationRow,
  GroupInviteRow,
  IdentityRow,
  RoleBindingRow,
  RoleRow,
} from "../../src/storage/iam/rows.ts";
import type { TestServer } from "../harness/server.ts";

export { operatorRole, ownerRole };
export const viewerRole = builtInRoles.find(({ name }) => name === "viewer")!;

/** The database and clock that resources are written to. */
export type Place = Pick<TestServer, "server" | "clock">;

/** Runs a write as the installation itself. */
export function arrange<T>({ server, clock }: Place, body: (tx: Transaction) => Promise<T>): Promise<T> {
  return server.database.write({ actor: "", method: "test", requestId: "", time: clock() }, body);
}

/** Adds a group and answers its uid; with a null parent, an organization. */
export function addGroup(server: Place, parent: string | null, name = "group"): Promise<string> {
  return arrange(server, async (tx) => (await createGroup(tx, parent, name, "")).uid);
}

/** Adds an identity that a claim match of `https://issuer.example.org` and the given subject may assume. */
export function addIdentity(server: Place, parent: string, changes: Partial<IdentityRow> = {}): Promise<string> {
  const uid = newChild(parent);
  const now = server.clock();
  const subject = changes.subject ?? uid;
  const issuer = "https://issuer.example.org";
  const row: IdentityRow = {
    uid,
    parent,
    name: "identity",
    description: "",
    createTime: now,
    updateTime: now,
    lastSeenTime: now,
    email: "",
    emailUnverified: "",
    company: "",
    metadata: {},
    trust: null,
    issuer,
    subject,
    relationshipType: 1,
    relationship: { case: "claimMatch", value: { issuer, subject } },
    ...changes,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, identityCollection, row);
    return row.uid;
  });
}

/** Adds a custom role of the capabilities with these numbers. */
export function addRole(server: Place, parent: string, capabilities: readonly number[]): Promise<string> {
  const uid = newChild(parent);
  const now = server.clock();
  const row: RoleRow = {
    uid,
    parent,
    name: "custom",
    description: "",
    createTime: now,
    updateTime: now,
    capabilities: [...capabilities],
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, roleCollection, row);
    return uid;
  });
}

/** Adds an invite to the viewer's role. */
export function addInvite(server: Place, parent: string): Promise<string> {
  const uid = newChild(parent);
  const row: GroupInviteRow = {
    uid,
    parent,
    roleUid: viewerRole.uid,
    recipient: "",
    singleUse: false,
    createTime: server.clock(),
    expirationTime: server.clock() + 60_000,
    keyId: newChild(""),
    codeDigest: "",
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, groupInviteCollection, row);
    return uid;
  });
}

/** Adds the account association of a group. */
export function addAssociation(server: Place, uid: string): Promise<string> {
  const now = server.clock();
  const parent = uid.includes("/") ? uid.slice(0, uid.lastIndexOf("/")) : null;
  const row: AccountAssociationRow = {
    uid,
    parent,
    name: "accounts",
    description: "",
    accounts: {},
    createTime: now,
    updateTime: now,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, accountAssociationCollection, row);
    return uid;
  });
}

/** Binds a role to an identity at a group, for a term if one is given. */
export function bind(
  server: Place,
  parent: string,
  identityUid: string,
  roleUid: string,
  term: Partial<Pick<RoleBindingRow, "startTime" | "expireTime">> = {},
): Promise<string> {
  const row: RoleBindingRow = {
    uid: newChild(parent),
    parent,
    identityUid,
    roleUid,
    createTime: server.clock(),
    ...noTerm,
    ...term,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, roleBindingCollection, row);
    return row.uid;
  });
}

/** Adds an identity with the role viewer, which a token of an issuer for a subject may assume. Returns its uid. */
export async function addWorkload(server: TestServer, issuer: string, subject: string): Promise<string> {
  const relationship = { case: "claimMatch", value: { issuer, subject } } as const;
  const uid = await addIdentity(server, server.groupUid, { name: subject, issuer, subject, relationship });
  await bind(server, server.groupUid, uid, viewerRole.uid);
  return uid;
}

/** Binds many roles by one statement, which writes nothing but the bindings: no list shows them. */
export function bindAll(
  server: Place,
  parent: string,
  bindings: readonly (readonly [identityUid: string, roleUid: string])[],
): Promise<void> {
  const rows = bindings.map(
    ([identityUid, roleUid]): RoleBindingRow => ({
      uid: newChild(parent),
      ...noTerm,
      parent,
      identityUid,
      roleUid,
      createTime: server.clock(),
    }),
  );
  return arrange(server, async (tx) => {
    await tx.prepared(`test.bind.${parent}`, (db, { roleBindings }) => db.insert(roleBindings).values(rows)).execute();
  });
}

/** Adds an identity below `home` that holds the role at `group`; answers its uid, and tokens for the API and the registry. */
export async function addCaller(
  server: TestServer,
  group: string,
  roleUid: string,
  { home = group, narrowing = {} }: { home?: string; narrowing?: Narrowing } = {},
): Promise<Record<"uid" | "binding" | "token" | "registryToken", string>> {
  const uid = await addIdentity(server, home);
  const binding = await bind(server, group, uid, roleUid);
  const registryToken = await server.tokenOf(uid, narrowing, server.config.registry.service);
  return { uid, binding, token: await server.tokenOf(uid, narrowing), registryToken };
}

/** Adds a person, who has accepted the organization if one is given. */
export async function addPerson(
  server: TestServer,
  name: string,
  email: string,
  organization: string | undefined,
): Promise<string> {
  const uid = newRoot();
  const about = { name, email, emailUnverified: "", issuer: "https://login.example.org", subject: name };
  await arrange(server, async (tx) => {
    await insertRow(tx, identityCollection, newUserRow(uid, tx.context.time, about));
    if (organization) await insertMembership(tx, { identityUid: uid, groupUid: organization });
  });
  return uid;
}

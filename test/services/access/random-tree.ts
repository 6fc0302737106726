// A random tree of groups, identities, roles and role bindings in two organizations, and what the authorizer decides there.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Access } from "../../../src/authz/access.ts";
import { capabilityNames } from "../../../src/model/capabilities.ts";
import { ancestorsOf, isWithin, parentOf } from "../../../src/model/uid.ts";
import { rest } from "../../harness/rest.ts";
import type { TestServer } from "../../harness/server.ts";
import { addGroup, addIdentity, addRole, bind, ownerRole, viewerRole } from "../../security/tree.ts";

/** Returns a function that chooses numbers below a limit, always the same for a seed. */
export function newChooser(seed: number) {
  let state = seed;
  const below = (limit: number) => {
    // The generator of Park and Miller.
    state = (state * 48271) % 2147483647;
    return state % limit;
  };
  return { below, among: <T>(list: readonly T[]): T => list[below(list.length)]! };
}

export type Chooser = ReturnType<typeof newChooser>;

/** A binding of the tree. */
export interface Bound {
  readonly uid: string;
  readonly groupUid: string;
  readonly identityUid: string;
  readonly roleUid: string;
}

export interface RandomTree {
  readonly root: string;
  readonly groups: readonly string[];
  readonly identities: readonly string[];
  readonly roles: readonly string[];
  readonly bindings: readonly Bound[];
}

const grantable = [
  Capability.CAP_IAM_GROUPS_LIST,
  Capability.CAP_IAM_ROLES_LIST,
  Capability.CAP_IAM_IDENTITY_LIST,
  Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  Capability.CAP_REPO_LIST,
  Capability.CAP_TAG_LIST,
];

/** Adds a random tree to a server. */
export async function addRandomTree(server: TestServer, { below, among }: Chooser): Promise<RandomTree> {
  const root = await addGroup(server, null, "root");
  const other = await addGroup(server, null, "other");
  const groups = [root];
  for (let i = 0; i < 9; i++) groups.push(await addGroup(server, among(groups)));
  const identities: string[] = [];
  for (let i = 0; i < 9; i++) identities.push(await addIdentity(server, i === 0 ? other : among(groups)));
  const roles = [ownerRole.uid, viewerRole.uid];
  for (let i = 0; i < 4; i++) {
    const capabilities = grantable.filter(() => below(3) === 0);
    roles.push(await addRole(server, among(groups), capabilities.length === 0 ? [among(grantable)] : capabilities));
  }
  const bindings = new Map<string, Bound>();
  for (let i = 0; i < 30; i++) {
    const [groupUid, identityUid, roleUid] = [among(groups), among(identities), among(roles)];
    const isUsable = !roleUid.includes("/") || isWithin(groupUid, parentOf(roleUid));
    const key = [groupUid, identityUid, roleUid].join(" ");
    if (!isUsable || bindings.has(key)) continue;
    const uid = await bind(server, groupUid, identityUid, roleUid);
    bindings.set(key, { uid, groupUid, identityUid, roleUid });
  }
  return { root, groups, identities, roles, bindings: [...bindings.values()] };
}

/** Returns what the authorizer lets an identity do. */
export async function accessOf(server: TestServer, identityUid: string): Promise<Access> {
  return new Access((await server.server.policy.grantsOf(identityUid)) ?? new Map(), {});
}

/** Returns the names of what the authorizer lets an identity do at each of these groups. */
export async function decisionsOf(server: TestServer, identityUid: string, groups: readonly string[]) {
  const access = await accessOf(server, identityUid);
  return Object.fromEntries(groups.map((group) => [group, capabilityNames(access.heldAt(group))]));
}

/** Reads all pages of a list, and checks that each has the same total. */
export async function readPages(
  server: TestServer,
  token: string,
  path: string,
  field: string,
  query: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON; the assertions check them
): Promise<{ status: number; items: any[]; total: number; first: any }> {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const items: any[] = [];
  let [pageToken, total] = ["", -1];
  // biome-ignore lint/suspicious/noExplicitAny: as above
  let first: any;
  do {
    const asked = new URLSearchParams({ ...query, pageToken });
    const { status, body } = await rest(server.url, token, "GET", `${path}?${asked}`);
    if (status !== 200) return { status, items, total: 0, first: body };
    first ??= body;
    if (total >= 0 && total !== Number(body.totalCount)) throw new Error("the total differs between pages");
    total = Number(body.totalCount);
    items.push(...body[field]);
    pageToken = body.nextPageToken ?? "";
  } while (pageToken !== "");
  return { status: 200, items, total, first };
}

/** Returns a group with its ancestors. */
export function lineOf(group: string): string[] {
  return [...ancestorsOf(group), group];
}

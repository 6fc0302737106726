// Writes to every resource, drawn at random.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Random } from "../../../bench/random.ts";
import { builtInRoles } from "../../../src/authz/built-in-roles.ts";
import { isWithin, parentOf, rootOf } from "../../../src/model/uid.ts";
import { type KindName, kindNames, type Row, type Rows } from "./kinds.ts";

/** A call that changes something, unless it is refused. */
export interface Write {
  readonly method: string;
  readonly request: JsonObject;
}

/** Few names, so many are the same. */
export const names = ["a", "b", "b.1", "b-1", " ", "x".repeat(200)];
export const tagNames = ["latest", "1", "1-r1", "1-20260101", "sha256-abc", "sha256-abc-r1"];
export const digests = [1, 2].map((digit) => `sha256:${String(digit).repeat(64)}`);
export const authors = ["ann", "bob", "cy"];
export const artifacts = ["nginx", "curl", "glibc_%"];
export const aliases = ["CVE-2026-0001", "CVE-2026-0002", "CVE-2026-0003"];
const capabilities = [
  "CAP_IAM_GROUPS_LIST",
  "CAP_IAM_ROLES_LIST",
  "CAP_IAM_ROLE_BINDINGS_LIST",
  "CAP_IAM_IDENTITY_LIST",
  "CAP_REPO_LIST",
  "CAP_TAG_LIST",
  "CAP_ADVISORIES_LIST",
  "CAP_EVENTS_SUBSCRIPTION_LIST",
];
const viewer = builtInRoles.find(({ name }) => name === "viewer")!.uid;
const nothing = "f".repeat(40);
const oidc = { issuer: "https://idp.example.org", clientId: "gatehouse", clientSecret: "secret" };

/** Kinds that many others depend on, repeated to change more often. */
const oftener: readonly KindName[] = [
  "roles",
  "roles",
  "role_bindings",
  "role_bindings",
  "advisories",
  "advisories",
  "tags",
];

/** Draws writes to what there is; `callers` are those whose access comes and goes. */
export function drawWrite(random: Random, rows: Rows, callers: readonly string[]): Write {
  const kind = random.pick([...kindNames, ...oftener]);
  return random.pick(drawers[kind](newDraw(random, rows, callers)))();
}

type Draw = ReturnType<typeof newDraw>;
type Drawer = (draw: Draw) => readonly (() => Write)[];

function newDraw(random: Random, all: Rows, callers: readonly string[]) {
  // The callers stay, so do built-in roles, and the writer keeps their access.
  const identities = all.identities.filter(({ uid, subject }) => subject !== "owner" && !callers.includes(uid));
  const held = [...callers, ...identities.map(({ uid }) => uid)];
  const rows = {
    ...all,
    identities,
    roles: all.roles.filter(({ parent }) => parent !== null),
    role_bindings: all.role_bindings.filter(({ identityUid }) => held.includes(identityUid)),
  };
  const uid = (of: readonly Row[]) => (of.length > 0 ? (random.pick(of).uid as string) : nothing);
  const some = <T>(list: readonly T[]) => list.filter((_, i) => i === 0 || random.below(2) === 0);
  const role = (group: string) => uid(rows.roles.filter(({ parent }) => isWithin(group, parent)));
  return {
    ...random,
    some,
    one: (name: KindName | "events") => uid(rows[name]),
    name: () => random.pick(names),
    text: () => random.hex(4),
    /** Any group, and a role that is offered there. */
    roleAt(group: string): string {
      const own = role(group);
      return own === nothing || random.below(3) === 0 ? viewer : own;
    },
    root: () => uid(rows.groups.filter(({ parent }) => parent === null)),
    holder: () => (random.below(4) > 0 ? random.pick(callers) : uid(rows.identities)),
  };
}

/** Creates, changes and deletes a resource of a name and a description. */
function described(
  name: KindName,
  service: string,
  one: string,
  parentOf: (draw: Draw) => string,
  more: JsonObject = {},
) {
  const field = one.charAt(0).toLowerCase() + one.slice(1);
  const plain: Drawer = (draw) => {
    const value = () => ({ name: draw.name(), description: draw.text() });
    const request = () => ({ parent: parentOf(draw), [field]: { ...value(), ...more } });
    return [
      () => ({ method: `${service}/Create${one}`, request: request() }),
      () => ({ method: `${service}/Create${one}`, request: request() }),
      () => ({
        method: `${service}/Update${one}`,
        request: { [field]: { uid: draw.one(name), ...value() }, updateMask: draw.pick(["name", "description"]) },
      }),
      () => ({ method: `${service}/Delete${one}`, request: { uid: draw.one(name) } }),
    ];
  };
  return plain;
}

const anyGroup = (draw: Draw) => draw.one("groups");

function advisory({ pick, some }: Draw): JsonObject {
  const artifact = { artifactName: pick(artifacts), artifactType: "apk", artifactArchitecture: "x86_64" };
  return { ...artifact, author: "ann", componentName: pick(artifacts), aliases: some(aliases) };
}

const event = ({ pick, text }: Draw): JsonObject => ({
  author: pick(authors),
  status: pick(["PENDING", "APPROVED"]),
  fixed: { fixedVersion: text() },
});

const drawers = {
  groups: (draw) => [
    ...described("groups", "GroupsService", "Group", anyGroup)(draw),
    () => ({
      method: "GroupsService/UpdateGroup",
      request: { group: { uid: draw.root(), kind: 1 + draw.below(5) }, updateMask: "kind" },
    }),
  ],
  identities: (draw) => {
    const claimMatch = { issuer: "https://issuer.example.org", subject: draw.text() };
    return described("identities", "IdentitiesService", "Identity", anyGroup, { claimMatch })(draw);
  },
  roles: (draw) => {
    const some = { capabilities: draw.some(capabilities) };
    return [
      ...described("roles", "RolesService", "Role", anyGroup, some)(draw),
      () => ({
        method: "RolesService/UpdateRole",
        request: { role: { uid: draw.one("roles"), ...some }, updateMask: "capabilities" },
      }),
    ];
  },
  role_bindings(draw) {
    const create = (): Write => {
      const parent = draw.one("groups");
      const roleBinding = { identityUid: draw.holder(), roleUid: draw.roleAt(parent) };
      return { method: "RoleBindingsService/CreateRoleBinding", request: { parent, roleBinding } };
    };
    const batch = (): Write => {
      const parent = draw.one("groups");
      const item = () => ({ roleBinding: { identityUid: draw.holder(), roleUid: draw.roleAt(parent) } });
      const requests = [item(), item(), item()];
      return { method: "RoleBindingsService/BatchCreateRoleBindings", request: { parent, requests } };
    };
    const change = (roleBinding: JsonObject): Write => ({
      method: "RoleBindingsService/UpdateRoleBinding",
      request: { roleBinding, updateMask: "roleUid" },
    });
    const uid = draw.one("role_bindings");
    const remove = () => ({ method: "RoleBindingsService/DeleteRoleBinding", request: { uid } });
    return [create, create, batch, () => change({ uid, roleUid: draw.roleAt(parentOf(uid)) }), remove, remove];
  },
  group_invites: (draw) => [
    () => {
      const parent = draw.one("groups");
      const groupInvite = { roleUid: draw.roleAt(parent), ttl: "2s" };
      return { method: "GroupInvitesService/CreateGroupInvite", request: { parent, groupInvite } };
    },
    () => ({
      method: "GroupInvitesService/UpdateGroupInvite",
      request: {
        groupInvite: { uid: draw.one("group_invites"), ttl: "60s", singleUse: true },
        updateMask: "ttl,singleUse",
      },
    }),
    () => ({ method: "GroupInvitesService/DeleteGroupInvite", request: { uid: draw.one("group_invites") } }),
  ],
  account_associations: described(
    ...(["account_associations", "AccountAssociationsService", "AccountAssociation", anyGroup] as const),
  ),
  identity_providers: described(
    ...(["identity_providers", "IdentityProvidersService", "IdentityProvider", (draw: Draw) => draw.root()] as const),
    { defaultRole: viewer, oidc },
  ),
  external_group_role_mappings: (draw) => [
    () => {
      const parent = draw.one("identity_providers");
      const mapping = { externalGroupId: draw.text(), roleUid: viewer, scope: rootOf(parent) };
      const request = { parent, externalGroupRoleMapping: mapping };
      return { method: "ExternalGroupRoleMappingsService/CreateExternalGroupRoleMapping", request };
    },
    () => ({
      method: "ExternalGroupRoleMappingsService/DeleteExternalGroupRoleMapping",
      request: { uid: draw.one("external_group_role_mappings") },
    }),
  ],
  repos: described("repos", "ReposService", "Repo", anyGroup),
  tags: (draw) => {
    const create = () => {
      const tag = { name: draw.pick(tagNames), digest: draw.pick(digests) };
      return { method: "TagsService/CreateTag", request: { parent: draw.one("repos"), tag } };
    };
    return [create, create, create, () => ({ method: "TagsService/DeleteTag", request: { uid: draw.one("tags") } })];
  },
  advisories(draw) {
    const create = () => ({
      method: "Advisories/Create",
      request: { parentId: draw.one("groups"), advisory: advisory(draw) },
    });
    const addEvent = () => ({
      method: "Advisories/CreateAdvisoryEvent",
      request: { parentId: draw.one("advisories"), advisoryEvent: event(draw) },
    });
    return [
      create,
      create,
      addEvent,
      addEvent,
      () => ({ method: "Advisories/Update", request: { id: draw.one("advisories"), ...advisory(draw) } }),
      () => ({ method: "Advisories/UpdateAdvisoryEvent", request: { id: draw.one("events"), ...event(draw) } }),
      () => ({ method: "Advisories/Delete", request: { id: draw.one("advisories") } }),
    ];
  },
  subscriptions: (draw) => [
    () => {
      const request = { parent: draw.one("groups"), subscription: { sink: `https://example.org/${draw.text()}` } };
      return { method: "SubscriptionsService/CreateSubscription", request };
    },
    () => ({ method: "SubscriptionsService/DeleteSubscription", request: { uid: draw.one("subscriptions") } }),
  ],
} satisfies Record<KindName, Drawer>;

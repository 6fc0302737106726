// The resources whose lists are compared with the model: how they are asked for, and what a list shows of a row.
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability, CapabilitySchema } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { OrgKindSchema } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { rootOf } from "../../../src/model/uid.ts";
import { collections } from "../../../src/services/resources.ts";
import type { CollectionTables } from "../../../src/storage/collection/collection.ts";
import type { Database } from "../../../src/storage/database.ts";

/** A row of any table. */
// biome-ignore lint/suspicious/noExplicitAny: the columns differ, and what a test expects of them is compared anyway
export type Row = Readonly<Record<string, any>>;

/** The resources, as the database calls them. */
export const kindNames = [
  ...(["groups", "identities", "roles", "role_bindings", "group_invites", "account_associations"] as const),
  ...(["identity_providers", "external_group_role_mappings", "repos", "tags", "advisories", "subscriptions"] as const),
] as const;
export type KindName = (typeof kindNames)[number];

/** Everything in the database by what it is, in the order in which it came. */
export type Rows = Readonly<Record<KindName | "events", readonly Row[]>>;

/** The caller, who sees the names of what they may list, and those in role bindings of their own. */
export interface Reader {
  readonly uid: string;
  sees(name: "groups" | "roles", uid: string): boolean;
}

/** A resource that is listed. */
export interface Kind {
  readonly service: string;
  /** The field of a reply that has the page. */
  readonly plural: string;
  /** The capability needed to list it. */
  readonly capability: Capability;
  /** Columns by what `order_by` calls them. */
  readonly orders: Readonly<Record<string, string>>;
  /** Whether the uid of a granted group can be that of a row. */
  readonly includesGranted?: boolean;
  /** Fields of an item, as JSON has them once empty ones are left out. */
  shown(row: Row, rows: Rows, reader: Reader): Record<string, unknown>;
}

const byTime = { uid: "uid", create_time: "createTime" };
const byAll = { ...byTime, name: "name", update_time: "updateTime" };

const described = ({ uid, name, description, createTime, updateTime }: Row) => ({
  uid,
  name,
  description,
  createTime: timeText(createTime),
  updateTime: timeText(updateTime),
});

export const kinds: Readonly<Record<KindName, Kind>> = {
  groups: {
    service: "GroupsService",
    plural: "groups",
    capability: Capability.CAP_IAM_GROUPS_LIST,
    orders: byAll,
    includesGranted: true,
    shown: (row, { groups }) => {
      const { kind } = groups.find(({ uid }) => uid === rootOf(row.uid))!;
      return { ...described(row), kind: kind && OrgKindSchema.value[kind]!.name };
    },
  },
  identities: {
    service: "IdentitiesService",
    plural: "identities",
    capability: Capability.CAP_IAM_IDENTITY_LIST,
    orders: byAll,
    shown: described,
  },
  roles: {
    service: "RolesService",
    plural: "roles",
    capability: Capability.CAP_IAM_ROLES_LIST,
    orders: byAll,
    shown: (row) => ({ ...described(row), capabilities: capabilityNames(row) }),
  },
  role_bindings: {
    service: "RoleBindingsService",
    plural: "roleBindings",
    capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
    orders: byTime,
    shown: ({ uid, createTime, parent, roleUid, identityUid }, { groups, roles }, reader) => {
      const named = (list: readonly Row[], wanted: string, isSeen: boolean) => {
        const { name, description } = list.find((row) => row.uid === wanted)!;
        return isSeen ? withoutEmpty({ uid: wanted, name, description }) : { uid: wanted };
      };
      const group = named(groups, parent, reader.sees("groups", parent));
      const role = named(roles, roleUid, identityUid === reader.uid || reader.sees("roles", roleUid));
      return { uid, createTime: timeText(createTime), group, role };
    },
  },
  group_invites: {
    service: "GroupInvitesService",
    plural: "groupInvites",
    capability: Capability.CAP_IAM_GROUP_INVITES_LIST,
    orders: byTime,
    shown: ({ uid, roleUid, recipient: email, singleUse, expirationTime }, { roles }, reader) => {
      const role = reader.sees("roles", roleUid) ? roles.find((each) => each.uid === roleUid) : undefined;
      const { name, description } = role ?? {};
      const known = role && withoutEmpty({ uid: roleUid, name, description, capabilities: capabilityNames(role) });
      return { uid, roleUid, email, singleUse, expirationTime: timeText(expirationTime), role: known };
    },
  },
  account_associations: {
    service: "AccountAssociationsService",
    plural: "accountAssociations",
    includesGranted: true,
    capability: Capability.CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST,
    orders: byAll,
    shown: described,
  },
  identity_providers: {
    service: "IdentityProvidersService",
    plural: "identityProviders",
    orders: byAll,
    shown: described,
    capability: Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST,
  },
  external_group_role_mappings: {
    service: "ExternalGroupRoleMappingsService",
    plural: "externalGroupRoleMappings",
    orders: byTime,
    capability: Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST,
    shown: ({ uid, parent: identityProviderUid, externalGroupId }) => ({ uid, identityProviderUid, externalGroupId }),
  },
  repos: {
    service: "ReposService",
    plural: "repos",
    capability: Capability.CAP_REPO_LIST,
    orders: byAll,
    shown: described,
  },
  tags: {
    service: "TagsService",
    plural: "tags",
    capability: Capability.CAP_TAG_LIST,
    orders: byAll,
    shown: ({ uid, name, digest, updateTime }) => ({ uid, name, digest, updateTime: timeText(updateTime) }),
  },
  advisories: {
    service: "AdvisoriesService",
    plural: "advisories",
    capability: Capability.CAP_ADVISORIES_LIST,
    orders: { ...byAll, aliases: "aliasText" },
    shown: ({ uid, name: advisoryId, artifactName, aliases, updateTime }, { events }) => ({
      uid,
      advisoryId,
      artifactName,
      aliases,
      updateTime: timeText(updateTime),
      events: events.filter(({ advisoryUid }) => advisoryUid === uid).map(({ author }) => author),
    }),
  },
  subscriptions: {
    service: "SubscriptionsService",
    plural: "subscriptions",
    orders: byTime,
    capability: Capability.CAP_EVENTS_SUBSCRIPTION_LIST,
    shown: ({ uid, sink }) => ({ uid, sink }),
  },
};

/** Reads everything, by the plainest statements. */
export async function readAll(database: Database): Promise<Rows> {
  return await database.read(async (session) => {
    const events = session.prepared("test.all.events", (db, { advisoryEvents }) => db.select().from(advisoryEvents));
    const rows: Record<string, readonly Row[]> = { events: inOrder((await events.execute()) as Row[]) };
    for (const { kind, rows: table } of collections as readonly CollectionTables[]) {
      const all = session.prepared(`test.all.${kind}`, (db, tables) => db.select().from(table(tables)));
      rows[kind] = inOrder((await all.execute()) as Row[]);
    }
    return rows as Rows;
  });
}

function inOrder(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((a, b) => a.createTime - b.createTime || (a.uid < b.uid ? -1 : 1));
}

/** Removes the members that protobuf's JSON leaves out. */
export function withoutEmpty(item: Readonly<Record<string, unknown>>): JsonObject {
  const isEmpty = (value: unknown) => !value || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(item).filter(([, value]) => !isEmpty(value))) as JsonObject;
}

function capabilityNames({ capabilities }: Row): string[] {
  return capabilities.map((number: number) => CapabilitySchema.value[number as Capability]!.name);
}

function timeText(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}

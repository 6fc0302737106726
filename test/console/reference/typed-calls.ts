// Calls as users type them into the API reference: methods that read and write fields of each kind.
import type { Json } from "../../../console/src/reference/request.ts";

/** The values in the form of a method. */
export interface TypedCall {
  readonly service: string;
  readonly method: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** The resources that the calls name. */
export interface Named {
  readonly group: string;
  readonly owner: string;
  readonly role: string;
  readonly repo: string;
  readonly subscription: string;
}

const iam = "chainguard.platform.iam.v2beta1";
const access = "gatehouse.access.v1.AccessService";
const vulnerabilities = "gatehouse.vulnerabilities.v1";
const awkward = 'it\'s "quoted" \\ $HOME `id` 100% {braces} [1-2] é 😀';
const digest = `sha256:${"0a".repeat(32)}`;

/** Returns the calls. Each may be made several times. */
export function typedCalls({ group, owner, role, repo, subscription }: Named): readonly TypedCall[] {
  return [...reads(group, owner), ...writes({ group, owner, role, repo, subscription })];
}

function reads(group: string, owner: string): readonly TypedCall[] {
  const inGroup = { "uidp.descendantsOf": group };
  const time = { startTime: "2020-01-02T03:04:05.678901Z", endTime: "2020-01-03T00:00:00+02:00" };
  return [
    { service: "chainguard.platform.ping.v2beta1.PingService", method: "Ping" },
    { service: `${iam}.GroupsService`, method: "GetGroup", parameters: { uid: group } },
    { service: `${iam}.GroupsService`, method: "ListGroups", parameters: { "uidp.inRoot": "true", pageSize: "2" } },
    { service: `${iam}.RolesService`, method: "ListRoles", parameters: { pageSize: "3", orderBy: "name desc" } },
    { service: `${iam}.RoleBindingsService`, method: "ListRoleBindings", parameters: { ...inGroup, pageSize: "5" } },
    {
      service: `${iam}.IdentitiesService`,
      method: "ListIdentities",
      parameters: { relationshipType: "RELATIONSHIP_TYPE_CLAIM_MATCH" },
    },
    { service: "chainguard.platform.registry.v2beta1.TagsService", method: "ListTags", parameters: inGroup },
    { service: access, method: "ExplainAccess", parameters: { group, identity: owner, capability: "groups.delete" } },
    { service: access, method: "WhoCan", parameters: { group, capability: "groups.list", skip: "0" } },
    { service: access, method: "WhatCan", parameters: { identity: owner, capability: "groups.list" } },
    {
      service: "gatehouse.organizations.v1.StatisticsService",
      method: "QueryStatistics",
      parameters: {
        group,
        metrics: "denials, changes",
        startDay: "2026-01-01",
        endDay: "2026-01-03",
        step: "STATISTICS_STEP_WEEK",
      },
    },
    { service: "gatehouse.changes.v1.ChangesService", method: "ListChanges", parameters: { parent: group, ...time } },
    {
      service: "gatehouse.search.v1.SearchService",
      method: "Search",
      parameters: { parent: group, query: "exa & “it's” ?#", kinds: "RESOURCE_KIND_GROUP,RESOURCE_KIND_ROLE" },
    },
    { service: "gatehouse.search.v1.SearchService", method: "ResolveNames", body: { uids: [group, owner] } },
    {
      service: `${vulnerabilities}.AdvisorySearchService`,
      method: "SearchAdvisories",
      body: { list: { uidp: { ids: [] }, query: "x" }, minScore: 7.5, publishedAfter: "2020-01-02T03:04:05.5Z" },
    },
  ];
}

function writes({ group, role, repo, subscription }: Named): readonly TypedCall[] {
  const parent = { parent: group };
  const claimMatch = { issuer: "https://issuer.example.org", subject: "it's", claims: { ref: 'a"b\\c' } };
  return [
    {
      service: `${iam}.GroupsService`,
      method: "UpdateGroup",
      parameters: { "group.uid": group, updateMask: "description" },
      body: { description: awkward },
    },
    {
      service: `${iam}.RolesService`,
      method: "CreateRole",
      parameters: parent,
      body: { name: "made-here", description: awkward, capabilities: ["CAP_IAM_GROUPS_LIST"] },
    },
    {
      service: `${iam}.IdentitiesService`,
      method: "CreateIdentity",
      parameters: parent,
      body: { name: "made-here", claimMatch },
    },
    {
      service: `${iam}.GroupInvitesService`,
      method: "CreateGroupInvite",
      parameters: parent,
      body: { roleUid: role, ttl: "3600.5s", singleUse: true },
    },
    {
      service: "chainguard.platform.registry.v2beta1.ReposService",
      method: "UpdateRepoReadme",
      parameters: { "repoReadme.uid": repo },
      body: { content: `# ${awkward}\n\n\tA second line.\n` },
    },
    {
      service: "gatehouse.registry.v1.ImageStoreService",
      method: "PutImages",
      parameters: { repoUid: repo },
      body: { images: [{ digest, platforms: [{ architecture: "amd64", size: "9007199254740991" }] }] },
    },
    {
      service: "gatehouse.events.v1.DeliveryService",
      method: "UpdateSubscriptionSettings",
      parameters: { "settings.uid": subscription, updateMask: "paused,description" },
      body: { paused: false, description: awkward },
    },
  ];
}

// Category I as a matrix: every RPC x every uid in its request x where the uid lies x who calls x every transport.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Code, codeName } from "../../src/aip/errors.ts";
import { rootOf } from "../../src/model/uid.ts";
import { deleteRow, findRow } from "../../src/storage/collection/rows.ts";
import { roleBindingCollection } from "../../src/storage/iam/collections.ts";
import type { IdentityRow, RoleBindingRow } from "../../src/storage/iam/rows.ts";
import { type ApiClient, type Outcome, openApiClient, services } from "../harness/api-clients.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { demandOf, type Place, placesOf, resourceOf, singularOf } from "./matrix.ts";
import { type Kind, kinds, requestFor, type Things } from "./matrix-requests.ts";
import { addMapping, addProvider } from "./provider-tree.ts";
import { addAdvisory, addRepo, addSubscription, addTag } from "./registry-tree.ts";
import { addRequest, addRequestRule } from "./request-tree.ts";
import { addReview } from "./review-tree.ts";
import {
  addAssociation,
  addCaller,
  addGroup,
  addIdentity,
  addInvite,
  addRole,
  arrange,
  bind,
  ownerRole,
  viewerRole,
} from "./tree.ts";

/** The position of a uid relative to the group of the caller's grant. */
const relations = [
  "the granted group",
  "below it",
  "its parent",
  "a sibling",
  "another root",
  "absent, below it",
  "absent, below a sibling",
  "absent, in no organization",
  "malformed",
] as const;
type Relation = (typeof relations)[number];
const beyond: readonly Relation[] = relations.slice(2, 5).concat(relations.slice(6, 8));

interface Caller {
  readonly name: string;
  readonly token: string | undefined;
  /** The group that the rights reach; every relation is seen from here. */
  readonly at: string;
  readonly capabilities: ReadonlySet<number>;
}

/** A row, as far as lists are concerned. */
type Row = Pick<IdentityRow, "uid" | "parent"> & Partial<Pick<RoleBindingRow, "identityUid" | "roleUid">>;

const absent = "f".repeat(16);
let server: TestServer;
let apiClients: ApiClient[];
let callers: Caller[];
/** The resources of each group: the uid of one of each kind. */
const things = new Map<string, Things>();
/** For each group that rights reach, the groups in every relation to it. */
const neighbours = new Map<string, Readonly<Record<string, string>>>();

describe("every uid in a request and every caller", () => {
  before(async () => {
    server = await startTestServer();
    apiClients = (["grpc", "grpc-web", "connect", "rest"] as const).map((name) => openApiClient(name, server.url));
    const add = async (parent: string | null) => {
      const group = await addGroup(server, parent);
      const identity = await addIdentity(server, group);
      const role = await addRole(server, group, [Capability.CAP_IAM_GROUPS_LIST]);
      const roleBinding = await bind(server, group, identity, viewerRole.uid);
      const [groupInvite, accountAssociation] = [await addInvite(server, group), await addAssociation(server, group)];
      const repo = await addRepo(server, group);
      const tag = await addTag(server, repo);
      const [advisory, subscription] = [await addAdvisory(server, group), await addSubscription(server, group)];
      const iam = { group, identity, role, roleBinding, groupInvite, accountAssociation };
      const identityProvider = await addProvider(server, group);
      const externalGroupRoleMapping = await addMapping(server, identityProvider);
      const providers = { identityProvider, externalGroupRoleMapping };
      const requests = {
        accessRequestRule: await addRequestRule(server, group),
        accessRequest: await addRequest(server, group),
        accessReview: await addReview(server, group),
      };
      things.set(group, { ...iam, ...providers, ...requests, repo, repoReadme: repo, tag, advisory, subscription });
      return group;
    };
    const [root, other] = [await add(null), await add(null)];
    const [granted, sibling] = [await add(root), await add(root)];
    const [inner, innerSibling] = [await add(granted), await add(granted)];
    const innermost = await add(inner);
    const around = (at: string, below: string, parent: string, sibling: string) =>
      neighbours.set(at, {
        "the granted group": at,
        "below it": below,
        "its parent": parent,
        "a sibling": sibling,
        "another root": other,
        "absent, below it": `${at}/${absent}`,
        "absent, below a sibling": `${sibling}/${absent}`,
        "absent, in no organization": "f".repeat(40),
        malformed: `${at}/${absent.slice(1)}`,
      });
    around(granted, inner, root, sibling);
    around(inner, innermost, granted, innerSibling);
    const owner = await addCaller(server, granted, ownerRole.uid);
    const viewer = await addCaller(server, granted, viewerRole.uid);
    const [ownerHolds, viewerHolds] = [new Set(ownerRole.capabilities), new Set(viewerRole.capabilities)];
    const scoped = await server.tokenOf(owner.uid, { scopes: [inner] });
    callers = [
      { name: "anonymous", token: undefined, at: granted, capabilities: new Set() },
      { name: "viewer", token: viewer.token, at: granted, capabilities: viewerHolds },
      { name: "owner", token: owner.token, at: granted, capabilities: ownerHolds },
      { name: "scoped-down token", token: scoped, at: inner, capabilities: ownerHolds },
    ];
  });

  after(async () => {
    for (const apiClient of apiClients) apiClient[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  for (const place of placesOf(services.filter(({ typeName }) => typeName.includes(".v2beta1.")))) {
    const { method, path, use } = place;
    describe(`I matrix: ${method.parent.name}/${method.name} ${path.join(".")} (${use})`, () => {
      it("allows and denies each caller by the annotation, over every transport", async () => {
        for (const caller of callers) await testCaller(place, caller);
      });
    });
  }

  async function testCaller(place: Place, caller: Caller): Promise<void> {
    const rows = place.use === "filter" ? await readRows(resourceKind(place)) : [];
    for (const apiClient of apiClients) {
      const denials = new Map<Relation, string>();
      for (const relation of relations) {
        const uid = await uidAt(place, caller, relation);
        const outcome = await apiClient.call(
          caller.token,
          pathOf(place.method),
          requestFor(place, things.get(caller.at)!, uid),
        );
        const cell = `${caller.name}, ${relation}, ${apiClient.name}: ${outcome.message}`;
        assert.equal(codeName(outcome.code), codeName(expectedCode(place, caller, relation, uid)), cell);
        if (outcome.code !== Code.OK) denials.set(relation, JSON.stringify(outcome).replaceAll(uid, "<uid>"));
        else if (place.use === "filter") checkPage(place, outcome, visible(place, caller, rows, uid), cell);
        else await tidyUp(place, outcome);
      }
      checkDenialsAlike(place, denials, `${caller.name}, ${apiClient.name}`);
    }
  }

  /** A denial has the same text whether the resource exists or not (I1, I7). */
  function checkDenialsAlike({ use }: Place, denials: ReadonlyMap<Relation, string>, cell: string): void {
    // A caller may name only resources of the same organization besides those that it holds.
    const abroad = relations.filter((relation) => /another root|in no organization/.test(relation));
    const notMalformed = relations.filter((relation) => relation !== "malformed");
    const alike = { opaque: notMalformed, reference: abroad, target: beyond, filter: beyond }[use];
    assert.equal(new Set(alike.map((relation) => denials.get(relation))).size, 1, `${cell}: the denials differ`);
  }

  function expectedCode(place: Place, caller: Caller, relation: Relation, uid: string): Code {
    if (caller.token === undefined) return Code.UNAUTHENTICATED;
    if (relation === "malformed") return Code.INVALID_ARGUMENT;
    const { capabilities } = demandOf(place.method)!;
    if (!capabilities.every((capability) => caller.capabilities.has(capability))) return Code.PERMISSION_DENIED;
    if (place.use === "filter") return Code.OK;
    const special = expectedOfProviders(place, caller, relation, uid);
    if (special !== undefined) return special;
    if (place.use === "opaque") return Code.NOT_FOUND;
    if (place.use === "reference") return expectedOfReference(place, caller, relation, uid);
    if (!isWithin(uid, caller.at)) return Code.PERMISSION_DENIED;
    // The published contract: taking away what is not there succeeds.
    const isIdempotent = /^Delete(RoleBinding|AccountAssociation)$/.test(place.method.name);
    if (isAbsent(relation)) return isIdempotent ? Code.OK : Code.NOT_FOUND;
    // A group has one association at most, and each of these has one.
    return place.method.name === "CreateAccountAssociation" ? Code.ALREADY_EXISTS : Code.OK;
  }

  /** Returns the expected result for providers: they belong to roots, mappings give roles at roots, and the callers hold none there. */
  function expectedOfProviders(
    { method, use }: Place,
    caller: Caller,
    relation: Relation,
    uid: string,
  ): Code | undefined {
    const isBeyond = use === "target" && !isWithin(uid, caller.at);
    if (method.name === "CreateIdentityProvider" && !isBeyond) return Code.INVALID_ARGUMENT;
    if (method.name === "CreateExternalGroupRoleMapping" && use === "reference") return Code.PERMISSION_DENIED;
    if (isBeyond || isAbsent(relation)) return undefined;
    const codes: Readonly<Record<string, Code>> = {
      // The requests carry an etag of long ago.
      SetScimEnabled: Code.ABORTED,
      // The bearer of the token decides who gets the default role, and those of mappings (docs/design/sign-in.md).
      GenerateScimToken: Code.PERMISSION_DENIED,
      RegenerateScimToken: Code.PERMISSION_DENIED,
      CreateExternalGroupRoleMapping: Code.PERMISSION_DENIED,
    };
    return codes[method.name];
  }

  function expectedOfReference({ names }: Place, caller: Caller, relation: Relation, uid: string): Code {
    // The parent of an item of a batch is that of the batch.
    if (names === "group") return uid === caller.at ? Code.OK : Code.INVALID_ARGUMENT;
    // An identity is for its own organization, unless the caller may read it.
    if (names === "identity" && rootOf(uid) !== rootOf(caller.at)) return Code.PERMISSION_DENIED;
    // A custom role is for its own group and what lies below.
    if (names === "role" && !isWithin(caller.at, parentOf(uid))) return Code.PERMISSION_DENIED;
    return isAbsent(relation) ? Code.NOT_FOUND : Code.OK;
  }

  /** Returns the uid in a relation to the caller's rights; what is to be deleted is made for it. */
  async function uidAt(place: Place, caller: Caller, relation: Relation): Promise<string> {
    const group = neighbours.get(caller.at)![relation]!;
    const kind = place.names as Kind;
    assert.ok(kinds.includes(kind), `the matrix knows no ${kind}`);
    const isDeleted = place.method.name.startsWith("Delete") && isWithin(group, caller.at) && things.has(group);
    if (isDeleted && caller.capabilities.size > 0) return await addVictim(kind, group);
    if (kind === "group" || relation === "malformed") return group;
    return (
      things.get(group)?.[kind] ??
      `${group}${["tag", "externalGroupRoleMapping"].includes(kind) ? `/${absent}` : ""}/${absent}`
    );
  }

  async function addVictim(kind: Kind, group: string): Promise<string> {
    if (kind === "repo") return await addRepo(server, group);
    if (kind === "tag") return await addTag(server, things.get(group)!.repo);
    if (kind === "subscription") return await addSubscription(server, group);
    if (kind === "identityProvider") return await addProvider(server, group);
    if (kind === "externalGroupRoleMapping") return await addMapping(server, things.get(group)!.identityProvider);
    if (kind === "group") return await addGroup(server, group);
    if (kind === "accountAssociation") return await addAssociation(server, await addGroup(server, group));
    if (kind === "groupInvite") return await addInvite(server, group);
    if (kind === "role") return await addRole(server, group, [Capability.CAP_IAM_GROUPS_LIST]);
    assert.ok(kind === "identity" || kind === "roleBinding", `the matrix adds no ${kind} that is then deleted`);
    const identity = await addIdentity(server, group);
    return kind === "identity" ? identity : await bind(server, group, identity, viewerRole.uid);
  }

  /** A binding exists once: what a call has bound must not stand in the way of the next. */
  async function tidyUp({ method }: Place, { response }: Outcome): Promise<void> {
    if (!/^(Batch)?Create.*Binding/.test(method.name)) return;
    const { roleBindings = [response] } = response as { roleBindings?: JsonObject[] };
    await arrange(server, async (tx) => {
      for (const binding of roleBindings as JsonObject[]) {
        await deleteRow(tx, roleBindingCollection, (await findRow(tx, roleBindingCollection, String(binding.uid)))!);
      }
    });
  }

  function resourceKind({ method }: Place): Kind {
    return singularOf(resourceOf(method.parent)!) as Kind;
  }

  /** Returns all rows of a kind, straight from the store. */
  async function readRows(kind: Kind): Promise<Row[]> {
    const { session } = server.server.database;
    const statement = session.prepared(`test.all.${kind}`, (db, tables) => {
      const { groups, identities, roles, roleBindings, groupInvites, accountAssociations } = tables;
      const { identityProviders: identityProvider, externalGroupRoleMappings: externalGroupRoleMapping } = tables;
      const { repos, tags, advisories, subscriptions } = tables;
      const iam = { group: groups, identity: identities, role: roles, roleBinding: roleBindings };
      const members = { groupInvite: groupInvites, accountAssociation: accountAssociations };
      const others = { ...members, repo: repos, tag: tags, advisory: advisories, subscription: subscriptions };
      const providers = { identityProvider, externalGroupRoleMapping };
      return db.select().from({ ...iam, ...others, ...providers }[kind as "group"]);
    });
    return [...(await statement.execute())];
  }

  /** Returns the rows that the caller may see and the filter lets through. */
  function visible(place: Place, caller: Caller, rows: readonly Row[], uid: string): string[] {
    const passes: Readonly<Record<string, (row: Row) => boolean>> = {
      ancestorsOf: (row) => uid !== row.uid && isWithin(uid, row.uid),
      descendantsOf: (row) => uid !== row.uid && isWithin(row.uid, uid),
      childrenOf: (row) => row.parent === uid,
      ids: (row) => row.uid === uid,
      identityProviderUid: (row) => row.parent === uid,
      identity: (row) => row.identityUid === uid,
      group: (row) => row.parent === uid,
      role: (row) => row.roleUid === uid,
    };
    const filter = passes[place.path.at(-1)!];
    assert.ok(filter, `the matrix knows no filter ${place.path.join(".")}`);
    return rows.filter((row) => isWithin(row.uid, caller.at) && filter(row)).map((row) => row.uid);
  }

  function checkPage(place: Place, { response }: Outcome, expected: readonly string[], cell: string): void {
    const { totalCount, ...rest } = response as JsonObject;
    const page = (Object.values(rest).find(Array.isArray) ?? []) as JsonObject[];
    assert.deepEqual(page.map(({ uid }) => uid).sort(), [...expected].sort(), cell);
    assert.equal(totalCount, String(expected.length), cell);
    assert.ok(expected.length < 200, `${place.method.name}: one page must hold the whole tree`);
  }

  function pathOf(method: DescMethod): string {
    return `/${method.parent.typeName}/${method.name}`;
  }

  function isAbsent(relation: Relation): boolean {
    return relation.startsWith("absent");
  }

  function isWithin(uid: string, ancestor: string): boolean {
    return `${uid}/`.startsWith(`${ancestor}/`);
  }

  function parentOf(uid: string): string {
    return uid.slice(0, uid.lastIndexOf("/"));
  }
});

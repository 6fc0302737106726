// The contents of a group: counts, children, and role bindings that apply.
import type { JsonObject } from "@bufbuild/protobuf";
import { ancestorsOf } from "../../../model/uid.ts";
import type { Session } from "../../client/session.ts";
import type { Section } from "../../output/details.ts";
import { accountAssociations } from "../account-associations.ts";
import { advisories } from "../advisories.ts";
import { nameOrUid } from "../columns.ts";
import { folders, groups } from "../groups.ts";
import { identities } from "../identities.ts";
import { identityProviders } from "../identity-providers.ts";
import { invites } from "../invites.ts";
import { textAt } from "../json.ts";
import { listFirst } from "../lookup.ts";
import { repos } from "../repos.ts";
import type { Resource } from "../resource.ts";
import { resources } from "../resources.ts";
import { roleBindings } from "../role-bindings.ts";
import { roles } from "../roles.ts";
import { subscriptions } from "../subscriptions.ts";
import { getSeen, listSection, madeSection, parentSection, seen } from "./section.ts";

/** The kinds of resource in a group that others refer to or that are large, in an order in which they can be deleted. */
const ordered: readonly Resource[] = [
  repos,
  advisories,
  subscriptions,
  identityProviders,
  invites,
  roleBindings,
  identities,
  roles,
  groups,
];

/** All kinds of resource in a group. Those that have no place of their own come first: nothing refers to them. */
const contents: readonly Resource[] = [
  ...resources.filter(
    (resource) => resource.parent === "group" && !resource.nests && !resource.uidOf && !ordered.includes(resource),
  ),
  ...ordered,
];

/** The number of resources of a kind directly in a group and in its subtree, as far as the caller can see. */
export interface Count {
  readonly resource: Resource;
  readonly here: number;
  readonly below: number;
}

/** Counts each kind that the caller can list. */
export async function countContents(session: Session, groupUid: string): Promise<Count[]> {
  const counted = await Promise.all(contents.map((resource) => countOf(session, resource, groupUid)));
  const association = await getSeen(session, accountAssociations, groupUid);
  const counts = counted.filter((count) => count !== undefined);
  return association ? [...counts, { resource: accountAssociations, here: 1, below: 1 }] : counts;
}

async function countOf(session: Session, resource: Resource, groupUid: string): Promise<Count | undefined> {
  const count = async (uidp: JsonObject) => await seen(listFirst(session, resource, { uidp }, 1));
  const [here, below] = await Promise.all([count({ childrenOf: groupUid }), count({ descendantsOf: groupUid })]);
  return here && below && { resource, here: here.total, below: below.total };
}

/** For a group: its ancestors, children, contents and role bindings. */
export async function groupRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const uid = textAt(row, "uid");
  const [parents, children, counts, bindings] = await Promise.all([
    parentSection(session, uid),
    listSection(session, {
      key: "children",
      title: "Children",
      resource: folders,
      request: { uidp: { childrenOf: uid } },
    }),
    countContents(session, uid),
    bindingsReaching(session, uid),
  ]);
  const columns = [
    { title: "kind", value: "kind" },
    { title: "here", value: "here" },
    { title: "here and below", value: "below" },
  ];
  const countRows = counts.map(({ resource, here, below }) => ({ kind: resource.view.noun, here, below }));
  return [parents, children, madeSection("contents", "Contents", columns, countRows), bindings];
}

/** Returns the role bindings at a group and at its ancestors. */
async function bindingsReaching(session: Session, uid: string): Promise<Section> {
  const places = [uid, ...ancestorsOf(uid).toReversed()];
  const sections = await Promise.all(
    places.map((group) =>
      listSection(session, { key: "roleBindings", title: "Role bindings", resource: roleBindings, request: { group } }),
    ),
  );
  const [first] = sections;
  const columns = [
    ...roleBindings.view.columns.filter(({ title }) => title !== "group"),
    { title: "bound at", value: ({ group }: JsonObject) => nameOrUid(group) },
  ];
  return {
    ...first!,
    view: { ...roleBindings.view, columns },
    rows: sections.some(({ rows }) => rows !== undefined) ? sections.flatMap(({ rows = [] }) => rows) : undefined,
    total: sections.reduce((sum, { total = 0 }) => sum + total, 0),
  };
}

/**
 * Lists what prevents deleting a group, as far as the caller can see: a line per kind, with the command that lists it.
 */
export async function explainNotEmpty(session: Session, groupUid: string): Promise<string> {
  const counts = (await countContents(session, groupUid)).filter(({ below }) => below > 0);
  if (counts.length === 0) return "";
  const lines = counts.map(({ resource, below }) => {
    const noun = below === 1 ? resource.noun : resource.view.noun;
    return `${below} ${noun}: gatehouse ${resource.path} list --parent ${groupUid} --recursive`;
  });
  const advice = "Delete them first, in this order, or delete it with everything in it by --recursive.";
  return ["It and its subgroups contain, as far as you can see:", ...lines, advice].join("\n");
}

// Related resources for `describe`.
import type { JsonObject } from "@bufbuild/protobuf";
import { ancestorsOf, parentOf } from "../../../model/uid.ts";
import type { Session } from "../../client/session.ts";
import type { Section } from "../../output/details.ts";
import { eventKind } from "../advisories.ts";
import { externalGroupRoleMappings } from "../external-group-role-mappings.ts";
import { identityProviders } from "../identity-providers.ts";
import { textAt } from "../json.ts";
import { repos } from "../repos.ts";
import type { Resource } from "../resource.ts";
import { roles } from "../roles.ts";
import { tags } from "../tags.ts";
import { bindingRelations, identityRelations, roleRelations } from "./access.ts";
import { groupRelations } from "./contents.ts";
import { getSeen, groupsSection, listSection, madeSection, parentSection, seen } from "./section.ts";

type Relate = (session: Session, row: JsonObject) => Promise<Section[]>;

/** Returns the sections of a resource. */
export async function relationsOf(session: Session, resource: Resource, row: JsonObject): Promise<Section[]> {
  return await (relations[resource.type] ?? onlyParents)(session, row);
}

/** By the name of the message. */
const relations: Readonly<Record<string, Relate>> = {
  Group: groupRelations,
  Identity: identityRelations,
  Role: roleRelations,
  RoleBinding: bindingRelations,
  IdentityProvider: providerRelations,
  ExternalGroupRoleMapping: mappingRelations,
  Repo: repoRelations,
  Tag: tagRelations,
  Advisory: advisoryRelations,
  Subscription: subscriptionRelations,
  AccountAssociation: associationRelations,
};

async function onlyParents(session: Session, row: JsonObject): Promise<Section[]> {
  return [await parentSection(session, textAt(row, "uid"))];
}

/** It has the uid of its group. */
async function associationRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const uid = textAt(row, "uid");
  return [await groupsSection(session, [...ancestorsOf(uid), uid], "Group")];
}

const nameAndUid = [
  { title: "name", value: "name" },
  { title: "uid", value: "uid" },
];

/** Returns a section with one referenced resource; empty if the caller cannot see it. */
function singleSection(key: string, title: string, found: JsonObject | undefined): Section {
  return madeSection(key, title, nameAndUid, found ? [{ name: found.name ?? "", uid: found.uid ?? "" }] : []);
}

async function providerRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const uid = textAt(row, "uid");
  return await Promise.all([
    parentSection(session, uid, "Organization"),
    getSeen(session, roles, textAt(row, "defaultRole")).then((role) => singleSection("role", "Default role", role)),
    listSection(session, {
      key: "externalGroupRoleMappings",
      title: "External group role mappings",
      resource: externalGroupRoleMappings,
      request: { identityProviderUid: uid },
    }),
  ]);
}

async function mappingRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const provider = textAt(row, "identityProviderUid");
  return await Promise.all([
    parentSection(session, provider, "Organization"),
    getSeen(session, identityProviders, provider).then((found) =>
      singleSection("identityProvider", "Identity provider", found),
    ),
    getSeen(session, roles, textAt(row, "roleUid")).then((found) => singleSection("role", "Role", found)),
  ]);
}

async function repoRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const uid = textAt(row, "uid");
  return await Promise.all([
    parentSection(session, uid),
    listSection(session, {
      key: "tags",
      title: "Tags",
      resource: tags,
      request: { uidp: { childrenOf: uid }, includeDates: true, includeEpochs: true },
    }),
  ]);
}

async function tagRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const repoUid = parentOf(textAt(row, "uid"));
  const request = { repoUid, digest: row.digest ?? "" };
  const { ImagesService } = await import("../../../../gen/chainguard/platform/registry/v2beta1/images_pb.ts");
  const [parents, repo, images] = await Promise.all([
    parentSection(session, repoUid),
    getSeen(session, repos, repoUid),
    seen(session.call(ImagesService.method.getArchitectures, request)),
  ]);
  const architectures = ((images?.architectures ?? []) as string[]).map((architecture) => ({ architecture }));
  const columns = [{ title: "architecture", value: "architecture" }];
  return [parents, singleSection("repo", "Repo", repo), madeSection("images", "Images", columns, architectures)];
}

async function advisoryRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const columns = [
    { title: "time", value: "createTime" },
    { title: "event", value: eventKind },
    {
      title: "state",
      value: ({ reviewState }: JsonObject) =>
        String(reviewState ?? "")
          .replace("REVIEW_STATE_", "")
          .toLowerCase(),
    },
    { title: "author", value: "author" },
    { title: "says", value: saidBy },
  ];
  const events = (row.events ?? []) as JsonObject[];
  return [await parentSection(session, textAt(row, "uid")), madeSection("events", "Events", columns, events)];
}

/** Returns the content of an event besides its kind. */
function saidBy(event: JsonObject): string {
  const said = event[eventKind(event).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
  const members = typeof said === "object" && said !== null ? Object.entries(said) : [];
  return members
    .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join("; ");
}

async function subscriptionRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const subscriptionUid = textAt(row, "uid");
  const { DeliveryService } = await import("../../../../gen/gatehouse/events/v1/delivery_pb.ts");
  const { deliveryView } = await import("../delivery-commands.ts");
  const [parents, state] = await Promise.all([
    parentSection(session, subscriptionUid),
    seen(session.call(DeliveryService.method.getDeliveryState, { subscriptionUid })),
  ]);
  const columns = deliveryView.columns.filter(({ value }) => value !== "subscriptionUid");
  return [parents, { key: "delivery", title: "Delivery", view: { ...deliveryView, columns }, rows: state && [state] }];
}

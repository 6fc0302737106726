// Related resources of identities, roles and role bindings: who has which role, and where it takes effect.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../../base/json.ts";
import { ancestorsOf, parentOf } from "../../../model/uid.ts";
import type { Session } from "../../client/session.ts";
import type { Section } from "../../output/details.ts";
import type { Column } from "../../output/view.ts";
import { nameOrUid } from "../columns.ts";
import { groups } from "../groups.ts";
import { textAt } from "../json.ts";
import { listFirst } from "../lookup.ts";
import { roleBindings } from "../role-bindings.ts";
import { getSeen, listSection, madeSection, parentSection, seen } from "./section.ts";

/** The maximum number of role bindings that are read for an identity. */
const maxBindings = 200;

const effectiveColumns: readonly Column[] = [
  { title: "role", value: "role.name" },
  { title: "counts at", value: ({ group }) => nameOrUid(group) },
  { title: "bound at", value: ({ boundAt }) => nameOrUid(boundAt) },
  { title: "how", value: "how" },
];

/** For an identity: its role bindings, and the roles that it has by them. */
export async function identityRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const uid = textAt(row, "uid");
  const found = await seen(listFirst(session, roleBindings, { identity: uid }, maxBindings));
  const rows = found?.rows;
  const bindings = { key: "roleBindings", title: "Role bindings", view: roleBindings.view, rows, total: found?.total };
  const effective: Section = {
    ...madeSection("effectiveRoles", "Effective roles", effectiveColumns, []),
    rows: rows && (await effectiveRoles(session, uid, rows)),
  };
  return [await parentSection(session, uid), bindings, effective];
}

/** Returns where each role binding takes effect: an identity of a subgroup is limited to it. */
async function effectiveRoles(session: Session, uid: string, bindings: readonly JsonObject[]): Promise<JsonObject[]> {
  const { effectiveGroup: placeOfBinding } = await import("../../../storage/iam/grants.ts");
  const home = parentOf(uid);
  const homeGroup = await getSeen(session, groups, home);
  return bindings.map(({ role = {}, group = {} }) => {
    const boundAt = uidOf(group);
    const place = placeOfBinding(uid, boundAt);
    if (place === undefined) return { role, boundAt: group, how: "nowhere: the identity is confined to its group" };
    if (place !== boundAt)
      return {
        role,
        group: { ...homeGroup, uid: place },
        boundAt: group,
        how: "inherited, and confined to the identity's group",
      };
    const isAbove = home !== "" && ancestorsOf(home).includes(boundAt);
    return {
      role,
      group,
      boundAt: group,
      how: isAbove ? "there and below; inherited by the identity's group" : "there and below",
    };
  });
}

/** For a role: its capabilities by service, and its role bindings. */
export async function roleRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const uid = textAt(row, "uid");
  return [
    // Built-in roles belong to no group.
    ...(uid.includes("/") ? [await parentSection(session, uid)] : []),
    await capabilitySection(row),
    await listSection(session, {
      key: "roleBindings",
      title: "Role bindings",
      resource: roleBindings,
      request: { role: uid },
    }),
  ];
}

async function capabilitySection({ capabilities }: JsonObject): Promise<Section> {
  const { CapabilitySchema } = await import("../../../../gen/chainguard/capabilities/capabilities_pb.ts");
  const { namesOfNumbers } = await import("../../../model/capabilities.ts");
  const constants = new Set([capabilities ?? []].flat());
  const numbers = CapabilitySchema.values.filter(({ name }) => constants.has(name)).map(({ number }) => number);
  const byService = Map.groupBy(namesOfNumbers(numbers).sort(), serviceOf);
  const services = [...byService].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = services.map(([service, names]) => ({
    service,
    capabilities: names.map((name) => (name === service ? "yes" : name.slice(service.length + 1))),
  }));
  return madeSection(
    "capabilitiesByService",
    "Capabilities by service",
    [
      { title: "service", value: "service" },
      { title: "allows", value: ({ capabilities: names }) => [names].flat().join(", ") },
    ],
    rows,
  );
}

/** Returns the part of a capability's name before the verb. */
function serviceOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf("."))) || name;
}

/** For a role binding: its groups, and where it takes effect for its identity. */
export async function bindingRelations(session: Session, row: JsonObject): Promise<Section[]> {
  const identityUid = uidOf(row.identity) || textAt(row, "identityUid");
  const rows = identityUid === "" ? [] : await effectiveRoles(session, identityUid, [row]);
  return [
    await parentSection(session, textAt(row, "uid")),
    madeSection("effectiveRoles", "Effective roles", effectiveColumns, rows),
  ];
}

function uidOf(reference: JsonValue | undefined): string {
  return isJsonObject(reference) ? String(reference.uid ?? "") : "";
}

// Finds out what the resources of a request refer to.
import type { ResourceSpec } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { newViolations } from "../../aip/violations.ts";
import type { Yield } from "../../base/yielding.ts";
import { type AnyResource, type Kind, kinds } from "./kinds.ts";
import { joinPath, keyOf, type Names, type Target } from "./names.ts";

/** A resource with what names it among those of its kind. */
export interface Named {
  readonly resource: AnyResource;
  /** The path of its group. */
  readonly group: string;
  /** The text for people. */
  readonly name: string;
  /** The same for the same resource, stored or wanted. */
  readonly key: string;
}

/** A resource of a request. */
export interface Wanted extends Named {
  /** The place in the request. */
  readonly index: number;
  /** What other resources refer to it by; undefined for kinds that nothing refers to. */
  readonly target: Target | undefined;
}

/** Returns the path of the group of a resource. */
export function groupOf({ case: kind, value }: AnyResource): string {
  return kind === "organization" || kind === "identityProvider" || kind === "externalGroupRoleMapping"
    ? ""
    : value.group;
}

/** Names a resource, whose references must exist. */
export function nameOf(resource: AnyResource, names: Names): Named {
  const group = groupOf(resource);
  const { name, key = name } = namesOf(resource, group, names);
  return { resource, group, name, key: `${resource.case} ${key}` };
}

function namesOf(resource: AnyResource, group: string, names: Names): { name: string; key?: string } {
  const at = group === "" ? "" : ` at ${group}`;
  switch (resource.case) {
    case "organization":
      return { name: resource.value.name, key: "" };
    case "accountAssociation":
      return { name: group === "" ? resource.value.name : group, key: group };
    case "subscription":
      return { name: `${resource.value.sink}${at}`, key: `${group} ${resource.value.sink}` };
    case "identityProvider":
      return { name: resource.value.name };
    case "externalGroupRoleMapping": {
      const { identityProvider, externalGroupId, role } = resource.value;
      const key = JSON.stringify([identityProvider, externalGroupId, roleKey("", role, names)]);
      return { name: `${identityProvider}: ${externalGroupId} has ${role}`, key };
    }
    case "roleBinding": {
      const { identity, identityUid, role } = resource.value;
      const bound = identity === "" ? identityUid : keyOf(names.find("identity", identity)!);
      const key = `${group} ${bound} ${roleKey(group, role, names)}`;
      return { name: `${identity || identityUid} has ${role}${at}`, key };
    }
    default:
      return { name: joinPath(group, resource.value.name) };
  }
}

/** A stored role that the caller may not list has no name; the reference is then its uid. */
function roleKey(group: string, reference: string, names: Names): string {
  const role = names.findRole(group, reference);
  return role ? keyOf(role) : reference;
}

const targetKinds = ["group", "role", "identity", "identityProvider"] as const;

/**
 * Names the resources of a request. Those that do not exist become known to `names`. Throws INVALID_ARGUMENT for references to what
 * is neither stored nor wanted, and for resources that are wanted twice.
 */
export async function wantedResources(
  resources: readonly ResourceSpec[],
  names: Names,
  pause: Yield,
): Promise<readonly Wanted[]> {
  const violations = newViolations();
  const targets: (Target | undefined)[] = [];
  for (const { resource } of resources) {
    targets.push(targetOf(resource, names));
    await pause();
  }
  const seen = new Map<string, number>();
  const wanted: Wanted[] = [];
  for (const [index, { resource }] of resources.entries()) {
    await pause();
    const at = `resources[${index}]`;
    if (resource.case === undefined) {
      violations.add(`${at}.resource`, "is required");
      continue;
    }
    const missing = missingReferences(resource, names);
    for (const { field, description } of missing)
      violations.add(`${at}.${kinds[resource.case].field}${field && `.${field}`}`, description);
    if (missing.length > 0) continue;
    const named = nameOf(resource, names);
    const earlier = seen.get(named.key);
    seen.set(named.key, index);
    if (earlier !== undefined) violations.add(at, duplicateProblem(resource.case, `resources[${earlier}]`));
    wanted.push({ ...named, index, target: targets[index] });
  }
  violations.throwIfAny();
  return wanted;
}

/** Organizations are the same by their place, and may differ in their names. */
function duplicateProblem(kind: string, earlier: string): string {
  return kind === "organization"
    ? `a request is for one organization, and ${earlier} names it`
    : `is the same resource as ${earlier}`;
}

function targetOf(resource: ResourceSpec["resource"], names: Names): Target | undefined {
  if (resource.case === undefined) return undefined;
  if (resource.case === "organization") return names.find("group", "");
  const kind = targetKinds.find((each) => each === resource.case);
  if (!kind || !("name" in resource.value)) return undefined;
  return names.want(kind, joinPath(groupOf(resource), resource.value.name));
}

interface Missing {
  readonly field: string;
  readonly description: string;
}

function missingReferences(resource: AnyResource, names: Names): readonly Missing[] {
  const group = groupOf(resource);
  const found: Missing[] = [];
  const path = "name" in resource.value ? joinPath(group, resource.value.name) : group;
  if (!names.find("group", group)) found.push({ field: "group", description: `${shown(group)} does not exist` });
  if (names.isAmbiguous("group", group))
    found.push({ field: "group", description: `several groups have the path ${shown(group)}; rename them first` });
  const kind = targetKinds.find((each) => each === resource.case);
  if (kind && names.isAmbiguous(kind, path))
    found.push({ field: "name", description: `is the name of several; rename or delete the others first` });
  return [...found, ...missingTargets(resource, group, names)];
}

function missingTargets(resource: AnyResource, group: string, names: Names): Missing[] {
  const role = (field: string, reference: string) =>
    names.findRole(group, reference) && !names.isAmbiguous("role", names.findRole(group, reference)!.path)
      ? []
      : [
          {
            field,
            description: `${shown(reference)} is neither a built-in role nor a role of the group or an ancestor`,
          },
        ];
  switch (resource.case) {
    case "identityProvider":
      return role("default_role", resource.value.defaultRole);
    case "externalGroupRoleMapping": {
      const { identityProvider, role: reference } = resource.value;
      const missing = names.find("identityProvider", identityProvider)
        ? []
        : [{ field: "identity_provider", description: `${shown(identityProvider)} does not exist` }];
      return [...missing, ...role("role", reference)];
    }
    case "roleBinding":
      return [...missingIdentity(resource.value, names), ...role("role", resource.value.role)];
    case "accountAssociation":
      return Object.entries(resource.value.serviceBindings).flatMap(([service, name]) =>
        names.find("identity", joinPath(group, name))
          ? []
          : [{ field: `service_bindings[${JSON.stringify(service)}]`, description: `${shown(name)} does not exist` }],
      );
    default:
      return [];
  }
}

function missingIdentity(
  { identity, identityUid }: Extract<AnyResource, { case: "roleBinding" }>["value"],
  names: Names,
): Missing[] {
  if ((identity === "") === (identityUid === ""))
    return [{ field: "identity", description: "is required, or identity_uid, and not both" }];
  if (identity === "") return [];
  if (names.isAmbiguous("identity", identity))
    return [{ field: "identity", description: `several identities have the path ${shown(identity)}` }];
  return names.find("identity", identity)
    ? []
    : [{ field: "identity", description: `${shown(identity)} does not exist` }];
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}

/** Returns the kinds of resources. */
export function kindsOf(resources: readonly ResourceSpec[]): ReadonlySet<Kind> {
  return new Set(resources.flatMap(({ resource }) => resource.case ?? []));
}

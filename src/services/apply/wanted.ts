// Resolves the references between the resources of a request.
import type { ResourceSpec } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import type { FieldViolation } from "../../aip/errors.ts";
import { newViolations } from "../../aip/violations.ts";
import type { Yield } from "../../base/yielding.ts";
import type { Named, Wanted } from "../kinds/kind.ts";
import { missingTarget, shown } from "../kinds/missing.ts";
import { joinPath, type Names, type Target } from "../kinds/names.ts";
import type { AnySpec } from "../kinds/spec.ts";
import { kindNamed } from "./kinds.ts";

/** Returns the path of the group of a resource. */
export function groupOf({ case: kind, value }: AnySpec): string {
  return kindNamed(kind).file.groupOf?.(value) ?? (value as { readonly group: string }).group;
}

/** Names a resource, whose references must exist. */
export function nameOf(resource: AnySpec, names: Names): Named {
  const group = groupOf(resource);
  const named = kindNamed(resource.case).file.nameOf?.(resource.value, names, group);
  const { name, key = name } = named ?? { name: pathOf(resource), key: undefined };
  return { resource, group, name, key: `${resource.case} ${key}` };
}

/** Returns the path of the name of a resource; that of its group if it has none. */
function pathOf(resource: AnySpec): string {
  const group = groupOf(resource);
  return "name" in resource.value ? joinPath(group, resource.value.name) : group;
}

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
      violations.add(`${at}.${kindNamed(resource.case).field}${field && `.${field}`}`, description);
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
  return kindNamed(resource.case).file.isTarget ? names.want(resource.case, pathOf(resource)) : undefined;
}

function missingReferences(resource: AnySpec, names: Names): readonly FieldViolation[] {
  const group = groupOf(resource);
  const { isTarget, missing } = kindNamed(resource.case).file;
  const found = [...missingTarget("group", "group", group, names)];
  if (names.isAmbiguous("group", group))
    found.push({ field: "group", description: `several groups have the path ${shown(group)}; rename them first` });
  if (isTarget && names.isAmbiguous(resource.case, pathOf(resource)))
    found.push({ field: "name", description: `is the name of several; rename or delete the others first` });
  return [...found, ...(missing?.(resource.value, names, group) ?? [])];
}

// Category I, from the descriptors: every RPC, every field of its request that carries a uid, and how the field decides.
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { iam, iam_scope } from "../../gen/chainguard/annotations/auth_pb.ts";
import type { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource as resourceOption } from "../../gen/google/api/resource_pb.ts";

/** The role of a uid in a request. */
export type Use =
  /** The call is about it: the capabilities of the method are needed there. */
  | "target"
  /** It restricts a list. */
  | "filter"
  /** Something that the call puts into a resource. */
  | "reference"
  /** The method needs no capability, so every uid must look alike. */
  | "opaque";

/** One field of one method's request. */
export interface Place {
  readonly method: DescMethod;
  /** JSON names from the request down; lists are entered at their first item. */
  readonly path: readonly string[];
  readonly use: Use;
  /** The kind that the uid names, such as `group`; for a target, the resource of the service. */
  readonly names: string;
}

/** Returns the requirement in a method's annotation; undefined if the method is open to all or has no annotation. */
export function demandOf(method: DescMethod): { capabilities: readonly Capability[] } | undefined {
  const { mode } = getOption(method, iam);
  return mode.case === "enabled" ? { capabilities: mode.value.capabilities } : undefined;
}

/** Every place of every method that needs a caller. */
export function placesOf(services: readonly DescService[]): Place[] {
  const singulars = new Set(services.flatMap(({ file }) => file.messages.map(singularOf)));
  return services.flatMap((service) =>
    service.methods
      .filter(demandOf)
      .flatMap((method) => uidFields(method.input, singulars).map((fields) => placeOf(method, fields, singulars))),
  );
}

/** Returns the name of a resource, such as `roleBinding`; empty for other messages. */
export function singularOf(message: DescMessage): string {
  return getOption(message, resourceOption).singular;
}

/** Returns the resource that a service is for: that of its own file; undefined when it has none. */
export function resourceOf({ file }: DescService): DescMessage | undefined {
  return file.messages.find((message) => singularOf(message) !== "");
}

/** The parents of resources that are not created in a group. */
const parents: Readonly<Record<string, string>> = { tag: "repo", externalGroupRoleMapping: "identityProvider" };

function uidFields(
  message: DescMessage,
  singulars: ReadonlySet<string>,
  above: readonly DescField[] = [],
): DescField[][] {
  return message.fields.flatMap((field) => {
    const path = [...above, field];
    if (isScope(path)) return [path];
    if (getOption(field, field_behavior).includes(FieldBehavior.OUTPUT_ONLY)) return [];
    if (!field.message) return carriesUid(field, singulars) ? [path] : [];
    return field.message.typeName.startsWith("google.") ? [] : uidFields(field.message, singulars, path);
  });
}

/** Whether every step down to a text is marked as the scope. */
function isScope(path: readonly DescField[]): boolean {
  return path.at(-1)?.fieldKind === "scalar" && path.every((field) => getOption(field, iam_scope));
}

/** Services whose uids are those of the resources of another service. */
const foreign: Readonly<Record<string, string>> = { RoleBindingTermsService: "roleBinding" };

/** Fields whose names do not say that they carry the uid of a role. */
const roles: Readonly<Record<string, string>> = { default_role: "role" };

/** Returns the kind whose uid a field carries by its name, such as `role` of `roleUid` and `targetRoleUid`: the longest that fits. */
function kindIn(jsonName: string, singulars: ReadonlySet<string>): string | undefined {
  const ends = (singular: string) => jsonName.toLowerCase().endsWith(`${singular.toLowerCase()}uid`);
  const fitting = [...singulars].filter((singular) => singular !== "" && ends(singular));
  return fitting.sort((a, b) => b.length - a.length)[0];
}

function carriesUid(field: DescField, singulars: ReadonlySet<string>): boolean {
  // The numbers of users of an image are called uid, too.
  if (field.scalar !== ScalarType.STRING) return false;
  if (field.parent.name === "UIDPFilter") return field.name !== "in_root";
  return /(^|_)uid$/.test(field.name) || field.name === "parent" || singulars.has(field.name) || field.name in roles;
}

function placeOf(method: DescMethod, fields: readonly DescField[], singulars: ReadonlySet<string>): Place {
  const { name, jsonName } = fields.at(-1)!;
  const named = kindIn(jsonName, singulars) ?? roles[name] ?? name;
  const resource = resourceOf(method.parent);
  const own = resource ? singularOf(resource) : (foreign[method.parent.name] ?? "");
  const isPlace = name === "parent" || /^(ancestors|descendants|children)_of$/.test(name);
  const names = isPlace ? (name === "parent" && parents[own]) || "group" : singulars.has(named) ? named : own;
  return { method, path: fields.map((field) => field.jsonName), use: useOf(method, fields), names };
}

function useOf(method: DescMethod, fields: readonly DescField[]): Use {
  if (isScope(fields)) return "target";
  if (demandOf(method)!.capabilities.length === 0) return "opaque";
  // A page size makes a list; a parent at the top is where a create is asked for, annotated or decided by the handler.
  if (method.input.fields.some(({ name }) => name === "page_size")) return "filter";
  return fields.length === 1 && fields[0]!.name === "parent" ? "target" : "reference";
}

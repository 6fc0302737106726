// The kinds of resources that an apply compares.
import { type DescMessage, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import type { ResourceSpec, SpecKind } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import type { Kind } from "../kinds/kind.ts";
import type { AnySpec, KindName } from "../kinds/spec.ts";
import { resources } from "../resources.ts";

const byName = new Map<KindName, Kind>(resources.map((kind) => [kind.name, kind]));

/** The names of the kinds, in the order of creation. */
export const kindOrder: readonly KindName[] = resources.map(({ name }) => name);

/** The kinds that resources refer to by the paths of their names. */
export const targetKinds: readonly KindName[] = resources.filter(({ file }) => file.isTarget).map(({ name }) => name);

/** Returns a kind by its name. */
export function kindNamed(name: KindName): Kind {
  return byName.get(name)!;
}

/** Returns the name of a kind by its enum value; undefined if there is none. */
export function kindOf(value: SpecKind): KindName | undefined {
  return resources.find(({ number }) => number === value)?.name;
}

/** Returns the kinds of resources. */
export function kindsOf(some: readonly ResourceSpec[]): ReadonlySet<KindName> {
  return new Set(some.flatMap(({ resource }) => resource.case ?? []));
}

/** Returns kinds with those that their resources can refer to. */
export function withReferences(some: Iterable<KindName>): ReadonlySet<KindName> {
  return new Set([...some].flatMap((kind) => [kind, ...kindNamed(kind).file.references]));
}

/** Returns a resource as JSON, with the names of its fields. */
export function jsonOf({ case: kind, value }: AnySpec): JsonObject {
  const schema: DescMessage = kindNamed(kind).specSchema;
  return toJson(schema, value as Message, { useProtoFieldName: true }) as JsonObject;
}

// Finds the methods of a resource in its descriptors by their standard names (AIP-131 to AIP-135).
import type { DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import type { Resource } from "./resource.ts";

/** A method, and the field of its request or response with the resource. */
export interface StandardMethod {
  readonly method: DescMethod;
  /** The JSON name; empty if there is no such field. */
  readonly field: string;
}

/** Returns the get, create, update or delete method of a resource. */
export async function standardMethod(resource: Resource, prefix: "Get" | "Create" | "Update" | "Delete") {
  const service = await resource.service();
  const method = find(service, (name) => name === `${prefix}${resource.type}`);
  return { method, field: resourceField(method.input.fields, resource)?.jsonName ?? "" };
}

/** Returns the list method, and the field of its response with the resources. */
export async function listMethod(resource: Resource): Promise<StandardMethod> {
  const service = await resource.service();
  const method = find(service, (name) => name.startsWith("List"));
  return { method, field: resourceField(method.output.fields, resource)?.jsonName ?? "" };
}

/** Returns a function that reports whether listed resources can have a field, by its path in JSON. */
export function hasFieldOf({ method, field }: StandardMethod): (path: string) => boolean {
  const message = method.output.fields.find(({ jsonName }) => jsonName === field)?.message;
  return (path) => message !== undefined && hasPath(message, path.split("."));
}

function hasPath(message: DescMessage, [name, ...rest]: readonly string[]): boolean {
  const field = message.fields.find(({ jsonName }) => jsonName === name);
  if (!field || rest.length === 0) return field !== undefined;
  // The keys of a map are not known here.
  return field.fieldKind === "map" || (field.message !== undefined && hasPath(field.message, rest));
}

function find(service: DescService, test: (name: string) => boolean): DescMethod {
  const method = service.methods.find(({ name }) => test(name));
  if (!method) throw new Error(`${service.typeName} has no such method`);
  return method;
}

function resourceField(fields: readonly DescField[], { type }: Resource): DescField | undefined {
  return fields.find((field) => "message" in field && field.message?.name === type);
}

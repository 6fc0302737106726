// Finds fields of messages by the names that clients use.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** Fields from a message to one of its descendants; all but the last are singular messages. */
export type FieldPath = readonly DescField[];

const namesOf = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** Returns the field with a proto or JSON name, if there is one. */
export function findField(schema: DescMessage, name: string): DescField | undefined {
  let names = namesOf.get(schema);
  if (!names) {
    const entries = schema.fields.flatMap((field): [string, DescField][] => [
      [field.jsonName, field],
      [field.name, field],
    ]);
    names = new Map(entries);
    namesOf.set(schema, names);
  }
  return names.get(name);
}

/** Returns the fields of a dotted path of proto or JSON names; undefined if one does not exist. */
export function findFieldPath(schema: DescMessage, path: string): FieldPath | undefined {
  const fields: DescField[] = [];
  let owner: DescMessage | undefined = schema;
  for (const name of path.split(".")) {
    const field: DescField | undefined = owner && findField(owner, name);
    if (!field) return undefined;
    fields.push(field);
    owner = messageOf(field);
  }
  return fields;
}

/** Returns the message whose fields may follow this one in a path, if any. */
export function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" && !isWellKnown(field.message) ? field.message : undefined;
}

/** Returns the dotted path in proto names. */
export function formatFieldPath(path: FieldPath): string {
  return path.map((field) => field.name).join(".");
}

/** Whether `path` is `prefix` or begins with it. */
export function isWithinPath(path: FieldPath, prefix: FieldPath): boolean {
  return prefix.every((field, i) => path[i] === field);
}

/** Whether google.protobuf defines the message: it is then a value rather than a set of fields. */
export function isWellKnown(schema: DescMessage): boolean {
  return schema.typeName.startsWith("google.protobuf.");
}

/** Calls `write` with the owner of the last field, and creates the messages on the path. */
export function writeAt(
  root: ReflectMessage,
  path: FieldPath,
  write: (owner: ReflectMessage, field: DescField) => void,
): void {
  let owner = root;
  const attach: (() => void)[] = [];
  for (const step of path.slice(0, -1)) {
    if (step.fieldKind !== "message") throw new TypeError(`${step} does not hold fields`);
    const parent = owner;
    const child = parent.isSet(step) ? parent.get(step) : reflect(step.message);
    attach.push(() => parent.set(step, child));
    owner = child;
  }
  write(owner, path.at(-1)!);
  for (const step of attach) step();
}

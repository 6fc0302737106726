// How names of the outside world lead to fields of a message.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** Fields from a message down to one of its descendants; all but the last are singular messages. */
export type FieldPath = readonly DescField[];

const namesOf = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** The field with a proto name or a JSON name; undefined when there is none. */
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

/** Follows a dotted path of proto or JSON names; undefined when it leads nowhere. */
export function findFieldPath(schema: DescMessage, path: string): FieldPath | undefined {
  const fields: DescField[] = [];
  let owner: DescMessage | undefined = schema;
  for (const name of path.split(".")) {
    const field: DescField | undefined = owner && findField(owner, name);
    if (!field) return undefined;
    fields.push(field);
    owner = holderOf(field);
  }
  return fields;
}

/** The message whose fields a path can name behind this one; undefined when the path ends with it. */
export function holderOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" && !isWellKnown(field.message) ? field.message : undefined;
}

/** The dotted path in proto names. */
export function formatFieldPath(path: FieldPath): string {
  return path.map((field) => field.name).join(".");
}

/** Whether `path` is `prefix` or lies below it. */
export function isWithinPath(path: FieldPath, prefix: FieldPath): boolean {
  return prefix.every((field, i) => path[i] === field);
}

/** Whether the message is one that google.protobuf defines: a value rather than a holder of fields. */
export function isWellKnown(schema: DescMessage): boolean {
  return schema.typeName.startsWith("google.protobuf.");
}

/** Hands the owner of the last field to `write`; the messages on the way there come into being. */
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

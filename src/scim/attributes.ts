// Reads the attributes of a resource by their definitions: one spelling of names, one form of values, nothing unknown.
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { scimLimits } from "./limits.ts";
import { type Attribute, enterpriseSchema, externalId, findAttribute, userSchema } from "./schemas.ts";
import { scimError } from "./scim-error.ts";

/** The attributes of a resource, in the spelling of their definitions. */
export type Attributes = Readonly<Record<string, unknown>>;

/** The attributes of a user outside its extensions. */
export const userAttributes: readonly Attribute[] = [externalId, ...userSchema.attributes];

/** The attributes that the indexes of the database have. */
const indexed: readonly string[] = ["userName", "externalId", "displayName"];

/** Reads a user. Ignores read-only and unknown attributes (RFC 7644 §3.3). */
export function readUser(body: JsonObject): Attributes {
  const extension = Object.entries(body).find(([name]) => name.toLowerCase() === enterpriseSchema.id.toLowerCase());
  const enterprise = extension && readExtension(extension[1]);
  return withoutEmpty({ ...readAttributes(userAttributes, body), [enterpriseSchema.id]: enterprise });
}

/** Reads the attributes of the enterprise extension. */
export function readExtension(value: unknown): Attributes {
  const object = parseJsonText(value);
  if (object === null) return {};
  if (!isJsonObject(object)) throw scimError("invalidValue", `${enterpriseSchema.id}: must be an object`);
  return readAttributes(enterpriseSchema.attributes, object);
}

/** Returns the object or list in a text of JSON, which some providers send in its place, and any other value as it is. */
export function parseJsonText(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Reads attributes by their definitions. */
export function readAttributes(definitions: readonly Attribute[], object: JsonObject, path = ""): Attributes {
  const read: [string, unknown][] = [];
  for (const [name, value] of Object.entries(object)) {
    const definition = findAttribute(definitions, name);
    if (definition && definition.mutability !== "readOnly")
      read.push([definition.name, readValue(definition, value, path + definition.name)]);
  }
  // RFC 7643 §2.5: null and an empty list mean that the attribute is not assigned.
  return withoutEmpty(Object.fromEntries(read));
}

/** Reads the value of an attribute; undefined if it is not assigned. */
export function readValue(definition: Attribute, given: unknown, path = definition.name): unknown {
  const value = definition.type === "complex" ? parseJsonText(given) : given;
  if (value === null || value === undefined) return undefined;
  if (!definition.multiValued) return readSingle(definition, value, path);
  const list = Array.isArray(value) ? value : [value];
  if (list.length > scimLimits.values)
    throw scimError("invalidValue", `${path}: must not have more than ${scimLimits.values} values`);
  const values = list.map((each, i) => readSingle(definition, each, `${path}[${i}]`));
  return onePrimary(values.filter((each) => each !== undefined));
}

/** Reads one value of an attribute. */
export function readSingle(definition: Attribute, value: unknown, path = definition.name): unknown {
  if (value === null || value === undefined) return undefined;
  switch (definition.type) {
    case "boolean":
      return readBoolean(value, path);
    case "complex":
      return readComplex(definition, value, path);
    default:
      return readText(definition, value, path);
  }
}

function readComplex(definition: Attribute, given: unknown, path: string): unknown {
  const subAttributes = definition.subAttributes ?? [];
  const value = parseJsonText(given);
  // Entra sends the id of a manager as a text.
  const object = typeof value === "string" && findAttribute(subAttributes, "value") ? { value } : value;
  if (!isJsonObject(object)) throw scimError("invalidValue", `${path}: must be an object`);
  const read = readAttributes(subAttributes, object, `${path}.`);
  return Object.keys(read).length === 0 ? undefined : read;
}

/** Entra sends "True" and "False" as texts. */
function readBoolean(value: unknown, path: string): boolean {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  if (text === false || text === "false") return false;
  throw scimError("invalidValue", `${path}: must be true or false`);
}

function readText({ name }: Attribute, value: unknown, path: string): string | undefined {
  if (typeof value !== "string") throw scimError("invalidValue", `${path}: must be a string`);
  const most = indexed.includes(name) ? scimLimits.indexedLength : scimLimits.textLength;
  if (value.length > most) throw scimError("invalidValue", `${path}: must not be longer than ${most} characters`);
  // Neither SQLite nor PostgreSQL can store U+0000 or a lone surrogate.
  if (value.includes("\0") || !value.isWellFormed())
    throw scimError("invalidValue", `${path}: must be valid Unicode without U+0000`);
  return value;
}

/** RFC 7643 §2.4: at most one value is primary. The last one counts: a client adds what it prefers now. */
export function onePrimary(values: readonly unknown[]): unknown[] {
  const isPrimary = (each: unknown) => isJsonObject(each) && each.primary === true;
  const last = values.findLastIndex(isPrimary);
  return values.map((each, i) => (i !== last && isPrimary(each) ? { ...(each as object), primary: false } : each));
}

/** Returns the attributes that are assigned. */
export function withoutEmpty(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => {
      if (Array.isArray(value)) return value.length > 0;
      return isJsonObject(value) ? Object.keys(value).length > 0 : value !== undefined;
    }),
  );
}

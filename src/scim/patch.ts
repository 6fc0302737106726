// Applies the operations of a PATCH (RFC 7644 §3.5.2) to the attributes of a user, and reads those of a group.
import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../base/json.ts";
import {
  type Attributes,
  onePrimary,
  parseJsonText,
  readAttributes,
  readExtension,
  readSingle,
  readValue,
  userAttributes,
  withoutEmpty,
} from "./attributes.ts";
import { countTerms, type Filter, matches, parseFilter } from "./filter.ts";
import { scimLimits } from "./limits.ts";
import { type Attribute, enterpriseSchema, findAttribute, groupSchema, userSchema } from "./schemas.ts";
import { scimError } from "./scim-error.ts";

/** One operation. */
export interface Operation {
  readonly op: "add" | "replace" | "remove";
  /** Empty for the whole resource. */
  readonly path: string;
  readonly value: unknown;
}

/** The target of an operation. */
interface Target {
  /** Whether the attribute is one of the enterprise extension. */
  readonly isExtension: boolean;
  /** Empty for the extension itself. */
  readonly name: string;
  readonly filter: Filter | undefined;
  readonly subAttribute: string | undefined;
}

/** The common attributes that only the server sets (RFC 7643 §3.1). */
const common: readonly string[] = ["id", "meta", "schemas"];

const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/** Reads the body of a PATCH. */
export function readOperations(body: unknown): Operation[] {
  if (!isJsonObject(body)) throw scimError("invalidSyntax", "the body must be a JSON object");
  if (!Array.isArray(body.schemas) || !body.schemas.includes(patchSchema))
    throw scimError("invalidSyntax", `schemas: must contain ${patchSchema}`);
  // RFC 7643 §2.1: the case of names does not matter; Entra writes "Operations".
  const operations = Object.entries(body).find(([name]) => name.toLowerCase() === "operations")?.[1];
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimError("invalidSyntax", "Operations: must be a list with at least one operation");
  if (operations.length > scimLimits.operations)
    throw scimError("tooMany", `Operations: must not be more than ${scimLimits.operations}`);
  return operations.flatMap((each, i) => readOperation(each, `Operations[${i}]`));
}

function readOperation(operation: unknown, at: string): Operation[] {
  if (!isJsonObject(operation)) throw scimError("invalidSyntax", `${at}: must be an object`);
  // Entra writes "Replace".
  const op = typeof operation.op === "string" ? operation.op.toLowerCase() : "";
  const { path = "", value } = operation;
  if (op !== "add" && op !== "replace" && op !== "remove")
    throw scimError("invalidSyntax", `${at}.op: must be add, replace or remove`);
  if (typeof path !== "string") throw scimError("invalidPath", `${at}.path: must be a string`);
  if (path !== "") {
    if (op !== "remove" && value === undefined) throw scimError("invalidValue", `${at}.value: is required`);
    return [{ op, path, value }];
  }
  if (op === "remove") throw scimError("noTarget", `${at}.path: is required to remove an attribute`);
  const attributes = parseJsonText(value);
  if (!isJsonObject(attributes)) throw scimError("invalidValue", `${at}.value: must be an object if there is no path`);
  // Okta sends attributes this way, with the id among them. Entra sends paths as their names.
  const given = Object.entries(attributes).filter(([name]) => !common.includes(name.toLowerCase()));
  return given.map(([name, each]) => ({ op, path: name, value: each }));
}

/** Returns the attributes of a user after the operations. */
export function patchUser(before: Attributes, operations: readonly Operation[]): Attributes {
  let user = before;
  let terms = 0;
  for (const operation of operations) {
    const target = parsePath(operation.path);
    if (!target) continue;
    // Each is compared with all values of an attribute, while other requests wait.
    terms += target.filter ? countTerms(target.filter) : 0;
    if (terms > scimLimits.patchTerms)
      throw scimError(
        "tooMany",
        `Operations: the filters have more than ${scimLimits.patchTerms} comparisons together`,
      );
    user = applyToUser(user, operation, target);
  }
  return user;
}

function applyToUser(user: Attributes, operation: Operation, target: Target): Attributes {
  if (!target.isExtension) return applyTo(userAttributes, user, operation, target);
  const { id, attributes } = enterpriseSchema;
  const extension = (user[id] ?? {}) as Attributes;
  if (target.name !== "") return withoutEmpty({ ...user, [id]: applyTo(attributes, extension, operation, target) });
  const given = operation.op === "remove" ? {} : { ...extension, ...readExtension(operation.value) };
  return withoutEmpty({ ...user, [id]: given });
}

/** Parses a path; undefined for one that is neither an attribute of a user nor malformed. */
export function parsePath(path: string): Target | undefined {
  if (path.length > scimLimits.filterLength)
    throw scimError("invalidPath", `a path is longer than ${scimLimits.filterLength} characters`);
  const { isExtension, rest } = withoutSchema(path);
  if (rest === "") return { isExtension, name: "", filter: undefined, subAttribute: undefined };
  const parts = /^([a-zA-Z$][\w$-]*)(?:\[(.*)\])?(?:\.([a-zA-Z$][\w$-]*))?$/s.exec(rest);
  // Extensions that Gatehouse does not have are ignored like other unknown attributes.
  if (!parts && /^urn:/i.test(path)) return undefined;
  if (!parts) throw scimError("invalidPath", `the path ${JSON.stringify(path.slice(0, 200))} is not valid`);
  const [, name = "", filter, subAttribute] = parts;
  const isFiltered = filter !== undefined;
  return { isExtension, name, filter: isFiltered ? parseFilter(filter, "invalidPath") : undefined, subAttribute };
}

/** Splits the name of a schema from a path. */
function withoutSchema(path: string): { isExtension: boolean; rest: string } {
  const lower = path.toLowerCase();
  for (const { id } of [enterpriseSchema, userSchema, groupSchema]) {
    const isExtension = id === enterpriseSchema.id;
    if (lower.startsWith(`${id.toLowerCase()}:`)) return { isExtension, rest: path.slice(id.length + 1) };
    if (isExtension && lower === id.toLowerCase()) return { isExtension, rest: "" };
  }
  return { isExtension: false, rest: path };
}

/** Applies an operation to attributes. Ignores attributes that are not known (docs/design/sign-in.md). */
function applyTo(
  definitions: readonly Attribute[],
  attributes: Attributes,
  operation: Operation,
  target: Target,
): Attributes {
  const definition = findAttribute(definitions, target.name);
  if (common.includes(target.name.toLowerCase()) || definition?.mutability === "readOnly") {
    throw scimError("mutability", `${target.name}: is read-only`);
  }
  if (!definition) return attributes;
  // Providers send null for unknown values, which must neither activate nor deactivate a person.
  if (definition.name === "active" && operation.op !== "remove" && operation.value === null) return attributes;
  const value = newValueOf(definition, attributes[definition.name], operation, target);
  return withoutEmpty({ ...attributes, [definition.name]: value });
}

/** Returns the value, or the values, of an attribute after an operation. */
function newValueOf(definition: Attribute, before: unknown, operation: Operation, target: Target): unknown {
  if (definition.multiValued) return applyToValues(definition, before, operation, target);
  if (!target.filter) return applyToValue(definition, before, operation, target);
  if (definition.type !== "complex")
    throw scimError("invalidPath", `${definition.name}: has one value without sub-attributes to compare`);
  // Entra sends manager[value eq "…"]: a complex attribute with one value is like a list of at most one.
  const values = before === undefined ? [] : [before];
  if (operation.op !== "remove" && values.some((each) => !matches(each, target.filter!)))
    throw scimError("noTarget", `${definition.name}: its value does not match the filter`);
  return (applyToValues(definition, values, operation, target) as unknown[]).at(-1);
}

/** Returns the value of an attribute with one value. */
function applyToValue(definition: Attribute, before: unknown, { op, value }: Operation, target: Target): unknown {
  if (target.subAttribute !== undefined) return withSubAttribute(definition, before, op, value, target.subAttribute);
  if (op === "remove") return undefined;
  const read = readValue(definition, value);
  // RFC 7644 §3.5.2.3: sub-attributes that the value lacks stay.
  return isJsonObject(read) && isJsonObject(before) ? { ...before, ...read } : read;
}

/** Returns the values of a multi-valued attribute. */
function applyToValues(definition: Attribute, before: unknown, { op, value }: Operation, target: Target): unknown {
  const values = (before ?? []) as unknown[];
  const { filter, subAttribute } = target;
  if (!filter && subAttribute === undefined) return withValues(definition, values, op, value);
  const isChosen = (each: unknown) => !filter || matches(each, filter);
  if (op === "remove" && subAttribute === undefined) return values.filter((each) => !isChosen(each));
  const change = (each: unknown) => {
    if (subAttribute !== undefined) return withSubAttribute(definition, each, op, value, subAttribute);
    return { ...(each as object), ...(readSingle(definition, value) as object) };
  };
  if (values.some(isChosen)) return kept(values.map((each) => (isChosen(each) ? change(each) : each)));
  // Entra replaces an address that it has not added before, and expects that it is there afterwards.
  const created = op === "remove" ? undefined : described(definition, filter);
  if (!created) throw scimError("noTarget", `${definition.name}: no value matches the filter`);
  return limited(definition, kept([...values, change(created)]));
}

function withValues(definition: Attribute, values: readonly unknown[], op: Operation["op"], value: unknown): unknown {
  if (op === "remove" && value === undefined) return undefined;
  const given = (readValue(definition, value) ?? []) as unknown[];
  if (op === "replace") return given;
  const isGiven = (each: unknown) => given.some((other) => isDeepStrictEqual(each, other));
  if (op === "remove") return values.filter((each) => !isGiven(each));
  return limited(definition, onePrimary([...values.filter((each) => !isGiven(each)), ...given]));
}

/** Returns the value that a filter describes, such as `type eq "work"`; undefined if it describes more than one. */
function described(definition: Attribute, filter: Filter | undefined): Attributes | undefined {
  if (!filter) return {};
  if (filter.op === "and") {
    const parts = filter.filters.map((each) => described(definition, each));
    return parts.includes(undefined) ? undefined : Object.assign({}, ...parts);
  }
  if (filter.op !== "eq") return undefined;
  return readAttributes(definition.subAttributes ?? [], { [filter.attrPath]: filter.compValue });
}

/** Returns a complex value with another sub-attribute. */
function withSubAttribute(
  definition: Attribute,
  before: unknown,
  op: Operation["op"],
  value: unknown,
  name: string,
): unknown {
  const known = findAttribute(definition.subAttributes ?? [], name);
  if (!definition.subAttributes) throw scimError("invalidPath", `${definition.name}: has no sub-attributes`);
  if (known?.mutability === "readOnly") throw scimError("mutability", `${definition.name}.${known.name}: is read-only`);
  if (!known) return before;
  const read = op === "remove" ? undefined : readSingle(known, value, `${definition.name}.${known.name}`);
  return withoutEmpty({ ...(before as object | undefined), [known.name]: read });
}

/** Returns the values that have an attribute left. */
function kept(values: readonly unknown[]): unknown[] {
  return onePrimary(values.filter((each) => !isJsonObject(each) || Object.keys(each).length > 0));
}

function limited(definition: Attribute, values: unknown[]): unknown[] {
  if (values.length > scimLimits.values)
    throw scimError("invalidValue", `${definition.name}: must not have more than ${scimLimits.values} values`);
  return values;
}

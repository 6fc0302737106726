// Static validation, before any lookup: required fields, patterns, uids. Reports all violations at once.
import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { iam_scope } from "../../gen/chainguard/annotations/auth_pb.ts";
import type { FieldViolation } from "../aip/errors.ts";
import { isInputOnly, isOutputOnly, isRequired, isRequiredInside } from "../aip/field-behavior.ts";
import { maskNames, resolveMask, type UpdateMask } from "../aip/field-mask.ts";
import { readField } from "../aip/fields.ts";
import { clip } from "../base/clip.ts";
import {
  type CheckContext,
  maxItems,
  plainTextRule,
  problemOf,
  type RuleBook,
  ruleByName,
  type TextRule,
  uidRule,
} from "./text-rules.ts";

type Check = (message: Message, prefix: string, found: FieldViolation[]) => void;

/** Returns the violations of a request. */
export type Validator = (request: Message, context: CheckContext) => FieldViolation[];

/** Compiles the validator of a method from its descriptor and a rule book. */
export function compileValidator(method: Pick<DescMethod, "input">, book: RuleBook): Validator {
  const { input } = method;
  const resource = resourceField(input);
  const maskField = input.fields.find((field) => field.name === "update_mask");
  const rest = input.fields.filter((field) => field !== resource);
  const checks = rest.map((field) => fieldCheck(input, field, book));
  const resourceCheck = resource && compileResourceCheck(resource.message, book);
  return (request, context) => {
    const found: FieldViolation[] = [];
    for (const check of checks) check(request, "", found);
    if (resource && resourceCheck) {
      const value = readField(request, resource) as Message | undefined;
      const update = maskField && { mask: readField(request, maskField) as FieldMask | undefined };
      found.push(...resourceCheck(value, update, context));
      // Violations of its fields say more.
      if (!value && found.length === 0)
        found.push({ field: resource.name, description: `${resource.name} is required` });
    }
    return found;
  };
}

/** Compiles the check of a whole resource, or of the part that a mask names. Paths are relative to the resource. */
export function compileResourceCheck(schema: DescMessage, book: RuleBook) {
  const checks = schema.fields
    .filter((field) => !isOutputOnly(field))
    .map((field) => ({
      field,
      check: fieldCheck(schema, field, book),
      // A response has no input-only field, so a client that replaces a resource cannot send it: if absent, it stays unchanged.
      checkReplaced: fieldCheck(schema, field, book, isRequired(field) && !isInputOnly(field)),
      checkPart: partCheck(field, book),
    }));
  // An update needs the uid if that names the resource, although the field is output only.
  const scope = schema.fields.find((field) => getOption(field, iam_scope));
  const between = book.get(schema.typeName)?.check;
  return (
    value: Message | undefined,
    update: { mask: FieldMask | undefined } | undefined,
    context: CheckContext,
  ): FieldViolation[] => {
    const found: FieldViolation[] = [];
    const message: Message = value ?? create(schema);
    const resolved = update && resolveMask(schema, message, update.mask);
    if (resolved && "violations" in resolved) return [...resolved.violations];
    const mask: UpdateMask | undefined = resolved?.mask;
    if (mask && scope) testText(uidRule, String(readField(message, scope)), scope.name, true, found);
    for (const { field, check, checkReplaced, checkPart } of checks) {
      if (!mask || mask.paths.includes(field.name)) check(message, "", found);
      else if (mask.isFull) checkReplaced(message, "", found);
      else if (maskNames(mask, field.name)) checkPart(message, mask, found);
    }
    // On update the rules between fields apply to the result, which only the handler knows.
    if (mask || !between) return found;
    // A field is reported once.
    const named = new Set(found.map(({ field }) => field));
    return [...found, ...between(message, context).filter(({ field }) => !named.has(field))];
  };
}

/** Compiles the check of the parts of a nested message that a mask names: the rest stays as stored. */
function partCheck(field: DescField, book: RuleBook) {
  const inner = field.fieldKind === "message" ? field.message : undefined;
  const checks = inner?.fields.map((part) => ({ part, check: fieldCheck(inner, part, book) })) ?? [];
  return (message: Message, mask: UpdateMask, found: FieldViolation[]): void => {
    const value = readField(message, field) as Message | undefined;
    if (!value) return;
    for (const { part, check } of checks) {
      if (maskNames(mask, `${field.name}.${part.name}`)) check(value, `${field.name}.`, found);
    }
  };
}

/**
 * Compiles the check of the result of an update: each nested message that the mask touches, as a whole. The check of the request sees only
 * the parts that the mask names, which may be valid where the whole message is not.
 */
export function compileTouchedCheck(schema: DescMessage, book: RuleBook) {
  const checks = schema.fields
    .filter((field) => field.fieldKind === "message" && !isOutputOnly(field))
    .map((field) => ({ field, check: fieldCheck(schema, field, book) }));
  return (result: Message, mask: UpdateMask): FieldViolation[] => {
    const found: FieldViolation[] = [];
    for (const { field, check } of checks) if (maskNames(mask, field.name)) check(result, "", found);
    return found;
  };
}

/** Returns the field of a request with the resource, such as `group` of CreateGroupRequest. */
function resourceField(input: DescMessage): (DescField & { fieldKind: "message" }) | undefined {
  return input.fields.find((field): field is DescField & { fieldKind: "message" } => {
    return (
      field.fieldKind === "message" &&
      field.message.file.proto.package === input.file.proto.package &&
      isRequired(field)
    );
  });
}

function fieldCheck(parent: DescMessage, field: DescField, book: RuleBook, required = isRequired(field)): Check {
  if (field.fieldKind === "message") {
    const inner = messageCheck(field.message, book);
    return (message, prefix, found) => {
      const value = readField(message, field) as Message | undefined;
      if (value) inner(value, `${prefix}${field.name}.`, found);
      else if (required) found.push({ field: prefix + field.name, description: `${field.name} is required` });
    };
  }
  if (field.fieldKind === "list") return listCheck(parent, field, required, book);
  if (field.fieldKind === "map") return mapCheck(field, required, textRule(parent, field, book), book);
  if (field.fieldKind === "enum") {
    const nameless = namelessOf(parent, field, book);
    return (message, prefix, found) => {
      const number = (readField(message, field) ?? 0) as number;
      testConstant(field.enum, nameless, number, prefix + field.name, found);
    };
  }
  if (field.scalar !== ScalarType.STRING) return () => {};
  const rule = textRule(parent, field, book);
  const mayBeEmpty = !required;
  return (message, prefix, found) => {
    const text = (readField(message, field) ?? "") as string;
    if (text !== "" || !mayBeEmpty) testText(rule, text, prefix + field.name, required, found);
  };
}

function listCheck(
  parent: DescMessage,
  field: DescField & { fieldKind: "list" },
  required: boolean,
  book: RuleBook,
): Check {
  const rule = textRule(parent, field, book);
  const nameless = namelessOf(parent, field, book);
  const inner = field.listKind === "message" ? messageCheck(field.message, book) : undefined;
  // A service with a smaller limit checks it itself.
  const most = Math.max(maxItems, book.get(parent.typeName)?.bounds?.[field.name]?.maxItems ?? 0);
  return (message, prefix, found) => {
    const list = readField(message, field) as readonly unknown[];
    const name = prefix + field.name;
    if (required && list.length === 0) found.push({ field: name, description: `${field.name} is required` });
    if (list.length > most) {
      found.push({ field: name, description: `must not have more than ${most} items` });
      return;
    }
    let index = 0;
    for (const item of list) {
      const at = `${name}[${index++}]`;
      if (inner) inner(item as Message, `${at}.`, found);
      else if (typeof item === "string") testText(rule, item, at, true, found);
      else if (field.listKind === "enum") testConstant(field.enum, nameless, item as number, at, found);
    }
  };
}

/** The rule applies to keys and to text values. */
function mapCheck(field: DescField & { fieldKind: "map" }, required: boolean, rule: TextRule, book: RuleBook): Check {
  const inner = field.mapKind === "message" ? messageCheck(field.message, book) : undefined;
  return (message, prefix, found) => {
    const entries = Object.entries(readField(message, field) as Readonly<Record<string, unknown>>);
    const name = prefix + field.name;
    if (required && entries.length === 0) found.push({ field: name, description: `${field.name} is required` });
    if (entries.length > maxItems) {
      found.push({ field: name, description: `must not have more than ${maxItems} entries` });
      return;
    }
    for (const [key, value] of entries) {
      const at = `${name}[${JSON.stringify(clip(key))}]`;
      testText(rule, key, at, false, found);
      if (inner) inner(value as Message, `${at}.`, found);
      else if (typeof value === "string") testText(rule, value, at, false, found);
    }
  };
}

function messageCheck(schema: DescMessage, book: RuleBook): Check {
  if (schema.typeName.startsWith("google.protobuf.") || book.get(schema.typeName)?.isCheckedByHandler) return () => {};
  const checks = schema.fields
    .filter((field) => !isOutputOnly(field))
    .map((field) => fieldCheck(schema, field, book, isRequiredInside(field)));
  return (message, prefix, found) => {
    for (const check of checks) check(message, prefix, found);
  };
}

/** Returns the rule of a text field: that of the rule book, or the default by its name. */
function textRule(parent: DescMessage, field: DescField, book: RuleBook): TextRule {
  return book.get(parent.typeName)?.fields[field.name] ?? ruleByName(field);
}

function testText(rule: TextRule, text: string, field: string, required: boolean, found: FieldViolation[]): void {
  if (required && text === "" && rule === plainTextRule) found.push({ field, description: `${field} is required` });
  else {
    const description = problemOf(rule, text);
    if (description !== undefined) found.push({ field, description });
  }
}

function namelessOf(parent: DescMessage, { name }: DescField, book: RuleBook): readonly number[] {
  return book.get(parent.typeName)?.nameless?.[name] ?? [];
}

/** Rejects numbers without a name: enums are open, so transports accept them. */
function testConstant(
  schema: DescEnum,
  nameless: readonly number[],
  number: number,
  field: string,
  found: FieldViolation[],
): void {
  if (schema.value[number] || nameless.includes(number)) return;
  found.push({ field, description: `"${number}" is not a value of ${schema.typeName}` });
}

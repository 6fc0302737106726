import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { FieldViolation } from "../aip/errors.ts";
import { platformRoot, uidEndPattern, uidPattern } from "../model/uid.ts";

/** The most UTF-16 units of a text whose rule has no limit of its own. */
const textLimits = {
  /** Any text. */
  any: 4096,
  /** Texts with a pattern, such as names. */
  pattern: 256,
} as const;

/** The most items of a list or map in a request. */
export const maxItems = 1000;

/** A rule for the text of one field. */
export interface TextRule {
  /** Whether the text is valid, except for its length. */
  test(text: string): boolean;
  /** The violation if it is not. */
  readonly description: string;
  /** The rule as a regular expression, for schemas; absent if there is none. */
  readonly pattern?: string;
  /** The most UTF-16 units; `textLimits.any` if absent: every text is limited. */
  readonly maxLength?: number;
}

/** Returns the violation of a text; undefined if it is valid. */
export function problemOf({ test, description, maxLength = textLimits.any }: TextRule, text: string) {
  // The rule comes first: some rules limit the length with a text of their own.
  if (!test(text)) return description;
  return text.length > maxLength ? `must be at most ${maxLength} characters long` : undefined;
}

/** The limits of a number, list or map. */
export interface FieldBounds {
  /** The smallest number. */
  readonly minimum?: number;
  /** The most items of a list, or entries of a map. */
  readonly maxItems?: number;
}

/** The rules of one message type. Only the proto says which fields are required. */
export interface MessageRules {
  readonly schema: DescMessage;
  /** By proto field name. An optional text is checked only if it is not empty. */
  readonly fields: Readonly<Record<string, TextRule>>;
  /** Numbers without a name that enum fields may have, by proto field name. */
  readonly nameless?: Readonly<Record<string, readonly number[]>>;
  /** Limits that the service checks itself, by proto field name; for schemas. */
  readonly bounds?: Readonly<Record<string, FieldBounds>>;
  /** A rule between fields. Returns violations with paths relative to the message. */
  readonly check?: (message: Message, context: CheckContext) => readonly FieldViolation[];
  /** Whether the handler checks each message of this type, because one violation must not reject a whole batch. */
  readonly isCheckedByHandler?: boolean;
}

/** The context of a rule: times that it may compare the value with. */
export interface CheckContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** When the resource was created; `now` on create. */
  readonly createTime: number;
}

/** The rules of all messages. */
export type RuleBook = ReadonlyMap<string, MessageRules>;

/** Collects the rules of implementations. */
export function ruleBook(implementations: readonly { readonly rules: readonly MessageRules[] }[]): RuleBook {
  return new Map(implementations.flatMap(({ rules }) => rules.map((rule) => [rule.schema.typeName, rule] as const)));
}

/** Makes the rule that a text matches a pattern. `shown` is the pattern in the violation. */
export function patternRule(
  field: string,
  pattern: RegExp,
  shown: string,
  maxLength: number = textLimits.pattern,
): TextRule {
  const description = `${field} must match "${shown}"`;
  return { test: (text) => pattern.test(text), description, pattern: textOf(pattern), maxLength };
}

const namePattern = /^[a-z0-9 ._-]{1,}$/;

/** Names of groups, identities, roles and other resources. */
export const nameRule = patternRule("name", namePattern, namePattern.source);

/** Descriptions: at most 512 code points on one line, without NUL, which PostgreSQL cannot store. */
export const descriptionRule: TextRule = patternRule(
  "description",
  /^[^\t\n\f\r\0]{0,512}$/u,
  "^[\\\\S ]{0,512}$",
  2 * 512,
);

/** Uids. */
export const uidRule: TextRule = {
  test: (text) => uidPattern.test(text),
  description: 'must match "^[0-9a-f]{40}(/[0-9a-f]{16})*$"',
  pattern: textOf(uidPattern),
};

/** The parent of a new group: its uid, the last segments of its uid, or its name. */
export const newGroupParentRule: TextRule = {
  test: (text) => uidRule.test(text) || uidEndPattern.test(text) || problemOf(nameRule, text) === undefined,
  // Security case I3: the violation explains uids.
  description: `${uidRule.description}, or be the end of the uid or the name of a group that the caller may list`,
  pattern: [uidPattern, uidEndPattern, namePattern].map(textOf).join("|"),
};

/** The parent in the role filter of version 1: a group, or the sentinel of the platform (security case I3). */
const roleFilterParentRule: TextRule = {
  test: (text) => uidRule.test(text) || text === platformRoot,
  description: `${uidRule.description}, or be "${platformRoot}"`,
  pattern: `${textOf(uidPattern)}|^${platformRoot}$`,
};

/** The messages whose `parent` may be something else than a uid. */
const parentRules: ReadonlyMap<string, TextRule> = new Map([
  ["CreateGroupRequest", newGroupParentRule],
  ["RoleFilter", roleFilterParentRule],
]);

/** Any other text: limited, and without NUL. */
export const plainTextRule: TextRule = {
  test: (text) => text.length <= textLimits.any && !text.includes("\0"),
  description: `must be at most ${textLimits.any} characters without NUL`,
  pattern: "^[^\\x00]*$",
};

/** AIP-158: page size and skip must not be negative. */
const boundsByName: Readonly<Record<string, FieldBounds>> = { page_size: { minimum: 0 }, skip: { minimum: 0 } };

/** The rules of the pipeline and the services for fields of requests. */
export interface FieldRules {
  /** Returns the rule of a text, or of each text of a list; undefined if the service has rules of its own. */
  text(field: DescField, typeName?: string): TextRule | undefined;
  bounds(field: DescField, typeName?: string): FieldBounds;
}

/** Returns the field rules of a rule book. Messages that their handler checks have none, since they do not reject the request. */
export function fieldRules(book: RuleBook): FieldRules {
  return {
    text(field, typeName = field.parent.typeName) {
      const own = book.get(typeName);
      if (own?.isCheckedByHandler) return undefined;
      const rule = own?.fields[field.name] ?? ruleByName(field);
      return { ...rule, maxLength: rule.maxLength ?? textLimits.any };
    },
    bounds(field, typeName = field.parent.typeName) {
      const most = field.fieldKind === "list" || field.fieldKind === "map" ? { maxItems } : {};
      return { ...most, ...boundsByName[field.name], ...book.get(typeName)?.bounds?.[field.name] };
    },
  };
}

/** Returns the default rule of a text field, by its name. */
export function ruleByName({ name, parent }: DescField): TextRule {
  if (name === "parent") return parentRules.get(parent.name) ?? uidRule;
  const holdsUid = name === "uid" || name.endsWith("_uid") || parent.name === "UIDPFilter";
  return holdsUid ? uidRule : plainTextRule;
}

/** Returns a pattern in the syntax that other languages share. */
function textOf(pattern: RegExp): string {
  return pattern.source.replaceAll("\\/", "/").replaceAll("\\0", "\\x00");
}

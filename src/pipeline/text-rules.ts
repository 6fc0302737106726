import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { FieldViolation } from "../aip/errors.ts";
import { platformRoot, uidEndPattern, uidPattern } from "../model/uid.ts";

/** How long texts may be, in UTF-16 units, where their rules say nothing narrower. */
const textLimits = {
  /** Any text. */
  any: 4096,
  /** Texts that match a pattern, names above all. */
  pattern: 256,
} as const;

/** More items than any list or map of a request has. */
export const maxItems = 1000;

/** A rule for the text of one field. */
export interface TextRule {
  /** Whether the text is in order, but for its length. */
  test(text: string): boolean;
  /** What is said otherwise. */
  readonly description: string;
  /** The regular expression of the texts in order, for those who state it elsewhere; absent where one cannot say it. */
  readonly pattern?: string;
  /** How long the text may be, in UTF-16 units; `textLimits.any` when absent, so that no rule leaves a text unbounded. */
  readonly maxLength?: number;
}

/** What a rule finds wrong with a text; undefined when it is in order. */
export function problemOf({ test, description, maxLength = textLimits.any }: TextRule, text: string) {
  // The rule comes first: those that bound their texts themselves say so in their own words.
  if (!test(text)) return description;
  return text.length > maxLength ? `must be at most ${maxLength} characters long` : undefined;
}

/** The bounds of a field that holds no text, or more than one value. */
export interface FieldBounds {
  /** The least number. */
  readonly minimum?: number;
  /** How many items a list may have, or entries a map. */
  readonly maxItems?: number;
}

/** The rules of one message type. What is required is said in the proto and nowhere else. */
export interface MessageRules {
  readonly schema: DescMessage;
  /** By proto field name. A text field that may be empty is tested only when it is not. */
  readonly fields: Readonly<Record<string, TextRule>>;
  /** Numbers that enum fields may have though their enum has no name for them, by proto field name. */
  readonly nameless?: Readonly<Record<string, readonly number[]>>;
  /** Bounds that the service checks in its own words, by proto field name; for those who state them elsewhere. */
  readonly bounds?: Readonly<Record<string, FieldBounds>>;
  /** A rule between fields; answers violations with paths relative to the message. */
  readonly check?: (message: Message, context: CheckContext) => readonly FieldViolation[];
  /** Whether the handler checks messages of this type one by one, so that one does not refuse the others of a batch. */
  readonly isCheckedByHandler?: boolean;
}

/** What a rule may depend on beside the message. */
export interface CheckContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** When the resource was created; `now` on create. */
  readonly createTime: number;
}

/** The rules of all messages. */
export type RuleBook = ReadonlyMap<string, MessageRules>;

/** Gathers the rules that implementations bring along. */
export function ruleBook(implementations: readonly { readonly rules: readonly MessageRules[] }[]): RuleBook {
  return new Map(implementations.flatMap(({ rules }) => rules.map((rule) => [rule.schema.typeName, rule] as const)));
}

/** A rule that a text matches a pattern; `shown` is the pattern as callers know it. */
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

/** Names of groups, identities, roles and the like. */
export const nameRule = patternRule("name", namePattern, namePattern.source);

/** Descriptions: at most 512 code points on one line. NUL is refused too: PostgreSQL cannot hold it. */
export const descriptionRule: TextRule = patternRule(
  "description",
  /^[^\t\n\f\r\0]{0,512}$/u,
  "^[\\\\S ]{0,512}$",
  2 * 512,
);

/** Uids, wherever one stands. */
export const uidRule: TextRule = {
  test: (text) => uidPattern.test(text),
  description: 'must match "^[0-9a-f]{40}(/[0-9a-f]{16})*$"',
  pattern: textOf(uidPattern),
};

/** What a group may be named by where one is created in it: its uid, the end of that in whole segments, or its name. */
export const newGroupParentRule: TextRule = {
  test: (text) => uidRule.test(text) || uidEndPattern.test(text) || problemOf(nameRule, text) === undefined,
  // Security case I3: what can be none of these is told what a uid is.
  description: `${uidRule.description}, or be the end of the uid or the name of a group that the caller may list`,
  pattern: [uidPattern, uidEndPattern, namePattern].map(textOf).join("|"),
};

/** The parent that the filter of roles of version 1 names: a group, or the platform by its sentinel (security case I3). */
const roleFilterParentRule: TextRule = {
  test: (text) => uidRule.test(text) || text === platformRoot,
  description: `${uidRule.description}, or be "${platformRoot}"`,
  pattern: `${textOf(uidPattern)}|^${platformRoot}$`,
};

/** The messages whose `parent` need not be a uid. */
const parentRules: ReadonlyMap<string, TextRule> = new Map([
  ["CreateGroupRequest", newGroupParentRule],
  ["RoleFilter", roleFilterParentRule],
]);

/** Any other text: bounded, and without NUL. */
export const plainTextRule: TextRule = {
  test: (text) => text.length <= textLimits.any && !text.includes("\0"),
  description: `must be at most ${textLimits.any} characters without NUL`,
  pattern: "^[^\\x00]*$",
};

/** AIP-158: no list takes a negative size or skip. */
const boundsByName: Readonly<Record<string, FieldBounds>> = { page_size: { minimum: 0 }, skip: { minimum: 0 } };

/** What the pipeline and the services ask of single fields of requests. */
export interface FieldRules {
  /** The rule of a text, or of each text of a list; undefined where the service has rules of its own. */
  text(field: DescField, typeName?: string): TextRule | undefined;
  bounds(field: DescField, typeName?: string): FieldBounds;
}

/** The rules of fields by a book. Messages that are checked by their handler one by one have none: no request is refused by them. */
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

/** The rule of a text field for which the book has none: by what the field is called. */
export function ruleByName({ name, parent }: DescField): TextRule {
  if (name === "parent") return parentRules.get(parent.name) ?? uidRule;
  const holdsUid = name === "uid" || name.endsWith("_uid") || parent.name === "UIDPFilter";
  return holdsUid ? uidRule : plainTextRule;
}

/** A pattern as other languages read it, too. */
function textOf(pattern: RegExp): string {
  return pattern.source.replaceAll("\\/", "/").replaceAll("\\0", "\\x00");
}

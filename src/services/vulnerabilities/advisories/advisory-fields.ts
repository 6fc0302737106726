// What callers say of an advisory, its rules, and the ids that advisories are known by.
import { randomBytes } from "node:crypto";
import { derivedPublicId, publicIdOf } from "../../../advisories/public-id.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { patternRule, type TextRule } from "../../../pipeline/text-rules.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";

/** What is said of an advisory, besides its events. */
export type AdvisoryFields = Pick<
  AdvisoryRow,
  | "author"
  | "artifactName"
  | "artifactType"
  | "artifactArchitecture"
  | "componentName"
  | "componentType"
  | "componentLocation"
  | "aliases"
>;

const publicIdPattern = /^CGA(-[23456789cfghjmpqrvwx]{4}){3}$/;

/** Public ids that this server makes, and that callers may bring. */
export const publicIdRule = patternRule("advisory_id", publicIdPattern, publicIdPattern.source);

/** The rule of ids of other sources, and of aliases, in a field of this name. */
export function sourceIdRule(field: string): TextRule {
  return patternRule(field, /^[A-Za-z0-9][A-Za-z0-9._:+/@~-]{0,127}$/, "^[A-Za-z0-9][A-Za-z0-9._:+/@~-]{0,127}$");
}

const aliasRule = sourceIdRule("alias");

/** The public id of a vulnerability in an artifact, for sources that have none: the same whenever it is imported. */
export function derivedId({ type, name }: { type: string; name: string }, vulnerability: string): string {
  return derivedPublicId([type, name, vulnerability]);
}

/** A new public id. */
export function newPublicId(): string {
  return publicIdOf(randomBytes(12));
}

/** What is wrong with the aliases. */
export function checkAliases(aliases: readonly string[]): FieldViolation[] {
  const seen = new Set<string>();
  return aliases.flatMap((alias, i) => {
    const field = `aliases[${i}]`;
    if (!aliasRule.test(alias)) return [{ field, description: aliasRule.description }];
    if (seen.has(alias)) return [{ field, description: `${alias} is there twice` }];
    seen.add(alias);
    return [];
  });
}

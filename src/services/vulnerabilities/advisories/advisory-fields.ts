// The fields of an advisory that callers set, their rules, and the ids of advisories.
import { randomBytes } from "node:crypto";
import { derivedPublicId, publicIdOf } from "../../../advisories/public-id.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { patternRule, type TextRule } from "../../../pipeline/text-rules.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";

/** The fields of an advisory that callers set, except its events. */
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

/** The rule of public ids, which this server generates or callers provide. */
export const publicIdRule = patternRule("advisory_id", publicIdPattern, publicIdPattern.source);

/** Makes the rule of a field with an id of another source, or an alias. */
export function sourceIdRule(field: string): TextRule {
  return patternRule(field, /^[A-Za-z0-9][A-Za-z0-9._:+/@~-]{0,127}$/, "^[A-Za-z0-9][A-Za-z0-9._:+/@~-]{0,127}$");
}

const aliasRule = sourceIdRule("alias");

/** Derives the public id of a vulnerability in an artifact, for sources that have none. Each import derives the same id. */
export function derivedId({ type, name }: { type: string; name: string }, vulnerability: string): string {
  return derivedPublicId([type, name, vulnerability]);
}

/** Generates a public id. */
export function newPublicId(): string {
  return publicIdOf(randomBytes(12));
}

/** Checks aliases. Returns the violations. */
export function checkAliases(aliases: readonly string[]): FieldViolation[] {
  const seen = new Set<string>();
  return aliases.flatMap((alias, i) => {
    const field = `aliases[${i}]`;
    if (!aliasRule.test(alias)) return [{ field, description: aliasRule.description }];
    if (seen.has(alias)) return [{ field, description: `${alias} is given twice` }];
    seen.add(alias);
    return [];
  });
}

// Finds a token that a rule accepts: the shortest texts that its patterns match, completed by the model of the issuer.
import type { Identity_ClaimMatch } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { Audiences } from "../audiences.ts";
import type { Claims } from "../claim-match.ts";
import { shortestText, type TextChoice } from "../patterns/shortest-text.ts";
import { genericModel, type Parts, type Template, type TokenForm, type WorkloadModel } from "./workload-model.ts";
import { workloadModels } from "./workload-models.ts";

/** Claims, or parts, as texts. */
export type Texts = Record<string, string>;

/** A token that a rule accepts, and the parts that it is built from. */
export interface AcceptedToken {
  readonly model: WorkloadModel;
  readonly form: TokenForm;
  readonly parts: Parts;
  /** The parts if sets of characters had other members: what differs is open in the rule. */
  readonly others: Parts;
  /** The claims that the rule names and the form does not have. */
  readonly fixed: Texts;
}

/** The alternatives of patterns that are looked at: `main` and `dev.*` of `(main|dev.*)`. */
const maxAlternatives = 4;

/**
 * Returns tokens that a rule accepts, one for each alternative of its patterns that has other parts; none if none was
 * found. `accepts` asks the rule.
 */
export function findAccepted(
  match: Identity_ClaimMatch,
  audiences: Audiences,
  accepts: (claims: Claims) => boolean,
): AcceptedToken[] {
  const found = new Map<string, AcceptedToken>();
  for (let alternative = 0; alternative < maxAlternatives; alternative++) {
    const base =
      findOne(match, audiences, accepts, { alternative }) ??
      findOne(match, audiences, accepts, { alternative, isFilled: true });
    if (base) found.set(JSON.stringify(claimsOf(base)), base);
  }
  return [...found.values()];
}

function findOne(
  match: Identity_ClaimMatch,
  audiences: Audiences,
  accepts: (claims: Claims) => boolean,
  choice: TextChoice,
): AcceptedToken | undefined {
  const seeds = seedsOf(match, audiences, choice);
  const others = seedsOf(match, audiences, { ...choice, isSecond: true });
  const isOf = ({ issuer, subject }: WorkloadModel) => issuer.test(seeds.iss!) || subject?.test(seeds.sub!) === true;
  const model =
    workloadModels.find((each) => isOf(each) || accepts({ ...seeds, iss: each.sampleIssuer })) ?? genericModel;
  const iss = isOf(model) ? seeds.iss! : model.sampleIssuer;
  const candidates = model === genericModel ? [model] : [model, genericModel];
  for (const candidate of candidates)
    for (const [form, read] of candidate.forms.flatMap((each) => ways.map((way) => [each, way] as const))) {
      const parts = { ...candidate.sample, ...read(form, seeds) };
      const built = Object.keys(form.claims);
      const fixed = {
        ...Object.fromEntries(Object.entries(seeds).filter(([name]) => name !== "sub" && !built.includes(name))),
        iss,
      };
      const base = { model: candidate, form, parts, others: { ...candidate.sample, ...read(form, others) }, fixed };
      if (accepts(claimsOf(base))) return base;
    }
  return undefined;
}

/** Returns a text for each claim that the rule names. */
function seedsOf(match: Identity_ClaimMatch, { names }: Audiences, choice: TextChoice): Texts {
  const { iss, sub, aud, claims, claimPatterns } = match;
  const member = ({
    case: name,
    value = "",
  }: {
    readonly case: string | undefined;
    readonly value?: string | undefined;
  }) => (name?.endsWith("Pattern") ? (shortestText(value, choice) ?? "") : value);
  const patterns = Object.entries(claimPatterns).map(
    ([name, pattern]) => [name, shortestText(pattern, choice) ?? ""] as const,
  );
  return {
    ...Object.fromEntries(patterns),
    ...claims,
    iss: member(iss),
    sub: member(sub),
    aud: aud.case === undefined ? (names[0] ?? "") : member(aud),
  };
}

type ReadParts = (template: Template, text: string) => Parts;

/** The ways to read the parts of a form: from the beginning, from the end, and from both where the middle is open. */
const ways: readonly ((form: TokenForm, seeds: Texts) => Parts)[] = [
  (form, seeds) => readForm(form, seeds, readParts),
  (form, seeds) => readForm(form, seeds, readPartsBackwards),
  (form, seeds) => ({ ...readForm(form, seeds, readPartsBackwards), ...readForm(form, seeds, readParts) }),
];

function readForm(form: TokenForm, seeds: Texts, readOne: ReadParts): Parts {
  const templates = { sub: form.sub, ...form.claims };
  const read = Object.entries(templates).flatMap(([name, template]) =>
    seeds[name] === undefined ? [] : Object.entries(readOne(template, seeds[name])),
  );
  return Object.fromEntries(read);
}

/**
 * Reads the parts of a text that begins as the template does. A part is read up to the literal that follows it, or else
 * up to a delimiter. Empty parts are left out.
 *
 * For `repo:{owner}/{repository}:ref` and `repo:acme/` returns the owner acme.
 */
function readParts(template: Template, text: string): Parts {
  const parts: Texts = {};
  let rest = text;
  const tokens = template.split(/\{(\w+)\}/);
  for (let i = 0; i < tokens.length; i += 2) {
    const literal = tokens[i]!;
    if (!rest.startsWith(literal)) break;
    rest = rest.slice(literal.length);
    const name = tokens[i + 1];
    if (name === undefined) break;
    const next = tokens[i + 2]!;
    const end = next === "" ? rest.length : rest.indexOf(next);
    const length = end >= 0 ? end : /[:/@]|$/.exec(rest)!.index;
    if (length > 0) parts[name] = rest.slice(0, length);
    rest = rest.slice(length);
  }
  return parts;
}

/** The same of a text that ends as the template does. For `{owner}/{repository}@{ref}` and `/app@main` returns app and main. */
function readPartsBackwards(template: Template, text: string): Parts {
  const parts: Texts = {};
  let rest = text;
  const tokens = template.split(/\{(\w+)\}/);
  for (let i = tokens.length - 1; i >= 0; i -= 2) {
    const literal = tokens[i]!;
    if (!rest.endsWith(literal)) break;
    rest = rest.slice(0, rest.length - literal.length);
    const name = tokens[i - 1];
    if (name === undefined) break;
    const before = tokens[i - 2]!;
    const start = before === "" ? 0 : rest.lastIndexOf(before) + before.length;
    const isFound = before === "" || rest.includes(before);
    const begin = isFound ? start : /[^:/@]*$/.exec(rest)!.index;
    if (begin < rest.length) parts[name] = rest.slice(begin);
    rest = rest.slice(0, begin);
  }
  return parts;
}

/** Returns the claims of a token as texts. */
export function claimsOf({ form, parts, fixed }: Pick<AcceptedToken, "form" | "parts" | "fixed">): Texts {
  const built = Object.entries(form.claims).map(([name, template]) => [name, fill(template, parts)] as const);
  return { ...Object.fromEntries(built), ...fixed, sub: fill(form.sub, parts) };
}

/** Returns a template with parts in the place of their names. */
export function fill(template: Template, parts: Parts): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole);
}

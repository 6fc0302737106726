// Finds whom a rule lets in by mistake: changes one thing at a time in a token that the rule accepts, and asks the rule again. Each finding
// has such a token.
import type { Identity_ClaimMatch } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { Audiences } from "../audiences.ts";
import { type Claims, matchClaims } from "../claim-match.ts";
import { shortestText } from "../patterns/shortest-text.ts";
import { newStepBudget } from "../patterns/step-budget.ts";
import { type AcceptedToken, claimsOf, fill, findAccepted, type Texts } from "./accepted-token.ts";
import type { NamedPart, OtherForm, Parts, TokenForm } from "./workload-model.ts";

/** A token that a rule lets in. */
export interface RuleFinding {
  readonly isError: boolean;
  /** Who has such a token, such as "a repository of another owner". */
  readonly who: string;
  /** The claims of the token, as texts. */
  readonly claims: Readonly<Record<string, string>>;
  /** The names of the claims that differ from those of `accepted`. */
  readonly changed: readonly string[];
}

/** The result of the check of a rule. */
export interface LintResult {
  /** The token that the changes start from; undefined if none was found, so the rule may never match. */
  readonly accepted: Readonly<Record<string, string>> | undefined;
  readonly findings: readonly RuleFinding[];
}

/** The steps of all comparisons of one call. */
const maxLintSteps = 1_000_000;

/**
 * Checks a claim match. `audiences` are those of rules that name none. Throws PERMISSION_DENIED if the comparisons
 * would take too many steps.
 */
export function lintRule(match: Identity_ClaimMatch, audiences: Audiences): LintResult {
  const steps = newStepBudget(maxLintSteps);
  const accepts = (claims: Claims) => matchClaims(match, claims, audiences, steps).ok;
  const [first, ...more] = findAccepted(match, audiences, accepts);
  if (!first) return { accepted: undefined, findings: [] };
  const accepted = claimsOf(first);
  const findings: RuleFinding[] = [];
  for (const base of [first, ...more])
    checkBase(match, base, accepts, (who, isError, claims) => {
      if (findings.some((one) => one.who === who)) return;
      const changed = Object.keys(claims).filter((name) => claims[name] !== accepted[name]);
      findings.push({ isError, who, claims, changed });
    });
  return { accepted, findings };
}

/** Changes one thing at a time in one of the tokens that the rule accepts. */
function checkBase(
  match: Identity_ClaimMatch,
  base: AcceptedToken,
  accepts: (claims: Claims) => boolean,
  report: Report,
): void {
  const accepted = claimsOf(base);
  const tryParts = (changes: Parts, form = base.form) => {
    const claims = claimsOf({ ...base, form, parts: { ...base.parts, ...changes } });
    return accepts(claims) ? claims : undefined;
  };
  const open = new Set<string>();
  for (const named of base.model.names) checkName(match, base, named, tryParts, open, report);
  for (const other of base.model.otherForms) checkForm(base, other, tryParts, open, report);
  checkIds(base, tryParts, open, report);
  checkIssuer(match, accepted, accepts, report);
  checkSharing(base, accepted, report);
  if (namesClaim(match, "email") && !namesClaim(match, "sub")) report("a later owner of the address", false, accepted);
}

type Report = (who: string, isError: boolean, claims: Texts) => void;
type TryParts = (changes: Parts, form?: TokenForm) => Texts | undefined;

/** A value that nobody has. */
const stranger = "mallory";

function checkName(
  match: Identity_ClaimMatch,
  base: AcceptedToken,
  { part, what, isBoundary, ids = [], isOpen = false }: NamedPart,
  tryParts: TryParts,
  open: Set<string>,
  report: Report,
): void {
  if (!saysSomethingOf(match, base.form, part)) return;
  const value = base.parts[part]!;
  const otherIds = Object.fromEntries(ids.map((id) => [id, idAfter(base.parts[id]!)]));
  const any = tryParts({ ...otherIds, [part]: stranger });
  if (any) {
    open.add(part);
    report(what, isBoundary, any);
    return;
  }
  const other = base.others[part] ?? value;
  // Inside a name: one at its end stands for all that may follow.
  const dot = value.search(/(?<=\w)\.(?=\w)/);
  const similar: readonly (readonly [text: string, how: string])[] = [
    // A rule that ends with a delimiter, such as "release/.*", means all that begin the same.
    ...(value.at(-1) === other.at(-1) && /\w$/.test(value)
      ? [
          [`${value}-${stranger}`, "that begins the same"] as const,
          [`${value}${stranger}`, "that begins the same"] as const,
        ]
      : []),
    ...(value.at(0) === other.at(0) && /^\w/.test(value)
      ? [[`${stranger}-${value}`, "that ends the same"] as const]
      : []),
    ...(dot >= 0 ? [[replaceAt(value, dot, "x"), "with another character in place of a dot"] as const] : []),
  ];
  for (const [text, how] of similar) {
    const claims = tryParts({ ...otherIds, [part]: text });
    if (!claims) continue;
    report(`${what} ${how}`, !isOpen, claims);
    return;
  }
}

function checkForm(
  base: AcceptedToken,
  { from, to, what, isError, parts = {}, unlessAny }: OtherForm,
  tryParts: TryParts,
  open: Set<string>,
  report: Report,
) {
  if (!from.includes(base.form.name) || (unlessAny !== undefined && open.has(unlessAny))) return;
  const form = to === undefined ? base.form : base.model.forms.find(({ name }) => name === to);
  if (!form) return;
  const filled = Object.fromEntries(Object.entries(parts).map(([part, text]) => [part, fill(text, base.parts)]));
  const claims = tryParts(filled, form);
  if (claims) report(what, isError, claims);
}

/** A name that has another owner since has other ids. */
function checkIds({ model, form, parts }: AcceptedToken, tryParts: TryParts, open: Set<string>, report: Report): void {
  const [outer] = model.names;
  if (model.ids.length === 0 || (outer && open.has(outer.part))) return;
  const changes = Object.fromEntries(model.ids.map((id) => [id, idAfter(parts[id]!)]));
  const withIds = model.forms.find(({ name }) => name === form.idForm);
  const claims = (withIds && tryParts(changes, withIds)) ?? tryParts(changes);
  if (claims) report("a later owner of the names: the ids differ", false, claims);
}

function checkIssuer(
  match: Identity_ClaimMatch,
  accepted: Texts,
  accepts: (claims: Claims) => boolean,
  report: Report,
): void {
  if (match.iss.case !== "issuerPattern") return;
  const pattern = match.iss.value;
  const spellings = [false, true].map((isFilled) => shortestText(pattern, { isSecond: true, isFilled }));
  const iss = spellings.find((one) => one !== undefined && one !== accepted.iss && accepts({ ...accepted, iss: one }));
  if (iss !== undefined) report("another issuer that the pattern matches", false, { ...accepted, iss });
}

/** Reports if more workloads have tokens such as the accepted one than their name says. */
function checkSharing({ model, form, parts }: AcceptedToken, accepted: Texts, report: Report): void {
  if (form.openTo !== undefined) report(form.openTo, true, accepted);
  for (const { part, value, what } of model.sharedValues ?? [])
    if (parts[part] === value) report(what, false, accepted);
}

function namesClaim({ sub, claims, claimPatterns }: Identity_ClaimMatch, name: string): boolean {
  if (name === "sub") return sub.case === "subject" || !/^\(*\.[*+]\)*$/.test(sub.value ?? "");
  return Object.hasOwn(claims, name) || Object.hasOwn(claimPatterns, name);
}

/** Whether a part stands in the subject, or in another claim that the rule names. */
function saysSomethingOf(match: Identity_ClaimMatch, { sub, claims }: TokenForm, part: string): boolean {
  const named = Object.entries(claims).filter(([name]) => namesClaim(match, name));
  return [sub, ...named.map(([, template]) => template)].some((template) => template.includes(`{${part}}`));
}

function replaceAt(text: string, index: number, by: string): string {
  return `${text.slice(0, index)}${by}${text.slice(index + 1)}`;
}

/** Returns another id of the same form: its last digit differs. */
function idAfter(id: string): string {
  return `${id.slice(0, -1)}${id.endsWith("9") ? "8" : "9"}`;
}

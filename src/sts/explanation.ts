// Explains an exchange: runs the checks of an exchange and reports the outcome of each, not only the first failure.
// Only for callers who may read the identity, since the response contains what it requires.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  CheckOutcome,
  type ExchangeCheckSchema,
  type ExplainExchangeRequest,
  type ExplainExchangeResponseSchema,
} from "../../gen/gatehouse/access/v1/access_pb.ts";
import { ApiError, notFound } from "../aip/errors.ts";
import { resourceType } from "../aip/resource-type.ts";
import { isSameName } from "../model/trust.ts";
import type { AssumableIdentity, AssumptionDeps, PersonClaims } from "./assumable-identity.ts";
import { type AwsAssumptionDeps, awsComparisons, awsNames } from "./aws/assumption.ts";
import { type AwsCaller, askAws } from "./aws/caller-identity.ts";
import { awsChecks } from "./aws/request-checks.ts";
import { type AwsRequest, parseAwsRequest } from "./aws/signed-request.ts";
import { comparisonsOf } from "./claim-match.ts";
import { show } from "./denials.ts";
import { newStepBudget } from "./patterns/step-budget.ts";
import { isAboutTime, parseSubjectToken, type SubjectToken, verificationsOf } from "./subject-token.ts";
import { type Requirement, requirementOf, staticKeysProblem } from "./token-requirement.ts";
import { judgeNames, type PresentedNames, presentedNames } from "./trust/pinned-names.ts";

type Check = MessageInitShape<typeof ExchangeCheckSchema>;
type Deps = AssumptionDeps & AwsAssumptionDeps;

/** Creates the handler of the ExplainExchange method. It issues no token and stores nothing. */
export function newExplainExchange(deps: Deps) {
  return async (request: ExplainExchangeRequest): Promise<MessageInitShape<typeof ExplainExchangeResponseSchema>> => {
    const identity = await deps.directory.find(request.identity);
    if (!identity) throw notFound(resourceType(IdentitySchema), request.identity);
    const checks = await explain(deps, identity, request.token.trim());
    return { checks, allowed: checks.every(({ outcome }) => outcome === CheckOutcome.PASSED) };
  };
}

async function explain(deps: Deps, identity: AssumableIdentity, token: string): Promise<Check[]> {
  const presented = parseSubjectToken(token);
  const aws = presented ? undefined : parseAwsRequest(token);
  if (aws) return await explainAws(deps, identity, aws);
  if (!presented) return [failed("token", "it is neither a JSON Web Token nor a signed request of AWS")];
  const form = passed("token", "it is a JSON Web Token");
  if (presented.issuer === deps.issuer) return [form, ...(await explainOwn(deps, identity, presented))];
  return [form, ...(await explainToken(deps, identity, presented))];
}

/** One of our own tokens is valid for its own identity only. */
async function explainOwn(deps: Deps, identity: AssumableIdentity, presented: SubjectToken): Promise<Check[]> {
  const { text, subject } = presented;
  if (subject !== identity.uid)
    return [failed("sub", `our own tokens are for their own identity; this one has ${show(subject)}`)];
  let person: PersonClaims = {};
  const token = await attempt("token", async () => {
    person = (await deps.tokens.verify(text)).act;
    return "our own token of this identity";
  });
  return [
    ...(await withPerson(deps, identity, person, [token])),
    ...explainKeys(deps, requirementOf(deps, identity, presented)),
  ];
}

/** Adds the check of the person, if it fails. Only a valid token of a person may show that the person is deactivated. */
async function withPerson(
  { directory }: Deps,
  { uid }: AssumableIdentity,
  claims: PersonClaims,
  checks: readonly Check[],
) {
  if (checks.some(({ outcome }) => outcome !== CheckOutcome.PASSED)) return checks;
  const person = await attempt("person", () => directory.requireActivePerson(uid, claims));
  return person.outcome === CheckOutcome.PASSED ? checks : [...checks, person];
}

/** Expired static keys prevent every exchange for their identity. */
function explainKeys({ clock }: Deps, requirement: Requirement | undefined): Check[] {
  const problem = staticKeysProblem(requirement, clock());
  return problem === undefined ? [] : [failed("expiration_time", problem)];
}

async function explainToken(deps: Deps, identity: AssumableIdentity, presented: SubjectToken): Promise<Check[]> {
  const requirement = requirementOf(deps, identity, presented);
  if (!requirement) return [failed("relationship", `no token of an issuer can assume it: ${kindOf(identity)}`)];
  const { claims } = presented;
  const [issuer, ...others] = comparisonsOf(requirement.match, requirement.audiences, newStepBudget()).map(
    ({ claim, wanted, matches }) => {
      const values = { presented: show(claims[claim]), expected: show(wanted) };
      const told = `presented ${values.presented || "nothing"}; the identity asks for ${values.expected}`;
      return { ...compare(claim, told, () => matches(claims)), ...values };
    },
  );
  const checks = [passed("relationship", kindOf(identity)), issuer!];
  let isVerifiable = issuer?.outcome === CheckOutcome.PASSED;
  for (const { check, run } of verificationsOf(presented, requirement.keys, deps.clock())) {
    const made = isVerifiable || isAboutTime(check) ? await attempt(check, run) : skipped(check);
    // An unverified token must not choose whom the server contacts, and without keys no signature can be checked.
    if (made.outcome === CheckOutcome.FAILED && !isAboutTime(check)) isVerifiable = false;
    checks.push(isUnsigned(made, presented) ? failed(check, "the token has no signature") : made);
  }
  return [
    ...(await withPerson(deps, identity, claims, [...checks, ...others])),
    ...explainKeys(deps, requirement),
    ...explainNames(deps, identity, presentedNames(claims)),
  ];
}

/** Whether a signature failed because there is none: people debug tokens that they have taken it from, so nobody can use them. */
function isUnsigned({ name, outcome }: Check, { text }: SubjectToken): boolean {
  return name === "signature" && outcome === CheckOutcome.FAILED && text.endsWith(".");
}

/** Compares the names of a workload with the pins of the identity. Nothing is pinned or noted. */
function explainNames(
  { clock }: Deps,
  { pins: { policy, trust } }: AssumableIdentity,
  presented: PresentedNames,
): Check[] {
  if (policy === "off") return [];
  const { contradictorySubject, problems } = judgeNames(trust, policy, presented, clock());
  const contradiction =
    contradictorySubject === undefined ? [] : [failed("sub", "an id in the subject is not that of the claim about it")];
  const checks = presented.names.map((one): Check => {
    const { kind, name, id } = one;
    const expected = trust.pins
      .filter((pin) => isSameName(pin, one))
      .map((pin) => pin.id)
      .join(" or ");
    const problem = problems.find((each) => each.kind === kind);
    const told = expected === "" ? "it is not pinned yet" : `it is pinned to ${expected}`;
    const detail = `${show(name) || "no name"} with ${id === "" ? "no id" : `the id ${show(id)}`}; ${told}`;
    const values = { presented: show(id), expected };
    return {
      ...(problem ? failed : passed)(`name:${kind}`, problem ? `${detail} (${problem.reason})` : detail),
      ...values,
    };
  });
  return [...contradiction, ...checks];
}

async function explainAws(deps: Deps, identity: AssumableIdentity, request: AwsRequest): Promise<Check[]> {
  const form = passed("token", "it is a signed request of AWS");
  const { relationship, uid } = identity;
  if (relationship.case !== "awsIdentity")
    return [form, failed("relationship", `it is not one of AWS: ${kindOf(identity)}`)];
  const expected = { host: deps.aws.host, audiences: deps.defaultAudiences, identity: uid, now: deps.clock() };
  const checks = [form, passed("relationship", kindOf(identity))];
  for (const [check, run] of awsChecks) checks.push(await attempt(check, () => run(request, expected)));
  const comparisons = awsComparisons(relationship.value, newStepBudget());
  // A request that is not exactly this one, for this server and identity, is never sent anywhere.
  if (checks.some(({ outcome }) => outcome === CheckOutcome.FAILED)) {
    return [...checks, ...["signature", ...comparisons.map(({ claim }) => claim)].map(skipped)];
  }
  let caller: AwsCaller | undefined;
  checks.push(
    await attempt("signature", async () => {
      caller = await askAws(deps.aws, request);
    }),
  );
  return [
    ...checks,
    ...comparisons.map(({ claim, wanted, presented, matches }) => {
      if (!caller) return skipped(claim);
      const values = { presented: show(presented(caller)), expected: show(wanted) };
      const told = `AWS says ${values.presented}; the identity asks for ${values.expected}`;
      const known = caller;
      return { ...compare(claim, told, () => matches(known)), ...values };
    }),
    ...(caller ? explainNames(deps, identity, awsNames(caller)) : []),
  ];
}

/** Runs one check. The error that an exchange would return is its detail. */
async function attempt(name: string, run: () => unknown): Promise<Check> {
  try {
    const told = await run();
    return passed(name, typeof told === "string" ? told : "");
  } catch (error) {
    return failed(name, problemOf(error));
  }
}

/** Runs one comparison; `told` is its detail, unless the comparison itself fails. */
function compare(name: string, told: string, matches: () => boolean): Check {
  try {
    return matches() ? passed(name, told) : failed(name, told);
  } catch (error) {
    return failed(name, problemOf(error));
  }
}

function problemOf(error: unknown): string {
  return error instanceof ApiError ? error.message : "it could not be made";
}

function kindOf({ relationship, user }: AssumableIdentity): string {
  if (user) return "a person of the login provider";
  const names = { claimMatch: "a claim match", staticKeys: "static keys", awsIdentity: "an AWS identity" };
  return relationship.case === "servicePrincipal"
    ? "a service principal"
    : (names[relationship.case as keyof typeof names] ?? "nothing");
}

function passed(name: string, detail: string): Check {
  return { name, outcome: CheckOutcome.PASSED, detail };
}

function failed(name: string, detail: string): Check {
  return { name, outcome: CheckOutcome.FAILED, detail };
}

function skipped(name: string): Check {
  return { name, outcome: CheckOutcome.SKIPPED, detail: "a check that it rests on failed" };
}

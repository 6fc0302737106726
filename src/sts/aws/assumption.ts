// AWS identities: assumed with a signed GetCallerIdentity request (security case X2: only the identity that it names).
import type { Identity_AWSIdentity } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { AssumptionDeps } from "../assumable-identity.ts";
import type { Assumption } from "../assumption.ts";
import { matchMember } from "../claim-match.ts";
import { awsDenied, claimDenied } from "../denials.ts";
import { newStepBudget, type StepBudget } from "../patterns/step-budget.ts";
import type { PresentedNames } from "../trust/pinned-names.ts";
import { type AwsCaller, type AwsEndpoint, askAws, audienceOf, identityOf } from "./caller-identity.ts";
import { awsChecks } from "./request-checks.ts";
import type { AwsRequest } from "./signed-request.ts";

/** Dependencies of assuming an AWS identity. */
export interface AwsAssumptionDeps extends Pick<AssumptionDeps, "directory" | "defaultAudiences" | "clock"> {
  readonly aws: AwsEndpoint;
}

/** One requirement of an AWS identity. */
export interface AwsComparison {
  readonly claim: string;
  readonly wanted: string;
  presented(caller: AwsCaller): string;
  /** Throws PERMISSION_DENIED if the step budget of patterns is spent. */
  matches(caller: AwsCaller): boolean;
}

/** Exchanges a signed request for the AWS identity that it names. */
export async function assumeWithAwsRequest(
  deps: AwsAssumptionDeps,
  uid: string,
  request: AwsRequest,
): Promise<Assumption> {
  const { aws, clock, directory, defaultAudiences: audiences } = deps;
  const expected = { host: aws.host, audiences, identity: uid, now: clock() };
  for (const [, run] of awsChecks) run(request, expected);
  const identity = await directory.find(identityOf(request));
  // One error for all of these, so the caller cannot learn which identities exist. Nothing is sent to AWS.
  if (identity?.relationship.case !== "awsIdentity") throw awsDenied("identity", "the identity is not one of AWS");
  const caller = await askAws(aws, request);
  const comparisons = awsComparisons(identity.relationship.value, newStepBudget());
  const missed = comparisons.find((comparison) => !comparison.matches(caller));
  if (missed) throw claimDenied(missed.claim, missed.presented(caller));
  await directory.admitNames(identity, awsNames(caller));
  const { account, arn } = caller;
  const act = { iss: new URL(aws.url).origin, sub: arn, aud: audienceOf(request), "aws-acct": account, "aws-arn": arn };
  return { uid: identity.uid, claims: { act }, narrowing: {} };
}

/** Returns the name of the role that signed. Its id, `AROA…`, stands in the user id before the colon; a new role has another. */
export function awsNames({ arn, userId }: AwsCaller): PresentedNames {
  const name = /^arn:[^:]+:sts::[0-9]+:assumed-role\/([^/]+)\//.exec(arn)?.[1];
  const [id = ""] = /^AROA[A-Z0-9]+(?=:)/.exec(userId) ?? [];
  return { names: name === undefined ? [] : [{ kind: "role", name, id }], isPinnedAtFirstUse: true };
}

/** Returns the requirements of an AWS identity in the order in which they are compared. */
export function awsComparisons(
  { awsAccount, awsArn, awsUserId }: Identity_AWSIdentity,
  steps: StepBudget,
): AwsComparison[] {
  return [
    {
      claim: "aws_account",
      wanted: awsAccount,
      presented: ({ account }) => account,
      matches: ({ account }) => account === awsAccount,
    },
    {
      claim: "arn",
      wanted: awsArn.value ?? "",
      presented: ({ arn }) => arn,
      matches: ({ arn }) => matchMember(awsArn, arn, steps),
    },
    {
      claim: "user_id",
      wanted: awsUserId.value ?? "",
      presented: ({ userId }) => userId,
      matches: ({ userId }) => matchMember(awsUserId, userId, steps),
    },
  ];
}

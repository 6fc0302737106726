// Checks rules for whom they let in by mistake.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type LintRuleRequest,
  type LintRuleResponseSchema,
  RuleFinding_Severity,
  WorkloadTrustService,
} from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { invalidArgument, invalidField } from "../../../aip/errors.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { checkClaimMatch } from "../../../sts/identity-rules.ts";
import { lintRule } from "../../../sts/trust/lint.ts";
import { type SeenTokensContext, seenTokenMethods } from "./seen-tokens.ts";
import { type TrustMethodsContext, trustMethods, trustRules } from "./trust-methods.ts";

/** The dependencies of the service. */
export type WorkloadTrustContext = SeenTokensContext & TrustMethodsContext;

/** Serves the checks of rules, and pins. */
export function workloadTrust(context: WorkloadTrustContext): Implementation {
  const { settings, defaultAudiences } = context;
  const checks: Pick<Handlers<typeof WorkloadTrustService>, "lintRule"> = {
    lintRule({ claimMatch }: LintRuleRequest): MessageInitShape<typeof LintRuleResponseSchema> {
      if (!claimMatch) throw invalidField("claim_match", "is required");
      const violations = checkClaimMatch(claimMatch, settings);
      if (violations.length > 0) throw invalidArgument(violations);
      const { accepted, findings } = lintRule(claimMatch, defaultAudiences);
      return {
        acceptedClaims: accepted ?? {},
        findings: findings
          .toSorted((one, other) => Number(other.isError) - Number(one.isError))
          .map(({ isError, who, claims, changed }) => ({
            severity: isError ? RuleFinding_Severity.ERROR : RuleFinding_Severity.WARNING,
            who,
            claims,
            changed: [...changed],
          })),
      };
    },
  };
  const methods = { ...allExpensive(checks), ...seenTokenMethods(context), ...trustMethods(context) };
  return implement(WorkloadTrustService, methods, trustRules);
}

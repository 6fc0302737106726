// Which tokens assume an identity with a claim match: whom its rule lets in by mistake, which names are pinned, and which tokens were
// presented.
import { useQuery } from "@connectrpc/connect-query";
import type {
  Identity_ClaimMatch as ClaimMatch,
  Identity,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { WorkloadTrustService } from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Pins } from "./pins.tsx";
import { RuleFindings } from "./rule-findings.tsx";
import { SeenTokens } from "./seen-tokens.tsx";
import { TryRule } from "./try-rule.tsx";

const { lintRule } = WorkloadTrustService.method;

/** The tab. */
export function TrustTab({ identity }: { readonly identity: Identity }) {
  const { relationship } = identity;
  if (relationship.case !== "claimMatch") return null;
  return (
    <div className="stack">
      <Warnings rule={relationship.value} />
      <Pins identity={identity} />
      <SeenTokens identity={identity} />
      <TryRule identity={identity} />
    </div>
  );
}

function Warnings({ rule }: { readonly rule: ClaimMatch }) {
  const { t } = useTexts();
  const request = { claimMatch: rule };
  // The result depends on the rule alone.
  const { data, error, refetch } = useQuery(lintRule, request, { staleTime: Infinity, refetchInterval: false });
  return (
    <section className="card stack" aria-labelledby="warnings">
      <div className="row">
        <h2 id="warnings">{t("trust.warnings")}</h2>
        <div className="grow" />
        <CopyAs method={lintRule} request={request} />
      </div>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data ? <RuleFindings result={data} /> : !error && <Loading lines={2} />}
    </section>
  );
}

// Whom a rule lets in by mistake: a sentence for each finding of the linter, with the claims of such a token.
import {
  type LintRuleResponse,
  type RuleFinding,
  RuleFinding_Severity as Severity,
} from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { Pill, Verdict } from "../../shell/look.tsx";
import { isTextId, type Texts, useTexts } from "../../texts/texts.ts";
import { ClaimList } from "./claim-list.tsx";
import { partsOfFinding } from "./finding-text.ts";
import styles from "./trust.module.css";

/** The findings, errors first, as the server sorts them. */
export function RuleFindings({ result: { findings, acceptedClaims } }: { readonly result: LintRuleResponse }) {
  const { t } = useTexts();
  if (Object.keys(acceptedClaims).length === 0) return <p className="notice warn">{t("trust.neverMatches")}</p>;
  if (findings.length === 0)
    return (
      <div className="lines">
        <Verdict isGood>{t("trust.nothingFound")}</Verdict>
        <span className="muted small">{t("trust.nothingFoundHelp")}</span>
      </div>
    );
  return (
    <ul className={styles.findings}>
      {findings.map((finding) => (
        <Finding key={`${finding.who} ${finding.claims.sub}`} finding={finding} />
      ))}
    </ul>
  );
}

function Finding({ finding: { severity, who, claims, changed } }: { readonly finding: RuleFinding }) {
  const { t } = useTexts();
  const isError = severity === Severity.ERROR;
  const shown = changed.length > 0 ? changed : ["sub"];
  const others = Object.keys(claims).filter((name) => !shown.includes(name));
  return (
    <li>
      <div className="row">
        <Pill tone={isError ? "critical" : "medium"} icon={isError ? "x-circle-fill" : "alert"}>
          {t(isError ? "trust.error" : "trust.warning")}
        </Pill>
        <strong>{findingText(t, who)}</strong>
      </div>
      <ClaimList claims={claims} names={shown} isMarked={changed.length > 0} />
      {others.length > 0 && (
        <details>
          <summary className="small">{t("trust.otherClaims", { count: others.length })}</summary>
          <ClaimList claims={claims} names={others} />
        </details>
      )}
    </li>
  );
}

/** Returns the sentence for a finding. What a later server says and no text translates stands there as it is. */
function findingText(t: Texts, who: string): string {
  const { sentence, what, id } = partsOfFinding(who);
  return t(sentence, { who: isTextId(id) ? t(id) : what });
}

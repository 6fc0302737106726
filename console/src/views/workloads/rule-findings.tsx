// Whom a rule lets in by mistake: a sentence for each finding of the linter, with the claims of such a token.
import {
  type LintRuleResponse,
  type RuleFinding,
  RuleFinding_Severity as Severity,
} from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { Pill, Verdict } from "../../shell/look.tsx";
import { isTextId, type Texts, useTexts } from "../../texts/texts.ts";
import { ClaimList } from "./claim-list.tsx";
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
  const others = Object.keys(claims).filter((name) => !changed.includes(name));
  return (
    <li>
      <div className="row">
        <Pill tone={isError ? "critical" : "medium"} icon={isError ? "x-circle-fill" : "alert"}>
          {t(isError ? "trust.error" : "trust.warning")}
        </Pill>
        <strong>{findingText(t, who)}</strong>
      </div>
      <ClaimList claims={claims} names={changed} isMarked />
      {others.length > 0 && (
        <details>
          <summary className="small">{t("trust.otherClaims", { count: others.length })}</summary>
          <ClaimList claims={claims} names={others} />
        </details>
      )}
    </li>
  );
}

/** The ends of what the API says of a similar name, and the sentences for them. */
const similar = [
  [" that begins the same", "trust.finding.begins"],
  [" that ends the same", "trust.finding.ends"],
  [" with another character in place of a dot", "trust.finding.dot"],
] as const;

/** Returns the sentence for a finding. What a later server says and no text translates stands there as it is. */
export function findingText(t: Texts, who: string): string {
  const [end, sentence] = similar.find(([end]) => who.endsWith(end)) ?? (["", "trust.finding"] as const);
  const what = who.slice(0, who.length - end.length);
  const id = `trust.who.${what.replaceAll(/[^a-z]+/g, "-")}`;
  return t(sentence, { who: isTextId(id) ? t(id) : what });
}

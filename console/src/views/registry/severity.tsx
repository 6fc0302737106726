// The severity of findings as people read it.
import {
  CheckState,
  type FindingCounts,
  VulnerabilitySeverity,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { Pill } from "../../shell/look.tsx";
import { type Texts, useTexts } from "../../texts/texts.ts";
import { severities } from "./address.ts";

/** The names of severities, from the highest on; those without a score last. */
const names = [...severities.toReversed(), "unknown"] as const;
type Name = (typeof names)[number];

const toneOf = (name: Name) => (name === "unknown" ? "neutral" : name);

/** Returns the word for a severity. */
function wordOf(t: Texts, name: Name): string {
  return name === "unknown" ? t("images.noScore") : t(`advisories.rating.${name}`);
}

/** The severity of one finding. */
export function SeverityPill({ severity }: { readonly severity: VulnerabilitySeverity }) {
  const { t } = useTexts();
  const name = severities[severity - VulnerabilitySeverity.LOW] ?? "unknown";
  return <Pill tone={toneOf(name)}>{wordOf(t, name)}</Pill>;
}

interface SeverityCountsProps {
  readonly counts: FindingCounts | undefined;
  readonly state: CheckState;
}

/** The numbers of findings by severity, and how far they are known. */
export function SeverityCounts({ counts, state }: SeverityCountsProps) {
  const { t, locale } = useTexts();
  if (state === CheckState.UNKNOWN) return <span className="muted">{t("images.state.unknown")}</span>;
  return (
    <>
      {names.map((name) => {
        const count = counts?.[name] ?? 0;
        return count === 0 ? null : (
          <Pill key={name} tone={toneOf(name)}>
            <span className="nowrap">
              {wordOf(t, name)} {count.toLocaleString(locale)}
            </span>
          </Pill>
        );
      })}
      {state === CheckState.PENDING && <span className="muted">{t("images.state.pending")}</span>}
      {state === CheckState.PARTIAL && <span className="muted">{t("images.state.partial")}</span>}
      {state === CheckState.CHECKED && counts?.total === 0 && (
        <Pill tone="good" icon="check-circle-fill">
          {t("images.state.clean")}
        </Pill>
      )}
    </>
  );
}

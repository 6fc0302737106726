// The severity of a vulnerability as people read it. The scores are those of the server.
import { Pill } from "../../shell/look.tsx";
import { Copyable } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./advisories.module.css";

/** The ratings of CVSS 3.1, section 5, with the lowest score of each. */
const ratings = [
  ["critical", 9],
  ["high", 7],
  ["medium", 4],
  ["low", 0.1],
] as const;

function ratingOf(score: number) {
  return ratings.find(([, lowest]) => score >= lowest)?.[0] ?? "none";
}

/** A score with its rating; the rating alone where the score stands beside it. */
export function SeverityPill({ score, isWord = false }: { readonly score: number; readonly isWord?: boolean }) {
  const { t } = useTexts();
  const rating = ratingOf(score);
  const word = t(`advisories.rating.${rating}`);
  return (
    <Pill tone={rating === "none" ? "neutral" : rating}>
      <span className="nowrap">{isWord ? word : `${word} ${score.toFixed(1)}`}</span>
    </Pill>
  );
}

/** The base metrics of CVSS 3.1 and 4.0 that are shown, with the words of their values. */
const metrics = {
  AV: { N: "network", A: "adjacent", L: "local", P: "physical" },
  AC: { L: "low", H: "high" },
  AT: { N: "none", P: "present" },
  PR: { N: "none", L: "low", H: "high" },
  UI: { N: "none", R: "required", P: "passive", A: "active" },
  C: { N: "none", L: "low", H: "high" },
  I: { N: "none", L: "low", H: "high" },
  A: { N: "none", L: "low", H: "high" },
} as const;

type Metric = keyof typeof metrics;

/** Returns the metrics of a vector with their values. CVSS 4.0 calls the impacts on the vulnerable system VC, VI and VA. */
function metricsOf(vector: string): (readonly [Metric, string])[] {
  const given = new Map(vector.split("/").map((part) => part.split(":") as [string, string]));
  return Object.entries(metrics).flatMap(([name, words]) => {
    const value = given.get(name) ?? given.get(`V${name}`);
    const word = (words as Readonly<Record<string, string>>)[value ?? ""];
    return word === undefined ? [] : [[name as Metric, word] as const];
  });
}

interface Props {
  readonly score: number | undefined;
  readonly vectors: readonly string[];
}

/** The score, and what each vector says in words. */
export function SeverityCard({ score, vectors }: Props) {
  const { t } = useTexts();
  return (
    <section className="card stack" aria-labelledby="advisory-severity">
      <h2 id="advisory-severity">{t("advisories.severity")}</h2>
      {score !== undefined && (
        <p className="row">
          <strong className={styles.score}>{score.toFixed(1)}</strong> <SeverityPill score={score} isWord />
        </p>
      )}
      {vectors.length === 0 && <p className="muted">{t("advisories.noSeverity")}</p>}
      {vectors.map((vector) => (
        <div key={vector} className="stack">
          <dl className="facts">
            {metricsOf(vector).map(([metric, word]) => (
              <div key={metric} className="contents">
                <dt>{t(`advisories.metric.${metric}`)}</dt>
                <dd>{t(`advisories.metric.value.${word as "low"}`)}</dd>
              </div>
            ))}
          </dl>
          <Copyable value={vector} shown={vector} what={t("advisories.vector")} />
        </div>
      ))}
    </section>
  );
}

// How far an action on many rows is, and what became of each row.
import { Button } from "@mantine/core";
import { useTexts } from "../texts/texts.ts";
import styles from "./bulk.module.css";
import type { BulkResult } from "./bulk-run.ts";
import { Pill, type Tone } from "./look.tsx";
import type { BulkRun } from "./use-bulk-run.ts";

/** How many rows are listed with their results, the failed ones first. */
const listed = 200;

interface BulkResultsProps<Row> {
  readonly run: BulkRun<Row>;
  readonly results: ReadonlyMap<Row, BulkResult>;
  readonly nameOf: (row: Row) => string;
  readonly onClose: () => void;
}

/** The progress with *Stop*; at the end the results, and the ways to try again and to go on. */
export function BulkResults<Row>({ run, results, nameOf, onClose }: BulkResultsProps<Row>) {
  const { t } = useTexts();
  const rowsIn = (wanted: BulkResult["state"]) =>
    [...results].filter(([, { state }]) => state === wanted).map(([row]) => row);
  const [done, failed, untouched] = [rowsIn("done"), rowsIn("failed"), rowsIn("untouched")];
  const ended = done.length + failed.length;
  return (
    <div className="stack">
      <progress className={styles.progress} value={ended} max={results.size} aria-label={t("bulk.progress")} />
      <p role="status">
        {t("bulk.counts", {
          done: done.length,
          failed: failed.length,
          untouched: results.size - ended,
          total: results.size,
        })}
      </p>
      {!run.isRunning && <ResultList results={results} nameOf={nameOf} />}
      <div className="row actions">
        <div className="grow" />
        {run.isRunning ? (
          <Button key="stop" data-autofocus variant="default" ref={takeFocus} onClick={run.stop}>
            {t("bulk.stop")}
          </Button>
        ) : (
          <>
            {failed.length > 0 && (
              <Button variant="default" onClick={() => run.start(failed)}>
                {t("bulk.tryAgain", { count: failed.length })}
              </Button>
            )}
            {untouched.length > 0 && (
              <Button variant="default" onClick={() => run.start(untouched)}>
                {t("bulk.goOn", { count: untouched.length })}
              </Button>
            )}
            <Button key="close" ref={takeFocus} onClick={onClose}>
              {t("action.close")}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}

/** Gives the focus to the button of the phase that begins. */
function takeFocus(button: HTMLButtonElement | null): void {
  button?.focus({ preventScroll: true });
}

const order = { failed: 0, untouched: 1, running: 2, done: 3 } as const;
const tones: Readonly<Record<BulkResult["state"], Tone>> = {
  failed: "critical",
  untouched: "neutral",
  running: "accent",
  done: "good",
};

function ResultList<Row>({ results, nameOf }: Pick<BulkResultsProps<Row>, "results" | "nameOf">) {
  const { t } = useTexts();
  const sorted = [...results].sort(([, a], [, b]) => order[a.state] - order[b.state]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1: what scrolls is reachable by keyboard. */}
      <section className={styles.results} tabIndex={0} aria-label={t("bulk.results")}>
        <ul className="list dense">
          {sorted.slice(0, listed).map(([row, result], index) => (
            <li key={index}>
              <bdi className="grow">{nameOf(row)}</bdi>
              {result.state === "failed" && <span className="muted">{result.reason}</span>}
              <Pill tone={tones[result.state]}>{t(`bulk.${result.state}`)}</Pill>
            </li>
          ))}
        </ul>
      </section>
      {sorted.length > listed && <p className="muted">{t("bulk.more", { count: sorted.length - listed })}</p>}
    </>
  );
}

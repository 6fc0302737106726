// Charts of counts by day, each with the same figures as a table.
import { Button } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import styles from "./chart.module.css";
import tableStyles from "./table.module.css";

/** A colour of charts: `--chart-NAME` of tokens.css. */
export type ChartColor = "sign-ins" | "changes" | "denied" | "critical" | "high" | "medium" | "low";

/** The counts of one thing: as many as there are days, or one for a part of a whole. */
export interface Series {
  readonly title: string;
  readonly color: ChartColor;
  readonly counts: readonly number[];
}

/** Stacked bars, one for each day. The pointer and the arrow keys read a day; a button shows the figures as a table. */
export function DayBars({
  label,
  days,
  series,
}: {
  readonly label: string;
  /** Days such as "2026-11-28". */
  readonly days: readonly string[];
  readonly series: readonly Series[];
}) {
  const [day, setDay] = useState<number>();
  return (
    <Frame
      picture={<Bars label={label} days={days} series={series} day={day} onDay={setDay} />}
      figures={<Figures label={label} days={days} series={series} />}
      legend={(isTable) => <Legend series={series} {...(day !== undefined && !isTable && { day })} />}
    />
  );
}

/** A picture or its figures, and below it the legend and the button that switches between both. */
function Frame({
  picture,
  figures,
  legend,
}: {
  readonly picture: ReactNode;
  readonly figures: ReactNode;
  readonly legend: (isTable: boolean) => ReactNode;
}) {
  const { t } = useTexts();
  const [isTable, setTable] = useState(false);
  return (
    <div className={styles.chart}>
      {isTable ? figures : picture}
      <div className="row">
        {legend(isTable)}
        <div className="grow" />
        <Button variant="subtle" size="compact-sm" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {t(isTable ? "chart.picture" : "chart.table")}
        </Button>
      </div>
    </div>
  );
}

/** Returns the properties of an element whose values the arrow keys, `Home` and `End` read, one after the other. A slider is what screen readers read so. */
function sliderOf({ label, last, shown, text, onRead }: SliderOptions) {
  return {
    role: "slider",
    tabIndex: 0,
    "aria-label": label,
    "aria-valuemin": 0,
    "aria-valuemax": last,
    "aria-valuenow": shown,
    "aria-valuetext": text,
    onKeyDown: (event: KeyboardEvent) => {
      const to = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      onRead(Math.min(Math.max(to, 0), last));
    },
    onBlur: () => onRead(undefined),
    onPointerLeave: () => onRead(undefined),
  };
}

interface SliderOptions {
  readonly label: string;
  readonly last: number;
  readonly shown: number;
  /** The shown value in words. */
  readonly text: string;
  readonly onRead: (at: number | undefined) => void;
}

interface BarsProps {
  readonly label: string;
  readonly days: readonly string[];
  readonly series: readonly Series[];
  readonly day: number | undefined;
  readonly onDay: (day: number | undefined) => void;
}

function Bars({ label, days, series, day, onDay }: BarsProps) {
  const { dayText, countText } = useFormats();
  const last = days.length - 1;
  const totals = days.map((_, at) => series.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0));
  const top = niceTop(Math.max(0, ...totals));
  const shown = day ?? last;
  const reading = [dayText(days[shown]), ...series.map(({ title, counts }) => `${title} ${countText(counts[shown])}`)];
  const slider = sliderOf({ label, last, shown, text: reading.join(", "), onRead: onDay });
  return (
    <>
      <div {...slider} className={styles.plot}>
        <span className={styles.top}>{countText(top)}</span>
        {days.map((one, at) => (
          <div key={one} className={styles.day} data-current={at === day} onPointerEnter={() => onDay(at)}>
            {series.map(({ color, counts }) => (
              <div
                key={color}
                className={styles.part}
                style={{ height: `${((counts[at] ?? 0) / top) * 100}%`, background: `var(--chart-${color})` }}
              />
            ))}
          </div>
        ))}
      </div>
      <div className={styles.axis} aria-hidden="true">
        <span>{dayText(days[0])}</span>
        {day !== undefined && <strong>{dayText(days[day])}</strong>}
        <span>{dayText(days[last])}</span>
      </div>
    </>
  );
}

/** The colours with their words and their counts: of a day, or of all days. */
function Legend({ series, day }: { readonly series: readonly Series[]; readonly day?: number }) {
  const { countText } = useFormats();
  return (
    <ul className="inline small">
      {series.map(({ title, color, counts }) => (
        <li key={color} className={styles.entry}>
          <span className={styles.swatch} style={{ background: `var(--chart-${color})` }} />
          <span className="muted">{title}</span>{" "}
          <strong>{countText(day === undefined ? counts.reduce((sum, one) => sum + one, 0) : counts[day])}</strong>
        </li>
      ))}
    </ul>
  );
}

function Figures({ label, days, series }: Pick<BarsProps, "label" | "days" | "series">) {
  const { t } = useTexts();
  const { dayText, countText } = useFormats();
  return (
    // biome-ignore lint/a11y/useSemanticElements: no landmark, and no fields.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1: what scrolls is reachable by keyboard.
    <div className={styles.figures} role="group" tabIndex={0} aria-label={label}>
      <table className={tableStyles.numbers} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{t("chart.day")}</th>
            {series.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day, at) => (
            <tr key={day}>
              <td>{dayText(day)}</td>
              {series.map(({ title, counts }) => (
                <td key={title}>{countText(counts[at])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A whole as one bar in parts, the last count of each series. The pointer and the arrow keys read a part. */
export function PartBar({ label, series }: { readonly label: string; readonly series: readonly Series[] }) {
  const parts = series.map((one) => ({ ...one, counts: one.counts.slice(-1) }));
  return (
    <Frame
      picture={<Parts label={label} series={parts} />}
      figures={<PartFigures label={label} series={parts} />}
      legend={() => <Legend series={parts} />}
    />
  );
}

function Parts({ label, series }: Pick<BarsProps, "label" | "series">) {
  const { countText } = useFormats();
  const [part, setPart] = useState<number>();
  const total = series.reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0);
  const shown = part ?? 0;
  const text = `${series[shown]?.title} ${countText(series[shown]?.counts[0])}`;
  const slider = sliderOf({ label, last: series.length - 1, shown, text, onRead: setPart });
  return (
    <div {...slider} className={styles.bar}>
      {series.map(({ color, counts }, at) => (
        <div
          key={color}
          data-current={at === part}
          style={{
            width: `${total === 0 ? 0 : ((counts[0] ?? 0) / total) * 100}%`,
            background: `var(--chart-${color})`,
          }}
          onPointerEnter={() => setPart(at)}
        />
      ))}
    </div>
  );
}

function PartFigures({ label, series }: Pick<BarsProps, "label" | "series">) {
  const { t } = useTexts();
  const { countText } = useFormats();
  return (
    <table className={tableStyles.numbers} aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{t("chart.part")}</th>
          <th scope="col">{t("chart.count")}</th>
        </tr>
      </thead>
      <tbody>
        {series.map(({ title, counts }) => (
          <tr key={title}>
            <td>{title}</td>
            <td>{countText(counts[0])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns the ways in which charts write days and counts. */
export function useFormats() {
  const { locale } = useTexts();
  const day = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" });
  const count = new Intl.NumberFormat(locale);
  return {
    dayText: (text: string | undefined) => (text === undefined ? "" : day.format(new Date(text))),
    countText: (value: number | undefined) => count.format(value ?? 0),
  };
}

/** Returns a round number that is not below the largest one: 1, 2 or 5 times a power of ten. */
export function niceTop(largest: number): number {
  if (largest <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= largest) ?? largest;
}

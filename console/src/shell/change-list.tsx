// Changes as sentences: in the audit log, on the overview, and on pages of people and workloads.
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useMemo, useState } from "react";
import type { Change, Sentence, SentencePart } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { NameState } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { languages, repetitionsOf, sentencePieces } from "../../../packages/client/src/sentences.ts";
import { type ChangeFold, foldChanges, timeOf } from "../api/folding.ts";
import { useTexts } from "../texts/texts.ts";
import styles from "./change-list.module.css";
import { shownOf } from "./found-resources.ts";
import { Icon } from "./icon.tsx";
import { Avatar } from "./look.tsx";

/** The properties of a list of changes. */
export interface ChangeListProps {
  /** The uid of the organization. */
  readonly org: string;
  /** The name of the list, for screen readers. */
  readonly label: string;
  /** The changes, the latest first. */
  readonly changes: readonly Change[];
  readonly isUtc?: boolean;
  /** The level of the headings of days. */
  readonly level: "h2" | "h3";
  /** The most lines; all if absent. */
  readonly maxLines?: number;
  /** Returns what an opened line shows of a change. Without it, only lines of several changes open. */
  readonly details?: (change: Change) => ReactNode;
}

/** A list of changes by days. Runs of one actor, kind and verb are one line, which opens; so are the sign-ins of a day. */
export function ChangeList({
  label,
  changes,
  isUtc = false,
  level,
  maxLines = Number.POSITIVE_INFINITY,
  ...props
}: ChangeListProps) {
  const days = useMemo(() => foldChanges(changes, isUtc), [changes, isUtc]);
  let left = maxLines;
  const shown = days.flatMap(({ day, folds }) => {
    const some = folds.slice(0, Math.max(left, 0));
    left -= some.length;
    return some.length === 0 ? [] : [{ day, folds: some }];
  });
  return (
    <div className={styles.days}>
      {shown.map(({ day, folds }) => (
        <section key={day}>
          <DayHeading day={day} level={level} isUtc={isUtc} />
          <ol className={`list ${styles.lines}`} aria-label={label}>
            {folds.map((fold) => (
              <Line key={fold.changes.at(-1)!.id} fold={fold} isUtc={isUtc} {...props} />
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

interface DayHeadingProps extends Pick<ChangeListProps, "level"> {
  readonly day: string;
  readonly isUtc: boolean;
}

function DayHeading({ day, level: Heading, isUtc }: DayHeadingProps) {
  const { locale } = useTexts();
  // The day itself has no zone: noon in UTC is the same day everywhere in UTC.
  const format = new Intl.DateTimeFormat(locale, {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  const text = format.format(new Date(`${day}T12:00:00Z`));
  return <Heading className={styles.day}>{isUtc ? `${text}, UTC` : text}</Heading>;
}

interface LineProps extends Pick<ChangeListProps, "org" | "details"> {
  readonly fold: ChangeFold;
  readonly isUtc: boolean;
}

function Line({ fold, isUtc, org, details }: LineProps) {
  const { t, locale } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const { changes, folds } = fold;
  const latest = changes[0]!;
  const time = timeOf(latest);
  const canOpen = changes.length > 1 || details !== undefined;
  const zone = isUtc ? { timeZone: "UTC" } : {};
  const hour = new Intl.DateTimeFormat(locale, { timeStyle: "short", ...zone }).format(time);
  const whole = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long", ...zone }).format(time);
  return (
    <li className={styles.line}>
      <time className="muted" dateTime={time.toISOString()} title={whole}>
        {hour}
      </time>
      <Actor part={latest.sentence?.parts.actor} />
      <span className={styles.text}>
        <FoldSentence fold={fold} org={org} />
      </span>
      {canOpen && (
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={isOpen}
          {...(isOpen && { "aria-controls": id })}
          aria-label={t("changes.open", { text: textOf(fold, locale) })}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="chevron-down" />
        </button>
      )}
      {isOpen && (
        <div id={id} className={styles.opened}>
          {changes.length === 1 && details?.(latest)}
          {changes.length > 1 && (
            <ol className={`list ${styles.lines}`} aria-label={t("changes.folded")}>
              {(folds.length > 0 ? folds : changes.map(single)).map((each) => (
                <Line key={each.changes[0]!.id} fold={each} isUtc={isUtc} org={org} {...(details && { details })} />
              ))}
            </ol>
          )}
        </div>
      )}
    </li>
  );
}

function single(change: Change): ChangeFold {
  return { changes: [change], key: change.sentence?.key ?? "", folds: [] };
}

function Actor({ part }: { readonly part: SentencePart | undefined }) {
  if (!part || part.uid === "") return <Icon name="server" />;
  return <Avatar uid={part.uid} name={part.name || undefined} isWorkload={part.uid.includes("/")} />;
}

/** The sentence of a line, with links to what still exists. */
function FoldSentence({ fold, org }: { readonly fold: ChangeFold; readonly org: string }) {
  const { language } = useTexts();
  return (
    <>
      {piecesOf(fold, language).map((piece, at) =>
        typeof piece === "string" ? piece : <Named key={at} part={piece.part} text={piece.text} org={org} />,
      )}
    </>
  );
}

function Named({ part, text, org }: { readonly part: SentencePart; readonly text: string; readonly org: string }) {
  const { uid, kind, state } = part;
  const shown = state === NameState.KNOWN && uid !== "" ? shownOf(kind) : undefined;
  if (!shown)
    return (
      <strong>
        <bdi>{text}</bdi>
      </strong>
    );
  const address = shown.address?.(part) ?? {};
  return (
    <Link to={shown.to} params={{ org, _splat: address.uid ?? uid }} search={(address.search ?? {}) as never}>
      <bdi>{text}</bdi>
    </Link>
  );
}

function textOf(fold: ChangeFold, language: string): string {
  return piecesOf(fold, language)
    .map((piece) => (typeof piece === "string" ? piece : piece.text))
    .join("");
}

/** Returns the sentence of a line in pieces. */
function piecesOf({ changes, key, folds }: ChangeFold, language: string) {
  const { sentence, kind } = changes[0]!;
  const said = { ...(sentence ?? { parts: {} }), key } as Sentence;
  const count = changes.reduce((sum, change) => sum + (change.sentence ? repetitionsOf(change.sentence) : 1), 0);
  const more = (folds.length > 0 ? folds.length : count) - 1;
  const texts = language.startsWith("de") ? languages.de : languages.en;
  return sentence ? sentencePieces(said, texts, { count, more }) : [kind];
}

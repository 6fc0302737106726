// How views look: heads, pills, avatars, figures, and what stands in the place of nothing.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import { Icon, type IconName } from "./icon.tsx";
import styles from "./look.module.css";
import { Heading } from "./parts.tsx";

/** The tones of pills and avatars. Each has a back and a text in tokens.css. */
export type Tone = "neutral" | "good" | "low" | "medium" | "high" | "critical" | "accent" | "teal";

/** The head of a view: its title, what belongs to it, and its actions at the end of the line. */
export function PageHead({
  title,
  path,
  avatar,
  beside,
  detail,
  children,
}: {
  readonly title: ReactNode;
  /** The way to it, above the title. */
  readonly path?: ReactNode;
  /** Pills and counts next to the title. */
  readonly beside?: ReactNode;
  /** An avatar in front of the title. */
  readonly avatar?: ReactNode;
  /** The address or path that tells it from others of its name, below the title. */
  readonly detail?: ReactNode;
  /** Actions. At most one of them is filled. */
  readonly children?: ReactNode;
}) {
  return (
    <header className={styles.head}>
      <div className={styles.title}>
        {path}
        <div className={styles.subject}>
          {avatar}
          <div>
            <div className="row">
              <Heading>{title}</Heading>
              {beside}
            </div>
            {detail}
          </div>
        </div>
      </div>
      {children !== undefined && <div className={styles.actions}>{children}</div>}
    </header>
  );
}

/** A word with a tone, such as a status. The icon says the same to those who do not see colours. */
export function Pill({
  tone = "neutral",
  icon,
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly title?: string;
  readonly children: ReactNode;
}) {
  return (
    <span className={styles.pill} data-tone={tone} title={title}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </span>
  );
}

/** Good or bad news, with the icon that says the same to those who do not see colours. */
export function Verdict({ isGood, children }: { readonly isGood: boolean; readonly children: ReactNode }) {
  return (
    <span className={`${styles.verdict} ${isGood ? "good" : "danger"}`}>
      <Icon name={isGood ? "check-circle-fill" : "x-circle-fill"} />
      <span>{children}</span>
    </span>
  );
}

/** The tints of avatars. */
const tints = ["low", "good", "medium", "high", "critical", "accent", "teal", "neutral"] as const;

/** Initials for a person (round) or a workload (square); a dashed question mark for who has not joined. Its name stands beside it. */
export function Avatar({
  uid,
  name,
  isWorkload = false,
  isLarge = false,
}: {
  readonly uid: string;
  /** Undefined for somebody without a name that may be shown. */
  readonly name: string | undefined;
  readonly isWorkload?: boolean;
  /** True next to the title of a view, where it is larger. */
  readonly isLarge?: boolean;
}) {
  const tint = tints[Number.parseInt(uid.slice(-4), 16) % tints.length] ?? "neutral";
  return (
    <span
      className={styles.avatar}
      aria-hidden="true"
      data-tone={name === undefined ? "none" : tint}
      data-shape={isWorkload ? "square" : "round"}
      data-size={isLarge ? "large" : "small"}
    >
      {name === undefined ? "?" : initialsOf(name)}
    </span>
  );
}

/** Returns the first letters of the first and the last word, by grapheme: one or two, as "AM" for "Ada Meyer". */
function initialsOf(name: string): string {
  const words = name.split(/[\s._@-]+/).filter((word) => word !== "");
  const letters = (words.length > 1 ? [words[0], words.at(-1)] : [words[0] ?? "?"]).map(
    (word) => [...(word ?? "")][0] ?? "",
  );
  return letters.join("").toUpperCase();
}

/** The place of an empty list: a sentence, and a button that clears the filters if they leave nothing. */
export function Empty({ children, onClear }: { readonly children: ReactNode; readonly onClear?: () => void }) {
  const { t } = useTexts();
  return (
    <div className={styles.empty}>
      <Icon name="inbox" />
      <p>{children}</p>
      {onClear && (
        <Button variant="default" size="sm" onClick={onClear}>
          {t("list.clear")}
        </Button>
      )}
    </div>
  );
}

// The changes as a list: one line each, with what it changed, and the rest when it is opened.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Change } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { nameInChange } from "../../api/change-name.ts";
import { shortUid } from "../../api/uids.ts";
import { Copyable } from "../../shell/parts.tsx";
import { isTextId, useTexts } from "../../texts/texts.ts";
import { differenceOf, type FieldChange } from "./difference.ts";
import styles from "./timeline.module.css";

interface TimelineProps {
  readonly changes: readonly Change[];
  /** Names of identities by uid. */
  readonly names: ReadonlyMap<string, string>;
  readonly isUtc: boolean;
  /** Narrows the list, such as to an actor. */
  readonly onFilter: (name: "actor" | "kind" | "resource", value: string) => void;
}

/** How many fields a line shows. The others are in the opened entry. */
const shownFields = 3;

/** A list of changes. */
export function Timeline({ changes, ...props }: TimelineProps) {
  const { t } = useTexts();
  return (
    <div className="card">
      <ol className="list" aria-label={t("nav.audit")}>
        {changes.map((change) => (
          <Entry key={change.id} change={change} {...props} />
        ))}
      </ol>
    </div>
  );
}

function Entry({ change, names, isUtc, onFilter }: Omit<TimelineProps, "changes"> & { readonly change: Change }) {
  const { t, locale } = useTexts();
  const { time, actorUid, actorClaims, kind, resourceUid, before, after, method } = change;
  const at = time ? timestampDate(time) : new Date(0);
  const verb = after === undefined ? "deleted" : before === undefined ? "created" : "updated";
  const actor = actorUid === "" ? t("audit.server") : (names.get(actorUid) ?? actorClaims.sub ?? shortUid(actorUid));
  const single = `one.${kind}`;
  const differences = differenceOf(before, after);
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: "short",
    timeStyle: "medium",
    ...(isUtc && { timeZone: "UTC" }),
  });
  return (
    <li className={styles.change}>
      <time dateTime={at.toISOString()} title={at.toISOString()} className="muted">
        {format.format(at)}
        {isUtc && " UTC"}
      </time>
      <details>
        <summary>
          <strong>
            <bdi>{actor}</bdi>
          </strong>{" "}
          <span>{t(`audit.${verb}`)}</span> {isTextId(single) ? t(single) : kind}{" "}
          <strong>
            <bdi>{nameInChange(change)}</bdi>
          </strong>{" "}
          <span className="muted">{method.slice(method.lastIndexOf("/") + 1)}</span>
          {verb === "updated" && <Fields differences={differences.slice(0, shownFields)} />}
        </summary>
        <div className={`stack ${styles.entry}`}>
          <Fields differences={differences} />
          <Facts change={change} />
          <div className="row">
            {actorUid !== "" && (
              <button type="button" className="link" onClick={() => onFilter("actor", actorUid)}>
                {t("audit.sameActor")}
              </button>
            )}
            <button type="button" className="link" onClick={() => onFilter("resource", resourceUid)}>
              {t("audit.sameResource")}
            </button>
            <button type="button" className="link" onClick={() => onFilter("kind", kind)}>
              {t("audit.sameKind")}
            </button>
          </div>
        </div>
      </details>
    </li>
  );
}

function Fields({ differences }: { readonly differences: readonly FieldChange[] }) {
  const { t } = useTexts();
  return (
    <span className="lines">
      {differences.map(({ field, before, after }) => {
        const mark = before === undefined ? "+" : after === undefined ? "−" : "~";
        const word = before === undefined ? "audit.added" : after === undefined ? "audit.removed" : "audit.changed";
        return (
          <span key={field} className={styles.difference}>
            <span className={before === undefined ? "good" : after === undefined ? "danger" : "warning"}>
              {mark} <span className="hidden">{t(word)}</span>
            </span>{" "}
            <code>{field}</code>{" "}
            {before !== undefined && (
              <del>
                <bdi>{before}</bdi>
              </del>
            )}
            {before !== undefined && after !== undefined && " → "}
            {after !== undefined && <bdi>{after}</bdi>}
          </span>
        );
      })}
    </span>
  );
}

function Facts({
  change: { actorUid, actorClaims, method, requestId, resourceUid, groupUid },
}: {
  readonly change: Change;
}) {
  const { t } = useTexts();
  const uids = [
    [t("audit.actor"), actorUid],
    [t("audit.resource"), resourceUid],
    [t("audit.group"), groupUid],
    [t("audit.request"), requestId],
  ] as const;
  return (
    <dl className="facts">
      <dt>{t("audit.method")}</dt>
      <dd>
        <code>{method}</code>
      </dd>
      {uids.map(
        ([title, value]) =>
          value !== "" && (
            <div key={title} className="contents">
              <dt>{title}</dt>
              <dd>
                <Copyable value={value} what={title} />
              </dd>
            </div>
          ),
      )}
      {Object.entries(actorClaims).map(([claim, value]) => (
        <div key={claim} className="contents">
          <dt>
            <code>{claim}</code>
          </dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

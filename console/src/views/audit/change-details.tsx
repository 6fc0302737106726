// The details of a change in an opened line: both sides of each field, request and uids.
import type { Change } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { Copyable } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./change-details.module.css";
import { differenceOf } from "./difference.ts";
import type { WordName } from "./filter.ts";

interface ChangeDetailsProps {
  readonly change: Change;
  /** Narrows the list, such as to an actor. */
  readonly onNarrow: (name: WordName, value: string) => void;
}

/** The difference that a change made, with further facts. */
export function ChangeDetails({ change, onNarrow }: ChangeDetailsProps) {
  const { t } = useTexts();
  const { actorUid, resourceUid, kind } = change;
  return (
    <div className="stack">
      <Difference change={change} />
      <details>
        <summary>{t("audit.details")}</summary>
        <Facts change={change} />
      </details>
      <div className="row">
        {actorUid !== "" && (
          <button type="button" className="link" onClick={() => onNarrow("actor", actorUid)}>
            {t("audit.sameActor")}
          </button>
        )}
        <button type="button" className="link" onClick={() => onNarrow("resource", resourceUid)}>
          {t("audit.sameResource")}
        </button>
        <button type="button" className="link" onClick={() => onNarrow("kind", kind)}>
          {t("audit.sameKind")}
        </button>
      </div>
    </div>
  );
}

function Difference({ change: { before, after, sentence } }: Pick<ChangeDetailsProps, "change">) {
  const { t } = useTexts();
  const names = new Map(Object.values(sentence?.parts ?? {}).map(({ uid, name }) => [uid, name]));
  // The uid of what was created or deleted is among the facts.
  const differences = differenceOf(before, after).filter(({ field }) => field !== "uid");
  const shown = (value: string | undefined) => (value === undefined ? "–" : names.get(value) || value);
  if (differences.length === 0) return null;
  return (
    <div className={styles.scrolled}>
      <table className={styles.difference} aria-label={t("audit.difference")}>
        <thead>
          <tr>
            <th scope="col">{t("audit.field")}</th>
            <th scope="col">{t("audit.was")}</th>
            <th scope="col">{t("audit.is")}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ field, before: was, after: is }) => (
            <tr key={field}>
              <th scope="row">
                <code>{field}</code>
              </th>
              <td data-side="before">
                <bdi>{shown(was)}</bdi>
              </td>
              <td data-side="after">
                <bdi>{shown(is)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Facts({ change }: Pick<ChangeDetailsProps, "change">) {
  const { t } = useTexts();
  const { actorUid, actorClaims, method, requestId, resourceUid, groupUid } = change;
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

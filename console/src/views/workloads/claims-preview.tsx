// What a change of the claims of an identity lets in, before it is made.
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import previewStyles from "../../shell/preview.module.css";
import { useTexts } from "../../texts/texts.ts";
import { type Draft, type Effect, effectsOf, newKeysOf } from "./claims-draft.ts";
import { HeldRoles } from "./held-roles.tsx";

const looks = {
  more: { mark: "+", color: "warning" },
  fewer: { mark: "−", color: "good" },
  others: { mark: "≠", color: "warning" },
} as const;

interface PreviewProps {
  readonly identity: Identity;
  readonly before: Draft;
  readonly after: Draft;
}

/** Each claim that changes, and the roles that the tokens get. */
export function ClaimsPreview({ identity, before, after }: PreviewProps) {
  const { t } = useTexts();
  const effects = effectsOf(before, after, t("claims.ownAudience"));
  const hasNewKeys = newKeysOf(after) !== "";
  const hasNewEnd = before.end !== after.end;
  if (effects.length === 0 && !hasNewKeys && !hasNewEnd) return null;
  return (
    <section className={`${previewStyles.preview} stack`} aria-label={t("claims.preview")} aria-live="polite">
      <h3>{t("claims.preview")}</h3>
      <ul className="list">
        {effects.map((effect) => (
          <ClaimEffect key={effect.claim} effect={effect} />
        ))}
        {hasNewKeys && (
          <li>
            <span className="warning">≠ {t("claims.newKeys")}</span>
          </li>
        )}
        {hasNewEnd && (
          <li>
            {after.end === "" ? t("claims.endsLatest") : t("claims.endsOn", { day: after.end })}{" "}
            {before.end !== "" && <span className="muted">{t("claims.endedOn", { day: before.end })}</span>}
          </li>
        )}
      </ul>
      <div className="lines">
        <HeldRoles uid={identity.uid}>
          <p>{t("claims.roles")}</p>
        </HeldRoles>
      </div>
    </section>
  );
}

function ClaimEffect({ effect: { claim, kind, before, after } }: { readonly effect: Effect }) {
  const { t } = useTexts();
  const { mark, color } = looks[kind];
  return (
    <li className={previewStyles.effect}>
      <span>
        <code>{claim}</code>{" "}
        <span className={color}>
          {mark} {t(`claims.effect.${kind}`)}
        </span>
      </span>
      <span>
        <Asked text={before} /> → <Asked text={after} />
      </span>
    </li>
  );
}

function Asked({ text }: { readonly text: string }) {
  const { t } = useTexts();
  if (text === "") return <em>{t("claims.anything")}</em>;
  return (
    <code>
      <bdi>{text}</bdi>
    </code>
  );
}

// What a change of a role or role binding would do, in the dialog that makes the change. Load the texts `capabilities` with it.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { WhoAmI } from "../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import {
  type AccessEffect,
  AccessService,
  type Obstacle,
  type SimulateChangeRequestSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { missingFor, useMe } from "../api/access.ts";
import { groupText, identityText } from "../api/naming.ts";
import { parentOf } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";
import { Loading } from "./parts.tsx";
import previewStyles from "./preview.module.css";
import { Failure } from "./states.tsx";

const { simulateChange, whoCan } = AccessService.method;
const { listRoles } = RolesService.method;

type Change = MessageInitShape<typeof SimulateChangeRequestSchema>["change"];

/**
 * Simulates a change. It is blocked if something stands in its way: the button that makes it is disabled then. `missing` has the
 * capabilities that the caller lacks to ask.
 */
export function useSimulation(change: Change | undefined) {
  const { data: me } = useMe();
  const missing = change ? missingToAsk(me, change) : [];
  const { data, error } = useQuery(simulateChange, change ? { change } : {}, {
    enabled: me !== undefined && change !== undefined && missing.length === 0,
    staleTime: 0,
    refetchInterval: false,
    // The effects of the last change stay while those of the next one are computed.
    placeholderData: (last) => last,
  });
  return { data, error, missing, isBlocked: change !== undefined && (data?.obstacles.length ?? 0) > 0 };
}

function missingToAsk(me: WhoAmI | undefined, change: NonNullable<Change>): readonly string[] {
  if (change.case === undefined) return [];
  const { case: kind, value } = change;
  if (kind === "createRoleBinding" || kind === "createTerm") return missingFor(me, whoCan, value.parent);
  const uid = uidOf(change);
  const roles = kind === "updateRole" || kind === "deleteRole" ? missingFor(me, listRoles, uid) : [];
  return [...missingFor(me, whoCan, parentOf(uid)), ...roles];
}

/** Returns the uid of the role or role binding that a change is about; empty if it makes a new one. */
function uidOf({ case: kind, value }: NonNullable<Change>): string {
  if (kind === undefined || kind === "createRoleBinding" || kind === "createTerm") return "";
  if (kind === "updateRoleBinding") return value.roleBinding?.uid ?? "";
  return (kind === "updateTerm" ? value.term?.uid : value.uid) ?? "";
}

/** Shows who would gain, lose and keep what. Nothing without a change, which is incomplete then. */
export function AccessPreview({ change }: { readonly change: Change | undefined }) {
  const { t } = useTexts();
  const { data, error, missing } = useSimulation(change);
  if (!change) return null;
  if (missing.length > 0) return <p className="muted">{t("preview.denied", { capabilities: missing.join(", ") })}</p>;
  return (
    <section className={`${previewStyles.preview} stack`} aria-label={t("preview.title")} aria-live="polite">
      <h3>{t("preview.title")}</h3>
      {error && <Failure error={error} />}
      {!data && !error && <Loading lines={2} />}
      {data && data.obstacles.length > 0 && <Obstacles obstacles={data.obstacles} />}
      {data && data.effects.length === 0 && <p>{t("preview.nothing")}</p>}
      {data && data.effects.length > 0 && (
        <ul className="list">
          {data.effects.map((effect) => (
            <Effect key={`${effect.identity?.uid} ${effect.groupUid}`} effect={effect} />
          ))}
        </ul>
      )}
      {data?.truncated && <p className="muted">{t("preview.truncated")}</p>}
    </section>
  );
}

function Obstacles({ obstacles }: { readonly obstacles: readonly Obstacle[] }) {
  const { t } = useTexts();
  return (
    <div className="notice warn" role="alert">
      <p>{t("preview.obstacle")}</p>
      <ul>
        {obstacles.map(({ reason, message }) => (
          <li key={reason + message}>
            {message} <code>{reason}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

const kinds = [
  { field: "lost", text: "preview.loses", mark: "−", color: "danger" },
  { field: "gained", text: "preview.gains", mark: "+", color: "good" },
  { field: "kept", text: "preview.keeps", mark: "=", color: "muted" },
] as const;

function Effect({ effect }: { readonly effect: AccessEffect }) {
  const { t } = useTexts();
  const { identity, groupName, groupsBelow, keptBy } = effect;
  const group = groupText(t, groupName);
  return (
    <li className={previewStyles.effect}>
      <span>
        <strong>
          <bdi>{identityText(t, identity)}</bdi>
        </strong>{" "}
        <span className="muted">{t("preview.where", { group, below: Number(groupsBelow) })}</span>
      </span>
      {kinds.map(
        ({ field, text, mark, color }) =>
          effect[field].length > 0 && (
            <span key={field}>
              <span className={color}>
                {mark} {t(text)}
              </span>{" "}
              <Names names={effect[field]} />
            </span>
          ),
      )}
      {keptBy.length > 0 && (
        <span className="muted">
          {keptBy
            .slice(0, 3)
            .map(({ roleName, groupName: at }) =>
              t("preview.keptBy", { role: roleName || "…", group: groupText(t, at) }),
            )
            .join(", ")}
        </span>
      )}
    </li>
  );
}

/** How many names are shown at once. */
const shown = 6;

/** Names of capabilities, the first ones at once. */
export function Names({ names }: { readonly names: readonly string[] }) {
  const { t } = useTexts();
  const rest = names.slice(shown);
  return (
    <>
      <code>{names.slice(0, shown).join(", ")}</code>{" "}
      {rest.length > 0 && (
        <details className={previewStyles.more}>
          <summary>{t("preview.more", { count: rest.length })}</summary>
          <code>{rest.join(", ")}</code>
        </details>
      )}
    </>
  );
}

/** Returns whether a change is complete enough to be simulated. */
export function completeChange(change: NonNullable<Change>, ...needed: readonly string[]): Change | undefined {
  return needed.every((value) => value !== "") ? change : undefined;
}

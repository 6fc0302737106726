// One finding: what, where, since when, and what to do about it.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { IdentitiesService } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { AccessRequestsService } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { type Finding, FindingKind } from "../../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { groupText, identityText } from "../../api/naming.ts";
import { DelegationActions } from "../../shell/delegation-actions.tsx";
import { DelegationLink } from "../../shell/delegation-link.tsx";
import { delegationKindText, inactivityText } from "../../shell/delegation-texts.ts";
import { useSaveNow } from "../../shell/form.tsx";
import { ActionButton, Ago } from "../../shell/parts.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { Retry } from "../../shell/retry.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";
import { useOverviewAddress } from "./address.ts";
import styles from "./overview.module.css";

const { acknowledgeAccessRequest } = AccessRequestsService.method;
const { updateIdentity, deleteIdentity } = IdentitiesService.method;

/** A finding in a list. */
export function FindingRow({ finding }: { readonly finding: Finding }) {
  const { t } = useTexts();
  const { org } = useOverviewAddress();
  const { kind, groupUid, groupName, time, details } = finding;
  const since = details.case === "delegation" ? "overview.since.confirmed" : times[kind];
  return (
    <li>
      <div className="lines">
        <What finding={finding} />
        <span className="muted small">
          <Why finding={finding} />
        </span>
        <span className="muted small">
          <Link to="/o/$org/groups/$" params={{ org, _splat: groupUid }}>
            <bdi>{groupText(t, groupName)}</bdi>
          </Link>
          {time && (
            <>
              {" · "}
              {t(since ?? "overview.since.created")} <Ago time={timestampDate(time)} />
            </>
          )}
        </span>
      </div>
      <div className="row actions">
        <Actions finding={finding} />
      </div>
    </li>
  );
}

/** The meaning of the time of a finding, by its kind. For kinds that are not listed it is the time of creation; delegations have a text of their own. */
const times: Readonly<Record<number, TextId>> = {
  [FindingKind.BREAK_GLASS_UNACKNOWLEDGED]: "overview.since.taken",
  [FindingKind.FAILING_DELIVERY]: "overview.since.waiting",
  [FindingKind.EXPIRING_KEYS]: "overview.since.expires",
  [FindingKind.CONFINED_BINDING]: "overview.since.granted",
  [FindingKind.UNUSED_BINDING]: "overview.since.granted",
  [FindingKind.DEACTIVATED_PERSON]: "overview.since.deactivated",
  [FindingKind.PAUSED_SUBSCRIPTION]: "overview.since.dropped",
  [FindingKind.REUSED_NAME]: "overview.since.refused",
};

/** The reasons of findings about identities that need no details. */
const reasons: Readonly<Record<number, TextId>> = {
  [FindingKind.EXPIRING_KEYS]: "overview.why.expiring",
  [FindingKind.REUSED_NAME]: "overview.why.reused",
  [FindingKind.UNPINNED_NAME]: "overview.why.unpinned",
  [FindingKind.BROAD_RULE]: "overview.why.broad",
};

/** The views of resources that may have an equal one. */
const twinViews = {
  groups: "/o/$org/groups/$",
  identities: "/o/$org/workloads/$",
  roles: "/o/$org/roles/$",
  subscriptions: "/o/$org/events/$",
} as const;

function twinView(kind: string) {
  return twinViews[kind as keyof typeof twinViews];
}

function What({ finding: { resourceUid, resourceName, identity, details } }: { readonly finding: Finding }) {
  const { t } = useTexts();
  const { org } = useOverviewAddress();
  const name = <bdi>{resourceName || t("names.hidden")}</bdi>;
  if (details.case === "deliveryState")
    return (
      <Link to="/o/$org/events/$" params={{ org, _splat: resourceUid }}>
        {name}
      </Link>
    );
  if (details.case === "delegation")
    return (
      <span>
        {delegationKindText(t, details.value.kind)} <DelegationLink {...details.value} />
      </span>
    );
  // The finding is about a person or workload, not about a resource with a name.
  if (details.case === "roleBinding" || details.case === "accessRequest") return <ProfileLink identity={identity} />;
  if (details.case === "twin")
    return (
      <Link to={twinView(details.value.kind)} params={{ org, _splat: resourceUid }}>
        {name}
      </Link>
    );
  return <ProfileLink identity={{ uid: resourceUid }}>{name}</ProfileLink>;
}

function Why({ finding: { kind, identity, details } }: { readonly finding: Finding }) {
  const { t } = useTexts();
  if (details.case === "deliveryState") {
    const { failedAttempts: count, lastFailure, inactivity, droppedEvents } = details.value;
    if (kind === FindingKind.PAUSED_SUBSCRIPTION) return t("overview.why.paused", { count: droppedEvents });
    return <bdi>{t("overview.why.failing", { count, reason: inactivity || lastFailure })}</bdi>;
  }
  if (kind === FindingKind.DEACTIVATED_PERSON)
    return details.case === "delegation" ? (
      t("overview.why.deactivatedMaker")
    ) : (
      <bdi>{t("overview.why.deactivated", { person: identityText(t, identity) })}</bdi>
    );
  if (details.case === "delegation") return <bdi>{inactivityText(t, details.value, identity)}</bdi>;
  if (details.case === "roleBinding")
    return (
      <bdi>
        {t(kind === FindingKind.UNUSED_BINDING ? "overview.why.unusedBinding" : "overview.why.confined", {
          role: details.value.roleName || "…",
        })}
      </bdi>
    );
  if (details.case === "accessRequest") {
    const { roleName, reason } = details.value;
    return <bdi>{t("overview.why.breakGlass", { role: roleName || "…", reason })}</bdi>;
  }
  if (details.case === "twin") return <bdi>{t("overview.why.twin", { maker: identityText(t, identity) })}</bdi>;
  return t(reasons[kind] ?? "overview.why.unused");
}

function Actions({ finding }: { readonly finding: Finding }): ReactNode {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, change } = useOverviewAddress();
  const { kind, resourceUid: uid, groupUid, identity, details } = finding;
  if (kind === FindingKind.FAILING_DELIVERY) return <Retry uid={uid} />;
  // Nobody acknowledges their own.
  if (kind === FindingKind.BREAK_GLASS_UNACKNOWLEDGED)
    return identity?.uid === me?.subject ? null : <Acknowledge uid={uid} />;
  // The view of the subscription resumes it.
  if (kind === FindingKind.PAUSED_SUBSCRIPTION) return null;
  if (kind === FindingKind.BROAD_RULE)
    return (
      <Link className={styles.action} to="/o/$org/workloads/$" params={{ org, _splat: uid }} search={{ tab: "trust" }}>
        {t("overview.whoGetsIn")}
      </Link>
    );
  // The pins of the identity are changed by the command line.
  if (kind === FindingKind.REUSED_NAME || kind === FindingKind.UNPINNED_NAME) return null;
  if (details.case === "delegation")
    return <DelegationActions delegation={details.value} onOpen={(dialog) => void change({ dialog, resource: uid })} />;
  if (details.case === "roleBinding") {
    const place = groupUid !== org && { group: groupUid };
    const access =
      kind === FindingKind.UNUSED_BINDING
        ? ({ tab: "unused", ...place } as const)
        : ({ identity: identity?.uid ?? "", ...place, confined: "yes" } as const);
    return (
      <>
        <Link className={styles.action} to="/o/$org/access" params={{ org }} search={access}>
          {t("overview.whyQuestion")}
        </Link>
        {may(me, RoleBindingsService.method.deleteRoleBinding, uid) && (
          <Link
            className={styles.action}
            to="/o/$org/access"
            params={{ org }}
            search={{ ...access, dialog: "revoke", binding: uid }}
          >
            {t("overview.revokeRole")}
          </Link>
        )}
      </>
    );
  }
  if (details.case === "twin")
    return (
      <Link
        className={styles.action}
        to={twinView(details.value.kind)}
        params={{ org, _splat: details.value.firstUid }}
      >
        {t("overview.showTwin")}
      </Link>
    );
  return <IdentityAction uid={uid} isKey={kind === FindingKind.EXPIRING_KEYS} />;
}

function Acknowledge({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const acknowledge = useSaveNow(acknowledgeAccessRequest);
  return (
    <ActionButton missing={[]} onClick={() => void acknowledge({ uid }, t("overview.acknowledged"))}>
      {t("overview.acknowledge")}
    </ActionButton>
  );
}

/** Opens the dialog of an identity, in the view of identities. */
function IdentityAction({ uid, isKey }: { readonly uid: string; readonly isKey: boolean }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  const missing = missingFor(me, isKey ? updateIdentity : deleteIdentity, uid);
  const text = t(isKey ? "overview.extendKeys" : "overview.deleteIdentity");
  if (missing.length > 0)
    return (
      <ActionButton missing={missing} onClick={() => {}}>
        {text}
      </ActionButton>
    );
  return (
    <Link
      className={styles.action}
      to="/o/$org/workloads/$"
      params={{ org, _splat: uid }}
      search={{ dialog: isKey ? "claims" : "delete" }}
    >
      {text}
    </Link>
  );
}

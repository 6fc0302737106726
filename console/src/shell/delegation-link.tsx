// The link from a delegation to the view that shows it.
import { Link, useParams } from "@tanstack/react-router";
import { type Delegation, DelegationKind } from "../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { parentOf } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";

/** The tabs of views that show a kind. */
const tabs: Readonly<Record<number, string>> = {
  [DelegationKind.GROUP_INVITE]: "invites",
  [DelegationKind.ACCESS_REQUEST_RULE]: "rules",
};

type Shown = Pick<Delegation, "kind" | "uid" | "name">;

/** The name of what a delegation is about, as a link. Without a link if the caller may not list it. */
export function DelegationLink({ kind, uid, name }: Shown) {
  const { t } = useTexts();
  const { org = "" } = useParams({ strict: false });
  const isInvite = kind === DelegationKind.GROUP_INVITE;
  // Most invites are for nobody in particular.
  if (name === "" && !isInvite) return <bdi className="muted">{t("names.hidden")}</bdi>;
  const to = {
    [DelegationKind.SUBSCRIPTION]: "/o/$org/events/$",
    [DelegationKind.STATIC_KEYS]: "/o/$org/workloads/$",
    [DelegationKind.ACCESS_REQUEST_RULE]: "/o/$org/requests/$",
    [DelegationKind.ACCESS_REVIEW]: "/o/$org/reviews/$",
  }[kind as number];
  const selected = kind === DelegationKind.EXTERNAL_GROUP_ROLE_MAPPING ? parentOf(uid) : uid;
  return (
    <Link
      to={to ?? "/o/$org/sign-in/$"}
      params={{ org, _splat: selected }}
      search={{ tab: tabs[kind as number] } as never}
    >
      <bdi>{name || t("delegation.anybody")}</bdi>
    </Link>
  );
}

/** Returns the group that a delegation is in. A mapping belongs to an identity provider, and that to a group. */
export function groupOfDelegation({ kind, uid }: Pick<Delegation, "kind" | "uid">): string {
  return parentOf(kind === DelegationKind.EXTERNAL_GROUP_ROLE_MAPPING ? parentOf(uid) : uid);
}

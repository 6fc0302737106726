// The page of a workload: what it may do, which tokens let it in, and what is known of it.
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { useResolved } from "../../api/resources.ts";
import { parentOf } from "../../api/uids.ts";
import { GroupPath } from "../../shell/group-path.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Avatar, PageHead, Pill } from "../../shell/look.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { GiveRole } from "../../shell/profile/give-role.tsx";
import { type ProfileTab, ProfileTabs } from "../../shell/profile/profile-tabs.tsx";
import { RolesTab } from "../../shell/profile/roles-tab.tsx";
import { UnreadPage } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { Credentials } from "./credentials.tsx";
import { typeOf } from "./identity-facts.ts";
import { KeysEnd, LastSeen } from "./seen.tsx";
import { WorkloadActions } from "./workload-actions.tsx";
import { WorkloadDetails } from "./workload-details.tsx";

const ActivityTab = lazyPart(
  async () => (await import("../../shell/profile/activity-tab.tsx")).ActivityTab,
  <Loading />,
);
const DelegationsTab = lazyPart(
  async () => (await import("../../shell/profile/delegations-tab.tsx")).DelegationsTab,
  <Loading />,
);

const TrustTab = lazyPart(async () => (await import("./trust-tab.tsx")).TrustTab, <Loading />, "trust");

const { getIdentity } = IdentitiesService.method;

/** The page. */
export function WorkloadPage({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const mayGet = may(me, getIdentity, uid);
  const { data: identity, error, refetch } = useQuery(getIdentity, { uid }, { enabled: mayGet });
  if (!identity) return <UnreadPage method={getIdentity} uid={uid} error={error} onRetry={() => void refetch()} />;
  return <Page identity={identity} />;
}

function Page({ identity }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { org, search } = useWorkloadsAddress();
  const { uid, name, description } = identity;
  const home = parentOf(uid);
  const names = useResolved([home]);
  return (
    <>
      <PageHead
        path={
          <Link to="/o/$org/workloads/$" params={{ org, _splat: "" }}>
            {t("nav.workloads")}
          </Link>
        }
        avatar={<Avatar uid={uid} name={name} isWorkload isLarge />}
        title={<bdi>{name}</bdi>}
        beside={
          <>
            <Pill>{t(`type.${typeOf(identity)}`)}</Pill>
            <KeysEnd identity={identity} />
          </>
        }
        detail={
          <>
            <GroupPath uid={home} names={names} /> <span className="muted">· {t("profile.seen")}</span>{" "}
            <LastSeen identity={identity} />
            {description !== "" && (
              <p>
                <bdi>{description}</bdi>
              </p>
            )}
          </>
        }
      >
        <CopyAs method={getIdentity} request={{ uid }} />
        {/* Roles outside of the group of a workload have no effect, unless that is the organization. */}
        <GiveRole identity={uid} within={home} />
        <WorkloadActions identity={identity} />
      </PageHead>
      <ProfileTabs uid={uid} tabs={tabsOf(identity)} />
      {search.tab === undefined && <RolesTab identity={uid} />}
      {search.tab === "activity" && <ActivityTab uid={uid} />}
      {search.tab === "delegations" && <DelegationsTab maker={identity} />}
      {search.tab === "credentials" && <Credentials identity={identity} />}
      {search.tab === "trust" && <TrustTab identity={identity} />}
      {search.tab === "details" && <WorkloadDetails identity={identity} />}
    </>
  );
}

function tabsOf(identity: Identity): readonly ProfileTab[] {
  const isKeyed = typeOf(identity) === "staticKeys";
  return [
    { text: "profile.access" },
    { tab: "activity", text: "profile.activity" },
    { tab: "credentials", text: isKeyed ? "identities.keys" : "profile.tokens" },
    ...(typeOf(identity) === "claimMatch" ? [{ tab: "trust", text: "profile.trust" } as const] : []),
    { tab: "delegations", text: "profile.delegations" },
    { tab: "details", text: "profile.details" },
  ];
}

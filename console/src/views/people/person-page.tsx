// The page of a person: who they are, what they may do here, and the way out of the organization.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { MembershipsService } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { NameState } from "../../../../gen/gatehouse/search/v1/search_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { identityText } from "../../api/naming.ts";
import { useResolved } from "../../api/resources.ts";
import { shortUid } from "../../api/uids.ts";
import { ActionMenu } from "../../shell/action-menu.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Avatar, PageHead, Pill } from "../../shell/look.tsx";
import { Loading } from "../../shell/parts.tsx";
import { GiveRole } from "../../shell/profile/give-role.tsx";
import { useHeldRoles } from "../../shell/profile/held-roles.ts";
import { type ProfileTab, ProfileTabs } from "../../shell/profile/profile-tabs.tsx";
import { RolesTab } from "../../shell/profile/roles-tab.tsx";
import { strongRoles } from "../../shell/role-pill.tsx";
import { Denied, NotFound } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { usePeopleAddress } from "./address.ts";
import { personOf, type ShownPerson } from "./person.ts";
import { PersonDetails } from "./person-details.tsx";

const RemoveDialog = lazyPart(async () => (await import("./remove.tsx")).RemoveDialog);
const ActivityTab = lazyPart(
  async () => (await import("../../shell/profile/activity-tab.tsx")).ActivityTab,
  <Loading />,
);
const DelegationsTab = lazyPart(
  async () => (await import("../../shell/profile/delegations-tab.tsx")).DelegationsTab,
  <Loading />,
  "delegations",
);
const SessionsTab = lazyPart(async () => (await import("./sessions-tab.tsx")).SessionsTab, <Loading />, "operate");

const { removeMember } = MembershipsService.method;

/** The page. */
export function PersonPage({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const { org } = usePeopleAddress();
  const found = useResolved([uid]).get(uid);
  const { roles, mayList } = useHeldRoles(org, uid);
  const [isKnown, setKnown] = useState(false);
  if (!me || !found) return <Loading />;
  if (!mayList) return <Denied capabilities={["role_bindings.list"]} uid={org} isPage />;
  const isGone = found.state === NameState.HIDDEN && me.subject !== uid && roles?.length === 0;
  // Who loses the last role while the page is open stays on it, with what happened.
  if (roles && !isGone && !isKnown) setKnown(true);
  if (isGone && !isKnown) return <NotFound />;
  return <Page person={personOf(found, me.subject === uid ? me.email : "")} />;
}

function Page({ person }: { readonly person: ShownPerson }) {
  const { t } = useTexts();
  const { org, search } = usePeopleAddress();
  const { uid, name, email } = person;
  return (
    <>
      <PageHead
        path={
          <Link to="/o/$org/people/$" params={{ org, _splat: "" }}>
            {t("nav.people")}
          </Link>
        }
        avatar={<Avatar uid={uid} name={name} isLarge />}
        title={<bdi>{name ?? t("people.notJoined")}</bdi>}
        beside={<Pills person={person} />}
        detail={<span className="muted">{name === undefined ? shortUid(uid) : <bdi>{email}</bdi>}</span>}
      >
        <GiveRole identity={uid} within={org} />
        <Removal person={person} />
      </PageHead>
      <ProfileTabs uid={uid} tabs={tabs} />
      {search.tab === undefined && <RolesTab identity={uid} />}
      {search.tab === "activity" && <ActivityTab uid={uid} />}
      {search.tab === "delegations" && <DelegationsTab maker={person} />}
      {search.tab === "sessions" && <SessionsTab person={person} />}
      {search.tab === "details" && <PersonDetails person={person} />}
    </>
  );
}

const tabs: readonly ProfileTab[] = [
  { text: "profile.access" },
  { tab: "activity", text: "profile.activity" },
  { tab: "sessions", text: "profile.sessions" },
  { tab: "delegations", text: "profile.delegations" },
  { tab: "details", text: "profile.details" },
];

/** Whether it is the caller, may do everything here, has joined, and is active. */
function Pills({ person: { uid, name } }: { readonly person: ShownPerson }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = usePeopleAddress();
  const { roles = [] } = useHeldRoles(org, uid);
  const strong = roles.filter(({ effectiveGroupUids }) => effectiveGroupUids.includes(org));
  const names = new Set(strong.map(({ binding }) => binding?.roleName ?? "").filter((role) => strongRoles.has(role)));
  return (
    <>
      {me?.subject === uid && <Pill tone="accent">{t("profile.you")}</Pill>}
      {[...names].map((role) => (
        <Pill key={role} tone="high" icon="shield-lock">
          {role}
        </Pill>
      ))}
      {roles.some(({ suspended }) => suspended) && (
        <Pill tone="high" icon="blocked" title={t("person.suspended")}>
          {t("people.suspended")}
        </Pill>
      )}
      {name === undefined && (
        <Pill tone="medium" icon="clock">
          {t("people.pending")}
        </Pill>
      )}
    </>
  );
}

/** The menu with the removal from the organization. Callers leave by the page of their own account. */
function Removal({ person: { uid, name } }: { readonly person: ShownPerson }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, open } = usePeopleAddress();
  const { roles = [] } = useHeldRoles(org, uid);
  const [isOpen, setOpen] = useState(false);
  if (me?.subject === uid) return null;
  const places = roles.flatMap(({ binding }) => binding?.groupUid || []);
  const missing = (places.length > 0 ? places : [org]).flatMap((place) => missingFor(me, removeMember, place));
  return (
    <>
      <ActionMenu
        label={t("profile.more")}
        actions={[
          {
            text: t("people.remove.button"),
            icon: "sign-out",
            missing: [...new Set(missing)],
            shortcut: "Delete",
            isDangerous: true,
            onClick: () => setOpen(true),
          },
        ]}
      />
      {isOpen && (
        <RemoveDialog
          organization={org}
          identity={uid}
          name={name ?? identityText(t, { uid })}
          onDeleted={() => open("")}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

// The people who hold roles at the organization or in a group of it.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { AccessService, type Person } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { MembershipsService } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { may, missingFor, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import { groupText, identityText } from "../../api/naming.ts";
import { shortUid } from "../../api/uids.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Avatar, Empty, PageHead, Pill } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { strongRoles } from "../../shell/role-pill.tsx";
import { Denied } from "../../shell/states.tsx";
import { TextFilter } from "../../shell/text-filter.tsx";
import { type Texts, useTexts } from "../../texts/texts.ts";
import { usePeopleAddress } from "./address.ts";

const { listPeople } = AccessService.method;
const { createRoleBinding, deleteRoleBinding } = RoleBindingsService.method;
const { removeMember } = MembershipsService.method;

const GiveRole = lazyPart(async () => (await import("./bulk.tsx")).GivePeopleRole, null, "bulk");
const TakeRoles = lazyPart(async () => (await import("./bulk.tsx")).TakePeoplesRoles, null, "bulk");
const RemoveDialog = lazyPart(() => import("./remove.tsx").then((part) => part.RemoveDialog));

/** How many roles of a person are shown. */
const shownRoles = 3;

/** The list, with a filter by a part of a name or an address, and by group. */
export function People() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = usePeopleAddress();
  const [place = org] = outermostWith(me, listPeople, org);
  const { filter = "", group = place } = search;
  const mayList = may(me, listPeople, group);
  const list = usePagedList({
    method: listPeople,
    request: { group, query: filter },
    rowsOf: ({ people }) => people,
    order: "name",
    isEnabled: mayList,
    address: search,
    onAddress: change,
  });
  const [leaver, setLeaver] = useState<Person>();
  const columns = useColumns(setLeaver);
  return (
    <div className="stack">
      <PageHead title={t("nav.people")}>
        <CopyAs method={listPeople} request={list.request} />
      </PageHead>
      <p className="muted">{t("people.lead")}</p>
      <div className={filterStyles.filters}>
        <TextFilter
          label={t("people.filter")}
          value={filter}
          onChange={(text) => void change({ filter: text, page: undefined })}
        />
        <Picker
          kind="group"
          label={t("people.within")}
          within={org}
          value={group}
          onChange={(uid) => void change({ group: uid === place ? undefined : uid || undefined, page: undefined })}
        />
      </div>
      {me && !mayList && <Denied capabilities={requiredBy(listPeople)} uid={group} />}
      {mayList && (
        <List
          id="people"
          label={t("nav.people")}
          list={list}
          columns={columns}
          keyOf={({ identity }) => identity?.uid ?? ""}
          actions={[
            { text: t("access.giveRole"), method: createRoleBinding, placeOf: () => group, Dialog: GiveRole },
            { text: t("access.takeRoles"), method: deleteRoleBinding, placeOf: () => group, Dialog: TakeRoles },
          ]}
          empty={
            <Empty {...(filter !== "" && { onClear: () => void change({ filter: undefined, page: undefined }) })}>
              {t(filter === "" ? "people.none" : "list.noMatch")}
            </Empty>
          }
        />
      )}
      {leaver && (
        <RemoveDialog
          organization={org}
          identity={leaver.identity?.uid ?? ""}
          name={shownName(t, leaver) ?? identityText(t, leaver.identity)}
          onClose={() => setLeaver(undefined)}
        />
      )}
    </div>
  );
}

function useColumns(onRemove: (person: Person) => void): Column<Person>[] {
  const { t } = useTexts();
  return [
    {
      title: t("people.person"),
      text: (person) => shownName(t, person) ?? identityText(t, person.identity),
      sort: "name",
      cell: (person) => <Who person={person} />,
    },
    { id: "roles", title: t("people.roles"), text: rolesText, cell: (person) => <Roles person={person} /> },
    {
      id: "email",
      title: t("list.email"),
      isExtra: true,
      text: emailOf,
      cell: (person) => <bdi>{emailOf(person)}</bdi>,
    },
    { id: "status", title: t("people.status"), cell: (person) => <Status person={person} /> },
    {
      id: "since",
      title: t("people.since"),
      text: ({ joinTime }) => timeCell(joinTime),
      cell: ({ joinTime }) => (joinTime ? <Ago time={timestampDate(joinTime)} /> : "–"),
    },
    {
      title: t("people.action"),
      isAction: true,
      cell: (person) => <Remove person={person} onRemove={() => onRemove(person)} />,
    },
  ];
}

/** The button that removes a person; nothing for the caller, who leaves by the account menu. */
function Remove({ person, onRemove }: { readonly person: Person; readonly onRemove: () => void }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { identity, bindings } = person;
  if (!me || identity?.uid === me.subject) return null;
  const missing = bindings.flatMap(({ groupUid }) => missingFor(me, removeMember, groupUid));
  return (
    <ActionButton shortcut="Delete" missing={[...new Set(missing)]} onClick={onRemove}>
      {t("people.remove.action")} <span className="hidden">{shownName(t, person) ?? identityText(t, identity)}</span>
    </ActionButton>
  );
}

function rolesText({ bindings }: Person): string {
  return bindings.map(({ roleName, groupName }) => `${roleName} · ${groupName}`).join(", ");
}

function emailOf({ identity, joinTime }: Person): string {
  return joinTime ? (identity?.email ?? "") : "";
}

/** Returns the name of a person; undefined before they have joined. */
function shownName(t: Texts, { identity, joinTime }: Person): string | undefined {
  return joinTime && identity
    ? identity.name || identity.email || t("names.none", { uid: shortUid(identity.uid) })
    : undefined;
}

function Who({ person }: { readonly person: Person }) {
  const { t } = useTexts();
  const { identity, joinTime } = person;
  const uid = identity?.uid ?? "";
  const name = shownName(t, person);
  return (
    <span className="who">
      <Avatar uid={uid} name={name} />
      <span className="lines">
        <ProfileLink identity={{ uid }}>
          <bdi>{name ?? t("people.notJoined")}</bdi>
        </ProfileLink>
        <span className="muted small">{joinTime ? <bdi>{identity?.email}</bdi> : <code>{shortUid(uid)}</code>}</span>
      </span>
    </span>
  );
}

function Status({ person: { suspended, joinTime } }: { readonly person: Person }) {
  const { t } = useTexts();
  if (suspended)
    return (
      <Pill tone="high" icon="blocked" title={t("person.suspended")}>
        {t("people.suspended")}
      </Pill>
    );
  return joinTime ? (
    <Pill tone="good" icon="check-circle-fill">
      {t("people.active")}
    </Pill>
  ) : (
    <Pill tone="medium" icon="clock">
      {t("people.pending")}
    </Pill>
  );
}

/** The first roles with the groups where they are held, and how many more there are. */
function Roles({ person: { identity, bindings, bindingCount } }: { readonly person: Person }) {
  const { t } = useTexts();
  const { org } = usePeopleAddress();
  const uid = identity?.uid ?? "";
  const more = Number(bindingCount) - Math.min(bindings.length, shownRoles);
  return (
    <span className="row tight">
      {bindings.slice(0, shownRoles).map(({ roleBindingUid, roleName, groupUid, groupName }) => (
        <Link key={roleBindingUid} to="/o/$org/access" params={{ org }} search={{ group: groupUid, identity: uid }}>
          <Pill tone={strongRoles.has(roleName) ? "high" : "neutral"}>
            <bdi>
              <strong>{roleName || t("names.hidden")}</strong> · {groupText(t, groupName)}
            </bdi>
          </Pill>
        </Link>
      ))}
      {more > 0 && (
        <ProfileLink identity={{ uid }}>
          <Pill tone="accent" title={t("people.moreRoles", { count: more })}>
            +{more}
          </Pill>
        </ProfileLink>
      )}
    </span>
  );
}

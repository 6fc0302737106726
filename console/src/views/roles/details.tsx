// One role: what it allows, how it differs from another one, and who has it.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  type RoleBinding,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { type Role, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { type Area, allCapabilities, areas, type NamedCapability, useCapabilityText } from "../../api/capabilities.ts";
import { groupText, identityText } from "../../api/naming.ts";
import { shortUid } from "../../api/uids.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRoleAddress } from "./address.ts";
import { isBuiltIn } from "./built-in.ts";

const { getRole, updateRole, deleteRole } = RolesService.method;
const RemoveUses = lazyPart(async () => (await import("./bulk.tsx")).RemoveUses, null, "bulk");
const { listRoleBindings, deleteRoleBinding } = RoleBindingsService.method;

/** The selected role. */
export function RoleDetails({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useRoleAddress();
  const missing = missingFor(me, getRole, isBuiltIn({ uid }) ? undefined : uid);
  const mayGet = me !== undefined && missing.length === 0;
  const { data: role, error, refetch } = useQuery(getRole, { uid }, { enabled: mayGet });
  if (me && !mayGet) return <Denied capabilities={missing} uid={uid} />;
  if (error && !role) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!role) return <Loading />;
  return (
    <section className="card stack" aria-labelledby="role-name">
      <div>
        <h2 id="role-name">
          <bdi>{role.name}</bdi>
        </h2>
        <p className="muted">
          <bdi>{role.description}</bdi>
        </p>
      </div>
      <div className="row">
        {!isBuiltIn(role) && (
          <>
            <ActionButton
              shortcut="e"
              missing={missingFor(me, updateRole, uid)}
              onClick={() => void open(uid, { dialog: "edit" })}
            >
              {t("roles.edit")}
            </ActionButton>
            <ActionButton
              shortcut="Delete"
              missing={missingFor(me, deleteRole, uid)}
              onClick={() => void open(uid, { dialog: "delete" })}
            >
              {t("roles.delete")}
            </ActionButton>
          </>
        )}
        <CopyAs method={getRole} request={{ uid }} />
      </div>
      <dl className="facts">
        <dt>{t("roles.uid")}</dt>
        <dd>
          <Copyable value={uid} shown={shortUid(uid)} what={t("roles.uid")} />
        </dd>
      </dl>
      <Capabilities role={role} />
      <Uses uid={uid} />
    </section>
  );
}

/** Shows the capabilities of a role, by area; compared with another role if one is in the address. */
function Capabilities({ role }: { readonly role: Role }) {
  const { t } = useTexts();
  const { org, search, open } = useRoleAddress();
  const [filter, setFilter] = useState("");
  const { data: other } = useQuery(getRole, { uid: search.compare ?? "" }, { enabled: search.compare !== undefined });
  const own = new Set(role.capabilities);
  const others = new Set(other?.capabilities ?? []);
  const textOf = useCapabilityText();
  const wanted = filter.trim().toLowerCase();
  const rows = allCapabilities().filter(
    (row) =>
      (own.has(row.number) || others.has(row.number)) &&
      (row.name.includes(wanted) || textOf(row).toLowerCase().includes(wanted)),
  );
  return (
    <>
      <h3>{t("roles.allows", { count: role.capabilities.length })}</h3>
      <div className={filterStyles.filters}>
        <TextInput
          type="search"
          label={t("roles.filterCapabilities")}
          value={filter}
          onChange={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <Picker
          kind="role"
          label={t("roles.compare")}
          within={org}
          value={search.compare ?? ""}
          onChange={(compare) => void open(role.uid, { compare: compare || undefined })}
        />
      </div>
      {([...areas, "other"] as const).map((area) => (
        <AreaList
          key={area}
          area={area}
          rows={rows.filter((row) => row.area === area)}
          differenceOf={({ number }) => (!other ? "" : own.has(number) ? (others.has(number) ? "" : "+") : "−")}
        />
      ))}
    </>
  );
}

function AreaList({
  area,
  rows,
  differenceOf,
}: {
  readonly area: Area;
  readonly rows: readonly NamedCapability[];
  readonly differenceOf: (capability: NamedCapability) => "" | "+" | "−";
}) {
  const { t } = useTexts();
  const textOf = useCapabilityText();
  if (rows.length === 0) return null;
  return (
    <details open={area !== "other"}>
      <summary>
        {t(`area.${area}`)} <span className="muted">{rows.length}</span>
      </summary>
      <ul className="list dense columns">
        {rows.map((row) => {
          const difference = differenceOf(row);
          return (
            <li key={row.name}>
              <code>{row.name}</code>
              <span className="muted">
                {difference !== "" && (
                  <span className={difference === "+" ? "good" : "danger"}>
                    {difference} {t(difference === "+" ? "roles.only" : "roles.lacks")}{" "}
                  </span>
                )}
                {textOf(row)}
              </span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** The bindings of a role in the organization. */
function Uses({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, open } = useRoleAddress();
  const mayList = may(me, listRoleBindings, org);
  const list = usePagedList({
    method: listRoleBindings,
    request: { role: uid, uidp: { descendantsOf: org } },
    rowsOf: ({ roleBindings }) => roleBindings,
    isEnabled: mayList,
    address: search.page === undefined ? {} : { page: search.page },
    onAddress: ({ page }) => open(uid, { page }),
  });
  if (!mayList) return null;
  return (
    <>
      <h3>{t("roles.usedBy")}</h3>
      <List
        id="role-bindings"
        label={t("roles.usedBy")}
        list={list}
        columns={useUseColumns(org)}
        keyOf={(binding) => binding.uid}
        actions={[
          {
            text: t("roles.removeBindings"),
            method: deleteRoleBinding,
            placeOf: (binding) => binding.uid,
            Dialog: RemoveUses,
          },
        ]}
        empty={<p className="muted">{t("roles.unused")}</p>}
      />
    </>
  );
}

function useUseColumns(org: string): Column<RoleBinding>[] {
  const { t } = useTexts();
  return [
    {
      title: t("roles.identity"),
      text: ({ identity }) => identityText(t, identity),
      cell: ({ identity }) => <ProfileLink identity={identity} />,
    },
    {
      id: "group",
      title: t("roles.group"),
      text: ({ group }) => groupText(t, group?.name),
      cell: ({ group, identity }) => (
        <Link
          to="/o/$org/access"
          params={{ org }}
          search={{ group: group?.uid ?? org, ...(identity && { identity: identity.uid }) }}
        >
          <bdi>{groupText(t, group?.name)}</bdi>
        </Link>
      ),
    },
    {
      id: "created",
      title: t("list.created"),
      isExtra: true,
      text: ({ createTime }) => timeCell(createTime),
      cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
  ];
}

// "What can be granted, and who has it?"
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import { type Role, RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import type { Column } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, PageHead, Pill } from "../../shell/look.tsx";
import { ActionButton, CopyAs, Loading } from "../../shell/parts.tsx";
import splitStyles from "../../shell/split.module.css";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import type { RoleSearch } from "./address.ts";
import { useRoleAddress } from "./address.ts";
import { isBuiltIn } from "./built-in.ts";

const { listRoles, createRole } = RolesService.method;
const { countRoleBindings } = AccessService.method;
const RoleDetails = lazyPart(async () => (await import("./details.tsx")).RoleDetails, <Loading />);
const RoleDialogs = lazyPart(async () => (await import("./dialogs.tsx")).RoleDialogs);

/** The list of roles, and the selected one. */
export function Roles() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change } = useRoleAddress();
  const missing = missingFor(me, createRole, org);
  const mayList = may(me, listRoles);
  const { roles, total, error, refetch, request } = useRoles(mayList);
  const shown = inOrder(
    search.order,
    roles?.filter((role) => matches(role, search.filter ?? "", search.kind)),
  );
  const columns = useColumns(shown ?? []);
  const kept = keptOf(search);
  if (!me) return <Loading />;
  return (
    <>
      <PageHead title={t("roles.title")}>
        <CopyAs method={listRoles} request={request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("roles.new")}
        </ActionButton>
      </PageHead>
      {!mayList && <Denied capabilities={requiredBy(listRoles)} uid={org} />}
      {mayList && (
        <div className={`${splitStyles.split} ${splitStyles.even} ${selected === "" ? "" : splitStyles.chosen}`}>
          <section className="stack" aria-label={t("roles.list")}>
            <Filter own={roles?.filter((role) => !isBuiltIn(role)).length ?? 0} all={roles?.length ?? 0} />
            {total > listed && <p className="muted">{t("roles.truncated", { count: listed, total })}</p>}
            <List
              id="roles"
              label={t("roles.list")}
              list={{
                rows: shown,
                error,
                onRetry: refetch,
                reader: {
                  id: "",
                  rowsFrom: async function* () {
                    yield shown ?? [];
                  },
                },
                order: { by: search.order ?? "", onChange: (order) => void change({ order }) },
                pages: { from: 1, count: shown?.length ?? 0, total: shown?.length ?? 0 },
              }}
              columns={columns}
              keyOf={({ uid }) => uid}
              selected={selected}
              empty={<Empty>{t("list.noMatch")}</Empty>}
            />
          </section>
          {selected === "" ? (
            <p className="muted">{t("roles.select")}</p>
          ) : (
            <div className="stack">
              <Link className={splitStyles.back} to="/o/$org/roles/$" params={{ org, _splat: "" }} search={kept}>
                {t("roles.back")}
              </Link>
              <RoleDetails key={selected} uid={selected} />
            </div>
          )}
        </div>
      )}
      {search.dialog !== undefined && <RoleDialogs />}
    </>
  );
}

/** How many own roles are read at once. Others are found by their exact name. */
const listed = 200;

/** The built-in roles, those of the organization, and how many of the latter there are. */
function useRoles(mayList: boolean) {
  const { org, search } = useRoleAddress();
  const { filter = "" } = search;
  const builtIn = { uidp: create(UIDPFilterSchema, { inRoot: true }), orderBy: "name", pageSize: listed };
  const request = { uidp: create(UIDPFilterSchema, { descendantsOf: org }), orderBy: "name", pageSize: listed };
  const { data: ofServer, ...first } = useQuery(listRoles, builtIn, { enabled: mayList });
  const { data: own, ...second } = useQuery(listRoles, request, { enabled: mayList });
  const total = Number(own?.totalCount ?? 0);
  const isSearched = mayList && total > listed && filter !== "";
  const { data: found } = useQuery(listRoles, { ...request, name: filter }, { enabled: isSearched });
  const others = (found?.roles ?? []).filter(({ uid }) => !own?.roles.some((one) => one.uid === uid));
  const roles = own && ofServer && [...own.roles, ...others, ...ofServer.roles];
  const refetch = () => void Promise.all([first.refetch(), second.refetch()]);
  return { roles, total, error: first.error ?? second.error, refetch, request };
}

/** Returns the filters and the order, which a link to another role keeps. */
function keptOf({ filter, kind, order }: RoleSearch): RoleSearch {
  return {
    ...(filter !== undefined && { filter }),
    ...(kind !== undefined && { kind }),
    ...(order !== undefined && { order }),
  };
}

/** Sorts roles here: the server lists those of the organization apart from the built-in ones, which come last without an order. */
function inOrder(order: string | undefined, roles: readonly Role[] | undefined): readonly Role[] | undefined {
  if (order === undefined) return roles;
  const [field, direction] = order.split(" ");
  const compare = (a: Role, b: Role) =>
    field === "capabilities" ? a.capabilities.length - b.capabilities.length : a.name < b.name ? -1 : 1;
  return roles?.toSorted((a, b) => (direction === "desc" ? compare(b, a) : compare(a, b)));
}

function matches({ uid, name, description }: Role, filter: string, kind: "own" | "builtIn" | undefined): boolean {
  if (kind !== undefined && isBuiltIn({ uid }) !== (kind === "builtIn")) return false;
  const wanted = filter.trim().toLowerCase();
  return uid === wanted || name.toLowerCase().includes(wanted) || description.toLowerCase().includes(wanted);
}

function Filter({ own, all }: { readonly own: number; readonly all: number }) {
  const { t } = useTexts();
  const { search, change } = useRoleAddress();
  const choices = [
    { kind: undefined, text: t("roles.all", { count: all }) },
    { kind: "own", text: t("roles.own", { count: own }) },
    { kind: "builtIn", text: t("roles.builtIn", { count: all - own }) },
  ] as const;
  return (
    <div className={filterStyles.filters}>
      <TextInput
        type="search"
        aria-label={t("roles.filter")}
        placeholder={t("roles.filter")}
        className={filterStyles.search}
        value={search.filter ?? ""}
        maxLength={512}
        onChange={({ currentTarget }) => void change({ filter: currentTarget.value || undefined })}
      />
      <fieldset className="choices">
        <legend className="hidden">{t("roles.kind")}</legend>
        {choices.map(({ kind, text }) => (
          <button key={text} type="button" aria-pressed={search.kind === kind} onClick={() => void change({ kind })}>
            {text}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

function useColumns(roles: readonly Role[]): Column<Role>[] {
  const { t } = useTexts();
  const { org, search } = useRoleAddress();
  const kept = keptOf(search);
  const uses = useUses(roles.map(({ uid }) => uid));
  return [
    {
      title: t("roles.name"),
      text: ({ name }) => name,
      sort: "name",
      cell: ({ uid, name, description }) => (
        <div className="lines">
          <Link to="/o/$org/roles/$" params={{ org, _splat: uid }} search={kept}>
            <bdi>{name}</bdi>
          </Link>
          {!isBuiltIn({ uid }) && <span className="muted small">{description}</span>}
        </div>
      ),
    },
    {
      id: "origin",
      title: t("roles.origin"),
      isWide: true,
      cell: (role) => (
        <Pill tone={isBuiltIn(role) ? "neutral" : "accent"}>
          {t(isBuiltIn(role) ? "roles.isBuiltIn" : "roles.isOwn")}
        </Pill>
      ),
    },
    {
      id: "capabilities",
      title: t("roles.capabilities"),
      sort: "capabilities desc",
      cell: ({ capabilities }) => capabilities.length,
    },
    { id: "uses", title: t("roles.uses"), cell: ({ uid }) => uses.get(uid) ?? "" },
  ];
}

/** Returns how often roles are bound in the organization. */
function useUses(roles: readonly string[]): ReadonlyMap<string, number> {
  const { data: me } = useMe();
  const { org } = useRoleAddress();
  const isEnabled = roles.length > 0 && may(me, countRoleBindings, org);
  const { data } = useQuery(countRoleBindings, { group: org, roles: [...roles] }, { enabled: isEnabled });
  return new Map(data?.counts.map(({ role, count }) => [role, Number(count)]));
}

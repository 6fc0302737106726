// "Which images are there, and how do I pull them?"

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type Repo, ReposService } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { holds, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { isUid, parentOf } from "../../api/uids.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, PageHead } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs, Heading, Loading } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";

const { listRepos, createRepo } = ReposService.method;
const RepoDetails = lazyPart(
  async () => (await import("./repo-details.tsx")).RepoDetails,
  <Loading />,
  "advisories",
  "images",
);
const RegistryDialogs = lazyPart(async () => (await import("./dialogs.tsx")).RegistryDialogs);

/** Up to so many repos are searched in the browser, by a part of the name or the description. More only by their exact name. */
const searchedRepos = 200;

/** The list of repos, or the selected one. */
export function Registry() {
  const { data: me } = useMe();
  const { org, selected, search } = useRegistryAddress();
  if (!me) return <Loading />;
  const mayList = holds(me, "repo.list", org);
  return (
    <>
      {!mayList ? <RegistryDenied /> : selected === "" ? <Repos /> : <RepoDetails key={selected} uid={selected} />}
      {search.dialog !== undefined && <RegistryDialogs />}
    </>
  );
}

function RegistryDenied() {
  const { t } = useTexts();
  const { org } = useRegistryAddress();
  return (
    <>
      <Heading>{t("registry.title")}</Heading>
      <Denied capabilities={requiredBy(listRepos)} uid={org} />
    </>
  );
}

function Repos() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, open } = useRegistryAddress();
  const list = useRepos();
  const filter = search.filter ?? "";
  return (
    <div className="stack">
      <PageHead title={t("registry.title")}>
        <CopyAs method={listRepos} request={list.request} />
        <ActionButton
          variant="filled"
          shortcut="n"
          missing={missingFor(me, createRepo, org)}
          onClick={() => void open("", { dialog: "new" })}
        >
          {t("registry.new")}
        </ActionButton>
      </PageHead>
      <div className={filterStyles.filters}>
        <TextInput
          type="search"
          aria-label={t("registry.filter")}
          placeholder={t("registry.filter")}
          className={filterStyles.search}
          value={filter}
          maxLength={512}
          onChange={({ currentTarget: { value } }) => {
            // A pasted uid of a repo has one segment more than its group.
            if (isUid(value.trim()) && value.includes("/")) void open(value.trim());
            else void open("", { filter: value || undefined, page: undefined });
          }}
        />
      </div>
      <List
        id="repos"
        label={t("registry.list")}
        list={list}
        columns={useRepoColumns(list.rows ?? [])}
        keyOf={({ uid }) => uid}
        empty={<Empty>{filter === "" ? t("registry.empty") : t("registry.noMatch")}</Empty>}
      />
    </div>
  );
}

/** The repos of the page, or those that the filter finds. */
function useRepos() {
  const { org, search, open } = useRegistryAddress();
  const filter = (search.filter ?? "").trim().toLowerCase();
  const isSearch = filter !== "";
  const request = { uidp: { descendantsOf: org } };
  const all = usePagedList({
    method: listRepos,
    request,
    rowsOf: ({ repos }) => repos,
    order: "name",
    isEnabled: !isSearch,
    address: search,
    onAddress: (changes) => open("", changes),
  });
  const first = { ...request, orderBy: search.order ?? "name", pageSize: searchedRepos };
  const searched = useQuery(listRepos, first, { enabled: isSearch });
  const isMore = isSearch && Number(searched.data?.totalCount ?? 0) > searchedRepos;
  const named = { ...first, name: filter };
  const exact = useQuery(listRepos, named, { enabled: isMore });
  if (!isSearch) return all;
  const matches = ({ name, description }: Repo) => name.includes(filter) || description.toLowerCase().includes(filter);
  const { data, error, refetch } = isMore ? exact : searched;
  const rows = isMore ? data?.repos : data?.repos.filter(matches);
  const count = rows?.length ?? 0;
  return {
    ...all,
    request: isMore ? named : first,
    rows,
    error,
    reader: {
      id: filter,
      rowsFrom: async function* () {
        yield rows ?? [];
      },
    },
    onRetry: () => void refetch(),
    pages: { from: 1, count, total: count },
  };
}

function useRepoColumns(repos: readonly Repo[]): Column<Repo>[] {
  const { t } = useTexts();
  const { org } = useRegistryAddress();
  const named = useNamed(repos.map(({ uid }) => parentOf(uid)));
  return [
    {
      title: t("registry.repo"),
      text: ({ name }) => name,
      sort: "name",
      cell: ({ uid, name, description }) => (
        <div className="lines">
          <Link to="/o/$org/registry/$" params={{ org, _splat: uid }}>
            <bdi>{name}</bdi>
          </Link>
          <bdi className="muted small">{description}</bdi>
        </div>
      ),
    },
    {
      id: "group",
      title: t("registry.group"),
      cell: ({ uid }) => {
        const group = parentOf(uid);
        return (
          <Link to="/o/$org/groups/$" params={{ org, _splat: group }}>
            <bdi>{named(group)}</bdi>
          </Link>
        );
      },
    },
    {
      id: "bundles",
      title: t("registry.bundles"),
      text: ({ bundles }) => bundles.join(", "),
      isWide: true,
      cell: ({ bundles }) => <bdi>{bundles.join(", ")}</bdi>,
    },
    {
      id: "updated",
      title: t("registry.updated"),
      text: ({ updateTime }) => timeCell(updateTime),
      sort: "update_time desc",
      cell: ({ updateTime }) => updateTime && <Ago time={timestampDate(updateTime)} />,
    },
  ];
}

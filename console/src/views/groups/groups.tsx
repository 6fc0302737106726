// "Where is everything?"
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Button, TextInput } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import { type Group, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ResourceKind, SearchService } from "../../../../gen/gatehouse/search/v1/search_pb.ts";
import { missingFor, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import { ancestorsOf, isUid } from "../../api/uids.ts";
import { ActivityChart } from "../../shell/activity-chart.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { useOrganizationName } from "../../shell/organization.tsx";
import { ActionButton, Loading, useDelayed } from "../../shell/parts.tsx";
import splitStyles from "../../shell/split.module.css";
import { Denied, Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useGroupAddress } from "./address.ts";
import { GroupDetails } from "./details.tsx";
import { Tree } from "./tree.tsx";
import { useTree } from "./tree-state.ts";

const { listGroups: list } = GroupsService.method;

const GroupDialogs = lazyPart(async () => (await import("./dialogs.tsx")).GroupDialogs);

/** The tree of groups, and the details of the selected one. */
export function Groups() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change } = useGroupAddress();
  const name = useOrganizationName();
  const roots = useMemo(() => outermostWith(me, list, org), [me, org]);
  const at = selected === "" ? org : selected;
  const missing = missingFor(me, GroupsService.method.createGroup, at);
  if (!me) return <Loading />;
  return (
    <>
      <PageHead title={t("groups.title")}>
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("groups.new")}
        </ActionButton>
      </PageHead>
      {roots.length === 0 ? (
        <Denied capabilities={requiredBy(list)} uid={org} />
      ) : (
        <div className={splitStyles.split}>
          <GroupTree roots={roots} name={name} />
          {selected === "" ? (
            <p className="muted">{t("groups.select")}</p>
          ) : (
            <div className="stack">
              <GroupDetails key={selected} uid={selected} />
              <ActivityChart group={selected} chart="activity" />
            </div>
          )}
        </div>
      )}
      {search.dialog !== undefined && <GroupDialogs />}
    </>
  );
}

function GroupTree({ roots, name }: { readonly roots: readonly string[]; readonly name: string }) {
  const { t } = useTexts();
  const { org, selected, search, open } = useGroupAddress();
  const filter = search.filter ?? "";
  const [typed, setTyped] = useState(filter);
  const wanted = useDelayed(typed.trim(), 250);
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    if (wanted === filter) return;
    if (isUid(wanted)) void latest.current(wanted, { filter: undefined });
    else void latest.current(selected, { filter: wanted || undefined });
  }, [wanted, filter, selected]);
  const ids = create(UIDPFilterSchema, { ids: [...roots] });
  const { data: found, error: searchError } = useQuery(
    SearchService.method.search,
    { parent: org, query: filter, kinds: [ResourceKind.GROUP], pageSize: 50 },
    { enabled: filter !== "" },
  );
  const foundIds = create(UIDPFilterSchema, { ids: found?.resources.map(({ uid }) => uid) ?? [] });
  const isNothing = filter !== "" && found?.resources.length === 0;
  const listed = useQuery(
    list,
    { uidp: filter === "" ? ids : foundIds, orderBy: "name", pageSize: 200 },
    { enabled: filter === "" || (found !== undefined && !isNothing) },
  );
  const error = searchError ?? listed.error;
  const { refetch } = listed;
  const data = isNothing ? { groups: [] } : listed.data;
  const path = usePath(filter === "" ? selected : "");
  const always = useMemo(() => [...(filter === "" ? roots : []), ...ancestorsOf(selected)], [filter, roots, selected]);
  const groups = data?.groups ?? [];
  const tree = useTree(groups, always, path);
  return (
    <section className="stack" aria-label={t("groups.tree", { name })}>
      <TextInput
        type="search"
        aria-label={t("groups.filter")}
        placeholder={t("groups.filter")}
        value={typed}
        maxLength={512}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {Boolean(error ?? tree.error) && <Failure error={error ?? tree.error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && data.groups.length > 0 && (
        <Tree
          label={t("groups.tree", { name })}
          tree={tree}
          roots={groups}
          selected={selected}
          onSelect={(uid) => void open(uid)}
        />
      )}
      {data?.groups.length === 0 && (
        <div className="notice">
          <p>{t("groups.none")}</p>
          <div>
            <Button variant="default" size="sm" onClick={() => setTyped("")}>
              {t("groups.clear")}
            </Button>
          </div>
        </div>
      )}
    </section>
  );
}

/** The groups from the organization down to the selected one, as far as the caller may see them. */
function usePath(selected: string): readonly Group[] {
  const ids = selected === "" ? [] : [...ancestorsOf(selected), selected];
  const request = { uidp: create(UIDPFilterSchema, { ids }), pageSize: ids.length };
  return useQuery(list, request, { enabled: ids.length > 0 }).data?.groups ?? [];
}

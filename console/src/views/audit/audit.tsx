// "Who did what, when?"
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useInfiniteQuery, useTransport } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { ChangesService, type ListChangesRequestSchema } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { mayReadChanges, useMe } from "../../api/access.ts";
import { foldChanges } from "../../api/folding.ts";
import type { Changes } from "../../shell/address.ts";
import { ChangeList } from "../../shell/change-list.tsx";
import { useKeys } from "../../shell/keyboard.ts";
import { PageHead } from "../../shell/look.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { download } from "../../shell/secret.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { type AuditSearch, useAuditAddress } from "./address.ts";
import { ChangeDetails } from "./change-details.tsx";
import { exportChanges } from "./export.ts";
import { parseFilter, requestOf, withWord, wordNames } from "./filter.ts";
import { Filters } from "./filters.tsx";

const { listChanges } = ChangesService.method;

/** How many changes one call reads, and how many lines are read at once, as far as there are: many fold into one line. */
const [pageSize, leastLines, mostPages] = [100, 12, 10];

/** The audit log of an organization, latest first. It follows what happens, as all views do. */
export function Audit() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useAuditAddress();
  const { q = "" } = search;
  const isUtc = search.clock === "utc";
  const { words, unknown } = parseFilter(q);
  const request = { parent: org, ...requestOf(words, isUtc) };
  const mayRead = mayReadChanges(me, request.parent);
  const { query, changes } = useChanges({ ...request, pageSize }, mayRead && unknown.length === 0, isUtc);
  useAuditKeys(search, change);
  if (!me) return <Loading />;
  if (!mayRead) return <Denied capabilities={["subscriptions.create"]} uid={org} />;
  return (
    <div className="stack">
      <PageHead title={t("nav.audit")}>
        <Export request={request} />
        <CopyAs method={listChanges} request={{ ...request, pageSize }} />
      </PageHead>
      <Filters />
      {unknown.length > 0 && (
        <p className="notice danger" role="alert">
          {t("audit.unknown", { words: unknown.join(" "), known: wordNames.join(", ") })}{" "}
          <button type="button" className="link" onClick={() => void change({ q: undefined })}>
            {t("audit.clear")}
          </button>
        </p>
      )}
      {query.error && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {!changes && !query.error && unknown.length === 0 && <Loading lines={10} />}
      {changes?.length === 0 && !query.hasNextPage && <p className="notice">{t("audit.none")}</p>}
      {changes && changes.length > 0 && (
        <div className="card">
          <ChangeList
            org={org}
            label={t("nav.audit")}
            changes={changes}
            isUtc={isUtc}
            level="h2"
            details={(one) => (
              <ChangeDetails change={one} onNarrow={(name, value) => void change({ q: withWord(q, name, value) })} />
            )}
          />
        </div>
      )}
      {query.hasNextPage && (
        <div>
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t("audit.older")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Reads changes, and further pages until there are enough lines. Changes are undefined while they are read. */
function useChanges(request: MessageInitShape<typeof ListChangesRequestSchema>, isEnabled: boolean, isUtc: boolean) {
  const query = useInfiniteQuery(
    listChanges,
    { ...request, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: isEnabled,
    },
  );
  const pages = query.data?.pages;
  const changes = isEnabled ? pages?.flatMap((page) => page.changes) : undefined;
  const lines = foldChanges(changes ?? [], isUtc).reduce((sum, { folds }) => sum + folds.length, 0);
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const isShort = isEnabled && hasNextPage && !isFetching && lines < leastLines && (pages?.length ?? 0) < mostPages;
  useEffect(() => {
    if (isShort) void fetchNextPage();
  }, [isShort, fetchNextPage]);
  return { query, changes };
}

function useAuditKeys(search: AuditSearch, change: (changes: Changes<AuditSearch>) => unknown): void {
  const keys = useMemo(
    () => ({
      U: () => change({ clock: search.clock === "utc" ? undefined : "utc" }),
    }),
    [search, change],
  );
  useKeys(keys);
}

function Export({ request }: { readonly request: Parameters<typeof exportChanges>[1] }) {
  const { t } = useTexts();
  const transport = useTransport();
  const [isBusy, setBusy] = useState(false);
  const save = async (format: "jsonl" | "csv") => {
    setBusy(true);
    try {
      const content = await exportChanges(transport, request, format);
      download(`audit.${format}`, content, format === "csv" ? "text/csv" : "application/jsonl");
    } catch (error) {
      notify((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <>
      {(["jsonl", "csv"] as const).map((format) => (
        <Button key={format} variant="default" size="sm" loading={isBusy} onClick={() => void save(format)}>
          {t("audit.export", { format: format === "csv" ? "CSV" : "JSON lines" })}
        </Button>
      ))}
    </>
  );
}

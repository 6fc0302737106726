// "Who did what, when?"
import { useInfiniteQuery, useTransport } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { ChangesService } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { mayReadChanges, useMe } from "../../api/access.ts";
import { useNames } from "../../api/resources.ts";
import type { Changes } from "../../shell/address.ts";
import { TextField } from "../../shell/fields.tsx";
import { useKeys } from "../../shell/keyboard.ts";
import { PageHead } from "../../shell/look.tsx";
import { CopyAs, Loading, useDelayed } from "../../shell/parts.tsx";
import { download } from "../../shell/secret.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { type AuditSearch, useAuditAddress } from "./address.ts";
import { exportChanges } from "./export.ts";
import { parseFilter, withWord } from "./filter.ts";
import { Timeline } from "./timeline.tsx";

const { listChanges } = ChangesService.method;

/** The audit log of an organization, latest first. It follows what happens, as all views do. */
export function Audit() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useAuditAddress();
  const { filter, unknown } = parseFilter(search.q ?? "");
  const request = { parent: org, ...filter, pageSize: 50 };
  const mayRead = mayReadChanges(me, org);
  const query = useInfiniteQuery(
    listChanges,
    { ...request, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: mayRead,
    },
  );
  const changes = query.data?.pages.flatMap((page) => page.changes);
  const names = useNames(changes?.slice(0, 100).map(({ actorUid }) => actorUid) ?? []);
  useAuditKeys(search, change);
  if (!me) return <Loading />;
  if (!mayRead) return <Denied capabilities={["subscriptions.create"]} uid={org} />;
  return (
    <div className="stack">
      <PageHead title={t("nav.audit")}>
        <Export request={{ parent: org, ...filter }} />
        <CopyAs method={listChanges} request={request} />
      </PageHead>
      <FilterField q={search.q ?? ""} onChange={(q) => void change({ q: q || undefined })} />
      {unknown.length > 0 && (
        <p className="notice warn" role="alert">
          {t("audit.unknown", { words: unknown.join(" ") })}
        </p>
      )}
      {query.error && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {!changes && !query.error && <Loading lines={10} />}
      {changes?.length === 0 && !query.hasNextPage && <p className="notice">{t("audit.none")}</p>}
      {changes && changes.length > 0 && (
        <Timeline
          changes={changes}
          names={names}
          isUtc={search.clock === "utc"}
          onFilter={(name, value) => void change({ q: withWord(search.q ?? "", name, value) })}
        />
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

function useAuditKeys(search: AuditSearch, change: (changes: Changes<AuditSearch>) => unknown): void {
  const keys = useMemo(
    () => ({
      U: () => change({ clock: search.clock === "utc" ? undefined : "utc" }),
    }),
    [search, change],
  );
  useKeys(keys);
}

function FilterField({ q, onChange }: { readonly q: string; readonly onChange: (q: string) => void }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState(q);
  const wanted = useDelayed(typed.trim(), 400);
  const shown = useRef(q);
  const latest = useRef(onChange);
  latest.current = onChange;
  // A word that was added by a click.
  useEffect(() => {
    if (q === shown.current) return;
    shown.current = q;
    setTyped(q);
  }, [q]);
  useEffect(() => {
    if (wanted === shown.current) return;
    shown.current = wanted;
    latest.current(wanted);
  }, [wanted]);
  return (
    <TextField
      type="search"
      label={t("audit.filter")}
      description={t("audit.filterHelp")}
      placeholder="kind:groups method:UpdateGroup after:2026-11-01"
      value={typed}
      maxLength={1000}
      spellCheck={false}
      onChange={setTyped}
    />
  );
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

// "Who did what, when?"
import { useTransport } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { ChangesService } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { mayReadChanges, useMe } from "../../api/access.ts";
import type { Changes } from "../../shell/address.ts";
import { ChangeFeed, changesPerCall } from "../../shell/change-feed.tsx";
import { useKeys } from "../../shell/keyboard.ts";
import { PageHead } from "../../shell/look.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { download } from "../../shell/secret.tsx";
import { Denied } from "../../shell/states.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { type AuditSearch, useAuditAddress } from "./address.ts";
import { ChangeDetails } from "./change-details.tsx";
import { exportChanges } from "./export.ts";
import { parseFilter, requestOf, withWord, wordNames } from "./filter.ts";
import { Filters } from "./filters.tsx";

const { listChanges } = ChangesService.method;

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
  useAuditKeys(search, change);
  if (!me) return <Loading />;
  if (!mayRead) return <Denied capabilities={["subscriptions.create"]} uid={org} isPage />;
  return (
    <div className="stack">
      <PageHead title={t("nav.audit")}>
        <Export request={request} />
        <CopyAs method={listChanges} request={{ ...request, pageSize: changesPerCall }} />
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
      <ChangeFeed
        org={org}
        label={t("nav.audit")}
        request={request}
        isEnabled={unknown.length === 0}
        isUtc={isUtc}
        level="h2"
        empty={<p className="notice">{t("audit.none")}</p>}
        details={(one) => (
          <ChangeDetails change={one} onNarrow={(name, value) => void change({ q: withWord(q, name, value) })} />
        )}
      />
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

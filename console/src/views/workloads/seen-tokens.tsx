// The tokens that were presented for an identity, with what its rule said of them.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { SeenToken } from "../../../../gen/gatehouse/iam/v1/seen_tokens_pb.ts";
import { WorkloadTrustService } from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { List } from "../../shell/list.tsx";
import { Empty, Pill } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import { type Texts, useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { ClaimList } from "./claim-list.tsx";
import styles from "./trust.module.css";

const { listSeenTokens, clearSeenTokens } = WorkloadTrustService.method;

/** How often the list is read: the server writes new tokens within seconds. */
const refetchInterval = 10_000;

/** The tokens, those that were presented last first. */
export function SeenTokens({ identity: { uid, name } }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, change, close } = useWorkloadsAddress();
  const list = usePagedList({
    method: listSeenTokens,
    request: { identity: uid },
    rowsOf: ({ seenTokens }) => seenTokens,
    isEnabled: may(me, listSeenTokens, uid),
    refetchInterval,
    address: search.page === undefined ? {} : { page: search.page },
    onAddress: ({ page }) => change({ page }),
  });
  const missing = missingFor(me, clearSeenTokens, uid);
  return (
    <section className="stack" aria-labelledby="seen-tokens">
      <div className="row">
        <h2 id="seen-tokens">{t("trust.seen")}</h2>
        <div className="grow" />
        <CopyAs method={listSeenTokens} request={list.request} />
        {list.total !== undefined && list.total > 0 && (
          <ActionButton missing={missing} onClick={() => void change({ dialog: "clear" })}>
            {t("trust.clear")}
          </ActionButton>
        )}
      </div>
      <List
        id="seen-tokens"
        label={t("trust.seen")}
        list={list}
        columns={seenColumns(t)}
        keyOf={keyOf}
        empty={<Empty>{t("trust.seenNone")}</Empty>}
      />
      {search.dialog === "clear" && missing.length === 0 && (
        <DeleteResourceDialog
          title={t("trust.clearTitle", { name })}
          text={t("trust.clearText")}
          button={t("trust.clearButton")}
          method={clearSeenTokens}
          request={{ identity: uid }}
          report={t("trust.cleared")}
          onClose={close}
        />
      )}
    </section>
  );
}

/** Returns a key of a token: others differ in claims, outcome or endpoint. */
export function keyOf({ claims, accepted, registry, failedCheck }: SeenToken): string {
  return JSON.stringify([Object.entries(claims).sort(), accepted, registry, failedCheck]);
}

function seenColumns(t: Texts): Column<SeenToken>[] {
  return [
    { title: t("trust.subject"), text: subjectOf, cell: (token) => <Token token={token} /> },
    {
      title: t("trust.outcome"),
      text: ({ accepted }) => t(accepted ? "trust.accepted" : "trust.denied"),
      cell: ({ accepted, registry }) => (
        <span className="row tight">
          <Pill tone={accepted ? "good" : "critical"} icon={accepted ? "check-circle-fill" : "x-circle-fill"}>
            {t(accepted ? "trust.accepted" : "trust.denied")}
          </Pill>
          {registry && <Pill>{t("trust.registry")}</Pill>}
        </span>
      ),
    },
    {
      title: t("trust.failedCheck"),
      text: ({ failedCheck }) => failedCheck,
      cell: ({ failedCheck }) => <FailedCheck name={failedCheck} />,
    },
    {
      id: "count",
      title: t("trust.count"),
      text: ({ count }) => count.toString(),
      cell: ({ count }) => count.toString(),
    },
    {
      id: "last",
      title: t("trust.last"),
      text: ({ lastTime }) => timeCell(lastTime),
      cell: ({ lastTime }) => lastTime && <Ago time={timestampDate(lastTime)} />,
    },
    {
      id: "first",
      title: t("trust.first"),
      isExtra: true,
      text: ({ firstTime }) => timeCell(firstTime),
      cell: ({ firstTime }) => firstTime && <Ago time={timestampDate(firstTime)} />,
    },
  ];
}

function subjectOf({ claims }: SeenToken): string {
  return claims.sub ?? "";
}

/** The subject of a token, which opens to its other stored claims. */
export function Token({ token }: { readonly token: SeenToken }) {
  return (
    <details className={styles.token}>
      <summary>
        <code>
          <bdi>{subjectOf(token) || "–"}</bdi>
        </code>
      </summary>
      <ClaimList claims={token.claims} names={Object.keys(token.claims).filter((name) => name !== "sub")} />
    </details>
  );
}

/** The claim that did not match. */
export function FailedCheck({ name }: { readonly name: string }) {
  if (name === "") return <span className="muted">–</span>;
  return (
    <code>
      <bdi>{name}</bdi>
    </code>
  );
}

// What needs attention in an organization. Each finding is read only if the caller may.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { DeliveryService } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { DelegationsService } from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { IdentitySearchService } from "../../../../gen/gatehouse/iam/v1/identities_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { shortUid } from "../../api/uids.ts";
import { Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";

const { searchIdentities } = IdentitySearchService.method;
const { listDeliveryStates } = DeliveryService.method;
const { listDelegations } = DelegationsService.method;
const { whoCan } = AccessService.method;

const soonMs = 14 * 24 * 3_600_000;
/** How many rows of a finding are listed, and how many of a list are looked through. */
const [shownRows, readRows] = [20, 200];

/** A finding: how many, and the first ones with links. */
interface Finding {
  readonly text: TextId;
  readonly count: number;
  readonly rows: readonly { readonly key: string; readonly content: ReactNode }[];
}

/** The findings of an organization. */
export function Attention({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const { findings, isReading, error } = useFindings(org);
  const found = findings.filter(({ count }) => count > 0);
  return (
    <section className="card stack" aria-labelledby="attention">
      <h2 id="attention">{t("overview.attention")}</h2>
      {error !== null && <Failure error={error} />}
      {isReading && <Loading lines={3} />}
      {!isReading && error === null && found.length === 0 && (
        <p>
          <span className="good">✓</span> {t("overview.nothing")}
        </p>
      )}
      {found.map((finding) => (
        <FindingList key={finding.text} finding={finding} />
      ))}
    </section>
  );
}

function useFindings(org: string) {
  const identities = useIdentityFindings(org);
  const others = useOtherFindings(org);
  const queries = [...identities.queries, ...others.queries];
  return {
    findings: [...identities.findings, ...others.findings],
    isReading: queries.some(({ isLoading }) => isLoading),
    error: queries.find(({ error }) => error)?.error ?? null,
  };
}

function useIdentityFindings(org: string) {
  const { data: me } = useMe();
  const enabled = may(me, searchIdentities, org);
  // The same request for a minute: a moment of its own in each would never be in the cache.
  const soon = timestampFromMs(Math.ceil(Date.now() / 60_000) * 60_000 + soonMs);
  const expiring = useQuery(searchIdentities, { parent: org, keysEndTime: soon, pageSize: shownRows }, { enabled });
  const unused = useQuery(searchIdentities, { parent: org, neverUsed: true, pageSize: shownRows }, { enabled });
  const findingOf = (text: TextId, { data }: typeof unused): Finding => ({
    text,
    count: Number(data?.totalCount ?? 0),
    rows: (data?.identities ?? []).map(({ uid, name }) => ({
      key: uid,
      content: (
        <Link to="/o/$org/identities/$" params={{ org, _splat: uid }}>
          <bdi>{name}</bdi>
        </Link>
      ),
    })),
  });
  return {
    queries: [expiring, unused],
    findings: [findingOf("overview.expiring", expiring), findingOf("overview.unused", unused)],
  };
}

function useOtherFindings(org: string) {
  const { data: me } = useMe();
  const deliveries = useQuery(
    listDeliveryStates,
    { uidp: { descendantsOf: org }, pageSize: readRows },
    { enabled: may(me, listDeliveryStates, org) },
  );
  const delegations = useQuery(
    listDelegations,
    { parent: org, inactive: true, pageSize: readRows },
    { enabled: may(me, listDelegations, org) },
  );
  const holders = useQuery(
    whoCan,
    { group: org, showConfined: true, pageSize: readRows },
    { enabled: may(me, whoCan, org) },
  );
  const failing = deliveries.data?.deliveryStates.filter(({ failedAttempts }) => failedAttempts > 0) ?? [];
  const inactive = delegations.data?.delegations ?? [];
  const confined = holders.data?.identities.filter((one) => one.confined) ?? [];
  const findings: Finding[] = [
    {
      text: "overview.failing",
      count: failing.length,
      rows: failing.map(({ subscriptionUid, sink, lastFailure }) => ({
        key: subscriptionUid,
        content: (
          <>
            <Link to="/o/$org/events/$" params={{ org, _splat: subscriptionUid }}>
              <bdi>{sink}</bdi>
            </Link>{" "}
            <bdi className="muted">{lastFailure}</bdi>
          </>
        ),
      })),
    },
    {
      text: "overview.inactive",
      count: inactive.length,
      rows: inactive.map(({ uid, kind }) => ({ key: `${kind} ${uid}`, content: <code>{shortUid(uid)}</code> })),
    },
    {
      text: "overview.confined",
      count: confined.length,
      rows: confined.map(({ identity }) => ({
        key: identity?.uid ?? "",
        content: (
          <Link to="/o/$org/access" params={{ org }} search={{ tab: "identity", identity: identity?.uid ?? "" }}>
            <bdi>{identity?.name || shortUid(identity?.uid ?? "")}</bdi>
          </Link>
        ),
      })),
    },
  ];
  return { queries: [deliveries, delegations, holders], findings };
}

function FindingList({ finding: { text, count, rows } }: { readonly finding: Finding }) {
  const { t } = useTexts();
  return (
    <details>
      <summary>
        <span className="warning" aria-hidden="true">
          !
        </span>{" "}
        {t(text, { count })}
      </summary>
      <ul className="list">
        {rows.slice(0, shownRows).map(({ key, content }) => (
          <li key={key}>{content}</li>
        ))}
      </ul>
    </details>
  );
}

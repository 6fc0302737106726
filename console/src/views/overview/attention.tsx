// What needs attention in an organization: the first findings of each kind, or all of one kind.
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  type Finding,
  type FindingCount,
  FindingKind,
  FindingsService,
} from "../../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { useMe } from "../../api/access.ts";
import { Icon } from "../../shell/icon.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Pager, pageSize, pagesOf } from "../../shell/pager.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import type { OverviewSearch } from "./address.ts";
import { useOverviewAddress } from "./address.ts";
import { FindingRow } from "./finding-row.tsx";
import styles from "./overview.module.css";

const { listFindings } = FindingsService.method;
const DelegationDialog = lazyPart(async () => (await import("../../shell/delegation-dialogs.tsx")).DelegationDialog);

type Name = NonNullable<OverviewSearch["finding"]>;

const kinds = {
  breakGlass: FindingKind.BREAK_GLASS_UNACKNOWLEDGED,
  failing: FindingKind.FAILING_DELIVERY,
  expiring: FindingKind.EXPIRING_KEYS,
  inactive: FindingKind.INACTIVE_DELEGATION,
  confined: FindingKind.CONFINED_BINDING,
  unused: FindingKind.UNUSED_IDENTITY,
  deactivated: FindingKind.DEACTIVATED_PERSON,
  paused: FindingKind.PAUSED_SUBSCRIPTION,
  reused: FindingKind.REUSED_NAME,
  unpinned: FindingKind.UNPINNED_NAME,
  broad: FindingKind.BROAD_RULE,
  unusedBinding: FindingKind.UNUSED_BINDING,
  twin: FindingKind.TWIN,
} as const satisfies Readonly<Record<Name, FindingKind>>;

/** How many findings of each kind are shown. */
const shownOfEach = 3;

/** Deliveries are not in the change log, which views follow otherwise. */
const refetchInterval = 30_000;

/** The findings. Nothing for callers who may list none of the kinds. */
export function Attention() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useOverviewAddress();
  const { finding } = search;
  const turn = (page: number | undefined) => void change({ page });
  const request = finding
    ? { parent: org, kinds: [kinds[finding]], pageSize, skip: pagesOf(search.page, 0, turn).skip }
    : { parent: org, pageSize: 200 };
  const { data, error, refetch } = useQuery(listFindings, request, { enabled: me !== undefined, refetchInterval });
  if (data?.counts.length === 0) return null;
  const findings = data?.findings ?? [];
  return (
    <section className="card stack" aria-labelledby="attention">
      <div className="row">
        <h2 id="attention">{t("overview.attention")}</h2>
        <div className="grow" />
        {finding && (
          <Link to="/o/$org/overview" params={{ org }}>
            {t("overview.allFindings")}
          </Link>
        )}
        <CopyAs method={listFindings} request={request} />
      </div>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={3} />}
      {data && Number(data.totalCount ?? 0) === 0 && (
        <p>
          <span className="good">
            <Icon name="check-circle-fill" />
          </span>{" "}
          {t(finding ? "overview.settled" : "overview.nothing")}
        </p>
      )}
      {data?.counts.map((count) => (
        <OfKind key={count.kind} count={count} listed={findings.filter(({ kind }) => kind === count.kind)} />
      ))}
      {finding && data && (
        <Pager {...pagesOf(search.page, Number(data.totalCount ?? 0), turn)} count={findings.length} />
      )}
    </section>
  );
}

/** Findings are listed by kind: many of one kind leave no room for the others, which are then asked for here. */
function OfKind({ count: { kind, count, isMinimum }, listed }: { count: FindingCount; listed: readonly Finding[] }) {
  const { t } = useTexts();
  const { org, search, close } = useOverviewAddress();
  const name = (Object.keys(kinds) as Name[]).find((one) => kinds[one] === kind);
  const isLeftOut = search.finding === undefined && listed.length < Math.min(shownOfEach, Number(count));
  const request = { parent: org, kinds: [kind], pageSize: shownOfEach };
  const { data } = useQuery(listFindings, request, { enabled: isLeftOut && name !== undefined, refetchInterval });
  if (name === undefined || count === 0n) return null;
  const findings = isLeftOut ? (data?.findings ?? listed) : listed;
  const opened = findings.find(({ resourceUid }) => resourceUid === search.resource);
  const shown = search.finding ? findings : findings.slice(0, shownOfEach);
  return (
    <section aria-labelledby={`finding-${name}`}>
      <h3 id={`finding-${name}`} className="row">
        <span className={name === "failing" || name === "breakGlass" ? "danger" : "warning"}>
          <Icon name={name === "failing" ? "x-circle-fill" : name === "confined" ? "blocked" : "alert"} />
        </span>
        <FilteredView name={name}>
          {t(`overview.${name}`, { count: Number(count), more: isMinimum ? "yes" : "no" })}
        </FilteredView>
      </h3>
      {shown.length > 0 && (
        <ul className={`list ${styles.findings}`}>
          {shown.map((finding) => (
            <FindingRow key={`${finding.resourceUid} ${finding.details.case}`} finding={finding} />
          ))}
        </ul>
      )}
      {search.dialog !== undefined && opened?.details.case === "delegation" && (
        <DelegationDialog dialog={search.dialog} delegation={opened.details.value} onClose={close} />
      )}
    </section>
  );
}

/** A link to all findings of a kind: to the list of identities, which has a filter for them, or in this view. */
function FilteredView({ name, children }: { readonly name: Name; readonly children: string }) {
  const { org, search } = useOverviewAddress();
  const filter = { expiring: { keys: "14d" }, unused: { used: "never7d" } } as const;
  if (name === "expiring" || name === "unused")
    return (
      <Link to="/o/$org/workloads/$" params={{ org, _splat: "" }} search={filter[name]}>
        {children}
      </Link>
    );
  if (search.finding === name) return <span>{children}</span>;
  return (
    <Link to="/o/$org/overview" params={{ org }} search={{ finding: name }}>
      {children}
    </Link>
  );
}

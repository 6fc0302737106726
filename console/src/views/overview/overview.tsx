// "What is going on here, and what needs me?"
import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { type Change, ChangesService } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { may, mayReadChanges, useMe } from "../../api/access.ts";
import { shortUid } from "../../api/uids.ts";
import { useOrganizationName, useOrganizationUid } from "../../shell/organization.tsx";
import { Ago, Heading, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { isTextId, type TextId, useTexts } from "../../texts/texts.ts";
import { type Count, useCounts } from "../counts.ts";

/** The overview of an organization. Parts that the caller may not read are left out. */
export function Overview() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const org = useOrganizationUid();
  const name = useOrganizationName();
  const counts = useCounts(org);
  return (
    <div className="stack">
      <Heading key={org}>{t("overview.title", { name })}</Heading>
      {counts.length > 0 && (
        <section className="tiles" aria-label={t("overview.counts", { name })}>
          {counts.map((count) => (
            <Tile key={count.kind} org={org} {...count} />
          ))}
        </section>
      )}
      <div className="two">
        {may(me, IdentitiesService.method.listIdentities, org) && <Attention org={org} />}
        {mayReadChanges(me, org) && <LatestChanges org={org} />}
      </div>
    </div>
  );
}

function Tile({ org, kind, count }: Count & { readonly org: string }) {
  const { t, language } = useTexts();
  const content = (
    <>
      <span className="muted">{t(`overview.${kind}`)}</span>
      <strong>{count === undefined ? "…" : new Intl.NumberFormat(language).format(count)}</strong>
    </>
  );
  const to = places[kind];
  if (!to) return <div className="tile">{content}</div>;
  return (
    <Link className="tile" to={to} params={{ org, _splat: "" }}>
      {content}
    </Link>
  );
}

/** The views that show what is counted. */
const places = {
  groups: "/o/$org/groups/$",
  identities: "/o/$org/identities/$",
  bindings: "/o/$org/access",
  roles: "/o/$org/roles/$",
  repos: "/o/$org/registry/$",
  advisories: undefined,
  subscriptions: "/o/$org/events/$",
} as const satisfies Readonly<Record<Count["kind"], string | undefined>>;

const soonMs = 14 * 24 * 60 * 60 * 1000;

function Attention({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const uidp = create(UIDPFilterSchema, { descendantsOf: org });
  const { data, error } = useQuery(IdentitiesService.method.listIdentities, { uidp, pageSize: 200 });
  const unused = data?.identities.filter((identity) => identity.lastSeenTime === undefined) ?? [];
  const expiring = data?.identities.filter(endsSoon) ?? [];
  return (
    <section className="card stack" aria-labelledby="attention">
      <h2 id="attention">{t("overview.attention")}</h2>
      {error && <Failure error={error} />}
      {!data && !error && <Loading lines={3} />}
      {data && unused.length + expiring.length === 0 && (
        <p>
          <span className="good">✓</span> {t("overview.nothing")}
        </p>
      )}
      {expiring.length > 0 && <Finding text="overview.expiring" identities={expiring} />}
      {unused.length > 0 && <Finding text="overview.unused" identities={unused} />}
      {Number(data?.totalCount ?? 0) > 200 && <p className="muted">{t("overview.sampled", { count: 200 })}</p>}
    </section>
  );
}

function endsSoon({ relationship }: Identity): boolean {
  const end = relationship.case === "staticKeys" ? relationship.value.expirationTime : undefined;
  if (!end) return false;
  const leftMs = timestampDate(end).getTime() - Date.now();
  return leftMs > 0 && leftMs < soonMs;
}

function Finding({ text, identities }: { readonly text: TextId; readonly identities: readonly Identity[] }) {
  const { t } = useTexts();
  const org = useOrganizationUid();
  return (
    <details>
      <summary>
        <span className="warning" aria-hidden="true">
          !
        </span>{" "}
        {t(text, { count: identities.length })}
      </summary>
      <ul className="list">
        {identities.slice(0, 20).map(({ uid, name }) => (
          <li key={uid}>
            <Link to="/o/$org/identities/$" params={{ org, _splat: uid }}>
              <bdi>{name}</bdi>
            </Link>{" "}
            <code title={uid}>{shortUid(uid)}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

function LatestChanges({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const { data, error } = useQuery(ChangesService.method.listChanges, { parent: org, pageSize: 12 });
  return (
    <section className="card" aria-labelledby="changes">
      <h2 id="changes">{t("overview.latest")}</h2>
      {error && <Failure error={error} />}
      {!data && !error && <Loading />}
      {data?.changes.length === 0 && <p>{t("overview.noChanges")}</p>}
      <ul className="list">
        {data?.changes.map((change) => (
          <ChangeLine key={change.id} change={change} />
        ))}
      </ul>
      <Link to="/o/$org/audit" params={{ org }}>
        {t("overview.allChanges")}
      </Link>
    </section>
  );
}

function ChangeLine({ change }: { readonly change: Change }) {
  const { t } = useTexts();
  const { before, after, kind, actorUid, actorClaims, time, resourceUid } = change;
  const verb = after === undefined ? "change.deleted" : before === undefined ? "change.created" : "change.updated";
  const single = `one.${kind}`;
  const name = (after ?? before)?.name;
  const actor = actorUid === "" ? t("overview.server") : (actorClaims.sub ?? shortUid(actorUid));
  return (
    <li>
      <span className="muted">{time && <Ago time={timestampDate(time)} />}</span>
      <span>
        <bdi>{actor}</bdi>:{" "}
        {isTextId(`access.${kind}`)
          ? t(`access.${kind}` as TextId)
          : t(verb, { kind: isTextId(single) ? t(single) : kind.replaceAll("_", " ") })}{" "}
        {!isTextId(`access.${kind}`) && (
          <bdi title={resourceUid}>{typeof name === "string" && name !== "" ? name : shortUid(resourceUid)}</bdi>
        )}
      </span>
    </li>
  );
}

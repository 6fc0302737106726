import { useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { ChangesService } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { may, mayReadChanges, useMe } from "../../api/access.ts";
import { ChangeList } from "../../shell/change-list.tsx";
import { type Kind, kinds, useContents } from "../../shell/counts.ts";
import { Icon, type IconName } from "../../shell/icon.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { useOrganizationName, useOrganizationUid } from "../../shell/organization.tsx";
import { ActionButton, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import tileStyles from "../../shell/tiles.module.css";
import { useTexts } from "../../texts/texts.ts";
import styles from "./overview.module.css";
import { Statistics } from "./statistics.tsx";

const Attention = lazyPart(async () => (await import("./attention.tsx")).Attention, <Loading />);
const FirstSteps = lazyPart(async () => (await import("./first-steps.tsx")).FirstSteps, <Loading lines={2} />);
const MemberHome = lazyPart(async () => (await import("./home.tsx")).MemberHome, <Loading />);

const { createRoleBinding } = RoleBindingsService.method;

/** The overview of an organization, or of what a caller has in it who may count nothing in the whole of it. Other parts need capabilities. */
export function Overview() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const org = useOrganizationUid();
  const name = useOrganizationName();
  const contents = useContents(org);
  const navigate = useNavigate();
  const grant = () => void navigate({ to: "/o/$org/access", params: { org }, search: { dialog: "grant" } });
  const tiles = contents?.counts.filter(({ kind }) => Object.hasOwn(shownKinds, kind)) ?? [];
  return (
    <div className="stack">
      <PageHead key={org} title={t("overview.title", { name })}>
        {may(me, createRoleBinding, org) && (
          <ActionButton missing={[]} onClick={grant}>
            {t("overview.grant")}
          </ActionButton>
        )}
      </PageHead>
      {contents === undefined && <Loading lines={2} />}
      {tiles.length > 0 && (
        <section className={tileStyles.tiles} aria-label={t("overview.counts", { name })}>
          {tiles.map(({ kind, totalCount }) => (
            <Tile key={kind} org={org} kind={kind as TileProps["kind"]} count={totalCount} />
          ))}
        </section>
      )}
      {contents && tiles.length === 0 && <MemberHome />}
      <FirstSteps key={`${org} steps`} counts={contents?.counts ?? []} />
      <Statistics org={org} />
      <div className={styles.two}>
        <Attention />
        {mayReadChanges(me, org) && <LatestChanges org={org} />}
      </div>
    </div>
  );
}

interface TileProps {
  readonly org: string;
  readonly kind: keyof typeof shownKinds;
  readonly count: bigint;
}

function Tile({ org, kind, count }: TileProps) {
  const { t, locale } = useTexts();
  return (
    <Link className={tileStyles.tile} to={kinds[kind]} params={{ org, _splat: "" }}>
      <span className={tileStyles.name}>
        <Icon name={shownKinds[kind]} />
        {t(`overview.${kind}`)}
      </span>
      <strong>{new Intl.NumberFormat(locale).format(count)}</strong>
    </Link>
  );
}

/** The kinds that the overview counts, those with a view of their own, with its icon. */
const shownKinds = {
  groups: "file-directory",
  identities: "hubot",
  role_bindings: "shield-lock",
  roles: "id-badge",
  repos: "package",
  advisories: "bug",
  subscriptions: "webhook",
} as const satisfies Partial<Record<Kind, IconName>>;

function LatestChanges({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const { data, error } = useQuery(ChangesService.method.listChanges, {
    parent: org,
    excludedKinds: ["sign_ins", "session_ends", "token_exchanges"],
    pageSize: 50,
  });
  return (
    <section className="card" aria-labelledby="changes">
      <h2 id="changes">{t("overview.latest")}</h2>
      {error && <Failure error={error} />}
      {!data && !error && <Loading />}
      {data?.changes.length === 0 && <p>{t("overview.noChanges")}</p>}
      {data && data.changes.length > 0 && (
        <ChangeList org={org} label={t("overview.latest")} changes={data.changes} level="h3" maxLines={8} />
      )}
      <Link to="/o/$org/audit" params={{ org }}>
        {t("overview.allChanges")}
      </Link>
    </section>
  );
}

// The overview of somebody who holds roles in groups of an organization, and not in the whole of it.
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { IdentitiesService } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { ReposService } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import type { Name } from "../../../../gen/gatehouse/search/v1/search_pb.ts";
import { holds, isAtOrAbove, may, useMe, usePending } from "../../api/access.ts";
import { useResolved } from "../../api/resources.ts";
import { parentOf } from "../../api/uids.ts";
import { Command } from "../../shell/command.tsx";
import { Icon, type IconName } from "../../shell/icon.tsx";
import { PendingOrganizations } from "../../shell/join-card.tsx";
import { Avatar, Pill } from "../../shell/look.tsx";
import { useOrganizationName } from "../../shell/organization.tsx";
import { Ago, Loading } from "../../shell/parts.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { loginCommand, pullCommand, usePulledTag, useRepository } from "../../shell/pull.ts";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useOverviewAddress } from "./address.ts";
import styles from "./home.module.css";

const { listRepos } = ReposService.method;
const { listIdentities } = IdentitiesService.method;

/** How many groups, repos and workloads are shown at first. */
const shownRows = 5;

/** Shows the groups of the caller with roles, repos with the commands that pull, workloads, and what waits for them. */
export function MemberHome() {
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  return (
    <div className={styles.home}>
      <div className="stack">
        <Groups />
        {holds(me, "repo.list", org) && <Repos />}
      </div>
      <div className="stack">
        <Waiting />
        {holds(me, "identity.list", org) && <Workloads />}
      </div>
    </div>
  );
}

function Part({
  title,
  icon,
  link,
  children,
}: {
  readonly title: string;
  readonly icon: IconName;
  /** Where there is more of it. */
  readonly link?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className="card stack" aria-labelledby={id}>
      <div className={styles.head}>
        <Icon name={icon} />
        <h2 id={id}>{title}</h2>
        <div className="grow" />
        {link}
      </div>
      {children}
    </section>
  );
}

/** A group in which the caller holds roles. */
interface HeldGroup {
  readonly uid: string;
  readonly name: string;
  readonly roles: readonly string[];
}

/** Returns the groups of an organization in which the caller holds roles, in the order of their names. */
function useHeldGroups(org: string): readonly HeldGroup[] {
  const { locale } = useTexts();
  const { data: me } = useMe();
  const held = (me?.capabilities ?? []).filter(({ group }) => isAtOrAbove(org, group?.id ?? ""));
  return [...Map.groupBy(held, ({ group }) => group?.id ?? "")]
    .map(([uid, bindings]) => ({
      uid,
      name: bindings[0]?.group?.name ?? "",
      roles: [...new Set(bindings.map(({ role }) => role?.name ?? ""))].filter((name) => name !== "").sort(),
    }))
    .sort((a, b) => a.name.localeCompare(b.name, locale));
}

function Groups() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  const groups = useHeldGroups(org);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? groups : groups.slice(0, shownRows);
  const places = useResolved(shown.map(({ uid }) => uid));
  return (
    <Part
      title={t("home.groups")}
      icon="file-directory"
      link={
        <Link to="/o/$org/access" params={{ org }} search={{ tab: "identity", identity: me?.subject ?? "" }}>
          {t("home.mayI")}
        </Link>
      }
    >
      <ul className={`list ${styles.rows}`}>
        {shown.map(({ uid, name, roles }) => (
          <li key={uid}>
            <Place uid={uid} name={name} found={places.get(uid)} />
            <span className="row">
              {roles.map((role) => (
                <Pill key={role} tone={role === "owner" || role === "operator" ? "high" : "accent"}>
                  <bdi>{role}</bdi>
                </Pill>
              ))}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < groups.length && (
        <div>
          <Button variant="default" size="sm" onClick={() => setWhole(true)}>
            {t("home.allGroups", { count: groups.length })}
          </Button>
        </div>
      )}
    </Part>
  );
}

/** A group by its path: the groups above it, "…" for those that the caller may not see, then its own name as a link. */
function Place({
  uid,
  name,
  found,
}: {
  readonly uid: string;
  /** Its name as far as it is known without a call. */
  readonly name?: string;
  readonly found: Name | undefined;
}) {
  const { t } = useTexts();
  const { org } = useOverviewAddress();
  const organization = useOrganizationName();
  const above = uid === org ? [] : [organization, ...(found?.path ?? []).slice(1).map((part) => part.name || "…")];
  const own = uid === org ? organization : found?.name || name || t("names.group");
  return (
    <span className={styles.place}>
      <span className="muted small">
        <bdi>{above.join(" / ")}</bdi>
        {above.length > 0 && " / "}
      </span>
      <Link to="/o/$org/groups/$" params={{ org, _splat: uid }}>
        <bdi>{own}</bdi>
      </Link>
    </span>
  );
}

function Repos() {
  const { t } = useTexts();
  const { org } = useOverviewAddress();
  const request = { uidp: { descendantsOf: org }, orderBy: "name", pageSize: shownRows };
  const { data, error, refetch } = useQuery(listRepos, request);
  const [first] = data?.repos ?? [];
  const places = useResolved(data?.repos.map(({ uid }) => parentOf(uid)) ?? []);
  const all = (
    <Link to="/o/$org/registry/$" params={{ org, _splat: "" }}>
      {t("home.allRepos", { count: Number(data?.totalCount ?? 0) })}
    </Link>
  );
  return (
    <Part title={t("home.repos")} icon="package" link={Number(data?.totalCount ?? 0) > shownRows && all}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={2} />}
      {data && !first && <p className="muted">{t("home.noRepos")}</p>}
      <ul className={`list ${styles.repos}`}>
        {data?.repos.map(({ uid, name }) => (
          <li key={uid}>
            <span className={styles.repo}>
              <Link to="/o/$org/registry/$" params={{ org, _splat: uid }}>
                <bdi>{name}</bdi>
              </Link>
              <Place uid={parentOf(uid)} found={places.get(parentOf(uid))} />
            </span>
            <Pull uid={uid} name={name} />
          </li>
        ))}
      </ul>
      {first && <SignInFirst uid={first.uid} />}
    </Part>
  );
}

/** The command that pulls from a repo, or why there is none. */
function Pull({ uid, name }: { readonly uid: string; readonly name: string }) {
  const { t } = useTexts();
  const { reference, problem } = useRepository(uid);
  const tag = usePulledTag(uid);
  if (reference === "") return problem ? <span className="muted small">{t("home.noName")}</span> : null;
  if (tag === null) return <span className="muted small">{t("home.noTags")}</span>;
  return <Command text={pullCommand(reference, tag)} what={t("home.pullOf", { name })} />;
}

function SignInFirst({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { host } = useRepository(uid);
  if (host === "") return null;
  return (
    <div className="stack dense">
      <p className="muted small">{t("home.signIn")}</p>
      <Command text={loginCommand(host)} what={t("home.signInCommand")} />
    </div>
  );
}

function Workloads() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useOverviewAddress();
  const request = { uidp: { descendantsOf: org }, orderBy: "name", pageSize: shownRows };
  const { data, error, refetch } = useQuery(listIdentities, request, { enabled: may(me, listIdentities) });
  const places = useResolved(data?.identities.map(({ uid }) => parentOf(uid)) ?? []);
  const all = (
    <Link to="/o/$org/workloads/$" params={{ org, _splat: "" }}>
      {t("home.allWorkloads", { count: Number(data?.totalCount ?? 0) })}
    </Link>
  );
  return (
    <Part title={t("home.workloads")} icon="hubot" link={Number(data?.totalCount ?? 0) > shownRows && all}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={2} />}
      {data?.identities.length === 0 && <p className="muted">{t("home.noWorkloads")}</p>}
      <ul className={`list ${styles.rows}`}>
        {data?.identities.map(({ uid, name, lastSeenTime, createTime }) => (
          <li key={uid}>
            <span className="who">
              <Avatar uid={uid} name={name} isWorkload />
              <span className="lines">
                <ProfileLink identity={{ uid, name }} />
                <Place uid={parentOf(uid)} found={places.get(parentOf(uid))} />
              </span>
            </span>
            {/* A new identity was seen when it was created. */}
            {lastSeenTime && createTime && timestampMs(lastSeenTime) > timestampMs(createTime) && (
              <span className="muted small">
                {t("home.seen")} <Ago time={timestampDate(lastSeenTime)} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The organizations that wait for the caller's decision. */
function Waiting() {
  const { t } = useTexts();
  const isEmpty = usePending()?.length === 0;
  return (
    <Part title={t("home.waiting")} icon="inbox">
      {isEmpty ? <p className="muted">{t("home.nothingWaits")}</p> : <PendingOrganizations />}
    </Part>
  );
}

// One repo: how to pull it, its tags, and its readme.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ConnectError, Code as ErrorCode } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type Repo, ReposService } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { NameProblem } from "../../../../gen/gatehouse/registry/v1/repositories_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { useNames } from "../../api/resources.ts";
import { ancestorsOf, shortUid } from "../../api/uids.ts";
import { Command } from "../../shell/command.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { ActionButton, Ago, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { loginCommand, pullCommand, usePulledTag, useRepository } from "../../shell/pull.ts";
import { Failure, UnreadPage } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import { missingForPullToken } from "./pull-token-access.ts";
import styles from "./registry.module.css";
import { Tags } from "./tags.tsx";
import { Uses } from "./uses.tsx";
import { WhoMay } from "./who-may.tsx";

/** With a parser of Markdown, which is half of the view. */
const Markdown = lazyPart(async () => (await import("../../shell/markdown.tsx")).Markdown, <Loading />);

const ImagePage = lazyPart(async () => (await import("./image-page.tsx")).ImagePage, <Loading />);

const { getRepo, updateRepo, updateRepoReadme, deleteRepo, getRepoReadme } = ReposService.method;

/** The selected repo. */
export function RepoDetails({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const { search } = useRegistryAddress();
  const mayGet = may(me, getRepo, uid);
  const { data: repo, error, refetch } = useQuery(getRepo, { uid }, { enabled: mayGet });
  return (
    <>
      <Path uid={uid} repo={search.image === undefined ? undefined : repo} />
      {repo && search.image !== undefined ? (
        <ImagePage key={search.image} repo={repo} digest={search.image} />
      ) : repo ? (
        <Content repo={repo} />
      ) : (
        <UnreadPage method={getRepo} uid={uid} error={error} onRetry={() => void refetch()} />
      )}
    </>
  );
}

interface PathProps {
  readonly uid: string;
  /** The repo, if the page is that of one of its images. */
  readonly repo: Repo | undefined;
}

/** The way back to the list, the groups that contain the repo, and the repo. */
function Path({ uid, repo }: PathProps) {
  const { t } = useTexts();
  const { org } = useRegistryAddress();
  const groups = ancestorsOf(uid);
  const names = useNames(groups);
  return (
    <nav className="path" aria-label={t("registry.path")}>
      <Link to="/o/$org/registry/$" params={{ org, _splat: "" }}>
        {t("registry.title")}
      </Link>
      {groups.map((group) => (
        <span key={group}>
          {" / "}
          {names.has(group) ? (
            <Link to="/o/$org/groups/$" params={{ org, _splat: group }}>
              <bdi>{names.get(group)}</bdi>
            </Link>
          ) : (
            "…"
          )}
        </span>
      ))}
      {repo && (
        <span>
          {" / "}
          <Link to="/o/$org/registry/$" params={{ org, _splat: uid }}>
            <bdi>{repo.name}</bdi>
          </Link>
        </span>
      )}
    </nav>
  );
}

function Content({ repo }: { readonly repo: Repo }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useRegistryAddress();
  const { uid, name, description } = repo;
  return (
    <>
      <PageHead title={<bdi>{name}</bdi>}>
        <CopyAs method={getRepo} request={{ uid }} />
        <ActionButton
          shortcut="e"
          missing={missingFor(me, updateRepo, uid)}
          onClick={() => void open(uid, { dialog: "edit" })}
        >
          {t("registry.edit")}
        </ActionButton>
        <ActionButton
          shortcut="Delete"
          missing={missingFor(me, deleteRepo, uid)}
          onClick={() => void open(uid, { dialog: "delete" })}
        >
          {t("registry.delete")}
        </ActionButton>
        <ActionButton
          variant="filled"
          missing={missingForPullToken(me, uid)}
          onClick={() => void open(uid, { dialog: "pull-token" })}
        >
          {t("registry.newPullToken")}
        </ActionButton>
      </PageHead>
      {description !== "" && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <Pull uid={uid} />
      <Tags repo={repo} />
      <Uses repoUid={uid} />
      <div className={`part ${styles.two}`}>
        <section className="card stack" aria-labelledby="repo-readme">
          <div className="row">
            <h2 id="repo-readme">{t("registry.readme")}</h2>
            <div className="grow" />
            <ActionButton
              missing={missingFor(me, updateRepoReadme, uid)}
              onClick={() => void open(uid, { dialog: "readme" })}
            >
              {t("registry.editReadme")}
            </ActionButton>
          </div>
          <RepoReadme uid={uid} />
        </section>
        <div className="stack">
          <WhoMay repoUid={uid} />
          <Details repo={repo} />
        </div>
      </div>
    </>
  );
}

function Details({ repo: { uid, bundles, createTime, updateTime } }: { readonly repo: Repo }) {
  const { t } = useTexts();
  return (
    <section className="card stack" aria-labelledby="repo-details">
      <h2 id="repo-details">{t("registry.details")}</h2>
      <dl className="facts">
        <dt>{t("registry.uid")}</dt>
        <dd>
          <Copyable value={uid} shown={shortUid(uid)} what={t("registry.uid")} />
        </dd>
        {bundles.length > 0 && (
          <>
            <dt>{t("registry.bundles")}</dt>
            <dd>
              <bdi>{bundles.join(", ")}</bdi>
            </dd>
          </>
        )}
        <dt>{t("registry.created")}</dt>
        <dd>{createTime && <Ago time={timestampDate(createTime)} />}</dd>
        <dt>{t("registry.updated")}</dt>
        <dd>{updateTime && <Ago time={timestampDate(updateTime)} />}</dd>
      </dl>
    </section>
  );
}

function RepoReadme({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data, error, refetch } = useQuery(getRepoReadme, { uid });
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.content.trim() === "") return <p className="muted">{t("registry.noReadme")}</p>;
  return <Markdown text={data.content} />;
}

/** How to sign in and pull. */
function Pull({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { org } = useRegistryAddress();
  const { host, reference, problem, error } = useRepository(uid);
  const tag = usePulledTag(uid);
  if (error && ConnectError.from(error).code !== ErrorCode.PermissionDenied) return <Failure error={error} />;
  if (host === "") return <Loading lines={2} />;
  return (
    <section className="card stack part" aria-labelledby="repo-pull">
      <h2 id="repo-pull">{t("registry.pull")}</h2>
      {problem === NameProblem.HIDDEN_GROUP && <p className="notice warn">{t("registry.hiddenGroup")}</p>}
      {problem === NameProblem.UNREACHABLE && <p className="notice warn">{t("registry.unreachable")}</p>}
      {reference !== "" && (
        <div className="stack dense">
          {tag !== null && <Command text={pullCommand(reference, tag)} what={t("registry.pullCommand")} />}
          {reference.includes(`/${org}/`) && <p className="muted small">{t("registry.uidHelp")}</p>}
          <p className="muted small">{t("registry.signInHelp")}</p>
          <Command text={loginCommand(host)} what={t("registry.loginCommand")} />
          <p className="muted small">{t("registry.pullHelp")}</p>
        </div>
      )}
    </section>
  );
}

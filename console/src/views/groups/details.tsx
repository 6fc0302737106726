// What is known of the selected group.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { ancestorsOf, shortUid } from "../../api/uids.ts";
import { useContents } from "../../shell/counts.ts";
import { ActionButton, Ago, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useGroupAddress } from "./address.ts";
import { ContentLink } from "./content-link.tsx";

const { getGroup, updateGroup, deleteGroup } = GroupsService.method;

/** Shows a group, with its path, its contents and its actions. */
export function GroupDetails({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useGroupAddress();
  const mayGet = may(me, getGroup, uid);
  const { data: group, error, refetch } = useQuery(getGroup, { uid }, { enabled: mayGet });
  if (me && !mayGet) return <Denied capabilities={requiredBy(getGroup)} uid={uid} />;
  if (error && !group) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!group) return <Loading />;
  return (
    <section className="card stack" aria-labelledby="group-name">
      <div>
        <Path uid={uid} />
        <h2 id="group-name">
          <bdi>{group.name}</bdi>
        </h2>
      </div>
      <div className="row">
        <ActionButton
          shortcut="e"
          missing={missingFor(me, updateGroup, uid)}
          onClick={() => void open(uid, { dialog: "edit" })}
        >
          {t("groups.edit")}
        </ActionButton>
        <ActionButton
          shortcut="Delete"
          missing={missingFor(me, deleteGroup, uid)}
          onClick={() => void open(uid, { dialog: "delete" })}
        >
          {t("groups.delete")}
        </ActionButton>
        <CopyAs method={getGroup} request={{ uid }} />
      </div>
      <p>
        {group.description === "" ? (
          <span className="muted">{t("groups.noDescription")}</span>
        ) : (
          <bdi>{group.description}</bdi>
        )}
      </p>
      <dl className="facts">
        <dt>{t("groups.uid")}</dt>
        <dd>
          <Copyable value={uid} shown={shortUid(uid)} what={t("groups.uid")} />
        </dd>
        <dt>{t("groups.created")}</dt>
        <dd>{group.createTime && <Ago time={timestampDate(group.createTime)} />}</dd>
        <dt>{t("groups.updated")}</dt>
        <dd>{group.updateTime && <Ago time={timestampDate(group.updateTime)} />}</dd>
        <dt>{t("groups.contents")}</dt>
        <dd>
          <Contents uid={uid} />
        </dd>
      </dl>
    </section>
  );
}

function Contents({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const contents = useContents(uid);
  if (!contents) return "…";
  const counts = contents.counts.filter(({ totalCount }) => totalCount > 0);
  return (
    <ul className="inline">
      {counts.map(({ kind, totalCount }) => (
        <li key={kind}>
          <ContentLink kind={kind} count={totalCount} uid={uid} />
        </li>
      ))}
      {counts.length === 0 && <li>{t("groups.nothing")}</li>}
    </ul>
  );
}

/** The groups that contain a group. Those that the caller may not see are "…". */
function Path({ uid }: { readonly uid: string }) {
  return (
    <div className="path">
      {ancestorsOf(uid).map((ancestor) => (
        <Fragment key={ancestor}>
          <Ancestor uid={ancestor} /> /{" "}
        </Fragment>
      ))}
    </div>
  );
}

function Ancestor({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const { org } = useGroupAddress();
  const { data } = useQuery(getGroup, { uid }, { enabled: may(me, getGroup, uid) });
  if (!data) return <span>…</span>;
  return (
    <Link to="/o/$org/groups/$" params={{ org, _splat: uid }}>
      <bdi>{data.name}</bdi>
    </Link>
  );
}

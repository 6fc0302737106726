// A group with the groups above it, each a link if the caller may open it.
import { Link, useParams } from "@tanstack/react-router";
import { Fragment } from "react";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { Name } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { may, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";

/** The path of a group, whose name is among these. Groups that the caller may not list are "…". */
export function GroupPath({ uid, names }: { readonly uid: string; readonly names: ReadonlyMap<string, Name> }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org = "" } = useParams({ strict: false });
  const found = names.get(uid);
  if (!found) return <span className="muted">…</span>;
  const parts = [...found.path, { uid: found.uid, name: found.name || t("names.group") }];
  return (
    <span>
      {parts.map((part, index) => (
        <Fragment key={part.uid}>
          {index > 0 && <span className="muted"> / </span>}
          {part.name !== "" && may(me, GroupsService.method.getGroup, part.uid) ? (
            <Link to="/o/$org/groups/$" params={{ org, _splat: part.uid }}>
              <bdi>{part.name}</bdi>
            </Link>
          ) : (
            <bdi className="muted">{part.name || "…"}</bdi>
          )}
        </Fragment>
      ))}
    </span>
  );
}

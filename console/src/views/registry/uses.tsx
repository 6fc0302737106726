// Who used the images of a repo, and when tags were used last.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import {
  type ImageUse,
  ImageUsesService,
  type TagUse,
  UseKind,
} from "../../../../gen/gatehouse/registry/v1/image_uses_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { shortDigest } from "../../shell/digest.ts";
import { Empty } from "../../shell/look.tsx";
import { Ago, CopyAs, Copyable } from "../../shell/parts.tsx";
import { byPages, ShowMore } from "../../shell/show-more.tsx";
import { Table } from "../../shell/table.tsx";
import { UseActor } from "../../shell/use-actor.tsx";
import { useTexts } from "../../texts/texts.ts";

const { findTagUses, listImageUses } = ImageUsesService.method;

/** How many uses are read at once. */
const pageSize = 20;

/** The last uses of tags. */
export interface TagUses {
  readonly byTag: ReadonlyMap<string, TagUse>;
  /** Whether all uses are known since some time. */
  readonly isKnown: boolean;
}

/** Reads when tags were used last. Returns undefined until they are read, and for callers who may not see it. */
export function useTagUses(repoUid: string, names: readonly string[]): TagUses | undefined {
  const { data: me } = useMe();
  const tags = [...new Set(names)].sort();
  const isEnabled = tags.length > 0 && may(me, findTagUses, repoUid);
  const { data } = useQuery(findTagUses, { repoUid, tags }, { enabled: isEnabled });
  return (
    data && {
      byTag: new Map(data.uses.map((use) => [use.tag, use])),
      isKnown: data.coverageStartTime !== undefined,
    }
  );
}

/** Returns the last use of a tag; undefined for none. */
export function lastUseOf({ lastPullTime, lastCheckTime }: Pick<TagUse, "lastPullTime" | "lastCheckTime">) {
  const times = [lastPullTime, lastCheckTime].flatMap((time) => (time ? [time] : []));
  return times.sort((a, b) => Number(b.seconds - a.seconds))[0];
}

/** When a tag was used last: by its name, or else its image by a digest or another tag. */
export function LastUse({ uses, tag }: { readonly uses: TagUses | undefined; readonly tag: string }) {
  const { t } = useTexts();
  if (!uses) return null;
  const use = uses.byTag.get(tag);
  const last = use && lastUseOf(use);
  if (last)
    return (
      <div className="lines">
        <Ago time={timestampDate(last)} />
        <span className="muted small">{t(last === use.lastPullTime ? "registry.use.pull" : "registry.use.check")}</span>
      </div>
    );
  if (use?.imageLastUseTime)
    return (
      <div className="lines">
        <Ago time={timestampDate(use.imageLastUseTime)} />
        <span className="muted small">{t("registry.use.otherwise")}</span>
      </div>
    );
  return <span className="muted">{t(uses.isKnown ? "registry.use.never" : "registry.use.unknown")}</span>;
}

/** Who used the images, the last use first. Nothing for callers who may not see it. */
export function Uses({ repoUid }: { readonly repoUid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const isEnabled = may(me, listImageUses, repoUid);
  const request = { repoUid, pageSize };
  const query = useInfiniteQuery(listImageUses, { ...request, pageToken: "" }, { ...byPages, enabled: isEnabled });
  const { data, error, refetch } = query;
  const columns = useColumns();
  if (!isEnabled) return null;
  const start = data?.pages[0]?.coverageStartTime;
  return (
    <section className="stack part" aria-labelledby="repo-uses">
      <div className="row">
        <h2 id="repo-uses">{t("registry.uses")}</h2>
        <div className="grow" />
        <CopyAs method={listImageUses} request={request} />
      </div>
      {data && (
        <p className="muted">
          {start ? (
            <>
              {t("registry.use.since")} <Ago time={timestampDate(start)} />
            </>
          ) : (
            t("registry.use.noCoverage")
          )}
        </p>
      )}
      <Table
        label={t("registry.uses")}
        list={{ rows: data?.pages.flatMap(({ uses }) => uses), error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ digest, kind, identity, registryUser }) => `${digest} ${kind} ${identity?.uid} ${registryUser}`}
        empty={<Empty>{t("registry.noUses")}</Empty>}
      />
      <ShowMore query={query} text={t("registry.use.more")} />
    </section>
  );
}

function useColumns(): Column<ImageUse>[] {
  const { t, locale } = useTexts();
  return [
    {
      title: t("registry.use.by"),
      text: ({ identity, registryUser }) => identity?.name || identity?.uid || registryUser,
      cell: (use) => <UseActor use={use} />,
    },
    {
      title: t("registry.use.kind"),
      cell: ({ kind }) => t(kind === UseKind.CHECK ? "registry.use.check" : "registry.use.pull"),
    },
    {
      title: t("registry.use.image"),
      cell: ({ digest, tags }) => (
        <div className="lines">
          {tags.length > 0 && <bdi>{tags.join(", ")}</bdi>}
          <Copyable value={digest} shown={shortDigest(digest)} what={t("registry.digest")} />
        </div>
      ),
    },
    {
      title: t("registry.use.count"),
      isWide: true,
      cell: ({ count }) => Number(count).toLocaleString(locale),
    },
    {
      title: t("registry.use.last"),
      text: ({ lastUseTime }) => timeCell(lastUseTime),
      cell: ({ lastUseTime }) => lastUseTime && <Ago time={timestampDate(lastUseTime)} />,
    },
  ];
}

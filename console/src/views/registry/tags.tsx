// The tags of a repo, with what each of them is.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Checkbox } from "@mantine/core";
import type { Repo } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { type Tag, TagsService } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import type { Image } from "../../../../gen/gatehouse/registry/v1/image_store_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { shortDigest } from "../../shell/digest.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, Pill } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { Ago, CopyAs, Copyable } from "../../shell/parts.tsx";
import { useRepository } from "../../shell/pull.ts";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import { TagHistory } from "./history.tsx";
import { sizeText, useImages } from "./images.ts";
import { TagSeverity } from "./tag-severity.tsx";
import { LastUse, lastUseOf, useTagUses } from "./uses.tsx";

const { listTags, deleteTag } = TagsService.method;
const DeleteTags = lazyPart(async () => (await import("./bulk.tsx")).DeleteTags, null, "bulk");

/** The tags of a repo, those that were set last first. */
export function Tags({ repo }: { readonly repo: Repo }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, open } = useRegistryAddress();
  const mayList = may(me, listTags, repo.uid);
  const isAll = search.tags === "all";
  const list = usePagedList({
    method: listTags,
    request: {
      uidp: { childrenOf: repo.uid },
      ...(isAll && { includeReferrers: true, includeDates: true, includeEpochs: true }),
    },
    rowsOf: ({ tags }) => tags,
    order: "update_time desc",
    isEnabled: mayList,
    address: search,
    onAddress: (changes) => open(repo.uid, changes),
  });
  const columns = useTagColumns(repo, list.rows ?? []);
  const shown = list.rows?.find(({ uid }) => uid === search.history);
  if (!mayList) return null;
  return (
    <section className="stack part" aria-labelledby="repo-tags">
      <div className="row">
        <h2 id="repo-tags">{t("registry.tags")}</h2>
        <Checkbox
          label={t("registry.allTags")}
          checked={isAll}
          onChange={({ currentTarget: { checked } }) =>
            void open(repo.uid, { tags: checked ? "all" : undefined, page: undefined })
          }
        />
        <div className="grow" />
        <CopyAs method={listTags} request={list.request} />
      </div>
      <List
        id="tags"
        label={t("registry.tags")}
        list={list}
        columns={columns}
        keyOf={({ uid }) => uid}
        actions={[{ text: t("registry.deleteTags"), method: deleteTag, placeOf: ({ uid }) => uid, Dialog: DeleteTags }]}
        empty={<Empty>{t("registry.noTags")}</Empty>}
      />
      {shown && (
        <TagHistory repoUid={repo.uid} tag={shown} onClose={() => void open(repo.uid, { history: undefined })} />
      )}
    </section>
  );
}

function useTagColumns(repo: Repo, tags: readonly Tag[]): Column<Tag>[] {
  const { t, locale } = useTexts();
  const { open } = useRegistryAddress();
  const { reference } = useRepository(repo.uid);
  const images = useImages(
    repo.uid,
    tags.map(({ digest }) => digest),
  );
  const uses = useTagUses(
    repo.uid,
    tags.map(({ name }) => name),
  );
  return [
    {
      title: t("registry.tag"),
      text: ({ name }) => name,
      sort: "name",
      cell: ({ uid, name, deprecated }) => (
        <div className="lines">
          <button type="button" className="link" onClick={() => void open(repo.uid, { history: uid })}>
            <bdi>{name}</bdi>
          </button>
          {deprecated ? (
            <Pill tone="medium" icon="alert">
              {t("registry.deprecated")}
            </Pill>
          ) : (
            repo.activeTags.includes(name) && (
              <Pill tone="good" icon="check-circle-fill">
                {t("registry.active")}
              </Pill>
            )
          )}
        </div>
      ),
    },
    {
      id: "digest",
      title: t("images.digestAndFindings"),
      text: ({ digest }) => digest,
      cell: ({ name, digest }) => (
        <div className="lines">
          <Copyable value={digest} shown={shortDigest(digest)} what={t("registry.digest")} />
          <TagSeverity repoUid={repo.uid} digest={digest} tag={name} />
        </div>
      ),
    },
    {
      id: "platforms",
      title: t("registry.platforms"),
      cell: ({ digest }) => <Platforms image={images.get(digest)} locale={locale} />,
    },
    {
      id: "used",
      title: t("registry.use.last"),
      text: ({ name }) => timeCell(uses?.byTag.get(name) && lastUseOf(uses.byTag.get(name)!)),
      cell: ({ name }) => <LastUse uses={uses} tag={name} />,
    },
    {
      id: "updated",
      title: t("registry.updated"),
      text: ({ updateTime }) => timeCell(updateTime),
      sort: "update_time desc",
      cell: ({ updateTime }) => updateTime && <Ago time={timestampDate(updateTime)} />,
    },
    {
      id: "pull",
      title: t("registry.pullColumn"),
      isWide: true,
      cell: ({ name, digest }) =>
        reference !== "" && (
          <Copyable
            value={`docker pull ${reference}@${digest}`}
            shown={`docker pull …@${shortDigest(digest).slice(0, 7)}`}
            what={t("registry.pullOf", { name })}
          />
        ),
    },
  ];
}

/** The platforms of an image, each with its compressed size. */
function Platforms({ image, locale }: { readonly image: Image | undefined; readonly locale: string }) {
  const { t } = useTexts();
  if (!image) return <span className="muted">{t("registry.unknownImage")}</span>;
  return (
    <ul className="inline">
      {image.platforms.map(({ architecture, size }) => (
        <li key={architecture} className="nowrap">
          {architecture} <span className="muted">{sizeText(Number(size), locale)}</span>
        </li>
      ))}
    </ul>
  );
}

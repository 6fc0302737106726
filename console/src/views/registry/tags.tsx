// The tags of a repo, with what each of them is.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Checkbox } from "@mantine/core";
import type { Repo } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { type Tag, TagsService } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import type { Image } from "../../../../gen/gatehouse/registry/v1/image_store_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { Empty, Pill } from "../../shell/look.tsx";
import { Ago, CopyAs, Copyable } from "../../shell/parts.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import { TagHistory } from "./history.tsx";
import { shortDigest, sizeText, useImages } from "./images.ts";
import { useRepository } from "./repository.ts";

const { listTags } = TagsService.method;

/** The tags of a repo, those that were set last first. */
export function Tags({ repo }: { readonly repo: Repo }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, open } = useRegistryAddress();
  const mayList = may(me, listTags, repo.uid);
  const isAll = search.tags === "all";
  const turn = (page: number | undefined) => void open(repo.uid, { page });
  const request = {
    uidp: { childrenOf: repo.uid },
    orderBy: "update_time desc",
    ...(isAll && { includeReferrers: true, includeDates: true, includeEpochs: true }),
    pageSize,
    skip: pagesOf(search.page, 0, turn).skip,
  };
  const { data, error, refetch } = useQuery(listTags, request, { enabled: mayList });
  const columns = useTagColumns(repo, data?.tags ?? []);
  const shown = data?.tags.find(({ uid }) => uid === search.history);
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
        <CopyAs method={listTags} request={request} />
      </div>
      <Table
        label={t("registry.tags")}
        list={{ rows: data?.tags, error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ uid }) => uid}
        empty={<Empty>{t("registry.noTags")}</Empty>}
      />
      <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)} count={data?.tags.length ?? 0} />
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
  return [
    {
      title: t("registry.tag"),
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
      title: t("registry.digest"),
      cell: ({ digest }) => <Copyable value={digest} shown={shortDigest(digest)} what={t("registry.digest")} />,
    },
    {
      title: t("registry.platforms"),
      cell: ({ digest }) => <Platforms image={images.get(digest)} locale={locale} />,
    },
    {
      title: t("registry.updated"),
      cell: ({ updateTime }) => updateTime && <Ago time={timestampDate(updateTime)} />,
    },
    {
      title: t("registry.pullColumn"),
      cell: ({ name, digest }) =>
        reference !== "" && (
          <Copyable
            value={`docker pull ${reference}@${digest}`}
            shown={`docker pull …@${shortDigest(digest)}`}
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

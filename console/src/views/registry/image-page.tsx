// One image: its findings, its packages, and the SBOMs that name them.

import type { DescMethodUnary } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { Repo } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { TagsService } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { ImageContentsService } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { shortDigest } from "../../shell/digest.ts";
import { PageHead } from "../../shell/look.tsx";
import { Copyable, Loading } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { Tabs } from "../../shell/tabs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import { ImageFindings } from "./image-findings.tsx";
import { ImagePackages } from "./image-packages.tsx";
import { ImageSboms } from "./image-sboms.tsx";
import type { ShownImage } from "./shown-image.ts";

const { listTags } = TagsService.method;
const { listImageFindings, listImagePackages, listSboms } = ImageContentsService.method;

/** How many tags of the image are named. */
const shownTags = 20;

/** The page of an image. */
export function ImagePage({ repo, digest }: { readonly repo: Repo; readonly digest: string }) {
  const { t } = useTexts();
  const { org, search } = useRegistryAddress();
  const { tags, isLoading } = useTagsOf(repo.uid, digest);
  const part = search.part ?? "findings";
  const name = tags?.[0] === undefined ? `${repo.name}@${shortDigest(digest)}` : `${repo.name}:${tags[0]}`;
  const tabs = (["findings", "packages", "sboms"] as const).map((one) => ({
    text: t(`images.${one}`),
    to: "/o/$org/registry/$" as const,
    params: { org, _splat: repo.uid },
    search: { image: digest, ...(one !== "findings" && { part: one }) },
    isCurrent: one === part,
  }));
  if (isLoading) return <Loading />;
  return (
    <>
      <PageHead
        title={<bdi>{name}</bdi>}
        detail={
          <div className="lines">
            {tags !== undefined && tags.length > 1 && (
              <span className="muted">
                {t("registry.tags")}: <bdi>{tags.join(", ")}</bdi>
              </span>
            )}
            <Copyable value={digest} shown={shortDigest(digest)} what={t("registry.digest")} />
          </div>
        }
      />
      <Tabs label={t("images.parts")} tabs={tabs} />
      <Part image={{ repo, digest, tag: tags?.[0] }} />
    </>
  );
}

/** Returns the tags of an image; undefined until they are read, and for callers who may not list them. */
function useTagsOf(repoUid: string, digest: string) {
  const { data: me } = useMe();
  const request = {
    uidp: { childrenOf: repoUid },
    digest,
    includeDates: true,
    includeEpochs: true,
    pageSize: shownTags,
  };
  const { data, isLoading } = useQuery(listTags, request, { enabled: may(me, listTags, repoUid) });
  return { tags: data?.tags.map(({ name }) => name), isLoading };
}

const parts = {
  findings: [listImageFindings, ImageFindings],
  packages: [listImagePackages, ImagePackages],
  sboms: [listSboms, ImageSboms],
} as const satisfies Record<string, readonly [DescMethodUnary, unknown]>;

function Part({ image }: { readonly image: ShownImage }) {
  const { data: me } = useMe();
  const { search } = useRegistryAddress();
  const [method, Content] = parts[search.part ?? "findings"];
  const { uid } = image.repo;
  if (!me) return <Loading />;
  const missing = missingFor(me, method, uid);
  return missing.length > 0 ? <Denied capabilities={missing} uid={uid} /> : <Content image={image} />;
}

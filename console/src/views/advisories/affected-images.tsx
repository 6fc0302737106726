// The images that an advisory affects. With the texts of images and of the registry.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type AffectedImage, ImageContentsService } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { UseKind } from "../../../../gen/gatehouse/registry/v1/image_uses_pb.ts";
import { outermostWith, requiredBy, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { parentOf } from "../../api/uids.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { shortDigest } from "../../shell/digest.ts";
import { Ago, CopyAs, Copyable } from "../../shell/parts.tsx";
import { SbomCommands } from "../../shell/sbom-commands.tsx";
import { byPages, ShowMore } from "../../shell/show-more.tsx";
import { Table } from "../../shell/table.tsx";
import { UseActor } from "../../shell/use-actor.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAdvisoryAddress } from "./address.ts";

const { listAffectedImages } = ImageContentsService.method;

/** How many groups are named: as many as one call takes. */
const namedGroups = 200;

/** The images with a tag that the advisory affects, or may affect. */
export function AffectedImages({ advisoryUid }: { readonly advisoryUid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useAdvisoryAddress();
  const mayList = outermostWith(me, listAffectedImages, org).length > 0;
  const request = { query: { case: "advisoryUid", value: advisoryUid }, parent: org } as const;
  const query = useInfiniteQuery(listAffectedImages, { ...request, pageToken: "" }, { ...byPages, enabled: mayList });
  const { data, error, refetch } = query;
  const rows = data?.pages.flatMap(({ images }) => images);
  const columns = useColumns(rows ?? []);
  return (
    <section className="stack" aria-labelledby="advisory-images">
      <div className="row">
        <h2 id="advisory-images">{t("images.affected")}</h2>
        <div className="grow" />
        {mayList && <CopyAs method={listAffectedImages} request={request} />}
      </div>
      {mayList ? (
        <Table
          label={t("images.affected")}
          list={{ rows, error, onRetry: () => void refetch() }}
          columns={columns}
          keyOf={({ repoUid, digest }) => `${repoUid} ${digest}`}
          empty={query.hasNextPage ? null : <NoImages />}
        />
      ) : (
        <p className="muted">{t("state.missing", { capabilities: requiredBy(listAffectedImages).join(", ") })}</p>
      )}
      <ShowMore query={query} text={t("images.more")} />
    </section>
  );
}

/** Images without an SBOM may be affected, too. */
function NoImages() {
  const { t } = useTexts();
  return (
    <div className="stack">
      <p className="muted">{t("images.noneAffected")}</p>
      <details>
        <summary>{t("images.howSbom")}</summary>
        <SbomCommands />
      </details>
    </div>
  );
}

function useColumns(images: readonly AffectedImage[]): Column<AffectedImage>[] {
  const { t } = useTexts();
  const { org } = useAdvisoryAddress();
  const groups = [...new Set(images.map(({ repoUid }) => parentOf(repoUid)))].slice(0, namedGroups);
  const named = useNamed(groups);
  return [
    {
      title: t("registry.repo"),
      text: ({ repoName }) => repoName,
      cell: ({ repoUid, repoName, digest }) => (
        <div className="lines">
          <Link to="/o/$org/registry/$" params={{ org, _splat: repoUid }} search={{ image: digest }}>
            <bdi>{repoName}</bdi>
          </Link>
          <bdi className="muted small">{named(parentOf(repoUid))}</bdi>
        </div>
      ),
    },
    {
      title: t("registry.use.image"),
      cell: ({ tags, digest, architecture }) => (
        <div className="lines">
          <bdi>{[...tags, ...(architecture === "" ? [] : [`(${architecture})`])].join(" ")}</bdi>
          <Copyable value={digest} shown={shortDigest(digest)} what={t("registry.digest")} />
        </div>
      ),
    },
    {
      title: t("advisories.package"),
      cell: ({ purls }) => (
        <div className="lines">
          {purls.map((purl) => (
            <bdi key={purl}>{purl}</bdi>
          ))}
        </div>
      ),
    },
    {
      title: t("registry.use.last"),
      text: ({ lastUse }) => timeCell(lastUse?.time),
      cell: ({ lastUse }) =>
        lastUse?.time ? (
          <div className="lines">
            <Ago time={timestampDate(lastUse.time)} />
            <span className="muted small">
              {t(lastUse.kind === UseKind.CHECK ? "registry.use.check" : "registry.use.pull")} ·{" "}
              <UseActor use={lastUse} />
            </span>
          </div>
        ) : (
          <span className="muted">{t("registry.use.unknown")}</span>
        ),
    },
  ];
}

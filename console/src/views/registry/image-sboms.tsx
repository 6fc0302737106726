// The SBOMs of an image: where they are, and which could not be read.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import {
  CheckState,
  ImageContentsService,
  type Sbom,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { shortDigest } from "../../shell/digest.ts";
import { Empty } from "../../shell/look.tsx";
import { Ago, CopyAs, Copyable } from "../../shell/parts.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { NoSbom } from "./completeness.tsx";
import type { ShownImage } from "./shown-image.ts";
import { sourceText } from "./sources.ts";

const { listSboms } = ImageContentsService.method;

/** The SBOMs of the image and of its platforms. */
export function ImageSboms({ image }: { readonly image: ShownImage }) {
  const { t } = useTexts();
  const request = { repoUid: image.repo.uid, digest: image.digest };
  const { data, error, refetch } = useQuery(listSboms, request);
  const columns = useColumns();
  const hasNone = data?.sboms.length === 0 && data.state !== CheckState.PENDING;
  return (
    <section className="stack" aria-label={t("images.sboms")}>
      {data && data.error !== "" && (
        <p className="notice warn">
          <bdi>{t("images.registryError", { error: data.error })}</bdi>
        </p>
      )}
      {hasNone ? (
        <NoSbom image={image} />
      ) : (
        <>
          <div className="row">
            <p className="muted grow">{t("images.sbomsHelp")}</p>
            <CopyAs method={listSboms} request={request} />
          </div>
          <Table
            label={t("images.sboms")}
            list={{ rows: data?.sboms, error, onRetry: () => void refetch() }}
            columns={columns}
            keyOf={({ imageDigest, name }) => `${imageDigest} ${name}`}
            empty={<Empty>{t("images.pendingHelp")}</Empty>}
          />
        </>
      )}
    </section>
  );
}

function useColumns(): Column<Sbom>[] {
  const { t, locale } = useTexts();
  return [
    {
      title: t("images.source"),
      text: ({ name }) => name,
      cell: ({ source, signed, digest }) => (
        <div className="lines">
          <span>{sourceText(t, source)}</span>
          <Copyable value={digest} shown={shortDigest(digest)} what={t("images.sbomDigest")} />
          {signed && <span className="muted small">{t("images.signed")}</span>}
        </div>
      ),
    },
    {
      title: t("registry.platform"),
      cell: ({ architecture }) => <bdi>{architecture || "–"}</bdi>,
    },
    {
      title: t("images.format"),
      cell: ({ format, tool }) => (
        <div className="lines">
          <bdi>{format || "–"}</bdi>
          <bdi className="muted small">{tool}</bdi>
        </div>
      ),
    },
    {
      title: t("images.packages"),
      cell: ({ packages, notChecked, error }) =>
        error !== "" ? (
          <span className="danger">
            <bdi>{t("images.unreadable", { error })}</bdi>
          </span>
        ) : (
          <div className="lines">
            <span>{packages.toLocaleString(locale)}</span>
            {notChecked > 0 && (
              <span className="muted small">{t("images.notCheckedCount", { count: notChecked })}</span>
            )}
          </div>
        ),
    },
    {
      title: t("images.found"),
      isWide: true,
      text: ({ createTime }) => timeCell(createTime),
      cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
  ];
}

// The packages of an image, by its SBOMs.
import { useInfiniteQuery } from "@connectrpc/connect-query";
import {
  CheckState,
  ImageContentsService,
  type ImagePackage,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import type { Column } from "../../shell/columns.ts";
import { Empty } from "../../shell/look.tsx";
import { CopyAs } from "../../shell/parts.tsx";
import { byPages, ShowMore } from "../../shell/show-more.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Completeness, NoSbom } from "./completeness.tsx";
import { refetchMs } from "./pending.ts";
import type { ShownImage } from "./shown-image.ts";
import { sourceText } from "./sources.ts";

const { listImagePackages } = ImageContentsService.method;

/** The packages, in the order of their package URLs. */
export function ImagePackages({ image }: { readonly image: ShownImage }) {
  const { t } = useTexts();
  const request = { repoUid: image.repo.uid, digest: image.digest };
  const query = useInfiniteQuery(
    listImagePackages,
    { ...request, pageToken: "" },
    { ...byPages, refetchInterval: ({ state }) => refetchMs(state.data?.pages[0]?.state) },
  );
  const { data, error, refetch } = query;
  const first = data?.pages[0];
  if (first?.state === CheckState.UNKNOWN) return <NoSbom image={image} />;
  const columns: Column<ImagePackage>[] = [
    { title: t("advisories.package"), text: ({ purl }) => purl, cell: ({ purl }) => <bdi>{purl}</bdi> },
    {
      title: t("images.namedBy"),
      cell: ({ sources }) => sources.map((source) => sourceText(t, source)).join(", "),
    },
  ];
  return (
    <section className="stack" aria-label={t("images.packages")}>
      <div className="row">
        <div className="grow">{first && <Completeness known={first} image={image} />}</div>
        <CopyAs method={listImagePackages} request={request} />
      </div>
      <Table
        label={t("images.packages")}
        list={{ rows: data?.pages.flatMap(({ packages }) => packages), error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ purl }) => purl}
        empty={<Empty>{t(first?.state === CheckState.PENDING ? "images.notYet" : "images.noPackages")}</Empty>}
      />
      <ShowMore query={query} text={t("images.more")} />
    </section>
  );
}

// The findings of a tag in one line: their number by severity.
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ImageContentsService } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { useTexts } from "../../texts/texts.ts";
import { useRegistryAddress } from "./address.ts";
import { refetchMs } from "./pending.ts";
import { SeverityCounts } from "./severity.tsx";

const { listImageFindings, listImagePackages } = ImageContentsService.method;

/** How often the findings of a tag are read again that are not pending, in milliseconds. */
const settledMs = 120_000;

let last: Promise<unknown> = Promise.resolve();

/** The server computes one such call at a time for each caller, and rejects calls while many wait: each waits here for the one before. */
function inTurn<T>(call: () => Promise<T>): Promise<T> {
  const turn = last.then(call);
  last = turn.catch(() => {});
  return turn;
}

/** The link to the image of a tag, with the severity of its findings. Nothing for callers who may not see what is in it. */
export function TagSeverity(tag: { readonly repoUid: string; readonly digest: string; readonly tag: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useRegistryAddress();
  const mayFind = may(me, listImageFindings, tag.repoUid);
  if (!mayFind && !may(me, listImagePackages, tag.repoUid)) return null;
  const part = mayFind ? {} : ({ part: "packages" } as const);
  return (
    <Link
      to="/o/$org/registry/$"
      params={{ org, _splat: tag.repoUid }}
      search={{ image: tag.digest, ...part }}
      className="row tight"
    >
      <span className="hidden">{t("images.of", { name: tag.tag })}: </span>
      {mayFind ? <Findings {...tag} /> : t("images.packages")}
    </Link>
  );
}

function Findings({ repoUid, digest }: { readonly repoUid: string; readonly digest: string }) {
  const { t } = useTexts();
  const transport = useTransport();
  const options = createQueryOptions(listImageFindings, { repoUid, digest, pageSize: 1 }, { transport });
  const { data, error } = useQuery({
    ...options,
    queryFn: (context) =>
      inTurn(async () => {
        context.signal.throwIfAborted();
        return await options.queryFn(context);
      }),
    refetchInterval: ({ state }) => refetchMs(state.data?.state, settledMs),
  });
  if (data) return <SeverityCounts counts={data.counts} state={data.state} />;
  return <span className="muted">{error ? t("images.notRead") : "…"}</span>;
}

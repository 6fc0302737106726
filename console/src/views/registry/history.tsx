// The history of a tag: which digests it had, and how two of them differ.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Checkbox } from "@mantine/core";
import { useState } from "react";
import { Registry as RegistryV1 } from "../../../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import type { Tag } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import type { Image } from "../../../../gen/gatehouse/registry/v1/image_store_pb.ts";
import { shortDigest } from "../../shell/digest.ts";
import { Ago, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { SidePanel } from "../../shell/side-panel.tsx";
import { Failure } from "../../shell/states.tsx";
import timelineStyles from "../../shell/timeline.module.css";
import { useTexts } from "../../texts/texts.ts";
import { sizeText, useImages } from "./images.ts";

const { listTagHistory } = RegistryV1.method;

/** How many digests are shown, the latest first. */
const shownDigests = 100;

/** The panel with the history of a tag. */
export function TagHistory({
  repoUid,
  tag,
  onClose,
}: {
  readonly repoUid: string;
  readonly tag: Tag;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const request = { parentId: tag.uid };
  const { data, error, refetch } = useQuery(listTagHistory, request);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const earlier = (data?.items ?? [])
    .map(({ digest, updateTimestamp }) => ({ digest, time: updateTimestamp && timestampDate(updateTimestamp) }))
    .sort((a, b) => Number(b.time) - Number(a.time));
  const current = { digest: tag.digest, time: tag.updateTime && timestampDate(tag.updateTime) };
  const all = (earlier[0]?.digest === tag.digest ? earlier : [current, ...earlier]).slice(0, shownDigests);
  const images = useImages(
    repoUid,
    all.map(({ digest }) => digest),
  );
  const choose = (digest: string, isChosen: boolean) =>
    setChosen(isChosen ? [...chosen, digest].slice(-2) : chosen.filter((one) => one !== digest));
  const [newer, older] = [...new Set(all.map(({ digest }) => digest))].filter((digest) => chosen.includes(digest));
  return (
    <SidePanel title={t("registry.historyOf", { name: tag.name })} onClose={onClose}>
      <div className="stack">
        {Boolean(error) && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading />}
        {data && (
          <>
            <p className="muted">{t("registry.historyHelp", { count: all.length })}</p>
            <ol className={timelineStyles.timeline}>
              {all.map(({ digest, time }, index) => (
                <li key={`${digest} ${time?.getTime()}`} className={timelineStyles.moment}>
                  <Checkbox
                    aria-label={t("registry.choose", { digest: shortDigest(digest) })}
                    checked={chosen.includes(digest)}
                    onChange={({ currentTarget }) => choose(digest, currentTarget.checked)}
                  />
                  <div className="lines">
                    <Copyable value={digest} shown={shortDigest(digest)} what={t("registry.digest")} />
                    <span className="small muted">
                      {index === 0 && <strong>{t("registry.now")} · </strong>}
                      {time && <Ago time={time} />}
                    </span>
                  </div>
                </li>
              ))}
            </ol>
            {newer !== undefined && older !== undefined && (
              <Comparison newer={newer} older={older} newerImage={images.get(newer)} olderImage={images.get(older)} />
            )}
            <div>
              <CopyAs method={listTagHistory} request={request} />
            </div>
          </>
        )}
      </div>
    </SidePanel>
  );
}

/** Compares two images by platform. */
function Comparison(props: {
  readonly newer: string;
  readonly older: string;
  readonly newerImage: Image | undefined;
  readonly olderImage: Image | undefined;
}) {
  const { t, locale } = useTexts();
  const sizesOf = (image: Image | undefined) =>
    new Map(image?.platforms.map(({ architecture, size }) => [architecture, Number(size)]));
  const [newer, older] = [sizesOf(props.newerImage), sizesOf(props.olderImage)];
  const platforms = [...new Set([...newer.keys(), ...older.keys()])].sort();
  if (platforms.length === 0) return <p className="notice">{t("registry.unknownImage")}</p>;
  const text = (size: number | undefined) => (size === undefined ? "–" : sizeText(size, locale));
  return (
    <table aria-label={t("registry.comparison")}>
      <thead>
        <tr>
          <th scope="col">{t("registry.platform")}</th>
          <th scope="col">
            <code>{shortDigest(props.older)}</code>
          </th>
          <th scope="col">
            <code>{shortDigest(props.newer)}</code>
          </th>
          <th scope="col">{t("registry.difference")}</th>
        </tr>
      </thead>
      <tbody>
        {platforms.map((platform) => {
          const [now, before] = [newer.get(platform), older.get(platform)];
          const isBoth = now !== undefined && before !== undefined;
          return (
            <tr key={platform}>
              <th scope="row">{platform}</th>
              <td>{text(before)}</td>
              <td>{text(now)}</td>
              <td>
                {isBoth
                  ? sizeText(now - before, locale, "exceptZero")
                  : t(now === undefined ? "registry.platformRemoved" : "registry.platformAdded")}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

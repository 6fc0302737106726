// Changes that match a filter, the latest first, with a button that reads older ones.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useInfiniteQuery } from "@connectrpc/connect-query";

import { type ReactNode, useEffect } from "react";
import { ChangesService, type ListChangesRequestSchema } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { foldChanges } from "../api/folding.ts";
import { useTexts } from "../texts/texts.ts";
import { ChangeList, type ChangeListProps } from "./change-list.tsx";
import { Loading } from "./parts.tsx";
import { byPages, ShowMore } from "./show-more.tsx";
import { Failure } from "./states.tsx";

/** How many lines are read at once, as far as there are: many changes fold into one line. */
const [leastLines, mostPages] = [12, 10];

/** How many changes one call reads. */
export const changesPerCall = 100;

interface ChangeFeedProps extends Omit<ChangeListProps, "changes" | "maxLines"> {
  readonly request: MessageInitShape<typeof ListChangesRequestSchema>;
  readonly isEnabled?: boolean;
  /** Shown in the place of an empty list. */
  readonly empty: ReactNode;
}

/** The list, without anything while it is not enabled. */
export function ChangeFeed({ request, isEnabled = true, empty, ...list }: ChangeFeedProps) {
  const { t } = useTexts();
  const { query, changes } = useChanges(request, isEnabled, list.isUtc === true);
  const { error, hasNextPage, refetch } = query;
  if (!isEnabled) return null;
  return (
    <>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!changes && !error && <Loading lines={10} />}
      {changes?.length === 0 && !hasNextPage && empty}
      {changes && changes.length > 0 && (
        <div className="card">
          <ChangeList {...list} changes={changes} />
        </div>
      )}
      <ShowMore query={query} text={t("changes.older")} />
    </>
  );
}

/** Reads changes, and further pages until there are enough lines. Changes are undefined while they are read. */
function useChanges(request: ChangeFeedProps["request"], isEnabled: boolean, isUtc: boolean) {
  const query = useInfiniteQuery(
    ChangesService.method.listChanges,
    { ...request, pageSize: changesPerCall, pageToken: "" },
    { ...byPages, enabled: isEnabled },
  );
  const pages = query.data?.pages;
  const changes = pages?.flatMap((page) => page.changes);
  const lines = foldChanges(changes ?? [], isUtc).reduce((sum, { folds }) => sum + folds.length, 0);
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const isShort = isEnabled && hasNextPage && !isFetching && lines < leastLines && (pages?.length ?? 0) < mostPages;
  useEffect(() => {
    if (isShort) void fetchNextPage();
  }, [isShort, fetchNextPage]);
  return { query, changes };
}

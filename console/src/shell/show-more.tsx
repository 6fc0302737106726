// Lists that grow by a button: those that the server has no numbers of pages for.
import { Button } from "@mantine/core";

/** The options of `useInfiniteQuery` for methods with page tokens. */
export const byPages = {
  pageParamKey: "pageToken",
  getNextPageParam: ({ nextPageToken }: { readonly nextPageToken: string }) => nextPageToken || undefined,
} as const;

interface ListState {
  readonly data?: { readonly pages: readonly unknown[] } | undefined;
}

interface GrowingQuery extends ListState {
  readonly fetchNextPage: (options: { readonly cancelRefetch: boolean }) => Promise<ListState & { isSuccess: boolean }>;
}

/** How often a page is asked for whose reading ended without it. */
const maxAttempts = 5;

/** Reads the next page of a list. Changes by others have the list read again meanwhile, which cancels it: then it is asked for again. */
export async function readNextPage({ data, fetchNextPage }: GrowingQuery): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { data: now, isSuccess } = await fetchNextPage({ cancelRefetch: false });
    if (!isSuccess || (now?.pages.length ?? 0) > (data?.pages.length ?? 0)) return;
  }
}

interface ShowMoreProps {
  readonly query: GrowingQuery & { readonly hasNextPage: boolean; readonly isFetchingNextPage: boolean };
  readonly text: string;
}

/** The button that reads the next page. Nothing on the last one. */
export function ShowMore({ query, text }: ShowMoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <div>
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void readNextPage(query)}>
        {text}
      </Button>
    </div>
  );
}

// Lists that grow by a button: those that the server has no numbers of pages for.
import { Button } from "@mantine/core";

/** The options of `useInfiniteQuery` for methods with page tokens. */
export const byPages = {
  pageParamKey: "pageToken",
  getNextPageParam: ({ nextPageToken }: { readonly nextPageToken: string }) => nextPageToken || undefined,
} as const;

interface ShowMoreProps {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  readonly text: string;
}

/** The button that reads the next page. Nothing on the last one. */
export function ShowMore({ query, text }: ShowMoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <div>
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {text}
      </Button>
    </div>
  );
}

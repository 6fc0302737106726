// Reads lists page by page (AIP-158).
import type { CallOptions } from "@connectrpc/connect";

/**
 * Yields all entries of a list: `for await (const group of listAll(groups.listGroups, { pageSize: 200 }, (page) => page.groups))`.
 * It asks for a page when the entries before it have been used.
 */
export async function* listAll<Request extends object, Page extends { readonly nextPageToken: string }, Entry>(
  list: (request: Request, options?: CallOptions) => Promise<Page>,
  request: NoInfer<Request>,
  entriesOf: (page: Page) => readonly Entry[],
  options?: CallOptions,
): AsyncGenerator<Entry, void, undefined> {
  for (let pageToken = ""; ; ) {
    const page = await list(pageToken === "" ? request : { ...request, pageToken }, options);
    yield* entriesOf(page);
    if (page.nextPageToken === "") return;
    if (page.nextPageToken === pageToken) throw new Error("the server returned the token of the same page again");
    pageToken = page.nextPageToken;
  }
}

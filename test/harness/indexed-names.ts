import { nextIndexWrite } from "../../src/storage/names/word-index.ts";
import type { TestServer } from "./server.ts";
import { untilTrue } from "./until.ts";

/** Waits until the search finds by the names as they are now: they are indexed a moment after they change. */
export async function untilNamesAreIndexed({ server }: Pick<TestServer, "server">): Promise<void> {
  await untilTrue(async () => (await nextIndexWrite(server.database.session)) === undefined);
}

// People read one page after another, and keep their development server meanwhile: no page may need what another has used up.
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../harness/postgres.ts";
import { untilTrue } from "../harness/until.ts";
import { startDevelopmentServer } from "./development-server.ts";
import { missingPrograms } from "./missing-programs.ts";
import { hasOwnServer } from "./pages.ts";
import { startPlatforms } from "./platforms.ts";
import { failAtFailure, runPage, type SharedServer } from "./run-page.ts";

/** The pages in the order in which docs/README.md names them, then those that it does not name. */
const named = [...readFileSync("docs/README.md", "utf8").matchAll(/\]\(([\w/-]+\.md)\)/g)].map(
  ([, file]) => `docs/${file}`,
);
const others = globSync("docs/**/*.md", { exclude: ["docs/decisions/**"] }).sort();
const pages = [...new Set([...named, ...others])].filter(
  (page) => !hasOwnServer(page) && !page.startsWith("docs/decisions/"),
);

const missing = missingPrograms(["bash", "curl"]);
const skip = missing.length > 0 && `${missing.join(", ")} not installed`;

function ownerToken({ dataDir }: SharedServer): string {
  return readFileSync(path.join(dataDir, "owner-token"), "utf8").trim();
}

/** Whether the server accepts the token of its owner. */
async function acceptsOwner(server: SharedServer): Promise<boolean> {
  const headers = { authorization: `Bearer ${ownerToken(server)}` };
  return (await fetch(`http://127.0.0.1:${server.port}/iam/v2beta1/groups`, { headers })).ok;
}

describe("one development server for all pages, one after another", { skip }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-pages-"));
  const running = new AsyncDisposableStack();
  let server: SharedServer;
  before(async () => {
    const platforms = running.use(await startPlatforms());
    server = { port: String(await freePort()), dataDir: path.join(folder, "data"), platforms };
    running.use(await startDevelopmentServer(server.dataDir, `127.0.0.1:${server.port}`, platforms.settings));
  });
  after(async () => {
    await running.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const page of pages)
    it(`${page} has no command that fails after those of other pages`, async () => {
      const text = readFileSync(page, "utf8");
      const before = ownerToken(server);
      await runPage(page, text, failAtFailure, server);
      // The server replaces the token of its owner within a second after its key was retired.
      if (/^\$ gatehouse keys rotate --retire-now/m.test(text))
        await untilTrue(async () => ownerToken(server) !== before && (await acceptsOwner(server)));
    });
});

// Waits until a page asks the server for nothing more. Playwright's "networkidle" never comes: the stream of changes stays open.
import { setTimeout as sleep } from "node:timers/promises";
import type { Page, Request } from "playwright-core";

/** How long nothing must be asked, in milliseconds. */
const quietMs = 500;
const timeoutMs = 30_000;

interface Traffic {
  readonly running: Set<Request>;
  changedAt: number;
}

const traffic = new WeakMap<Page, Traffic>();

/** Notes the requests of a page from now on. */
export function noteRequests(page: Page): Traffic {
  const known = traffic.get(page);
  if (known) return known;
  const noted: Traffic = { running: new Set(), changedAt: performance.now() };
  traffic.set(page, noted);
  page.on("request", (request) => {
    if (request.url().endsWith("/WatchChanges")) return;
    noted.running.add(request);
    noted.changedAt = performance.now();
  });
  const end = (request: Request) => {
    if (noted.running.delete(request)) noted.changedAt = performance.now();
  };
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return noted;
}

/** Resolves once no request of the page but the stream of changes has been running for half a second. */
export async function untilQuiet(page: Page): Promise<void> {
  const noted = noteRequests(page);
  const calledAt = performance.now();
  const isQuiet = () =>
    noted.running.size === 0 && performance.now() - Math.max(noted.changedAt, calledAt - quietMs) >= quietMs;
  while (!isQuiet()) {
    if (performance.now() - calledAt > timeoutMs)
      throw new Error(`still running: ${[...noted.running].map((request) => request.url()).join(", ")}`);
    await sleep(50);
  }
}

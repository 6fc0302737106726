import { consolePath, referencePath } from "../../console/console-pages.ts";

const maxLength = 2048;

/**
 * Returns the address of a page of the console or of the API reference, given as a path. Returns undefined for anything else: a sign-in must not lead
 * to another site (CWE-601).
 */
export function readPage(baseUrl: string, page: string): string | undefined {
  if (page.length > maxLength || !isConsolePage(page)) return undefined;
  const url = URL.parse(page, baseUrl);
  const isOwn = url?.origin === new URL(baseUrl).origin && isConsolePage(url.pathname);
  return isOwn ? url.href : undefined;
}

function isConsolePage(path: string): boolean {
  return path === referencePath || [consolePath, `${referencePath}/`].some((prefix) => path.startsWith(prefix));
}

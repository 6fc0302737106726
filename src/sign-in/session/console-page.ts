import { consolePath } from "../../console/console-pages.ts";

const maxLength = 2048;

/**
 * Returns the address of a page of the console, given as a path. Returns undefined for anything else: a sign-in must not lead
 * to another site (CWE-601).
 */
export function readPage(baseUrl: string, page: string): string | undefined {
  if (page.length > maxLength || !page.startsWith(consolePath)) return undefined;
  const url = URL.parse(page, baseUrl);
  const isOwn = url?.origin === new URL(baseUrl).origin && url.pathname.startsWith(consolePath);
  return isOwn ? url.href : undefined;
}

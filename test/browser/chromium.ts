// Debian's Chromium, driven by playwright-core. Nothing is installed here: a part that is missing is named.
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts the browser. */
export async function openChromium(): Promise<Browser> {
  const executablePath = places.find((place) => existsSync(place));
  if (!executablePath) {
    throw new Error(`no Chromium at ${places.join(", ")}: install the Debian package chromium`);
  }
  // Chromium has no sandbox for root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return await chromium.launch({ executablePath, args });
}

/** Returns a page in a profile of its own, and everything that the browser blocked or could not load there. */
export async function newPage(browser: Browser): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    // Browsers ask every site for an icon.
    if (message.type() === "error" && !message.location().url.endsWith("/favicon.ico")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { page, complaints };
}

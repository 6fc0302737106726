// A person with a browser, for commands that ask for one.
import { setTimeout as pause } from "node:timers/promises";
import { type Browser, newBrowser } from "../harness/browser.ts";
import type { BackgroundCommand } from "./session.ts";

/** Milliseconds after which a command gets no more sign-ins. */
const timeoutMs = 20_000;

/**
 * Signs a person in at every address that a command prints, until the command ends. `prepare` tells the browser's provider who they
 * are; that of a development server asks, and is told a name such as `owner`.
 */
export async function answerSignIns(
  { output, ended }: BackgroundCommand,
  person: string,
  prepare: (browser: Browser, person: string) => void = () => {},
): Promise<void> {
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });
  const endsAt = Date.now() + timeoutMs;
  const answered = new Set<string>();
  for (;;) {
    const wasEnded = isEnded;
    const printed = [...output().matchAll(/\bhttps?:\S+\/oauth\?\S+(?=\s)/g)].map(([address]) => address);
    for (const address of printed.filter((each) => !answered.has(each))) {
      answered.add(address);
      const browser = newBrowser();
      prepare(browser, person);
      await signInAt(address, person, browser);
    }
    if (wasEnded || Date.now() > endsAt) return;
    await pause(20);
  }
}

async function signInAt(address: string, person: string, browser: Browser): Promise<void> {
  let page = await browser.visit(address);
  // The page for a device without a browser asks whether its code is the same.
  const onward = /class="action" href="([^"]+)"/.exec(page.text)?.[1];
  if (page.text.includes("code is <code>")) page = await browser.visit(onward!.replaceAll("&#38;", "&"));
  if (page.url.pathname.includes("/choose/"))
    await browser.visit(`${page.url.origin}${page.url.pathname}?name=${person}`);
}

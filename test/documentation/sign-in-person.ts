// A person with a browser, for commands that ask for one.
import { setTimeout as pause } from "node:timers/promises";
import { newBrowser } from "../harness/browser.ts";
import type { BackgroundCommand } from "./session.ts";

/** Signs in at every address that a command prints, as a person of the development server such as `owner`, until the command ends. */
export async function answerSignIns({ output, ended }: BackgroundCommand, person: string): Promise<void> {
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });
  const answered = new Set<string>();
  for (;;) {
    const wasEnded = isEnded;
    const printed = [...output().matchAll(/\bhttps?:\S+\/oauth\?\S+(?=\s)/g)].map(([address]) => address);
    for (const address of printed.filter((each) => !answered.has(each))) {
      answered.add(address);
      await signInAt(address, person);
    }
    if (wasEnded) return;
    await pause(20);
  }
}

async function signInAt(address: string, person: string): Promise<void> {
  const browser = newBrowser();
  let page = await browser.visit(address);
  // The page for a device without a browser asks whether its code is the same.
  const onward = /class="action" href="([^"]+)"/.exec(page.text)?.[1];
  if (page.text.includes("code is <code>")) page = await browser.visit(onward!.replaceAll("&#38;", "&"));
  if (page.url.pathname.includes("/choose/"))
    await browser.visit(`${page.url.origin}${page.url.pathname}?name=${person}`);
}

// A person with files, who imports and exports advisories.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readCounter } from "../../../src/storage/engine/counters.ts";
import type { TestServerOptions } from "../../harness/server.ts";
import { addGroup } from "../../security/tree.ts";
import { type Caller, startCaller } from "../caller.ts";
import type { Finished } from "../process.ts";

// biome-ignore lint/suspicious/noExplicitAny: what they hold is what the tests are about
export type Json = any;

/** A person, and what they do with advisories. */
export interface Desk extends AsyncDisposable {
  readonly caller: Caller;
  /** Returns a group of its own, by its uid. */
  newGroup(): Promise<string>;
  /** Puts files into a directory of their own, and answers where it is. */
  folder(files: Readonly<Record<string, unknown>>): string;
  importInto(group: string, ...args: readonly string[]): Promise<Finished>;
  /** How many advisories a group has. */
  countOf(group: string): Promise<number>;
}

/** Starts a server and its callers. */
export async function openDesk(options: TestServerOptions = {}): Promise<Desk> {
  const caller = await startCaller(options);
  let made = 0;
  return {
    caller,
    newGroup: () => addGroup(caller.server, caller.server.groupUid, `group ${++made}`),
    folder(files) {
      const directory = path.join(caller.home, `files ${++made}`);
      for (const [name, content] of Object.entries(files)) {
        const file = path.join(directory, name);
        mkdirSync(path.dirname(file), { recursive: true });
        const isText = typeof content === "string" || Buffer.isBuffer(content);
        writeFileSync(file, isText ? content : JSON.stringify(content));
      }
      return directory;
    },
    importInto: (group, ...args) => caller.run("advisories", "import", "--group", group, ...args),
    countOf: (group) => readCounter(caller.server.server.database.session, group, "advisories"),
    [Symbol.asyncDispose]: () => caller[Symbol.asyncDispose](),
  };
}

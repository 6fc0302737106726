// The first words of command lines, with what the help says of them. The program loads only the commands of one word, and
// for its own help none.

/** The commands that run or maintain a server. */
export const serverCommands = {
  serve: "run the server",
  bootstrap: "create the first organization and its owner",
  db: "check, repair, migrate, back up, restore and copy the database",
  keys: "manage the keys that sign tokens",
  emulator: "run a server for tests, whose data ends with it",
} as const;

/** The commands that call a server. */
export const clientCommands = {
  auth: "sign in and out; credentials for other programs",
  whoami: "show your identity and roles as the server sees them",
  sts: "token exchange",
  iam: "organizations, identities and what they may do",
  images: "repos and tags, and the packages in images",
  events: "where events are sent",
  advisories: "advisories: list, describe, affected, changes, import, export",
  export: "write the resources of a group as files for apply, which name each other without uids",
  apply: "make an organization look like files of resources: all changes in one transaction, or none",
  diff: "show what an apply would change; the exit code is 1 if there are differences",
  search: "find resources and people by words of their names",
  changes: "the audit log",
  statistics: "what happened, by day and week",
  registry: "bring in what a container registry has",
  config: "your own settings: server, group, format, contexts",
  api: "send one request of the REST API, and print the response",
  version: "show the version of this program, and of the server if it answers",
} as const;

export type ServerWord = keyof typeof serverCommands;
export type ClientWord = keyof typeof clientCommands;

/** The commands that a command line needs: those of one first word, the first words alone, or all. */
export type Extent = ServerWord | ClientWord | "names" | "all";

/** Returns the commands that a command line needs. All if another word, or a flag, comes first: a mistake can mean any. */
export function extentOf(args: readonly string[]): Extent {
  if (args.length === 0) return "all";
  const [first] = choosingWords(args);
  if (first === undefined) return "names";
  return isServerWord(first) || isClientWord(first) ? first : "all";
}

export function isServerWord(word: string): word is ServerWord {
  return Object.hasOwn(serverCommands, word);
}

export function isClientWord(word: string): word is ClientWord {
  return Object.hasOwn(clientCommands, word);
}

/** Returns the words that choose a command: for `help iam` and for the completion of `iam g`, those are `iam`. */
function choosingWords(args: readonly string[]): readonly string[] {
  if (args[0] === "help") return args.slice(1);
  if (args[0] === "complete") return args.slice(args[1] === "--" ? 2 : 1, -1);
  return args.length === 1 && ["-h", "--help"].includes(args[0]!) ? [] : args;
}

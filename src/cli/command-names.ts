// The first words of command lines. The program loads only the side that a word belongs to.

/** The commands that run or maintain a server. */
export const serverCommands: readonly string[] = ["serve", "bootstrap", "db", "keys"];

/** The commands that call a server. */
export const clientCommands: readonly string[] = [
  "auth",
  "whoami",
  "sts",
  "iam",
  "images",
  "events",
  "advisories",
  "export",
  "apply",
  "diff",
  "changes",
  "registry",
  "config",
  "api",
  "version",
];

/** Returns the first word of a command line, or of the one that a shell asks to complete, unless that is still being typed. */
export function firstWord(args: readonly string[]): string | undefined {
  if (args[0] !== "complete") return args[0];
  const words = args.slice(args[1] === "--" ? 2 : 1);
  return words.length > 1 ? words[0] : undefined;
}

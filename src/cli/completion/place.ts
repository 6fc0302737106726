// Finds what the last word of a command line completes.
import { type Argument, type Command, Option } from "commander";
import type { ClientOptions } from "../client/session.ts";

/** The word to complete: a name of a command or a flag, or a value. */
export type Target =
  | { readonly kind: "names"; readonly command: Command; readonly beginning: string }
  | {
      readonly kind: "value";
      readonly command: Command;
      readonly of: Option | Argument;
      /** The part of the word before the value, such as `--output=` or earlier names of a list. */
      readonly before: string;
      readonly beginning: string;
    };

/** The completion target of the last word of a command line, and the flags that name its server. */
export interface Place {
  readonly target: Target | undefined;
  readonly server: Pick<ClientOptions, "context" | "url"> & { readonly audience?: string };
}

/** Finds the completion target of a command line. */
export function findPlace(program: Command, words: readonly string[]): Place {
  const beginning = words.at(-1) ?? "";
  let command = program;
  let waiting: Option | undefined;
  let hasEnded = false;
  let position = 0;
  const given = new Map<string, string>();
  for (const word of words.slice(0, -1)) {
    if (waiting) {
      given.set(waiting.attributeName(), word);
      waiting = undefined;
    } else if (!hasEnded && word === "--") hasEnded = true;
    else if (!hasEnded && word.startsWith("-") && word !== "-") {
      const option = findOption(command, word);
      const value = /^--[^=]+=(.*)$/s.exec(word)?.[1];
      if (option?.required && value === undefined) waiting = option;
      else if (option && value !== undefined) given.set(option.attributeName(), value);
    } else {
      const inner = position === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined;
      if (inner) command = inner;
      else position++;
    }
  }
  const target = waiting
    ? valueTarget(command, waiting, "", beginning)
    : lastTarget(command, beginning, position, hasEnded);
  const names = ["context", "url", "audience"];
  return { target, server: Object.fromEntries([...given].filter(([name]) => names.includes(name))) };
}

function lastTarget(command: Command, beginning: string, position: number, hasEnded: boolean): Target | undefined {
  const [, flag, value] = hasEnded ? [] : (/^(--[^=]+=)(.*)$/s.exec(beginning) ?? []);
  if (flag !== undefined) {
    const option = findOption(command, flag.slice(0, -1));
    return option?.required ? valueTarget(command, option, flag, value ?? "") : undefined;
  }
  if ((beginning.startsWith("-") && !hasEnded) || (command.commands.length > 0 && position === 0))
    return { kind: "names", command, beginning };
  const wanted = command.registeredArguments;
  const argument = wanted[position] ?? (wanted.at(-1)?.variadic ? wanted.at(-1) : undefined);
  return argument && valueTarget(command, argument, "", beginning);
}

/** The last item of a comma-separated list is completed. */
function valueTarget(command: Command, of: Option | Argument, before: string, text: string): Target {
  const comma = of instanceof Option && /s>$/.test(of.flags) ? text.lastIndexOf(",") + 1 : 0;
  return { kind: "value", command, of, before: before + text.slice(0, comma), beginning: text.slice(comma) };
}

function findOption(command: Command, word: string): Option | undefined {
  const name = word.replace(/=.*$/s, "");
  return command.options.find(({ long, short }) => name === long || name === short);
}

// What the program offers to a shell: one a line with its description, then what the shell is to do itself.
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { type Candidate, completerOf } from "../client/completing.ts";
import { openSession } from "../client/session.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { findPlace, type Place, type Target } from "./place.ts";

/** How long a server is waited for, in milliseconds. A person waits at the keyboard. */
const patienceMs = 1500;

/** The shell's own business: the names of files, or nothing. The numbers are those of the scripts for zsh and fish. */
const directives = { files: 0, nothing: 4 };

/** Characters that need no quotes in any shell. What has others, or begins like a flag, is not offered. */
const plainWord = /^[\w@%+:,./=][\w@%+:,./=-]*$/;

/** Prints what may come in the place of the last word. Says nothing of what went wrong: nobody has asked for anything yet. */
export async function answerShell(program: Command, shell: Shell, words: readonly string[]): Promise<void> {
  const place = findPlace(program, words);
  const { target } = place;
  const candidates = target ? await candidatesOf(shell, place, target) : [];
  const before = target?.kind === "value" ? target.before : "";
  const lines = candidates
    .filter(({ value }, i) => value.startsWith(target?.beginning ?? "") && isFirst(candidates, value, i))
    .map(({ value, description = "" }) => `${before}${value}\t${printable(description)}\n`);
  shell.stdout.write(`${lines.join("")}:${target && takesFile(target) ? directives.files : directives.nothing}\n`);
}

async function candidatesOf(shell: Shell, place: Place, target: Target): Promise<readonly Candidate[]> {
  if (target.kind === "names") return namesIn(target.command, target.beginning);
  const { argChoices } = target.of;
  if (argChoices) return argChoices.map((value) => ({ value }));
  const found = await askServer(shell, place, target);
  return found.filter(({ value }) => plainWord.test(value));
}

/** Whether what several are called is offered for the first time. */
function isFirst(candidates: readonly Candidate[], value: string, i: number): boolean {
  return candidates.findIndex((candidate) => candidate.value === value) === i;
}

/** Flags where one was begun, else the names of commands. */
function namesIn(command: Command, beginning: string): Candidate[] {
  const help = command.createHelp();
  if (beginning.startsWith("-"))
    return help
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));
  return help.visibleCommands(command).map((inner) => ({ value: inner.name(), description: inner.description() }));
}

/** What the completer finds in time; nothing when no server answers, or no token is good: none is renewed for this. */
async function askServer(shell: Shell, { url, audience }: Place, target: Target & { kind: "value" }) {
  const completer = completerOf(target.of);
  if (!completer) return [];
  try {
    const options = { ...(url !== undefined && { url }), ...(audience !== undefined && { audience }) };
    using session = await openSession(shell, target.command, options, "as they are");
    using patience = timeout(patienceMs);
    return (await Promise.race([completer(session, target.beginning), patience.passed])) ?? [];
  } catch (error) {
    if (error instanceof CommandFailure) return [];
    throw error;
  }
}

/** Resolves to undefined after so many milliseconds, and keeps nobody waiting once it is disposed of. */
function timeout(ms: number): { readonly passed: Promise<undefined> } & Disposable {
  const ended = new AbortController();
  const passed = sleep(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  return { passed, [Symbol.dispose]: () => ended.abort() };
}

/** Whether a value is the name of a file, as far as the help says so. */
function takesFile(target: Target): boolean {
  if (target.kind === "names") return false;
  const text = "flags" in target.of ? target.of.flags : target.of.name();
  return /path|file/.test(text);
}

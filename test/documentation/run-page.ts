// Runs the commands of a page in the order of the page, and compares what they print with what the page shows.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type BareShell, newBareShell } from "../harness/bare-shell.ts";
import { freePort } from "../harness/postgres.ts";
import { type Block, blocksOf, type ShownCommand, shownCommands } from "./blocks.ts";
import { startDevelopmentServer } from "./development-server.ts";
import { jobOf } from "./job.ts";
import { missingPrograms } from "./missing-programs.ts";
import { type PageSetup, setUp } from "./pages.ts";
import type { Platforms } from "./platforms.ts";
import { type BackgroundCommand, openSession, type ShellSession } from "./session.ts";
import { differenceFrom, type KnownValues, restored } from "./shown-output.ts";
import { answerSignIns } from "./sign-in-person.ts";

/** Milliseconds to wait for the output of a command that runs on, or that is repeated. */
const timeoutMs = 20_000;

/** The ports that pages use; free ones take their places. */
const ports = [8080, 8443, 9000, 9090, 9999, 5001] as const;

/** A block that was not run, and why. */
export interface Skipped {
  readonly line: number;
  readonly reason: string;
}

/** Is called with each command, what it printed as it would stand on the page, what differs from the page, and the exit code. */
export type Trace = (command: string, output: string, difference?: string, code?: number) => void;

/** A development server that several pages find on port 8080, one after another. */
export interface SharedServer {
  readonly port: string;
  readonly dataDir: string;
  readonly platforms: Platforms;
}

/** The default: the first difference ends the run. */
const failAtDifference: Trace = (command, output, difference) => {
  if (difference !== undefined) throw new Error(`$ ${command}\n${difference}\nThe whole output:\n${output}`);
};

/** Fails when a command of a page fails that does not on the page. What a server has from other pages changes what is printed. */
export const failAtFailure: Trace = (command, output, difference, code = 0) => {
  if (difference !== undefined && code !== 0) throw new Error(`$ ${command}\nended with ${code}:\n${output}`);
};

/**
 * Runs a page, and answers which blocks were not run. Rejects when a `sh` block fails, or when `trace` throws. Without `shared`, the
 * page has a server of its own.
 */
export async function runPage(
  file: string,
  text: string,
  trace: Trace = failAtDifference,
  shared?: SharedServer,
): Promise<Skipped[]> {
  const all = blocksOf(text);
  const unrun = all.find((block) => !isCommands(block.language) && /^\$ /m.test(block.text));
  if (unrun) throw new Error(`${file}:${unrun.line}: a block with commands must be a console block`);
  const blocks = all.filter(
    ({ language, attributes }) =>
      isCommands(language) || ["output-of", "job", "file"].some((name) => attributes.has(name)),
  );
  const skipped: Skipped[] = [];
  const runnable = blocks.filter((block) => {
    const reason = reasonNotToRun(block);
    if (reason !== undefined) skipped.push({ line: block.line, reason });
    return reason === undefined;
  });
  if (runnable.length === 0) return skipped;
  await using running = new AsyncDisposableStack();
  const page = await openPage(file, running, shared);
  for (const block of runnable) {
    try {
      await runBlock(page, block, trace);
    } catch (error) {
      throw new Error(`${file}:${block.line}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return skipped;
}

function isCommands(language: string): boolean {
  return ["sh", "bash", "shell", "console"].includes(language);
}

function reasonNotToRun({ attributes }: Block): string | undefined {
  const missing = missingPrograms(attributes.get("needs")?.split(" ") ?? []);
  return attributes.get("no-run") ?? (missing.length > 0 ? `${missing.join(", ")} not installed` : undefined);
}

/** The state that the blocks of a page share. */
interface OpenPage {
  readonly session: ShellSession;
  readonly signIn: PageSetup["signIn"];
  readonly workload: PageSetup["workload"];
  /** Where jobs run, and the variables and scripts that they have had so far. */
  readonly shell: BareShell;
  readonly variables: Record<string, string>;
  readonly scripts: string[];
  readonly known: KnownValues;
  readonly background: Map<string, BackgroundCommand & { taken: number }>;
  /** Returns a text of the page as it is run, and what was printed as it stands on the page. */
  toRun(text: string): string;
  toShow(text: string): string;
}

async function openPage(file: string, running: AsyncDisposableStack, server?: SharedServer): Promise<OpenPage> {
  const free = new Map<string, string>(server && [["8080", server.port]]);
  // Asked for late: what a page starts before takes ports, too.
  const portOf = async (shown: number) => {
    const known = free.get(String(shown)) ?? String(await freePort());
    free.set(String(shown), known);
    return Number(known);
  };
  const setup = await setUp(file, portOf, running, server?.platforms);
  for (const port of ports) await portOf(port);
  const shown = new Map([...free].map(([port, taken]) => [taken, port]));
  const address = `127.0.0.1:${free.get("8080")}`;
  const variables = { GATEHOUSE_URL: `http://${address}`, GATEHOUSE_LISTEN: address, ...setup.environment };
  const session = running.use(openSession(variables));
  const shell = running.use(newBareShell(setup.workload?.programs));
  for (const [name, content] of Object.entries(setup.files ?? {}))
    for (const { folder } of [session, shell]) writeIn(folder, name, content);
  if (server) symlinkSync(server.dataDir, path.join(session.folder, "data"));
  else if (setup.hasServer)
    running.use(await startDevelopmentServer(path.join(session.folder, "data"), address, setup.settings));
  const pairs = setup.replacements ?? [];
  return {
    session,
    signIn: setup.signIn,
    workload: setup.workload,
    shell,
    variables: { ...variables, HOME: shell.folder, ...setup.workload?.environment },
    scripts: [],
    known: new Map(),
    background: new Map(),
    toRun: (text) =>
      swapPorts(
        pairs.reduce((all, [from, to]) => all.replaceAll(from, to), text),
        free,
      ),
    toShow: (text) => pairs.reduce((all, [from, to]) => all.replaceAll(to, from), swapPorts(text, shown)),
  };
}

function swapPorts(text: string, by: ReadonlyMap<string, string>): string {
  return text.replace(/\b\d{4,5}\b/g, (number) => by.get(number) ?? number);
}

async function runBlock(page: OpenPage, block: Block, trace: Trace): Promise<void> {
  const { attributes, language, text } = block;
  const outputOf = attributes.get("output-of");
  if (outputOf !== undefined) {
    await awaitOutput(page, outputOf, text, trace);
  } else if (attributes.has("background")) {
    const name = attributes.get("background")!;
    const [shown, ...more] = language === "console" ? shownCommands(text) : [{ command: text, output: "" }];
    if (!shown || more.length > 0) throw new Error("a block in the background has one command");
    page.background.set(name, { ...(await page.session.start(page.toRun(shown.command))), taken: 0 });
    const person = attributes.get("person");
    // A sign-in that fails shows in the output.
    const answered = person && answerSignIns(page.background.get(name)!, person, page.signIn).catch(() => {});
    await awaitOutput(page, name, shown.output, trace);
    await answered;
  } else if (attributes.has("file")) {
    for (const { folder } of [page.session, page.shell]) writeIn(folder, attributes.get("file")!, page.toRun(text));
  } else if (attributes.has("job")) {
    await runJob(page, attributes.get("job")!, block);
  } else if (language === "console") {
    const repeatMs = attributes.has("eventually") ? timeoutMs : 0;
    for (const shown of shownCommands(text)) await runShown(page, shown, trace, repeatMs);
  } else {
    const { code, output } = await page.session.run(page.toRun(text), true);
    trace(text, page.toShow(output));
    if (code !== 0) throw new Error(`ended with ${code}: ${output}`);
  }
}

async function runShown(page: OpenPage, { command, output: shown }: ShownCommand, trace: Trace, repeatMs: number) {
  const endsAt = Date.now() + repeatMs;
  for (;;) {
    const { code, output } = await page.session.run(page.toRun(command));
    const printed = page.toShow(output);
    const difference = differenceFrom(shown, printed, page.known);
    if (difference === undefined || Date.now() >= endsAt) return trace(command, printed, difference, code);
    await pause(100);
  }
}

/**
 * Runs the job of a workload where there is nothing but its own programs, after the jobs before it. What it prints is the output of that
 * name.
 */
async function runJob(page: OpenPage, name: string, { language, text }: Block): Promise<void> {
  const { workload, shell, variables, scripts } = page;
  if (!workload) throw new Error("the page has no workload in pages.ts");
  const job = jobOf(language, page.toRun(restored(text, page.known)));
  Object.assign(variables, job.variables);
  for (const { audience, variable, file } of job.tokens) {
    const token = await workload.issue(audience);
    if (variable !== undefined) variables[variable] = token;
    if (file !== undefined) writeIn(shell.folder, file, token);
  }
  const before = scripts.map((script) => `{\n${script}\n} >/dev/null`);
  const printed = await shell.run([...before, job.script].join("\n"), variables);
  scripts.push(job.script);
  page.background.set(name, { output: () => printed, ended: Promise.resolve(0), taken: 0 });
}

function writeIn(folder: string, file: string, content: string): void {
  const whole = path.join(folder, file);
  mkdirSync(path.dirname(whole), { recursive: true });
  writeFileSync(whole, content, { mode: 0o600 });
}

/** Waits until a command in the background has printed what is shown, since what was shown of it last. */
async function awaitOutput(page: OpenPage, name: string, shown: string, trace: Trace): Promise<void> {
  const command = page.background.get(name);
  if (!command) throw new Error(`no block before has background="${name}"`);
  let isEnded = false;
  void command.ended.then(() => {
    isEnded = true;
  });
  const endsAt = Date.now() + timeoutMs;
  for (;;) {
    const wasEnded = isEnded;
    const printed = page.toShow(command.output().slice(command.taken));
    const difference = differenceFrom(shown, printed, page.known);
    if (difference === undefined || wasEnded || Date.now() > endsAt) {
      command.taken = command.output().length;
      trace(`(${name})`, printed, difference);
      return;
    }
    await pause(20);
  }
}

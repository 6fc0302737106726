// `gatehouse iam organizations import`: sends an exported organization in batches. A repeated import changes nothing, so an interrupted
// one continues when it runs again.
import {
  ImportOutcome,
  type ImportResult,
  OrganizationImportService,
} from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { openProgress } from "../client/progress.ts";
import { newRetries } from "../client/retry.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { hasLauncher } from "../launcher.ts";
import { listenForStop } from "../server-signals.ts";
import { note } from "../shell.ts";
import { type Kind, leftOut } from "./format.ts";
import { ImportReport } from "./import-report.ts";
import { checkFile, type Line, resourcesIn } from "./read-file.ts";
import { type Decrypt, readRecipientKey } from "./recipient.ts";

/** The limits on one request, below those of the server: 500 resources, 4 MiB and 200,000 values. */
const maxBatch = { resources: 500, size: 3 * 1024 * 1024, values: 150_000 } as const;

/** The exit code of a program that was interrupted. */
const interrupted = 130;

/** The flags of an import. */
export interface ImportOptions {
  readonly dryRun?: boolean;
  /** Whether the organization may exist already. */
  readonly existing?: boolean;
  readonly acceptVerified?: boolean;
  /** The file with the private key that decrypts client secrets. */
  readonly recipientKey?: string;
}

/** Imports an organization, and returns the exit code: 1 if a resource was rejected. */
export async function importOrganization(session: Session, file: string, options: ImportOptions): Promise<number> {
  const { dryRun: isDryRun = false, existing = false, acceptVerified = false, recipientKey } = options;
  const decrypt = recipientKey === undefined ? undefined : readRecipientKey(recipientKey);
  const { organization, resources } = await checkFile(file, decrypt);
  const work = { file, organization, resources, isDryRun, acceptVerified, decrypt };
  if (!isDryRun && !existing) await requireNew(session, work);
  const report = new ImportReport(isDryRun);
  const stop = new AbortController();
  using signals = listenForStop(hasLauncher());
  void signals.stopped.then(() => stop.abort());
  let isComplete = false;
  try {
    isComplete = await sendAll(session, work, report, stop.signal);
  } finally {
    await print(session, report, isDryRun, isComplete);
  }
  if (!isComplete) return interrupted;
  return report.isWhole ? 0 : 1;
}

interface Work {
  readonly file: string;
  readonly organization: string;
  readonly resources: number;
  readonly isDryRun: boolean;
  readonly acceptVerified: boolean;
  readonly decrypt: Decrypt | undefined;
}

/**
 * Fails if the organization exists. The maker of the file could have given it the uid of any organization here, and themselves access
 * to it.
 */
async function requireNew(session: Session, { file, organization, decrypt }: Work): Promise<void> {
  for await (const { kind, uid, resource } of resourcesIn(file, organization, decrypt)) {
    if (kind !== "group" || uid !== organization) continue;
    const client = await session.client(OrganizationImportService);
    const request = { organizationUid: organization, resources: [resource], validateOnly: true };
    const [result] = (await client.importResources(request)).results;
    if (result?.outcome === ImportOutcome.CREATED) return;
    const [problem] = result?.problems ?? [];
    if (problem) throw new CommandFailure(`the organization is rejected: ${problem.field}: ${problem.description}`);
    throw new CommandFailure(`the organization ${organization} exists here already`, {
      hint: "See with --dry-run what the file would change. To import it, or to continue an interrupted import, add --existing.",
    });
  }
  throw new CommandFailure(`${file} does not have the organization itself`);
}

/** Returns whether everything was sent: false if the import was interrupted. */
async function sendAll(
  session: Session,
  { file, organization, resources, isDryRun, acceptVerified, decrypt }: Work,
  report: ImportReport,
  signal: AbortSignal,
): Promise<boolean> {
  const client = await session.client(OrganizationImportService);
  const retry = newRetries({
    signal,
    onPause: ({ message }, pauseMs) =>
      note(session.shell, `gatehouse: ${message}; the next attempt is in ${pauseMs / 1000} s`),
  });
  using progress = await openProgress(session.shell, isDryRun ? "comparing" : "importing", resources);
  for await (const batch of batchesOf(resourcesIn(file, organization, decrypt))) {
    if (signal.aborted) return false;
    const request = {
      organizationUid: organization,
      resources: batch.map(({ resource }) => resource),
      validateOnly: isDryRun,
      acceptVerified,
    };
    const { results } = await retry(() => client.importResources(request));
    batch.forEach((line, i) => {
      report.add(line, results[i]!);
    });
    progress.advance(batch.length);
    if (!isDryRun) requireGuarded(batch, results);
  }
  return !signal.aborted;
}

/** The kinds that must be stored before role bindings, for errors: the import stops if one is rejected. */
const guards: Readonly<Partial<Record<Kind, { readonly what: string; readonly why: string }>>> = {
  suspendedPeople: { what: "people who are deactivated", why: "role bindings would give these people access" },
  identityTrust: {
    what: "pinned names of a workload",
    why: "role bindings would give access to others who took over the names",
  },
};

/** Role bindings come later. They would give access to people whom an identity provider has deactivated, and to recycled names. */
function requireGuarded(batch: readonly Line[], results: readonly ImportResult[]): void {
  for (const [i, { number, kind }] of batch.entries()) {
    const guard = guards[kind];
    const [problem] = results[i]!.problems;
    // A role binding of a resource that is missing is rejected, too.
    if (!guard || !problem || (kind === "identityTrust" && problem.missingUid !== "")) continue;
    throw new CommandFailure(`line ${number}: ${guard.what}: ${problem.field}: ${problem.description}`, {
      hint: `The import stopped, because ${guard.why}. Correct the reason, and import again with --existing.`,
    });
  }
}

async function* batchesOf(lines: AsyncIterable<Line>): AsyncGenerator<readonly Line[]> {
  let batch: Line[] = [];
  let size = 0;
  let values = 0;
  for await (const line of lines) {
    const isFull =
      batch.length === maxBatch.resources || size + line.size > maxBatch.size || values + line.values > maxBatch.values;
    // The resources of a batch are imported at the same time.
    const isAfterSuspended = batch.at(-1)?.kind === "suspendedPeople" && line.kind !== "suspendedPeople";
    const isAfterPins = line.kind === "roleBinding" && batch.some(({ kind }) => kind === "identityTrust");
    // The server reads each document whole.
    const isAlone = [batch.at(-1)?.kind, line.kind].includes("uploadedSbom");
    if ((isFull || isAfterSuspended || isAfterPins || isAlone) && batch.length > 0) {
      yield batch;
      [batch, size, values] = [[], 0, 0];
    }
    batch.push(line);
    size += line.size;
    values += line.values;
  }
  if (batch.length > 0) yield batch;
}

async function print(
  { shell, output }: Session,
  report: ImportReport,
  isDryRun: boolean,
  isComplete: boolean,
): Promise<void> {
  if (!output.isPlain) return await output.data(report.data(isComplete));
  // The difference is the result of a dry run.
  for (const line of report.lines()) {
    if (isDryRun) shell.stdout.write(`${line}\n`);
    else note(shell, line);
  }
  for (const line of report.summary()) shell.stdout.write(`${line}\n`);
  if (!isComplete)
    note(shell, "Run the same command again with --existing to continue: what is imported already stays unchanged.");
  else if (!isDryRun) {
    note(shell, "not imported:");
    for (const each of [...report.missingSecrets, ...leftOut]) note(shell, `  ${each}`);
  }
}

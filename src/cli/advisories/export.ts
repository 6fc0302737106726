// `gatehouse advisories export`: what a group has published, in the formats that scanners read.
import { rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../../directories.ts";
import { reasonOf } from "../../system-error.ts";
import { openProgress } from "../client/progress.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { jsonText } from "../output/escape.ts";
import { note } from "../shell.ts";
import { newCsaf } from "./exports/csaf.ts";
import { toOpenvex, toStatement } from "./exports/openvex.ts";
import { type OsvRecord, toOsv } from "./exports/osv.ts";
import { newSecdb } from "./exports/secdb.ts";
import { changeTime, type Published, publishedBelow, timeText } from "./published.ts";

/** The formats that advisories are exported in. */
export type ExportFormat = "osv" | "openvex" | "csaf" | "secdb";

/** What a person asked for. */
export interface ExportOptions {
  /** The uid of the group. */
  readonly group: string;
  readonly format: ExportFormat;
  /** Where it goes; standard output when it is undefined. */
  readonly output: string | undefined;
  /** Who says so. */
  readonly author: string;
  /** The OSV ecosystem of packages that are of no language; their package URLs have the distribution in it. */
  readonly ecosystem: string;
}

/** Gathers one document, and tells how many advisories have no place in it. */
interface Gatherer {
  add(published: Published): boolean;
  /** The document; `time` is that of the latest change. */
  document(time: string): unknown;
}

/** Exports what a group has published. */
export async function exportAdvisories(session: Session, options: ExportOptions): Promise<void> {
  const { format, output } = options;
  if (output === "") throw wrongUsage("--output: the path is empty");
  const gatherer = gatherers[format](options, distributionOf(options));
  let [added, passedOver, latest] = [0, 0, 0];
  {
    using progress = await openProgress(session.shell, "exporting", 0);
    for await (const published of publishedBelow(session, options.group)) {
      latest = Math.max(latest, changeTime(published.advisory));
      if (gatherer.add(published)) added++;
      else passedOver++;
      progress.total(added + passedOver);
      progress.advance();
    }
  }
  const document = gatherer.document(timeText(latest));
  if (output === undefined) session.shell.stdout.write(`${jsonText(document, 2)}\n`);
  else await write(output, format, document);
  const left = passedOver === 0 ? "" : `; ${passedOver} are in a state that ${format} has no word for`;
  note(session.shell, `${added} advisories exported${left}`);
}

/** The distribution that an ecosystem is of, as package URLs have it: those of `Alpine:v3.22` are below `alpine`. */
function distributionOf({ ecosystem }: ExportOptions): string {
  return ecosystem.toLowerCase().split(":")[0]!;
}

const gatherers: Readonly<Record<ExportFormat, (options: ExportOptions, distribution: string) => Gatherer>> = {
  osv({ ecosystem }, distribution) {
    const records: OsvRecord[] = [];
    return {
      add(published) {
        const record = toOsv(published, ecosystem, distribution);
        if (record) records.push(record);
        return record !== undefined;
      },
      document: () => records,
    };
  },
  openvex({ author }, distribution) {
    const statements: object[] = [];
    return {
      add(published) {
        const statement = toStatement(published, distribution);
        if (statement) statements.push(statement);
        return statement !== undefined;
      },
      document: (time) => toOpenvex(statements, author, time),
    };
  },
  csaf({ author }, distribution) {
    const csaf = newCsaf(distribution);
    return { add: csaf.add, document: (time) => csaf.document(author, namespaceOf(author), time) };
  },
  secdb(_options, distribution) {
    const secdb = newSecdb();
    return { add: secdb.add, document: () => secdb.document(`https://packages.${distribution}.dev`) };
  },
};

// CSAF 2.0 §3.2.1.8.5: the namespace is an address that the publisher owns.
function namespaceOf(author: string): string {
  return URL.canParse(author) ? author : `https://${author.toLowerCase().replace(/[^a-z0-9-]+/g, "-")}.invalid`;
}

/** A file, or for OSV a directory in the form of a feed: an index, and a file for each record. */
async function write(output: string, format: ExportFormat, document: unknown): Promise<void> {
  try {
    if (format !== "osv" || /\.json$/i.test(output)) return await writeJson(output, document);
    makeDirectory(output, 0o777);
    const records = document as OsvRecord[];
    for (const record of records) await writeJson(path.join(output, fileNameOf(record.id)), record);
    await writeJson(
      path.join(output, "all.json"),
      records.map(({ id, modified }) => ({ id, modified })),
    );
  } catch (error) {
    throw new CommandFailure(`${output} cannot be written: ${reasonOf(error, output)}`);
  }
}

/** Ids come from others: none may lead out of the directory. */
function fileNameOf(id: string): string {
  return `${encodeURIComponent(id).replace(/^\./, "%2E")}.json`;
}

/** Whoever reads the file sees the old one or the new one, never a part. */
async function writeJson(file: string, value: unknown): Promise<void> {
  try {
    await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`);
    await rename(`${file}.new`, file);
  } catch (error) {
    await rm(`${file}.new`, { force: true });
    throw error;
  }
}

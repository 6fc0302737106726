// The command line of the benchmark.
import { parseArgs } from "node:util";
import { fullSizes, parseSize, quickSizes } from "./sizes.ts";

/** What a run does. */
export interface Options {
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** How many slices of a second each scenario has in a round, alternating with its baseline's. */
  readonly slices: number;
  /** Keeps the scenarios whose name contains one of these; empty keeps all. */
  readonly only: readonly string[];
  /** Compares with the recorded results instead of recording. */
  readonly compare: boolean;
  /** The database that Gatehouse is measured on; on PostgreSQL next to itself on SQLite. */
  readonly database: "sqlite" | "postgres";
  /** Whether the run is complete: only then may its results be recorded. */
  readonly complete: boolean;
}

/** Wrong usage; the message is a sentence. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What `--help` prints. */
export const usage = `npm run bench -- [options]
  --quick          1k and 100k groups only, one second of each in a round instead of three; nothing is recorded
  --sizes <list>   sizes in groups, such as 1k,100k,1M
  --only <list>    only scenarios whose name contains one of these texts, and the raw servers
  --database postgres
                   only Gatehouse on PostgreSQL, next to itself on SQLite and to pgbench; nothing is recorded
  --compare        fail when a ratio is 10 % worse than the recorded one; nothing is recorded
  --help           this text`;

/** Reads the command line; undefined when help is asked for. Throws a UsageError that names the option. */
export function parseOptions(args: readonly string[]): Options | undefined {
  const { help, quick, sizes, only, compare, database } = read(args);
  if (help) return undefined;
  if (database !== "sqlite" && database !== "postgres")
    throw new UsageError(`--database: ${JSON.stringify(database)} is not sqlite or postgres`);
  if (database === "postgres" && (compare || sizes !== undefined))
    throw new UsageError("--database postgres: takes neither --compare nor --sizes");
  return {
    sizes: sizes === undefined ? (quick ? quickSizes : fullSizes) : sizes.split(",").map(toSize),
    rounds: 3,
    slices: quick ? 1 : 3,
    only: (only ?? "").split(",").filter((text) => text !== ""),
    compare,
    database,
    complete: !quick && sizes === undefined && only === undefined && database === "sqlite",
  };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        sizes: { type: "string" },
        only: { type: "string" },
        database: { type: "string", default: "sqlite" },
        compare: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function toSize(text: string): number {
  const size = parseSize(text);
  if (size === undefined) throw new UsageError(`--sizes: ${JSON.stringify(text)} is not a size from 1000 to 10M`);
  return size;
}

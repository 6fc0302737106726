// The command line of the benchmark.
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { fullSizes, parseSize, quickScaleSizes, quickSizes, scaleSizes } from "./sizes.ts";

/** The suites of measurements. The results of each are recorded separately. */
export const suites = ["groups", "scale", "postgres", "workers", "peers"] as const;
export type Suite = (typeof suites)[number];

/** The extent of a run's measurements. */
export interface Extent {
  readonly rounds: number;
  /** How many slices of a second each scenario has in a round, alternating with its baseline's. */
  readonly slices: number;
  /** How many slices at most a scenario has before it counts as warm. */
  readonly maxWarmUpSlices: number;
}

/** The options of a run. */
export interface Options {
  readonly suite: Suite;
  readonly isQuick: boolean;
  /** In groups, the smallest first. */
  readonly sizes: readonly number[];
  readonly extent: Extent;
  /** Keeps the scenarios whose name contains one of these; empty keeps all. */
  readonly only: readonly string[];
  /** Whether to compare with the recorded results. */
  readonly compare: boolean;
  /** The recorded rows that the run replaces: all of its suite, or those that it measured. */
  readonly record: "all" | "measured" | "nothing";
  /** The directory where generated data is kept between runs. */
  readonly dataDir: string;
}

/** Wrong usage; the message is a sentence. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The output of `--help`. */
export const usage = `npm run bench -- [options], or fairness, import, questions, startup or tracing, which bench/README.md describes
What to measure, of which one may be given; without any of them, groups and advisories on SQLite:
  --database postgres   Gatehouse on PostgreSQL, next to itself on SQLite and to pgbench
  --workers             the server with all cores, next to one process
  --peers               OpenFGA, SpiceDB and etcd, as far as they are on the PATH, next to Gatehouse
  --scale               10 million groups next to 10 thousand
How:
  --quick               fewer scenarios, one round instead of three, smaller data; records nothing
  --sizes <list>        sizes in groups, such as 1k,100k,1M
  --only <list>         only scenarios whose name contains one of these texts, and their baselines
  --data <directory>    where generated data are kept; default ${path.join(tmpdir(), "gatehouse-bench")}
  --compare             fails if a ratio is 10 % worse than the recorded one; records nothing
  --record              with --only or --sizes, records the rows that were measured; a whole run records itself
  --help                this text`;

/** Reads the command line; undefined when help is asked for. Throws a UsageError that names the option. */
export function parseOptions(args: readonly string[]): Options | undefined {
  const flags = read(args);
  if (flags.help) return undefined;
  const suite = suiteOf(flags);
  const { quick: isQuick, compare, only, sizes } = flags;
  if (sizes !== undefined && suite !== "groups") throw new UsageError(`--sizes: ${suite} has sizes of its own`);
  if (flags.record && (isQuick || compare))
    throw new UsageError("--record: neither --quick nor --compare records results");
  const isWhole = only === undefined && sizes === undefined;
  return {
    suite,
    isQuick,
    sizes: sizes === undefined ? sizesOf(suite, isQuick) : sizes.split(",").map(toSize),
    extent: isQuick ? { rounds: 1, slices: 3, maxWarmUpSlices: 5 } : { rounds: 3, slices: 3, maxWarmUpSlices: 10 },
    only: (only ?? "").split(",").filter((text) => text !== ""),
    compare,
    record: isQuick || compare ? "nothing" : isWhole ? "all" : flags.record ? "measured" : "nothing",
    dataDir: path.resolve(flags.data),
  };
}

type Flags = ReturnType<typeof read>;

function suiteOf({ database, workers, peers, scale }: Flags): Suite {
  if (database !== undefined && database !== "postgres")
    throw new UsageError(`--database: ${JSON.stringify(database)} is not postgres`);
  const asked: Suite[] = [];
  if (database !== undefined) asked.push("postgres");
  if (workers) asked.push("workers");
  if (peers) asked.push("peers");
  if (scale) asked.push("scale");
  if (asked.length > 1) throw new UsageError("--database, --workers, --peers, --scale: only one of them may be given");
  return asked[0] ?? "groups";
}

function sizesOf(suite: Suite, isQuick: boolean): readonly number[] {
  if (suite === "scale") return isQuick ? quickScaleSizes : scaleSizes;
  const sizes = isQuick ? quickSizes : fullSizes;
  // A size between the smallest and the largest shows nothing there.
  return suite === "groups" ? sizes : [sizes[0]!, sizes.at(-1)!];
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
        database: { type: "string" },
        workers: { type: "boolean", default: false },
        peers: { type: "boolean", default: false },
        scale: { type: "boolean", default: false },
        data: { type: "string", default: path.join(tmpdir(), "gatehouse-bench") },
        compare: { type: "boolean", default: false },
        record: { type: "boolean", default: false },
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

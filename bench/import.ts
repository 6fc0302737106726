// `npm run bench -- import`: imports many OSV records into a fresh server, as a person would, and says what that took.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Gatehouse, startGatehouse } from "./gatehouse.ts";
import { populateOsv } from "./osv-population.ts";
import { anonymousMemoryOf, cpuMicrosOf } from "./proc.ts";
import { newRandom } from "./random.ts";
import { loadCore } from "./server-process.ts";

const program = fileURLToPath(new URL("../src/gatehouse.js", import.meta.url));
/** The time limit of a run. */
const timeLimitMs = 15 * 60_000;

const { values } = parseArgs({ options: { records: { type: "string", default: "300000" } } });
await main(Number(values.records));

async function main(records: number): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-import-"));
  try {
    const feed = path.join(directory, "feed");
    writeFeed(feed, records);
    await using server = await startGatehouse({ directory, landmarks: { groupUid: "" } as never }, []);
    await runCli(server, directory, ["iam", "groups", "create", "imports", "--parent", "example.org"]);
    await measure("first import", server, directory, feed, records);
    await measure("second import", server, directory, feed, records);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** As an unpacked archive of a feed: a file for each record, in a directory for each ecosystem. */
function writeFeed(feed: string, records: number): void {
  let bytes = 0;
  for (const record of populateOsv(newRandom("osv"), records)) {
    const directory = path.join(feed, record.affected[0]!.package.ecosystem.split(":")[0]!);
    mkdirSync(directory, { recursive: true });
    const text = JSON.stringify(record);
    bytes += text.length;
    writeFileSync(path.join(directory, `${record.id}.json`), text);
  }
  console.log(`${records} records, ${mib(bytes)} MiB of JSON`);
}

async function measure(name: string, server: Gatehouse, directory: string, feed: string, records: number) {
  const before = { cpu: cpuMicrosOf(server.pid), written: writtenBytes(server.pid), at: performance.now() };
  await runCli(server, directory, ["advisories", "import", feed, "--group", "imports"]);
  const seconds = (performance.now() - before.at) / 1000;
  const cpu = (cpuMicrosOf(server.pid) - before.cpu) / records;
  const written = writtenBytes(server.pid) - before.written;
  const size = statSync(path.join(directory, "gatehouse.db")).size;
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${Math.round(records / seconds)} records/s, server ${Math.round(cpu)} us of CPU each`,
  );
  console.log(
    `  database ${mib(size)} MiB, written ${mib(written)} MiB, ${(written / size).toFixed(1)} bytes per byte`,
  );
  console.log(`  memory of the server ${Math.round(anonymousMemoryOf(server.pid))} MiB`);
}

async function runCli({ url, authorization }: Gatehouse, directory: string, args: readonly string[]): Promise<void> {
  const env = {
    ...process.env,
    GATEHOUSE_TOKEN: authorization.slice("Bearer ".length),
    HOME: directory,
  };
  const options = { env, stdio: "inherit", timeout: timeLimitMs } as const;
  const child = spawn("taskset", ["-c", String(loadCore), process.execPath, program, ...args, "--url", url], options);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`gatehouse ${args.join(" ")} ended with ${code}`);
}

/** Returns the bytes that a process has had written to disk so far. */
function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))![1]);
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

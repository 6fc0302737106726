// Reads OpenVEX documents with github.com/openvex/go-vex, the library of vexctl and of scanners. It comes from the Go module proxy.
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";

/** The status that holds for a product. */
export interface Effective {
  readonly vulnerability: string;
  readonly product: string;
  readonly status: string;
}

/** go.sum has the checksums: no database of them needs to be asked. */
const env = { ...process.env, GONOSUMDB: "*" };

/** Returns the reason why the library cannot be run; undefined if it can. */
export function missingGoVex(): string | undefined {
  const { error } = spawnSync("go", ["version"], { stdio: "ignore" });
  if (error) return "skipped: it needs Go (apt-get install golang)";
  const { status } = spawnSync("go", ["mod", "download"], { cwd: import.meta.dirname, env, stdio: "inherit" });
  return status === 0 ? undefined : "skipped: the Go module proxy cannot be reached for github.com/openvex/go-vex";
}

/**
 * Returns the effective status of some documents together, for each vulnerability and product. Throws if the library rejects a statement.
 */
export async function effectiveByGoVex(files: readonly string[], ...flags: "-unchecked"[]): Promise<Effective[]> {
  const options = { cwd: import.meta.dirname, env, timeout: 120_000, maxBuffer: 256 * 2 ** 20 };
  const { stdout } = await promisify(execFile)("go", ["run", ".", ...flags, ...files], options);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Effective);
}

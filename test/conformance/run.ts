// `npm run suites -- conformance`: connectconformance against Gatehouse's listener, unary transport and router. Not a part of `npm test`,
// since the suite needs Go and is fetched from the Go module proxy.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { hasGo, prepareSuite, suite } from "./suite.ts";

if (!hasGo()) {
  console.log("suite conformance is skipped: it needs Go, which is not here: https://go.dev/dl");
  process.exit(0);
}
prepareSuite();
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const options = [
  "--mode",
  "server",
  "--conf",
  file("config.yaml"),
  "--known-failing",
  `@${file("known-failing.txt")}`,
  "--known-flaky",
  `@${file("known-flaky.txt")}`,
  "--max-servers",
  "2",
];
const server = [process.execPath, "--disable-warning=ExperimentalWarning", file("server.ts")];
const { status } = spawnSync(suite.runner, [...options, ...process.argv.slice(2), "--", ...server], {
  stdio: "inherit",
});
process.exitCode = status ?? 1;

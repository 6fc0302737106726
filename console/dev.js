// `npm run dev [-- SETTINGS]`: the development server at the address of `npm start`. It restarts when a file of `src` is saved, and the
// console is replaced in the open page. Vite has the public port, serves the console, and hands everything else to the server, which
// listens at the next port. Settings are those of `gatehouse serve`.
import { spawn } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { createServer } from "vite";
import { pageHeaders } from "../src/console/page-headers.ts";

const root = import.meta.dirname;
/** Of Vite's client, React's refresh and the style elements, which the policy allows nowhere else. */
const nonce = "vite";
/** Addresses of Vite: the console and the API reference. */
const ownAddresses = "console/|docs/api(?:[/?]|$)";

const { tokens } = parseArgs({
  options: { listen: { type: "string" } },
  strict: false,
  allowPositionals: true,
  tokens: true,
});
const address = tokens.findLast(({ kind, name }) => kind === "option" && name === "listen")?.value ?? "127.0.0.1:8080";
const { hostname: host, port: publicPort } = new URL(`http://${address}`);
const port = Number(publicPort || 80);
const target = `http://127.0.0.1:${port + 1}`;

const vite = await createServer({
  root,
  clearScreen: false,
  plugins: [{ name: "api-reference", configureServer: serveReference }],
  html: { cspNonce: nonce },
  server: {
    host,
    port,
    strictPort: true,
    // The server answers preflight requests.
    cors: false,
    headers: pageHeaders(nonce),
    // The server must see the host of its base URL.
    proxy: { [`^/(?!${ownAddresses})`]: { target, changeOrigin: false } },
  },
});
await vite.listen();
const server = startServer();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill("SIGTERM"));
// Vite would wait for the web sockets of open pages.
server.once("exit", (code) => process.exit(code ?? 0));

/** Starts the server, which node starts again when a file that it has loaded is saved. */
function startServer() {
  const watched = ["--watch", "--watch-preserve-output", "--max-semi-space-size=8"];
  const program = path.join(root, "../src/gatehouse.js");
  const listen = ["--listen", new URL(target).host, "--base-url", `http://${address}`];
  const settings = process.argv.slice(2);
  const args = [...watched, program, "serve", "--dev", ...settings, ...listen];
  return spawn(process.execPath, args, { stdio: "inherit" });
}

/** Serves the page of the API reference at its addresses. */
function serveReference({ middlewares }) {
  middlewares.use((request, _response, next) => {
    if (/^\/docs\/api(?:[/?]|$)/.test(request.url)) request.url = "/console/reference.html";
    next();
  });
}

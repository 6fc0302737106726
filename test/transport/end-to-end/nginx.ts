// A real nginx in front of a server, on free ports, with a configuration and files of its own.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../harness/postgres.ts";

/** Whether a program can be run. */
export function isInstalled(program: string, versionFlag: string): boolean {
  try {
    execFileSync(program, [versionFlag], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Ways in which nginx connects to the server, in addition to its defaults. */
export const proxySettings = {
  "its default settings": "",
  "requests passed on as they come": "proxy_request_buffering off; proxy_http_version 1.1;",
  "HTTP/1.1 that is kept alive": 'proxy_http_version 1.1; proxy_set_header Connection "";',
} as const;

export type ProxySettings = keyof typeof proxySettings;

/** A running nginx. */
export interface Nginx extends AsyncDisposable {
  readonly urls: Readonly<Record<ProxySettings, string>>;
}

/** Starts nginx, with a port for each of the settings. */
export async function startNginx(upstream: URL): Promise<Nginx> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-nginx-"));
  const ports = new Map<ProxySettings, number>();
  for (const name of Object.keys(proxySettings) as ProxySettings[]) ports.set(name, await freePort());
  writeFileSync(path.join(folder, "nginx.conf"), configuration(folder, upstream, ports));
  const child = spawn("nginx", ["-p", folder, "-c", "nginx.conf", "-e", "error.log"], { stdio: "ignore" });
  const exited = once(child, "exit");
  for (const port of ports.values()) await untilOpen(port);
  return {
    urls: Object.fromEntries([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}`])) as Nginx["urls"],
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, upstream: URL, ports: ReadonlyMap<ProxySettings, number>): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`);
  const servers = [...ports].map(
    ([name, port]) =>
      `server { listen 127.0.0.1:${port}; location / { ${proxySettings[name]} proxy_pass http://gatehouse; } }`,
  );
  return `
    daemon off;
    pid ${folder}/nginx.pid;
    worker_processes 1;
    events {}
    http {
      access_log off;
      # A body of 1 MiB is the most that nginx takes by default.
      client_max_body_size 0;
      ${temporary.join("\n")}
      upstream gatehouse { server ${upstream.host}; keepalive 4; }
      ${servers.join("\n")}
    }`;
}

async function untilOpen(port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await Promise.race([
      once(socket, "connect").then(() => true),
      new Promise<boolean>((resolve) => socket.once("close", () => resolve(false))),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    if (tries > 200) throw new Error(`nginx does not listen on port ${port}`);
    await sleep(25);
  }
}

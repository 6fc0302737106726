// Where tokens are kept between commands: the layout of the platform's SDK, so that it and the Terraform provider find
// what `auth login` has fetched, and the other way round.
import { globSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { readIfThere, replaceFile } from "./own-file.ts";

/** What is kept: an API token, or what renews it. */
export type CachedKind = "oidc-token" | "refresh-token";

/** The tokens of one audience. */
export interface TokenCache {
  readonly folder: string;
  pathOf(kind: CachedKind): string;
  read(kind: CachedKind): string | undefined;
  write(kind: CachedKind, token: string): void;
  /** Whether there was anything to remove. */
  clear(): boolean;
}

const kinds: readonly CachedKind[] = ["oidc-token", "refresh-token"];

/**
 * `<user cache directory>/chainguard/<audience, every "/" as "-">/{oidc-token,refresh-token}`. Wrong usage for an
 * audience that names no folder of its own.
 */
export function openTokenCache(shell: Shell, audience: string): TokenCache {
  if (/^\.{0,2}$/.test(audience)) throw wrongUsage(`${JSON.stringify(audience)} is no audience of a token`);
  return openFolder(path.join(cacheFolder(shell), audience.replaceAll("/", "-")));
}

function openFolder(folder: string): TokenCache {
  const pathOf = (kind: CachedKind) => path.join(folder, kind);
  return {
    folder,
    pathOf,
    read: (kind) => readToken(pathOf(kind)),
    write: (kind, token) => replaceFile(pathOf(kind), token),
    clear() {
      const found = kinds.filter((kind) => readIfThere(pathOf(kind)) !== undefined);
      for (const kind of kinds) rmSync(pathOf(kind), { force: true });
      return found.length > 0;
    },
  };
}

/** A token in a file; undefined when there is no such file or it is empty. Fails when it holds something else. */
export function readToken(file: string): string | undefined {
  const token = readIfThere(file)?.trim();
  return token ? checkToken(token, file, 1) : undefined;
}

/** The token, which can be sent in a header (RFC 6750 §2.1); fails with the exit code, without showing it, when it cannot. */
export function checkToken(token: string, source: string, exitCode: 1 | 2): string {
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  const problem = "it has a space, a line break or another odd character";
  throw new CommandFailure(`what ${source} holds is no token: ${problem}`, { exitCode });
}

/** All caches that hold something, also those that other programs keep for an identity, a folder deeper. */
export function openTokenCaches(shell: Shell): TokenCache[] {
  const files = globSync(`{*,*/*}/{${kinds.join(",")}}`, { cwd: cacheFolder(shell) });
  const folders = new Set(files.map((file) => path.dirname(file)));
  return [...folders].sort().map((name) => openFolder(path.join(cacheFolder(shell), name)));
}

function cacheFolder(shell: Shell): string {
  return path.join(userCacheFolder(shell), "chainguard");
}

/** As Go's os.UserCacheDir says. */
function userCacheFolder({ environment }: Shell): string {
  const home = environment.HOME || homedir();
  if (process.platform === "darwin") return path.join(home, "Library", "Caches");
  if (process.platform === "win32") return environment.LocalAppData || path.join(home, "AppData", "Local");
  return environment.XDG_CACHE_HOME || path.join(home, ".cache");
}

// The token cache, in the layout of the platform's SDK: the SDK and the Terraform provider find tokens of `auth login`,
// and vice versa.
import { globSync, rmSync } from "node:fs";
import path from "node:path";
import { isBearerToken } from "../../../packages/client/src/tokens.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { findHome, requireHome } from "./home.ts";
import { readIfThere, replaceFile } from "./own-file.ts";

/** The cached files: an API token, or its refresh token. */
export type CachedKind = "oidc-token" | "refresh-token";

/** The cached tokens of one audience. */
export interface TokenCache {
  readonly folder: string;
  pathOf(kind: CachedKind): string;
  read(kind: CachedKind): string | undefined;
  write(kind: CachedKind, token: string): void;
  /** Returns whether there was anything to delete. */
  clear(): boolean;
}

const kinds: readonly CachedKind[] = ["oidc-token", "refresh-token"];

/**
 * Opens `<user cache directory>/chainguard/<audience, every "/" as "-">/{oidc-token,refresh-token}`. Wrong usage for an
 * audience that does not name a folder.
 */
export function openTokenCache(shell: Shell, audience: string): TokenCache {
  if (/^\.{0,2}$/.test(audience)) throw wrongUsage(`${JSON.stringify(audience)} is not an audience of a token`);
  const folder = findCacheFolder(shell);
  return folder === undefined ? noCache(shell) : openFolder(path.join(folder, audience.replaceAll("/", "-")));
}

/** Fails if there is no place for tokens. Call it before a sign-in that ends with storing one. */
export function requireTokenCache(shell: Shell): void {
  if (findCacheFolder(shell) === undefined) requireHome(shell, cacheVariables);
}

const cacheVariables = "HOME, or XDG_CACHE_HOME for the token cache";

/** Returns the cache of a user without a home directory. */
function noCache(shell: Shell): TokenCache {
  return {
    folder: "",
    pathOf: () => "",
    read: () => undefined,
    write: () => requireTokenCache(shell),
    clear: () => false,
  };
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

/** Reads a token from a file; undefined if the file is missing or empty. Fails if it contains something else. */
export function readToken(file: string): string | undefined {
  const token = readIfThere(file)?.trim();
  return token ? checkToken(token, file, 1) : undefined;
}

/** Validates a token for use in a header (RFC 6750 §2.1). Fails with the exit code, without printing the token. */
export function checkToken(token: string, source: string, exitCode: 1 | 2): string {
  if (isBearerToken(token)) return token;
  const problem = "it has a space, a line break or another odd character";
  throw new CommandFailure(`${source} does not contain a token: ${problem}`, { exitCode });
}

/** Returns all caches with tokens, including those that other programs keep per identity, one folder deeper. */
export function openTokenCaches(shell: Shell): TokenCache[] {
  const folder = findCacheFolder(shell);
  if (folder === undefined) return [];
  const files = globSync(`{*,*/*}/{${kinds.join(",")}}`, { cwd: folder });
  const names = new Set(files.map((file) => path.dirname(file)));
  return [...names].sort().map((name) => openFolder(path.join(folder, name)));
}

function findCacheFolder(shell: Shell): string | undefined {
  const folder = findUserCacheFolder(shell);
  return folder && path.join(folder, "chainguard");
}

/** Returns the same folder as Go's os.UserCacheDir. */
function findUserCacheFolder(shell: Shell): string | undefined {
  const { environment } = shell;
  const home = findHome(shell);
  if (process.platform === "darwin") return home && path.join(home, "Library", "Caches");
  if (process.platform === "win32") return environment.LocalAppData || (home && path.join(home, "AppData", "Local"));
  return environment.XDG_CACHE_HOME || (home && path.join(home, ".cache"));
}

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { hostsOf, parsePostgresUrl } from "../../src/base/postgres-url.ts";

/** Returns the address that node-postgres connects to for a URL. */
function targetOf(url: string): string {
  const { host, port, database } = new pg.Client(url);
  return `${host} ${port} ${database}`;
}

describe("the hosts of a PostgreSQL URL are those that libpq reads", () => {
  for (const [url, ...targets] of [
    ["postgres://u:p@h/db", "h 5432 db"],
    ["postgres://u:p@h1:5433,h2/db", "h1 5433 db", "h2 5432 db"],
    ["postgres://u:p@/db?host=/run/socket", "/run/socket 5432 db"],
    ["postgres://u@/db?host=%2Frun%2Fsocket&port=5433", "/run/socket 5433 db"],
    ["postgres:///db?host=/run/socket&user=u", "/run/socket 5432 db"],
    ["postgres://u@%2Frun%2Fsocket/db", "/run/socket 5432 db"],
    ["postgres://u@%2Frun%2Fsocket:5433/db", "/run/socket 5433 db"],
    ["postgres://u:p@/db?host=h1,h2&port=5433,5434", "h1 5433 db", "h2 5434 db"],
    ["postgres://u:p@/db?host=h1,/run/socket&port=5433", "h1 5433 db", "/run/socket 5433 db"],
    ["postgres://u:p@h1,h2/db?port=5433", "h1 5433 db", "h2 5433 db"],
    ["postgres://u:p@other/db?host=::1", "::1 5432 db"],
    ["postgres://u:p@[::1]:5433/db", "::1 5433 db"],
  ] as const)
    it(`${url} names ${targets.join(" and ")}`, () => {
      const hosts = hostsOf(url);
      assert.deepEqual(
        hosts.map((host) => targetOf(host.url)),
        targets,
      );
      for (const host of hosts) assert.equal(parsePostgresUrl(host.url)?.pathname, "/db");
    });

  it("other parameters stay as they are", () => {
    const [host] = hostsOf("postgres://u@/db?sslmode=disable&host=/s&options=-c%20search_path%3Da");
    assert.equal(host?.url, "postgres://u@%2Fs/db?sslmode=disable&options=-c%20search_path%3Da");
  });
});

// Asks for statistics as a client does.
import assert from "node:assert/strict";
import { rest } from "../../harness/rest.ts";

/** Where to ask, and the caller. */
export interface Asking {
  readonly url: string;
  readonly ownerToken: string;
}

/** Sends a query. Texts of lists are repeated parameters. */
export async function ask(
  { url, ownerToken }: Asking,
  group: string,
  parameters: Readonly<Record<string, string | readonly string[]>>,
  token: string = ownerToken,
) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) for (const text of [value].flat()) query.append(name, text);
  return await rest(url, token, "GET", `/gatehouse/organizations/v1/statistics/${group}?${query}`);
}

/** Returns the sums of metrics over the days of a query, by default the last 30. */
export async function sumsOf(
  place: Asking,
  group: string,
  metrics: readonly string[],
  days: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, number>>> {
  const { status, body } = await ask(place, group, { metrics, ...days });
  assert.equal(status, 200, JSON.stringify(body));
  const shown = body.metrics as { readonly metric: string; readonly counts: readonly string[] }[];
  return Object.fromEntries(
    shown.map(({ metric, counts }) => [metric, counts.reduce((sum, count) => sum + Number(count), 0)]),
  );
}

// Runs a case through a transport.
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, codeName } from "../../src/aip/errors.ts";
import type { ApiClient, Outcome } from "../harness/api-clients.ts";
import type { Case, Expectation, Ordering, Step } from "./case.ts";
import { assertContains } from "./match.ts";
import type { Stage } from "./stage.ts";
import { normalizer, sortedByName } from "./transcript.ts";
import { fillIn, valueAt } from "./variables.ts";

/** Runs all steps and answers the transcript; rejects at the first step that came to something else than expected. */
export async function runCase({ steps }: Case, stage: Stage, apiClient: ApiClient): Promise<JsonValue[]> {
  const normalize = normalizer({ domain: String(stage.variables.domain), server: String(stage.variables.server) });
  const transcript: JsonValue[] = [];
  for (const step of steps) {
    for (const item of step.each ?? [null]) {
      stage.variables.item = fillIn(item, stage.variables);
      const outcome = await runStep(step, stage, apiClient);
      transcript.push(normalize({ rule: step.rule, ...outcome, details: [...outcome.details] }));
    }
  }
  return transcript;
}

async function runStep(step: Step, stage: Stage, apiClient: ApiClient): Promise<Outcome> {
  const { variables } = stage;
  const token = await stage.tokenOf(String(fillIn(step.as, variables)));
  const named = fillIn<string>(step.method, variables);
  const method = named.startsWith("gatehouse.") ? `/${named}` : `/chainguard.platform.${named}`;
  const answered = await apiClient.call(token, method, fillIn<JsonValue>(step.request, variables) as JsonObject);
  const expected = fillIn((step.expect ?? {}) as JsonObject, variables) as Expectation;
  const outcome = expected.ordered ? ordered(answered, expected.ordered, step.rule) : answered;
  check(outcome, expected, step.each ? `${step.rule} ${JSON.stringify(variables.item)}` : step.rule);
  for (const [name, path] of Object.entries(step.save ?? {})) {
    variables[String(fillIn(name, variables))] = valueAt(outcome.response ?? {}, path);
  }
  return outcome;
}

function check(outcome: Outcome, expected: Expectation, rule: string): void {
  const { code = "OK", response, details = {}, message } = expected;
  assert.equal(codeName(outcome.code), code, `${rule}: ${outcome.message}`);
  if (message !== undefined) assert.equal(outcome.message, message, rule);
  if (response !== undefined) assertContains(outcome.response, response, `${rule}: response`);
  for (const [type, detail] of Object.entries(details))
    assertContains(detailOf(outcome, type), detail, `${rule}: ${type}`);
  // AIP-193: every error has exactly one ErrorInfo, whose reason is in upper case: the code, unless it says more.
  if (outcome.code !== Code.OK)
    assertContains(
      detailOf(outcome, "ErrorInfo"),
      { reason: code, ...(details.ErrorInfo as JsonObject) },
      `${rule}: ErrorInfo`,
    );
}

function detailOf({ details }: Outcome, type: string): JsonValue | undefined {
  const found = details.filter(
    (detail) => (detail as JsonObject)["@type"] === `type.googleapis.com/google.rpc.${type}`,
  );
  assert.ok(found.length < 2, `more than one ${type}`);
  return found[0];
}

/** Checks the order of a list whose items would come differently in every run, and brings them into that of their names. */
function ordered(outcome: Outcome, { list, by, descending = false }: Ordering, rule: string): Outcome {
  assert.equal(outcome.code, Code.OK, `${rule}: ${outcome.message}`);
  const response = outcome.response ?? {};
  const keys = (valueAt(response, list) as JsonValue[]).map((item) => String(valueAt(item, by)));
  const sorted = keys.toSorted();
  assert.deepEqual(keys, descending ? sorted.reverse() : sorted, rule);
  return { ...outcome, response: sortedByName(response, list) };
}

import type { FileTime } from "./file-times.ts";
import type { Step } from "./steps.ts";

/** A step that has run. */
export interface StepResult {
  readonly name: string;
  readonly ms: number;
  readonly times: readonly FileTime[];
  /** Absent if the step passed. */
  readonly error?: unknown;
}

/** Runs the steps in `lanes` lanes, each taking the next step that waits. Returns the results in the order of the steps. */
export async function runSteps(steps: readonly Step[], lanes: number): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const waiting = [...steps.entries()];
  const runLane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await runStep(next[1]);
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return results;
}

/** Runs one step. Its output is shown as it comes if the step is live, otherwise only if it fails. */
export async function runStep(step: Step): Promise<StepResult> {
  const startedAt = Date.now();
  let output = "";
  const print = (text: string) => {
    output += text;
  };
  let times: readonly FileTime[] = [];
  let error: unknown;
  try {
    const outcome = await step.run(step.isLive ? undefined : print);
    times = outcome?.times ?? [];
    error = outcome?.error;
  } catch (thrown) {
    error = thrown;
  }
  const ms = Date.now() - startedAt;
  if (error === undefined) {
    console.log(`ok    ${step.name} (${(ms / 1000).toFixed(1)} s)`);
    return { name: step.name, ms, times };
  }
  process.stdout.write(output);
  console.error(`FAIL  ${step.name}: ${error instanceof Error ? error.message : error}`);
  return { name: step.name, ms, times, error };
}

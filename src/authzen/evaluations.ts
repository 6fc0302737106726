// The Access Evaluation API and the Access Evaluations API (Authorization API 1.0 §6 and §7).
import { ApiError, Code, invalidField } from "../aip/errors.ts";
import type { Asker } from "./asker.ts";
import { type Decision, decide } from "./decide.ts";
import { isMissing, type Members, type Question, readObject, readOptionalObject, readQuestion } from "./request.ts";

/** The most evaluations of a batch: one call explains as many. */
const maxEvaluations = 100;

/** The decision that ends a batch, by the semantic that a request names (§7.1.2.1); undefined if all count. */
const endings: Readonly<Record<string, boolean | undefined>> = {
  execute_all: undefined,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
};

/** An evaluation of a batch that misses a member or has a wrong one. */
interface Failure {
  readonly decision: false;
  readonly context: { readonly error: { readonly status: 400; readonly message: string } };
}

/** Answers one question. */
export async function evaluate(body: Members, asker: Asker): Promise<Decision> {
  const [decision] = await decide(asker, [readQuestion(body)]);
  return decision!;
}

/** Answers a batch of questions, or one if the request has no batch. */
export async function evaluateAll(
  body: Members,
  asker: Asker,
): Promise<Decision | { readonly evaluations: readonly (Decision | Failure)[] }> {
  const items = readItems(body);
  const ending = readEnding(body);
  if (items.length === 0) return await evaluate(body, asker);
  for (const name of entities) readOptionalObject(body[name], name);
  const read = items.map((item, index) => readItem(item, index, body));
  const questions = read.filter((each) => "subject" in each);
  const decisions = await decide(asker, questions);
  const all = read.map((each) => ("subject" in each ? decisions[questions.indexOf(each)]! : each));
  const end = all.findIndex(({ decision }) => decision === ending);
  return { evaluations: end < 0 ? all : all.slice(0, end + 1) };
}

const entities = ["subject", "action", "resource", "context"] as const;

function readItems({ evaluations }: Members): readonly unknown[] {
  if (isMissing(evaluations)) return [];
  if (!Array.isArray(evaluations)) throw invalidField("evaluations", "must be an array");
  if (evaluations.length > maxEvaluations)
    throw invalidField("evaluations", `must not have more than ${maxEvaluations} items`);
  return evaluations;
}

function readEnding(body: Members): boolean | undefined {
  const { evaluations_semantic: semantic } = readOptionalObject(body.options, "options");
  if (isMissing(semantic)) return undefined;
  if (typeof semantic === "string" && Object.hasOwn(endings, semantic)) return endings[semantic];
  throw invalidField("options.evaluations_semantic", `must be one of ${Object.keys(endings).join(", ")}`);
}

/** §7.1.1: a default stands for a whole entity that an item lacks. */
function readItem(item: unknown, index: number, defaults: Members): Question | Failure {
  try {
    const own = readObject(item, `evaluations[${index}]`);
    return readQuestion(Object.fromEntries(entities.map((name) => [name, own[name] ?? defaults[name]])));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== Code.INVALID_ARGUMENT) throw error;
    return { decision: false, context: { error: { status: 400, message: error.message } } };
  }
}

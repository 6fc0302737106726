import assert from "node:assert/strict";
import { it } from "node:test";
import { alreadyExists, Code } from "../../src/aip/errors.ts";
import { mapUniqueViolation } from "../../src/resource/already-exists.ts";
import { ReferenceViolation, UniqueViolation } from "../../src/storage/engine/errors.ts";

const failing = (error: Error) =>
  mapUniqueViolation(
    () => alreadyExists("test/Thing", "a", "a thing named a"),
    () => Promise.reject(error),
  );

it("maps a unique violation to the error of the resource, and rethrows any other error", async () => {
  await assert.rejects(failing(new UniqueViolation()), {
    code: Code.ALREADY_EXISTS,
    message: "Already exists: a thing named a",
  });
  const others = [new ReferenceViolation(), new Error("other")];
  for (const error of others) await assert.rejects(failing(error), error);
});

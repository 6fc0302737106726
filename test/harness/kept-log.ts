// A log that is kept, so it can be seen what is in it and what never is.
import assert from "node:assert/strict";
import { Writable } from "node:stream";

/** A log that is kept. */
export interface KeptLog {
  /** Takes the log. */
  readonly stream: NodeJS.WritableStream;
  text(): string;
  lines(): string[];
  /** Fails when nothing was logged, or a secret was: as it is, or within Basic credentials with any name. */
  assertNone(...secrets: readonly string[]): void;
}

/** Makes an empty one. */
export function keptLog(): KeptLog {
  let text = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return {
    stream,
    text: () => text,
    lines: () => text.split("\n").filter((line) => line !== ""),
    assertNone(...secrets) {
      assert.notEqual(text, "", "nothing was logged");
      for (const secret of secrets) {
        const found = formsOf(secret).find((form) => text.includes(form));
        assert.equal(found, undefined, `the log has ${secret}`);
      }
    },
  };
}

/** Returns a text, and what base64 makes of it within a longer one. */
function formsOf(text: string): string[] {
  assert.ok(text.length >= 6, `${JSON.stringify(text)} is too short to be told from other texts`);
  // RFC 4648 §4: three bytes are four characters, so it depends on how many bytes come before. The characters that hold
  // bits of what surrounds the text are left out.
  const inBase64 = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [text, ...inBase64];
}

// Code that is made at run time: each place in it sees one property of one shape, which V8 reads many times faster than
// properties whose names come from variables. A literal that names its members makes an object ten times as fast as one
// assignment after the other, and what reads it is faster too. The names are those of protobuf fields, tables and queries,
// quoted: nothing of a request ever becomes code.

/** A member of an object that is made of another one. */
interface Member {
  readonly name: string;
  /** The property of the other object, or the place in a list, that it is made of. */
  readonly from: string | number;
  /** What makes the value, where it is another; it also gets the whole other object. */
  readonly convert: ((value: never, whole: never) => unknown) | undefined;
}

/** Makes what makes objects with these members, in this order. */
export function compileLiteral(members: readonly Member[]): (from: object) => object {
  const literal = members.map(({ name, from, convert }, i) => {
    const value = `from[${JSON.stringify(from)}]`;
    return `${JSON.stringify(name)}: ${convert ? `f${i}(${value}, from)` : value}`;
  });
  const functions = members.map(({ convert }) => convert);
  return compile(functions, `(from) => ({ ${literal.join(", ")} })`) as (from: object) => object;
}

/** Something that is done with a property of an object; it also gets the whole object. */
export interface Step<T> {
  readonly from: string;
  readonly act: (to: T, value: never, whole: never) => void;
}

/** Makes what does these things, one after the other. */
export function compileSteps<T>(steps: readonly Step<T>[]): (to: T, from: object) => void {
  const calls = steps.map(({ from }, i) => `f${i}(to, from[${JSON.stringify(from)}], from);`);
  const functions = steps.map(({ act }) => act);
  return compile(functions, `(to, from) => { ${calls.join(" ")} }`) as (to: T, from: object) => void;
}

/** Evaluates code in which each of the functions is a constant, f0 and so on. */
function compile(functions: readonly unknown[], code: string): unknown {
  const names = functions.map((_, i) => `const f${i} = functions[${i}];`);
  return new Function("functions", `${names.join(" ")} return ${code};`)(functions);
}

// Code that is made at run time: each place in it sees one property of one shape, which V8 reads many times faster than
// properties whose names come from variables. A literal that names its members makes an object ten times as fast as one
// assignment after the other, and what reads it is faster too. The names are those of protobuf fields, tables and queries,
// quoted: nothing of a request ever becomes code.

/** A member of an object that is built from another one. */
interface Member {
  readonly name: string;
  /** The property of the other object, or the index in a list, that the value comes from. */
  readonly from: string | number;
  /** Converts the value; it also receives the whole other object. */
  readonly convert: ((value: never, whole: never) => unknown) | undefined;
}

/** Compiles a function that builds objects with these members, in this order. */
export function compileLiteral(members: readonly Member[]): (from: object) => object {
  const literal = members.map(({ name, from, convert }, i) => {
    const value = `from[${JSON.stringify(from)}]`;
    return `${JSON.stringify(name)}: ${convert ? `f${i}(${value}, from)` : value}`;
  });
  const functions = members.map(({ convert }) => convert);
  return compile(functions, `(from) => ({ ${literal.join(", ")} })`) as (from: object) => object;
}

/** Something to do with a property of an object; it also receives the whole object. */
export interface Step<T> {
  readonly from: string;
  readonly act: (to: T, value: never, whole: never) => void;
}

/** Compiles a function that runs these steps in order. */
export function compileSteps<T>(steps: readonly Step<T>[]): (to: T, from: object) => void {
  const calls = steps.map(({ from }, i) => `f${i}(to, from[${JSON.stringify(from)}], from);`);
  const functions = steps.map(({ act }) => act);
  return compile(functions, `(to, from) => { ${calls.join(" ")} }`) as (to: T, from: object) => void;
}

/** Evaluates code in which the functions are the constants f0, f1 and so on. */
function compile(functions: readonly unknown[], code: string): unknown {
  const names = functions.map((_, i) => `const f${i} = functions[${i}];`);
  return new Function("functions", `${names.join(" ")} return ${code};`)(functions);
}

// The clock of an emulator: that of the system, moved forward.

/** The clock of this process, which can be moved forward. Disposing restores the one of the system. */
export interface MovableClock extends Disposable {
  /** How far it is ahead of the system's, in milliseconds. */
  readonly aheadMs: number;
  advance(byMs: number): void;
}

/**
 * Makes the clock of this process movable. It replaces `Date` itself, because packages such as oidc-provider read it. Timers and
 * `performance.now()` stay as they are.
 */
export function moveClock(): MovableClock {
  const SystemDate = globalThis.Date;
  const systemNow = SystemDate.now;
  let aheadMs = 0;
  const now = () => systemNow() + aheadMs;
  SystemDate.now = now;
  globalThis.Date = new Proxy(SystemDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new SystemDate(now()).toString(),
  });
  return {
    get aheadMs() {
      return aheadMs;
    },
    advance(byMs) {
      aheadMs += byMs;
    },
    [Symbol.dispose]() {
      SystemDate.now = systemNow;
      globalThis.Date = SystemDate;
    },
  };
}

// AsyncDisposableStack for Node 22, which lacks it: the part that Gatehouse uses. rolldown lowers `using`, not this class.
globalThis.AsyncDisposableStack ??= class AsyncDisposableStack {
  #disposers = [];
  #disposed = false;

  get disposed() {
    return this.#disposed;
  }

  use(resource) {
    if (resource === null || resource === undefined) return resource;
    const dispose = resource[Symbol.asyncDispose] ?? resource[Symbol.dispose];
    if (typeof dispose !== "function") throw new TypeError("the resource is not disposable");
    this.#push(() => dispose.call(resource));
    return resource;
  }

  adopt(value, dispose) {
    this.#push(() => dispose(value));
    return value;
  }

  defer(dispose) {
    this.#push(dispose);
  }

  move() {
    this.#requireOpen();
    const moved = new AsyncDisposableStack();
    moved.#disposers = this.#disposers;
    this.#disposers = [];
    this.#disposed = true;
    return moved;
  }

  async disposeAsync() {
    if (this.#disposed) return;
    this.#disposed = true;
    let failure;
    for (const dispose of this.#disposers.splice(0).reverse()) {
      try {
        await dispose();
      } catch (error) {
        failure = failure ? { error: new SuppressedError(error, failure.error) } : { error };
      }
    }
    if (failure) throw failure.error;
  }

  [Symbol.asyncDispose]() {
    return this.disposeAsync();
  }

  #push(dispose) {
    this.#requireOpen();
    this.#disposers.push(dispose);
  }

  #requireOpen() {
    if (this.#disposed) throw new ReferenceError("the stack is already disposed");
  }
};

globalThis.SuppressedError ??= class SuppressedError extends Error {
  name = "SuppressedError";

  constructor(error, suppressed, message) {
    super(message);
    Object.assign(this, { error, suppressed });
  }
};

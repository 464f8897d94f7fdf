/** The part of koa-compose that the benchmark uses; the package has no types of its own. */
declare module 'koa-compose' {
  function compose(
    middleware: readonly compose.Middleware[],
  ): (context: unknown, next: (context: unknown) => unknown) => Promise<unknown>;
  namespace compose {
    type Middleware = (context: unknown, next: () => Promise<unknown>) => unknown;
  }
  export = compose;
}

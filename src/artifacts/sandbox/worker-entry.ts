/** Where the program of a worker lies. Apart, so that tests, which run the sources, can put a built one in its place. */

export const workerEntry: URL = new URL('./worker.js', import.meta.url);

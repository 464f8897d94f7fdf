/**
 * Where the program of a worker lies. Apart, so that tests, which run the sources, can put a built
 * one in its place.
 */

import { pathToFileURL } from 'node:url';
import { ownFile } from '../../system/own-package.ts';

export const workerEntry: URL = pathToFileURL(ownFile('dist/src/artifacts/sandbox/worker.js'));

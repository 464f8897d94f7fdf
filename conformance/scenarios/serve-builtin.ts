/**
 * The built-in subject as a command: `allium conformance --command "node …/serve-builtin.js"`
 * judges it through the pipe.
 */

import { builtinSubject } from './create-subject.ts';
import { serveSubject } from './serve-subject.ts';

await serveSubject(builtinSubject);

// The libraries that scripts may ask for by name: pure, so they live beside the program.

import type { Module } from '../values.ts';
import { hashes } from './hash-library.ts';
import { json } from './json.ts';
import { re } from './re.ts';
import { string } from './string-library.ts';

/** By the name that a script knows them by. `time` is not here: its clock is the host's. */
export const libraries: ReadonlyMap<string, Module> = new Map(
  [json, re, string, hashes].map((library) => [library.name, library]),
);

/**
 * A process that imports every door of the package, as built, and says what does not fit together.
 * Its argument is JSON: the file of each door.
 */

import { pathToFileURL } from 'node:url';

type Exports = Readonly<Record<string, unknown>>;

const files = JSON.parse(process.argv[2] ?? '{}') as Readonly<Record<string, string>>;
const doors = new Map<string, Exports>();
for (const [door, file] of Object.entries(files))
  doors.set(door, (await import(pathToFileURL(file).href)) as Exports);

const firstDoor = new Map<string, readonly [door: string, value: unknown]>();
const problems: string[] = [];
for (const [door, exports] of doors)
  for (const [name, value] of Object.entries(exports)) {
    const [first, known] = firstDoor.get(name) ?? [door, value];
    firstDoor.set(name, [first, known]);
    if (known !== value) problems.push(`${name} of ${door} is not that of ${first}`);
  }
console.log(JSON.stringify({ doors: doors.size, names: firstDoor.size, problems }));
